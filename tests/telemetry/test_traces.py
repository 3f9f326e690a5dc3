"""Traces and metrics, as a collector receives them from a running service."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from support.author import Author, token_of
from support.commands import widget_catalog
from support.people import PASSWORD
from support.service import running_service, wait_for

pytestmark = pytest.mark.slow

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ANN = ("account", "create", "ann", "--email", "ann@example.org", "--password-stdin")
PAGE = "00-1af7651916cd43dd8448eb211c80319c-17ad6b7169203331-01"


class Collector(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Received)
        self.spans: list[Span] = []
        self.metrics: set[str] = set()
        self.received: list[str] = []
        """The `traceparent` of webhook deliveries."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def named(self, name: str) -> list[Span]:
        return [it for it in self.spans if it.name == name]


class _Received(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        if self.path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    self.server.spans += scope.spans
        elif self.path == "/webhook":
            self.server.received.append(self.headers["traceparent"])
        else:
            for measured in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for group in measured.scope_metrics:
                    self.server.metrics |= {it.name for it in group.metrics}
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_request_and_its_parts_are_spans_that_continue_the_callers_trace(
    tmp_path: Path, collector: Collector
) -> None:
    data = tmp_path / "data"
    assert widget_catalog(*ANN, "--data", data, stdin=PASSWORD.encode()).code == 0
    with running_service(data, "--set", f"otlp_endpoint={collector.url}") as service:
        with service.client() as client:
            caller = {"traceparent": CALLER, "x-request-id": "mine-1"}
            given = {"username": "ann", "password": PASSWORD}
            signed_in = client.post("/api/auth/sign-in", json=given, headers=caller)
            assert signed_in.status_code == 200
            assert signed_in.headers["x-request-id"] == "mine-1"
            assert client.get("/api/v1/widgets/search").status_code == 200
            assert client.get("/", headers={"traceparent": PAGE}).status_code == 200
            for path in ("/healthz/live", "/healthz/ready", "/api/health"):
                assert client.get(path).status_code == 200
        service.stop()

    wait_for(lambda: bool(collector.metrics) and bool(collector.named("GET search")))
    (request,) = collector.named("POST api-other")
    assert request.trace_id.hex() == CALLER.split("-")[1]
    assert request.parent_span_id.hex() == CALLER.split("-")[2]
    attributes = {it.key: it.value for it in request.attributes}
    assert attributes["http.response.status_code"].int_value == 200
    assert attributes["request.id"].string_value == "mine-1"
    (action,) = [it for it in collector.named("action") if it.trace_id == request.trace_id]
    assert action.parent_span_id == request.span_id
    transactions = [it for it in collector.named("transaction") if it.trace_id == request.trace_id]
    assert {it.parent_span_id for it in transactions} == {action.span_id}
    inner = {it.name for it in collector.spans if it.parent_span_id == transactions[0].span_id}
    assert inner >= {"lock", "statement", "commit"}
    (page,) = collector.named("GET page")
    assert page.trace_id.hex() == PAGE.split("-")[1]
    assert page.span_id in {it.parent_span_id for it in collector.named("render")}
    assert not collector.named("GET operational")
    (search,) = collector.named("GET search")
    assert search.trace_id != request.trace_id
    assert not search.parent_span_id
    assert collector.metrics == {"http.server.request.duration", "widget_catalog.part.duration"}


def test_a_collector_that_is_gone_costs_requests_nothing(tmp_path: Path) -> None:
    with Collector() as gone:
        address = gone.url
    with (
        running_service(tmp_path / "data", "--set", f"otlp_endpoint={address}") as service,
        service.client() as client,
    ):
        for _ in range(20):
            assert client.get("/api/v1/widgets/search").elapsed.total_seconds() < 1
        for _ in range(20):
            client.get("/api/v1/widgets/search", headers={"traceparent": "0" * 600})
        assert 1 <= service.log.count("traceparent") <= 5
        assert service.stop() == 0


def test_a_delivery_continues_the_trace_of_the_publish_and_a_ping_begins_one(
    tmp_path: Path, collector: Collector
) -> None:
    data, allowed = tmp_path / "data", {"webhook_http": "true", "webhook_networks": "127.0.0.0/8"}
    given = {f"WIDGET_CATALOG_{name.upper()}": value for name, value in allowed.items()}
    assert widget_catalog(*ANN, "--data", data, stdin=PASSWORD.encode()).code == 0
    with running_service(
        data, "--set", f"otlp_endpoint={collector.url}", environment=given
    ) as service:
        added = widget_catalog(
            *("webhook", "add", f"{collector.url}/webhook", "--data", data), environment=given
        )
        assert added.code == 0, added.err
        name = added.err.split("Webhook ")[1].split(".")[0]
        assert widget_catalog("webhook", "ping", name, "--data", data).code == 0
        wait_for(lambda: len(collector.received) == 1)
        with Author(service.url, token_of(service, "ann")) as author:
            author.client.headers["traceparent"] = CALLER
            assert author.publish("ann/clock", "1.0.0").status_code == 200
        wait_for(lambda: len(collector.received) == 2)
        service.stop()

    wait_for(lambda: len(collector.named("delivery")) == 2)
    sent = [tuple(it.split("-")[1:3]) for it in collector.received]
    ping, publish = collector.named("delivery")
    assert sent == [(it.trace_id.hex(), it.span_id.hex()) for it in (ping, publish)]
    assert not ping.parent_span_id
    assert publish.trace_id.hex() == CALLER.split("-")[1]
    (cause,) = [it for it in collector.spans if it.span_id == publish.parent_span_id]
    assert cause.name == "transaction"

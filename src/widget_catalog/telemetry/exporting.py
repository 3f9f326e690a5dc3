"""Telemetry: requests and their parts as spans and histograms of OpenTelemetry.

Spans are not made current with OpenTelemetry's own context: a request that waits continues in
another one, where what was attached cannot be detached.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from time import perf_counter

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ..core import release
from ..core.http.http import Request
from ..core.http.metrics import route_of
from ..core.http.middleware import WATCHED, use_request_spans
from ..core.tracing import (
    DELIVERY,
    Trace,
    continued,
    observe_parts,
    use_outgoing_headers,
    use_spans,
)

_EXPORT_EVERY_MS = 15_000
_FLUSH_MS = 2_000
_propagator = TraceContextTextMapPropagator()
# For health checks, several a second by each load balancer, unless the caller traces them.
_NOT_SAMPLED = {"traceparent": f"00-{1:032x}-{1:016x}-00"}
# The innermost span of the present work.
_parent: ContextVar[Span | None] = ContextVar("span", default=None)


class Telemetry:
    """One per worker: the threads that send do not survive a fork."""

    def __init__(self, endpoint: str) -> None:
        endpoint = endpoint.rstrip("/")
        about = {"service.name": "widget-catalog", "service.version": release.VERSION}
        resource = Resource.create(about)
        self._traces = TracerProvider(resource=resource)
        exporter = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces")
        self._traces.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._traces.get_tracer("widget_catalog", release.VERSION)
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint=f"{endpoint}/v1/metrics"),
            export_interval_millis=_EXPORT_EVERY_MS,
        )
        self._metrics = MeterProvider([reader], resource)
        meter = self._metrics.get_meter("widget_catalog", release.VERSION)
        self._requests = meter.create_histogram(
            "http.server.request.duration", "s", "Time to handle a request."
        )
        parts = meter.create_histogram("widget_catalog.part.duration", "s", "Time of its parts.")
        observe_parts(lambda name, seconds: parts.record(seconds, {"part": name}))
        use_spans(self._start_span)
        use_request_spans(self._request_span)
        use_outgoing_headers(_outgoing_headers)

    def close(self) -> None:
        use_spans(None)
        use_request_spans()
        self._traces.force_flush(_FLUSH_MS)
        self._traces.shutdown()
        self._metrics.shutdown(_FLUSH_MS)

    def _start_span(self, name: str) -> AbstractContextManager[object]:
        parent, context = _parent.get(), None
        if parent is not None:
            context = set_span_in_context(parent)
        elif name != DELIVERY:
            return contextlib.nullcontext()  # Of periodic work, not of a request.
        elif caller := continued.get():
            context = _propagator.extract({"traceparent": caller})
        kind = SpanKind.CLIENT if name in (DELIVERY, "object_store") else SpanKind.INTERNAL
        return _current(self._tracer.start_span(name, context, kind))

    @contextlib.contextmanager
    def _request_span(self, request: Request, trace: Trace) -> Iterator[Callable[[int], None]]:
        route = route_of(request.path)
        attributes = {
            "http.request.method": request.method,
            "http.route": route,
            "url.path": request.path,
            "request.id": trace.request_id,
        }
        caller = {
            name: value
            for name in ("traceparent", "tracestate")
            if (value := request.headers.get(name)) is not None
        } or (_NOT_SAMPLED if request.path in WATCHED else None)
        span = self._tracer.start_span(
            f"{request.method} {route}",
            None if caller is None else _propagator.extract(caller),
            SpanKind.SERVER,
            attributes,
        )
        began = perf_counter()

        def end(status: int) -> None:
            span.set_attribute("http.response.status_code", status)
            if status >= 500:
                span.set_status(StatusCode.ERROR)
            measured: dict[str, str | int] = {
                "http.route": route,
                "http.response.status_code": status,
            }
            self._requests.record(perf_counter() - began, measured)

        with _current(span):
            yield end


@contextlib.contextmanager
def _current(span: Span) -> Iterator[None]:
    before = _parent.get()
    _parent.set(span)
    try:
        yield
    except BaseException as error:
        span.record_exception(error)
        span.set_status(StatusCode.ERROR)
        raise
    finally:
        _parent.set(before)
        span.end()


def _outgoing_headers() -> Mapping[str, str]:
    headers: dict[str, str] = {}
    span = _parent.get()
    if span is not None:
        _propagator.inject(headers, set_span_in_context(span))
    return headers

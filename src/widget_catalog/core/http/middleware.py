"""Middleware: the id and the trace of a request; optional rate limit, access log and metrics.

Each wraps a handler and returns one; disabled middleware is not installed. The id of a request is
the caller's `X-Request-Id`, or a new one. It is in every log line about the request, and in the
response: in every error, page and internal response, and in a public one if the caller sent it.
"""

import math
import os
import random
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager

import structlog

from widget_contract.texts import printable

from ..clock import format_duration
from ..networks import is_this_machine, network_of
from ..tracing import Trace, current
from .errors import cors_of, error
from .http import Body, EventBody, Handler, Request, Response
from .metrics import Metrics

_log = structlog.get_logger("widget_catalog.access")

# Paths used by monitoring and load balancers.
WATCHED = frozenset({"/api/health", "/healthz/live", "/healthz/ready"})

# Parameters that would give readers of the log access; `next` may contain one of them.
_SECRETS = re.compile(r"((?:^|&)(?:code|invitation|next|secret|signature|user_code)=)[^&]+")


def client_of(request: Request, *, trust_forwarded_for: bool) -> str:
    """The client's address. A proxy in front appends it to X-Forwarded-For, so the last one is
    used.

    Some proxies append to the line, some add another; what the client sent comes first.
    """
    if trust_forwarded_for:
        lines = [value for key, value in request.headers.items() if key == "x-forwarded-for"]
        if lines:
            return lines[-1].rpartition(",")[2].strip()
    return request.client.rpartition(":")[0]


def remote_client_of(request: Request, *, trust_forwarded_for: bool) -> str | None:
    """The key by which a connection limit counts a client.

    None for a connection from this machine: a proxy that does not forward the address, or the
    operator.
    """
    client = network_of(client_of(request, trust_forwarded_for=trust_forwarded_for))
    return None if not client or is_this_machine(client) else client


def rate_limited(handler: Handler, limits: str, *, trust_forwarded_for: bool) -> Handler:
    """429 with Retry-After for a client that exceeds its limit.

    Each worker counts separately: with connections to all workers, a client may reach as many
    times the limit as there are workers.
    """
    from limits import parse_many  # Slow to load, so only imported if there is a limit.

    windows = [FixedWindows(it.amount, it.get_expiry()) for it in parse_many(limits)]

    async def limited(request: Request, body: Body) -> Response:
        # Monitoring must always get a response, and a preflight does not count as a request.
        if request.path in WATCHED or request.method == "OPTIONS":
            return await handler(request, body)
        client = network_of(client_of(request, trust_forwarded_for=trust_forwarded_for))
        now_s = time.monotonic()
        for window in windows:
            wait_s = window.hit(client, now_s)
            if wait_s is not None:
                return _too_many(request, limits, wait_s=max(1, math.ceil(wait_s)))
        return await handler(request, body)

    return limited


def _too_many(request: Request, limits: str, wait_s: int) -> Response:
    sentence = (
        f"Too many requests: at most {limits} are answered. Try again in {format_duration(wait_s)}."
    )
    return error(429, sentence, ("retry-after", str(wait_s)), *cors_of(request.path))


def access_logged(handler: Handler, *, trust_forwarded_for: bool) -> Handler:
    """Logs each request when its response is ready."""

    async def logged(request: Request, body: Body) -> Response:
        began = time.perf_counter()
        response = await handler(request, body)
        _log.info(
            "request",
            client=client_of(request, trust_forwarded_for=trust_forwarded_for),
            method=request.method,
            path=printable(request.path),
            query=printable(_SECRETS.sub(r"\1…", request.query_string)),
            status=response.status,
            ms=round((time.perf_counter() - began) * 1000, 3),
        )
        return response

    return logged


def metered(handler: Handler, metrics: Metrics) -> Handler:
    async def measured(request: Request, body: Body) -> Response:
        began = time.perf_counter()
        response = await handler(request, body)
        metrics.observe(request, response.status, time.perf_counter() - began)
        return response

    return measured


# About 20 MB. Beyond that the oldest windows are evicted. An attack from more addresses than this
# within a window gains little: each of them would be admitted anyway.
MAX_CLIENTS = 100_000


class FixedWindows:
    """A client's window starts with its first request and allows `amount` of them."""

    def __init__(self, amount: int, length_s: float, most_clients: int = MAX_CLIENTS) -> None:
        self._amount = amount
        self._length_s = length_s
        self._most_clients = most_clients
        # Ordered by start, and therefore also by end.
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    def __len__(self) -> int:
        return len(self._windows)

    def hit(self, client: str, now_s: float) -> float | None:
        """Count a request. Returns the seconds to wait, if the client exceeds the limit."""
        window = self._windows.get(client)
        if window is not None and now_s < window.ends_at_s:
            if window.count >= self._amount:
                return window.ends_at_s - now_s
            window.count += 1
            return None
        self._windows.pop(client, None)
        self._make_room(now_s)
        self._windows[client] = _Window(now_s + self._length_s)
        return None

    def _make_room(self, now_s: float) -> None:
        # Two per new client, so that expired windows are removed without ever removing many at
        # once.
        for _ in range(2):
            oldest = next(iter(self._windows.values()), None)
            if oldest is None:
                return
            if oldest.ends_at_s > now_s and len(self._windows) < self._most_clients:
                return
            self._windows.popitem(last=False)


class _Window:
    __slots__ = ("count", "ends_at_s")

    def __init__(self, ends_at_s: float) -> None:
        self.count = 1
        self.ends_at_s = ends_at_s


_slow_log = structlog.get_logger("widget_catalog.slow")
# People notice a second, and a healthy service has few such requests.
_SLOW_MS = 1000

REQUEST_ID = "x-request-id"
# What is safe in a log and in a header; others are replaced.
_VALID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")

RequestSpan = Callable[[Request, Trace], AbstractContextManager[Callable[[int], None]]]
"""Begins the span of a request; what it returns is called with the status."""


# Unique is enough, and a fifth of the time of a secure generator. Workers must not share it.
_random = random.Random()  # noqa: S311
os.register_at_fork(after_in_child=_random.seed)


def request_id_of(request: Request) -> str:
    given = request.headers.get(REQUEST_ID)
    if given is not None and _VALID.fullmatch(given):
        return given
    return _random.randbytes(8).hex()


def identified(request: Request, response: Response) -> Response:
    """The response with the id of its request, unless it has it already."""
    for name, _ in response.headers:
        if name == REQUEST_ID:
            return response
    trace = current.get()
    found = request_id_of(request) if trace is None else trace.request_id
    return Response(response.status, [*response.headers, (REQUEST_ID, found)], response.body)


def begin_trace(request: Request) -> Trace:
    """The trace of this request, which log lines and parts refer to from now on."""
    trace = current.get()
    if trace is None:
        trace = Trace(request_id_of(request))
        current.set(trace)
    return trace


_spans: list[RequestSpan] = []


def use_request_spans(*spans: RequestSpan) -> None:
    """Make every request a span; without any, no longer."""
    _spans[:] = spans


def has_spans() -> bool:
    return bool(_spans)


def traced(handler: Handler, *, identifies_all: bool = True) -> Handler:
    """Measures each request, and logs a slow one with its parts."""

    async def handle(request: Request, body: Body) -> Response:
        if current.get() is not None:
            response = await handler(request, body)
            return identified(request, response) if identifies_all else response
        trace = begin_trace(request)
        began = time.perf_counter()
        try:
            if _spans:
                with _spans[0](request, trace) as end:
                    response = await handler(request, body)
                    end(response.status)
            else:
                response = await handler(request, body)
            ms = (time.perf_counter() - began) * 1000
            if ms >= _SLOW_MS and not isinstance(response.body, EventBody):
                _slow_log.warning(
                    "A request was slow.",
                    method=request.method,
                    path=printable(request.path),
                    status=response.status,
                    ms=round(ms, 1),
                    parts_ms=trace.parts_ms(),
                )
            return identified(request, response) if identifies_all else response
        finally:
            current.set(None)

    return handle

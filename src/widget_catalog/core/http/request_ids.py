"""The id of a request: the caller's `X-Request-Id`, or a new one. It is in every log line about the
request, and in the response: in every error, page and internal response, and in a public one if the
caller sent it.
"""

import os
import random
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import structlog

from widget_contract.texts import printable

from ..tracing import Trace, current
from .http import Body, EventBody, Handler, Request, Response

_log = structlog.get_logger("widget_catalog.slow")

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
    return f"{_random.getrandbits(64):016x}"


def identified(request: Request, response: Response) -> Response:
    """The response with the id of its request, unless it has it already."""
    if any(name == REQUEST_ID for name, _ in response.headers):
        return response
    trace = current.get()
    found = request_id_of(request) if trace is None else trace.request_id
    return response._replace(headers=[*response.headers, (REQUEST_ID, found)])


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


def traced(handler: Handler, slow_ms: int, *, identifies_all: bool = True) -> Handler:
    """Measures each request, and logs one that takes longer than this (0: none)."""

    async def handle(request: Request, body: Body) -> Response:
        if current.get() is not None:
            response = await handler(request, body)
            return identified(request, response) if identifies_all else response
        trace = begin_trace(request)
        began = time.perf_counter()
        try:
            with _spans[0](request, trace) if _spans else nullcontext(_ignore) as end:
                response = await handler(request, body)
                end(response.status)
            ms = (time.perf_counter() - began) * 1000
            if slow_ms and ms >= slow_ms and not isinstance(response.body, EventBody):
                _log.warning(
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


def _ignore(_status: int) -> None:
    pass

"""Tracing: the id of a request, and how long its parts take.

Whatever may be slow is a `part`: waiting for a lock, a statement, the object store, rendering. The
parts of a request are in the log if it was slow, all of them in the metrics, and with the feature
`telemetry` each is a span.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from time import perf_counter


class Trace:
    """A request that is being handled."""

    __slots__ = ("parts_s", "request_id", "theme")

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.theme = ""
        """The colors that the visitor of a personal page has chosen: light, dark, or none."""
        self.parts_s: dict[str, float] = {}
        """By name, summed up."""

    def parts_ms(self) -> dict[str, float]:
        return {name: round(seconds * 1000, 1) for name, seconds in self.parts_s.items()}


current: ContextVar[Trace | None] = ContextVar("trace", default=None)

Observe = Callable[[str, float], None]
StartSpan = Callable[[str], AbstractContextManager[object]]

# The part that sends something to another service, later than the request that causes it.
DELIVERY = "delivery"
# The `traceparent` of that request: a delivery continues its trace, or begins one.
continued: ContextVar[str | None] = ContextVar("continued", default=None)

# The execution option of a statement that names its part, if that is not "statement".
PART = "part"

_observers: list[Observe] = []
_outgoing_headers: Callable[[], Mapping[str, str]] = dict
_start_span: StartSpan | None = None


def observe_parts(observe: Observe) -> None:
    """Call this with the name and the seconds of every part, of requests and other work."""
    _observers.append(observe)


def use_spans(start_span: StartSpan | None) -> None:
    """Make every part a span. None: no longer."""
    global _start_span
    _start_span = start_span


def use_outgoing_headers(headers: Callable[[], Mapping[str, str]]) -> None:
    global _outgoing_headers
    _outgoing_headers = headers


def outgoing_headers() -> Mapping[str, str]:
    """What to send with a request to another service, so that it can continue the trace."""
    return _outgoing_headers()


class part:  # noqa: N801  It is used like a function.
    """Measures a part of the present work: `with part("lock"): …`."""

    __slots__ = ("_began", "_name", "_span")

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        self._span = None if _start_span is None else _start_span(self._name)
        if self._span is not None:
            self._span.__enter__()
        self._began = perf_counter()

    def __exit__(self, *error: object) -> None:
        seconds = perf_counter() - self._began
        if self._span is not None:
            self._span.__exit__(*error)  # type: ignore[arg-type]
        trace = current.get()
        if trace is not None:
            parts = trace.parts_s
            parts[self._name] = parts.get(self._name, 0.0) + seconds
        for observe in _observers:
            observe(self._name, seconds)

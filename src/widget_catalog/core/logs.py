"""Logging with structlog: console or JSON. Repeated lines are collapsed: a full disk or a lost
database would write hundreds a second.
"""

import logging
import sys
import threading
import time
from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any

import structlog

from .tracing import current

# Lines with the same message that are written within a window; the others are counted.
_WRITTEN = 5
_WINDOW_S = 10.0
_SUMMARY = "A log line was repeated."
# More than there are messages of our own.
_MAX_WINDOWS = 1_000


class RepeatedLogs(logging.Filter):
    """For lines of the service and of libraries. At the end of a window it logs how many lines were
    left out.
    """

    def __init__(self, written: int = _WRITTEN, window_s: float = _WINDOW_S) -> None:
        super().__init__()
        self._written = written
        self._window_s = window_s
        self._mutex = threading.Lock()
        # By logger and message: when the window began, and how many lines there were.
        self._windows: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        # Ours are dictionaries. Those of libraries are templates, some with values inserted.
        event = record.msg.get("event") if isinstance(record.msg, dict) else None
        if record.levelno < logging.WARNING or event == _SUMMARY:
            return True
        key = (record.name, str(event or record.msg))
        now = time.monotonic()
        with self._mutex:
            if len(self._windows) >= _MAX_WINDOWS and key not in self._windows:
                del self._windows[next(iter(self._windows))]  # The one that began first.
            began, count = self._windows.get(key, (now, 0))
            if now - began >= self._window_s:
                began, count = now, 0
            self._windows[key] = (began, count + 1)
            if count == self._written:
                wait_s = began + self._window_s - now
                timer = threading.Timer(wait_s, self._summarize, (record.levelno, key))
                timer.daemon = True
                timer.start()
        return count < self._written

    def _summarize(self, level: int, key: tuple[str, str]) -> None:
        with self._mutex:
            _, count = self._windows.pop(key, (0.0, 0))
        left_out = count - self._written
        if left_out > 0:
            summary = {"left_out": left_out, "within_s": round(self._window_s), "line": key[1]}
            structlog.get_logger(key[0]).log(level, _SUMMARY, **summary)


def report_clock_jump(jump: timedelta) -> None:
    structlog.get_logger("widget_catalog.start").warning(
        "The clock of this machine was set. Check that it is right: versions and sign-ins are "
        "dated by it.",
        jumped_s=round(jump.total_seconds()),
    )


def _add_request_id(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Any:
    trace = current.get()
    if trace is not None:
        event["request_id"] = trace.request_id
    return event


def configure_logs(log_format: str, level: str) -> None:
    """Logs go to standard error; standard output is for results."""
    shared: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        _add_request_id,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]
    if log_format == "json":
        final: list[structlog.types.Processor] = [
            structlog.processors.format_exc_info,
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(),
        ]
    else:
        # Plain tracebacks, because the others print the values of variables, which may be secret.
        plain = structlog.dev.plain_traceback
        colors = sys.stderr.isatty()
        final = [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain)]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *final],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    handler.addFilter(RepeatedLogs())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    logging.getLogger("widget_catalog").setLevel(level.upper())
    # At debug level, libraries log secrets: Authlib the tokens it issues, boto3 its session token
    # and signatures. At info level, httpx logs every request.
    root.setLevel(max(logging.INFO, logging.getLevelNamesMapping()[level.upper()]))
    # At info level, httpx logs each request, and botocore where it found the key.
    for name in ("httpx", "botocore"):
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )

"""Logging with structlog: console or JSON."""

import logging
import sys
from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any

import structlog

from .repeated_logs import RepeatedLogs
from .tracing import current


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
    root = logging.getLogger()
    root.handlers[:] = [handler]
    logging.getLogger("widget_catalog").setLevel(level.upper())
    # At debug level, libraries log secrets: Authlib the tokens it issues, boto3 its session token
    # and signatures. At info level, httpx logs every request.
    root.setLevel(max(logging.INFO, logging.getLevelNamesMapping()[level.upper()]))
    logging.getLogger("httpx").setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            RepeatedLogs(),
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )

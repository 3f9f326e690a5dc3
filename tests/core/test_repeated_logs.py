"""Repeated log lines are collapsed, and nothing else is."""

import structlog
from structlog.testing import LogCapture

from support.service import wait_for
from widget_catalog.core.logs import RepeatedLogs


def logger_with(capture: LogCapture, repeated: RepeatedLogs) -> structlog.stdlib.BoundLogger:
    structlog.configure(processors=[repeated, capture], cache_logger_on_first_use=False)
    found: structlog.stdlib.BoundLogger = structlog.get_logger("a")
    return found


def test_only_the_first_lines_are_written_and_the_others_are_counted() -> None:
    before = structlog.get_config()
    capture = LogCapture()
    try:
        log = logger_with(capture, RepeatedLogs(written=3, window_s=0.3))
        for number in range(600):
            log.error("The disk is full.", file=str(number))
        log.error("Another one.")
        log.info("Not an error.")

        wait_for(lambda: any("line" in it for it in capture.entries))

        written = [it["event"] for it in capture.entries]
        assert written[:3] == ["The disk is full."] * 3
        assert written[3:5] == ["Another one.", "Not an error."]
        assert capture.entries[5] == {
            "event": "A log line was repeated.",
            "line": "The disk is full.",
            "left_out": 597,
            "within_s": 0,
            "log_level": "error",
        }
        log.error("The disk is full.")
        assert capture.entries[-1]["event"] == "The disk is full."
    finally:
        structlog.configure(**before)


def test_lines_that_inform_are_never_left_out() -> None:
    before = structlog.get_config()
    capture = LogCapture()
    try:
        log = logger_with(capture, RepeatedLogs(written=3, window_s=60))
        for _ in range(100):
            log.info("request")
        assert len(capture.entries) == 100
    finally:
        structlog.configure(**before)

"""Repeated log lines are collapsed, and nothing else is."""

import logging
from collections.abc import Callable, Iterator

import pytest
import structlog

from support.service import wait_for
from widget_catalog.core.logs import RepeatedLogs

Log = Callable[[int, str, str], object]
"""With a level, a message and a value."""


def ours(level: int, message: str, value: str) -> None:
    structlog.get_logger("repeated").log(level, message, value=value)


def of_a_library(level: int, message: str, value: str) -> None:
    logging.getLogger("repeated").log(level, message + "%.0s", value)


@pytest.fixture(params=[ours, of_a_library])
def log(request: pytest.FixtureRequest) -> Log:
    found: Log = request.param
    return found


@pytest.fixture
def written() -> Iterator[list[str]]:
    """The lines that pass the filter: their messages."""
    handler = _Lines()
    handler.addFilter(RepeatedLogs(written=3, window_s=0.3))
    logger, before = logging.getLogger("repeated"), structlog.get_config()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    structlog.configure(
        processors=[structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    yield handler.messages
    structlog.configure(**before)
    logger.removeHandler(handler)


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = record.msg if isinstance(record.msg, dict) else {"event": record.getMessage()}
        self.messages.append(" ".join(str(line[it]) for it in ("event", "left_out") if it in line))


def test_only_the_first_lines_are_written_and_the_others_are_counted(
    log: Log, written: list[str]
) -> None:
    for number in range(600):
        log(logging.ERROR, "The disk is full.", str(number))
    log(logging.ERROR, "Another one.", "")
    log(logging.INFO, "Not an error.", "")

    wait_for(lambda: any("repeated" in it for it in written))

    assert written == [
        *["The disk is full."] * 3,
        "Another one.",
        "Not an error.",
        "A log line was repeated. 597",
    ]
    log(logging.ERROR, "The disk is full.", "")
    assert written[-1] == "The disk is full."


def test_lines_that_inform_are_never_left_out(log: Log, written: list[str]) -> None:
    for number in range(100):
        log(logging.INFO, "request", str(number))
    assert len(written) == 100


def test_what_was_left_out_is_said_of_every_line(log: Log, written: list[str]) -> None:
    messages = [f"Error {number}." for number in range(8)]
    for message in messages:
        for _ in range(5):
            log(logging.ERROR, message, "")

    wait_for(lambda: written.count("A log line was repeated. 2") == len(messages))


def test_a_dictionary_of_a_library_is_a_message_as_well() -> None:
    repeated = RepeatedLogs()
    for _ in range(5):
        record = logging.LogRecord("a", logging.ERROR, "", 0, {"other": 1}, None, None)
        assert repeated.filter(record)
    assert not repeated.filter(record)


@pytest.mark.parametrize("window_s", [0.0, 60.0])
def test_messages_that_all_differ_are_not_remembered_for_ever(window_s: float) -> None:
    repeated = RepeatedLogs(window_s=window_s)
    for number in range(5_000):
        record = logging.LogRecord("a", logging.ERROR, "", 0, f"Error {number}.", None, None)
        assert repeated.filter(record)
    assert len(repeated._windows) <= 1_000

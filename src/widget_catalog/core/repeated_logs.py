"""Collapses repeated log lines: a full disk or a lost database would write hundreds a second."""

import logging
import threading
import time
from collections.abc import MutableMapping
from typing import Any

import structlog

# Lines with the same message that are written within a window; the others are counted.
_WRITTEN = 5
_WINDOW_S = 10.0
_LEVELS = frozenset({"warning", "error", "critical"})


class RepeatedLogs:
    """A processor of structlog. At the end of a window it logs how many lines were left out."""

    def __init__(self, written: int = _WRITTEN, window_s: float = _WINDOW_S) -> None:
        self._written = written
        self._window_s = window_s
        self._mutex = threading.Lock()
        # By logger and message: when the window began, and how many lines there were.
        self._windows: dict[tuple[str, str], tuple[float, int]] = {}

    def __call__(
        self, logger: Any, method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        message = str(event.get("event", ""))
        if method not in _LEVELS and event.get("level") not in _LEVELS:
            return event
        key = (getattr(logger, "name", ""), message)
        now = time.monotonic()
        with self._mutex:
            began, count = self._windows.get(key, (now, 0))
            if now - began >= self._window_s:
                began, count = now, 0
            self._windows[key] = (began, count + 1)
            if count == self._written:
                wait_s = began + self._window_s - now
                timer = threading.Timer(wait_s, self._summarize, (method, key))
                timer.daemon = True
                timer.start()
        if count >= self._written:
            raise structlog.DropEvent
        return event

    def _summarize(self, method: str, key: tuple[str, str]) -> None:
        with self._mutex:
            _, count = self._windows.pop(key, (0.0, 0))
        left_out = count - self._written
        if left_out > 0:
            summary = {"left_out": left_out, "within_s": round(self._window_s), "line": key[1]}
            level = logging.getLevelNamesMapping().get(method.upper(), logging.ERROR)
            structlog.get_logger(key[0]).log(level, "A log line was repeated.", **summary)

"""Helper processes: how they end, and what they print."""

import select
import socket
import subprocess
import sys
import time

import pytest

from widget_catalog.core.jobs import process_pool
from widget_catalog.core.jobs.process_pool import map_batches, send

pytestmark = pytest.mark.slow


def test_a_helper_prints_nothing_if_its_parent_ends_with_unread_results() -> None:
    ours, its_end = socket.socketpair()
    command = [sys.executable, "-m", process_pool.__name__, "builtins:sum"]
    with subprocess.Popen(
        command, stdin=its_end.fileno(), stderr=subprocess.PIPE, text=True
    ) as helper:
        its_end.close()
        with ours, ours.makefile("wb") as questions:
            send(questions, ())
            send(questions, [1, 2, 3])
            assert select.select([ours], [], [], 60)[0]
        _, printed = helper.communicate(timeout=60)

    assert (printed, helper.returncode) == ("", 0)


def test_a_caller_that_stops_early_does_not_wait_for_the_remaining_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process_pool, "_cores", lambda: 2)
    processed_here: list[float] = []

    def sleep(seconds: float) -> None:
        """Helpers find `time.sleep` under this name."""
        processed_here.append(seconds)

    sleep.__module__, sleep.__qualname__ = "time", "sleep"
    results = map_batches(sleep, iter([0.0] + [60.0] * 50), alone=0)
    for _ in range(10):
        next(results)
    before, start = len(processed_here), time.monotonic()

    results.close()

    assert len(processed_here) == before
    assert time.monotonic() - start < 30

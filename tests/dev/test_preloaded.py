"""Commands that the tests run in forked processes."""

import os
import signal
import threading
from pathlib import Path

import pytest

from support.preloaded import run_module
from support.service import free_port, wait_for


def test_a_time_limit_ends_a_command_that_does_not_end(tmp_path: Path) -> None:
    """As pytest-timeout does: the handler of a signal raises."""

    def expire(*_: object) -> None:
        raise TimeoutError("The time limit.")

    def expire_when_it_runs() -> None:
        wait_for((data / "catalog.db").exists)
        os.kill(os.getpid(), signal.SIGUSR1)

    data = tmp_path / "data"
    serve = ("serve", "--data", str(data), "--port", str(free_port()))
    former = signal.signal(signal.SIGUSR1, expire)
    threading.Thread(target=expire_when_it_runs).start()
    try:
        with pytest.raises(TimeoutError, match="time limit"):
            run_module("widget_catalog", *serve, environ=os.environ)
    finally:
        signal.signal(signal.SIGUSR1, former)

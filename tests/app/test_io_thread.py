"""The I/O thread of a busy worker does not interrupt the thread that handles requests."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service import Service
from widget_catalog.app.io_thread import IO_THREAD, IoScheduling

BUSY, QUIET = 0.9, 0.2


@pytest.fixture
def thread() -> Iterator[int]:
    """A thread with the name of Granian's."""
    is_named, is_over = threading.Event(), threading.Event()

    def run() -> None:
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(IO_THREAD)
        is_named.set()
        is_over.wait()

    started = threading.Thread(target=run)
    started.start()
    is_named.wait()
    assert started.native_id is not None
    yield started.native_id
    is_over.set()
    started.join()


def test_only_the_io_thread_of_a_busy_worker_waits_for_the_others(thread: int) -> None:
    scheduling = IoScheduling()
    scheduling.follow(QUIET)
    assert os.sched_getscheduler(thread) == os.SCHED_OTHER
    for _ in range(2):
        scheduling.follow(BUSY)
        assert os.sched_getscheduler(thread) == os.SCHED_BATCH
        assert os.sched_getscheduler(threading.get_native_id()) == os.SCHED_OTHER
    scheduling.follow(QUIET)
    assert os.sched_getscheduler(thread) == os.SCHED_OTHER


def test_a_class_that_an_operator_chose_is_kept(thread: int) -> None:
    os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
    scheduling = IoScheduling()
    scheduling.follow(BUSY)
    scheduling.follow(QUIET)
    assert os.sched_getscheduler(thread) == os.SCHED_BATCH


def test_a_thread_that_has_ended_is_no_error(thread: int) -> None:
    scheduling = IoScheduling()
    scheduling.follow(BUSY)
    scheduling._batched.append(2**22)  # No thread has this number.
    scheduling.follow(QUIET)
    assert os.sched_getscheduler(thread) == os.SCHED_OTHER


def test_the_io_thread_of_a_worker_has_this_name(service: Service) -> None:
    """If Granian names it otherwise, nothing changes its class."""
    (worker,) = service.worker_pids()
    threads = Path(f"/proc/{worker}/task").iterdir()
    assert IO_THREAD in [(it / "comm").read_text().strip() for it in threads]

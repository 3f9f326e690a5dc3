"""One writer at a time, and every wait has a timeout: on both databases."""

import contextlib
import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.locks import held_by_another_process
from widget_catalog.catalog.store.feed import latest_seq
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.file_lock import WaitPolicy, WriterLock, find_holder
from widget_catalog.core.db.migrate import check_schema, migrate
from widget_catalog.core.db.sqlite import sqlite_engine
from widget_catalog.core.errors import StoreUnavailable, WriterBusy

_GENEROUS_S = 60


@contextlib.contextmanager
def _written(store: Store) -> Iterator[threading.Event]:
    """Another thread writes until the event is set."""
    has_begun, ends = threading.Event(), threading.Event()

    def write() -> None:
        with store.publishing():
            has_begun.set()
            ends.wait(_GENEROUS_S)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert has_begun.wait(_GENEROUS_S)
        yield ends
    finally:
        ends.set()
        thread.join()


def _with(store: Store, wait_policy: WaitPolicy) -> Store:
    return Store(store.engine, store._lock_file, wait_policy=wait_policy)


def test_a_writer_gives_up_after_its_time_and_says_why(store: Store) -> None:
    with _written(store):
        began = time.monotonic()
        with pytest.raises(WriterBusy) as caught, _with(store, WaitPolicy(0.3)).publishing():
            pass
        assert 0.2 < time.monotonic() - began < _GENEROUS_S / 2
    message = caught.value.message
    if store.engine.dialect.name == "sqlite":
        assert f"process {os.getpid()} has held the writer lock since " in message
    else:
        assert "another process is writing" in message


def test_visitors_are_not_told_who_is_writing(store: Store) -> None:
    impatient = _with(store, WaitPolicy(0.1, is_service=True))
    with _written(store), pytest.raises(WriterBusy) as caught, impatient.publishing():
        pass
    assert str(os.getpid()) not in caught.value.message
    assert "process " not in caught.value.message.replace("another process ", "")


def test_a_writer_that_does_not_wait_is_refused_at_once(store: Store) -> None:
    patient = _with(store, WaitPolicy(_GENEROUS_S))
    with _written(store), pytest.raises(WriterBusy), patient.publishing(waits=False):
        pass
    with patient.publishing(waits=False) as tx:
        assert latest_seq(tx.connection) == 0


def test_a_writer_that_waits_gets_its_turn_when_the_other_has_ended(store: Store) -> None:
    with _written(store) as ends:
        threading.Timer(0.3, ends.set).start()
        with _with(store, WaitPolicy(_GENEROUS_S)).publishing() as tx:
            assert latest_seq(tx.connection) == 0


def test_a_migration_gives_up_and_says_that_somebody_is_writing(empty_store: Store) -> None:
    said = r"process .* held the writer lock|another process is writing"
    with _written(empty_store), pytest.raises(WriterBusy, match=said):
        migrate(_with(empty_store, WaitPolicy(0.3)))
    migrate(empty_store)
    check_schema(empty_store)


def test_reading_waits_for_no_writer(store: Store) -> None:
    with _written(store), store.reading() as connection:
        assert latest_seq(connection) == 0


def test_the_waiting_message_names_the_holder(tmp_path: Path) -> None:
    said: list[str] = []
    lock_file = tmp_path / "lock"
    holder, waiter = (
        WriterLock(lock_file, "a test"),
        WriterLock(lock_file, wait_policy=WaitPolicy(2.2, on_wait=said.append)),
    )
    with holder.held(), pytest.raises(WriterBusy), waiter.held():
        pass
    [hint] = said
    assert hint.startswith(f"Waiting, as process {os.getpid()} (a test) has held the writer lock")


def test_turns_are_in_the_order_of_asking_and_nobody_is_left_out(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "lock", wait_policy=WaitPolicy(_GENEROUS_S))
    turns: list[int] = []
    threads = []

    def write(number: int) -> None:
        with lock.held():
            turns.append(number)

    with lock.held():
        for number in range(5):
            threads.append(threading.Thread(target=write, args=(number,)))
            threads[-1].start()
            while _count_waiting(tmp_path / "lock") <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join(_GENEROUS_S)
    assert turns == [0, 1, 2, 3, 4]
    assert lock.blocked_s() == 0


@pytest.mark.slow
def test_when_others_have_waited_in_vain_the_next_is_refused_at_once(tmp_path: Path) -> None:
    lock_file = tmp_path / "lock"
    lock_file.touch()
    lock = WriterLock(lock_file, wait_policy=WaitPolicy(1.0, is_service=True))
    with held_by_another_process(lock_file) as holder:
        with pytest.raises(WriterBusy), lock.held():
            pass
        began = time.monotonic()
        for _ in range(20):  # With the timeout, this would take 20 seconds.
            with pytest.raises(WriterBusy), lock.held():
                pass
        assert time.monotonic() - began < 10
        assert lock.blocked_s() >= 1
        found = find_holder(lock_file)
        assert found is not None
        assert found.pid == holder.pid
        assert found.program == "another program"
    _wait_until_free(lock)
    with lock.held():
        found = find_holder(lock_file)
        assert found is not None
        assert found.pid == os.getpid()


def test_a_killed_holder_is_not_named_any_more(tmp_path: Path) -> None:
    lock_file = tmp_path / "lock"
    child = os.fork()
    if child == 0:
        with WriterLock(lock_file, "killed").held():
            os._exit(0)
    os.waitpid(child, 0)
    assert b"killed" in lock_file.read_bytes()
    assert find_holder(lock_file) is None


def test_a_holder_that_left_no_record_is_another_process(tmp_path: Path) -> None:
    lock_file = tmp_path / "lock"
    with lock_file.open("w+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(WriterBusy) as caught, WriterLock(lock_file).held(waits=False):
            pytest.fail("It was held.")
    assert "another process holds the writer lock" in caught.value.message


def _count_waiting(lock_file: Path) -> int:
    """How many wait for the lock in the kernel."""
    inode = f":{lock_file.stat().st_ino} "
    lines = Path("/proc/locks").read_text().splitlines()
    return sum(" -> " in line and inode in line for line in lines)


def _wait_until_free(lock: WriterLock) -> None:
    deadline = time.monotonic() + _GENEROUS_S
    while lock.blocked_s():
        assert time.monotonic() < deadline
        time.sleep(0.01)


_LOCKS_THE_FILE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_another_program_that_locks_the_database_is_reported(tmp_path: Path) -> None:
    database = tmp_path / "catalog.db"
    store = Store(sqlite_engine(database), tmp_path / "lock")
    with store.writing() as tx:
        tx.connection.exec_driver_sql("PRAGMA user_version = 7")
    with subprocess.Popen(
        [sys.executable, "-c", _LOCKS_THE_FILE, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(StoreUnavailable) as caught, store.writing(waits=False):
            pytest.fail("It was written to.")
        other.communicate()
    store.close()

    assert "another program has locked its database" in caught.value.message
    assert "(database is locked)" not in caught.value.message

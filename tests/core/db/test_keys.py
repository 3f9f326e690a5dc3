"""Signing keys: private, shared by all processes, rotated daily."""

import os
import stat
import threading
from pathlib import Path

import pytest

from support.locks import held_by_another_process
from widget_catalog.core.errors import StoreUnavailable
from widget_catalog.core.keys import KeyFile, SharedKeys

_HOUR_MS = 3_600_000


class _Clock:
    now_ms = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def keys(tmp_path: Path, clock: _Clock) -> KeyFile:
    return KeyFile(tmp_path / "keys", clock)


def test_a_key_is_made_when_it_is_first_needed_and_stays(keys: KeyFile, tmp_path: Path) -> None:
    assert keys.accepted() == []

    made = keys.newest()

    assert len(made) == 32
    assert KeyFile(tmp_path / "keys", _Clock()).newest() == made
    assert keys.accepted() == [made]


def test_nobody_else_can_read_it(keys: KeyFile, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        keys.newest()
        keys.rotate()
    finally:
        os.umask(before)

    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_all_who_begin_at_once_have_the_same_key(tmp_path: Path) -> None:
    made: set[bytes] = set()
    barrier = threading.Barrier(8)

    def begin() -> None:
        mine = KeyFile(tmp_path / "keys", _Clock())
        barrier.wait()
        made.add(mine.newest())

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 1


def test_after_a_day_there_is_a_new_key_and_the_old_one_is_accepted_for_a_while(
    keys: KeyFile, clock: _Clock
) -> None:
    old = keys.newest()
    clock.now_ms += 24 * _HOUR_MS - 1
    assert keys.newest() == old
    clock.now_ms += 1

    new = keys.newest()

    assert new != old
    assert keys.accepted() == [new, old]
    clock.now_ms += 24 * _HOUR_MS  # As long as its last signatures may be valid.
    assert old in keys.accepted()
    clock.now_ms += _HOUR_MS
    assert old not in keys.accepted()


def test_keys_of_nodes_are_accepted_as_long_as_what_they_have_signed_may_live(
    clock: _Clock,
) -> None:
    keys = SharedKeys(["a secret", "another"], clock)
    for _ in range(24):
        clock.now_ms += _HOUR_MS
        made = keys.newest()
        for hours in range(25):
            later = _Clock()
            later.now_ms = clock.now_ms + hours * _HOUR_MS
            assert made in SharedKeys(["a new secret", "a secret"], later).accepted(), hours
        later.now_ms += 26 * _HOUR_MS
        assert made not in SharedKeys(["a secret"], later).accepted()


def test_a_clock_that_was_wrong_is_no_reason_to_keep_a_key_for_years(
    keys: KeyFile, clock: _Clock
) -> None:
    clock.now_ms += 9000 * _HOUR_MS
    ahead = keys.newest()
    clock.now_ms -= 9000 * _HOUR_MS

    assert keys.newest() != ahead


def test_rotating_ends_every_key_at_once(keys: KeyFile) -> None:
    old = keys.newest()

    keys.rotate()

    assert old not in keys.accepted()
    assert keys.accepted() == [keys.newest()]


@pytest.mark.slow
def test_nobody_waits_without_end_for_the_lock(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys", _Clock(), timeout_s=0.1)
    made = keys.newest()
    with held_by_another_process(tmp_path / "keys.lock"):
        with pytest.raises(StoreUnavailable, match=r"locked .*/keys\.lock for 0\.1 seconds"):
            keys.rotate()
        assert keys.newest() == made
    keys.rotate()


@pytest.mark.parametrize("content", [b"", b"[", b"{}", b'[{"secret":1}]'])
def test_a_file_that_is_damaged_is_replaced(keys: KeyFile, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "keys").write_bytes(content)

    assert keys.accepted() == []
    made = keys.newest()
    assert keys.accepted() == [made]


def test_each_purpose_has_keys_of_its_own(keys: KeyFile) -> None:
    one, other = keys.for_purpose("uploads"), keys.for_purpose("signing in")

    assert one.newest() != other.newest()
    assert one.accepted() == [one.newest()]
    assert keys.newest() not in (one.newest(), other.newest())


def test_where_no_key_can_be_kept_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be used: "):
        KeyFile(tmp_path / "no such folder" / "keys", _Clock()).newest()

"""What the processes of a node know about the database: which connections lead nowhere."""

import time
from pathlib import Path

import pytest

from widget_catalog.catalog.replica.node_status import NodeStatus


def test_connections_to_a_server_that_was_found_silent_or_read_only_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = NodeStatus(tmp_path / "node"), NodeStatus(tmp_path / "node")
    ours.database_responded(1)
    ours.database_failed()
    assert theirs.lost_at_s() == 0, "It responded until now: only one connection was closed."

    later = time.monotonic_ns() + 3_000_000_000
    monkeypatch.setattr(time, "monotonic_ns", lambda: later)
    ours.database_failed()
    assert theirs.lost_at_s() == later // 1_000_000 / 1_000

    monkeypatch.setattr(time, "monotonic_ns", lambda: later + 1_000_000_000)
    ours.database_responded(2)
    ours.database_became_read_only()
    assert theirs.lost_at_s() == (later // 1_000_000 + 1_000) / 1_000


def test_a_node_that_is_behind_stays_while_it_progresses_and_no_other_is_much_fresher(
    tmp_path: Path,
) -> None:
    status = NodeStatus(tmp_path / "node")
    status.applied(1_000)
    status.database_responded(11_000)
    status.others_applied(1_000)
    assert status.is_catching_up()

    status.others_applied(5_000)
    assert status.is_catching_up(), "6,000 to go, and 10,000 here: no reason to leave."

    status.others_applied(7_000)
    assert not status.is_catching_up()

    status.applied(4_000)
    assert status.is_catching_up(), "4,000 there, and 7,000 here."

    status.others_applied(11_000)
    assert not status.is_catching_up(), "Another one has everything."


def test_a_node_that_applies_nothing_is_not_catching_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = NodeStatus(tmp_path / "node")
    status.applied(1_000)
    status.database_responded(11_000)
    assert status.is_catching_up()

    later = time.monotonic_ns() + 20_000_000_000
    monkeypatch.setattr(time, "monotonic_ns", lambda: later)

    status.applied(1_000)
    assert not status.is_catching_up()
    status.applied(1_001)
    assert status.is_catching_up()

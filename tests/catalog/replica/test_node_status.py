"""Which connections are stale, as far as the processes of a node know."""

import time
from pathlib import Path

from widget_catalog.catalog.replica.node_status import NodeStatus


def test_connections_to_a_host_that_the_database_has_left_are_stale(tmp_path: Path) -> None:
    ours, theirs = NodeStatus(tmp_path / "node"), NodeStatus(tmp_path / "node")
    ours.database_responded(1)
    before = time.monotonic()
    assert theirs.stale_before_s() == 0
    time.sleep(0.002)

    ours.host_moved(1)

    assert theirs.host == 1
    assert before < theirs.stale_before_s() <= time.monotonic()


def test_all_but_new_connections_are_stale_while_the_database_is_silent(tmp_path: Path) -> None:
    assert 0 < NodeStatus(tmp_path / "node").stale_before_s() < time.monotonic() - 4

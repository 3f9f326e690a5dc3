"""kill -9 while a snapshot is loaded, at any moment: run again, it is complete."""

import os
import random
import time
from collections import Counter
from pathlib import Path

from mirror.mirrors import assert_bundles_are_whole
from snapshot.snapshots import Pair, everything, make
from support.children import Children, children_of, kill
from support.folders import empty_folder
from support.widgets import ndjson, widget_line
from transfer.import_state import stored_line, take
from widget_catalog.catalog.node.node import Node, open_node, prepare_node
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.moderation.revoke_version import revoke_version
from widget_catalog.operations.doctor import check_catalog
from widget_catalog.publishing.change_widget import deprecate_version, unlist_widget, yank_version

# For each of two snapshots.
_KILLS = int(os.environ.get("KILLS", "3"))
_WIDGETS = 40


def _publish(node: Node, beside: Path, version: str) -> None:
    lines = []
    for i in range(_WIDGETS):
        name = f"{version}-{i}.js"
        (beside / name).write_text(f"export function mount() {{ return '{name}' }}\n" * 50)
        day = f"2026-01-0{version[0]}T00:00:00Z"
        stored = stored_line(version, name, publishedAt=day)
        lines.append(widget_line(f"s{i % 3}/w{i}", versions=[stored]))
    take(node, ndjson(*lines), beside)


def _change(node: Node) -> None:
    store = node.store
    for i in range(0, _WIDGETS, 2):
        yank_version(store, COMMAND_LINE, f"s{i % 3}/w{i}", "1.0.0", "Slow.")
    for i in range(1, _WIDGETS, 4):
        deprecate_version(store, COMMAND_LINE, f"s{i % 3}/w{i}", "1.0.0", "Old.")
    for i in (3, 5):
        unlist_widget(store, COMMAND_LINE, f"s{i % 3}/w{i}")
        revoke_version(store, node.bundles, COMMAND_LINE, f"s{i % 3}/w{i}", "1.0.0", "Malware.")


def test_a_load_killed_at_any_time_is_whole_when_it_is_run_again(tmp_path: Path) -> None:
    choose = random.Random(int(os.environ.get("SEED", "7")))
    keys, beside = Pair(tmp_path / "key"), tmp_path / "beside"
    beside.mkdir()
    origin = open_node(empty_folder(tmp_path / "origin"), is_durable=False)
    whole, killed = empty_folder(tmp_path / "whole"), empty_folder(tmp_path / "killed")
    codes = Counter[int]()
    with children_of("snapshot.snapshot_loader", keys.made.public) as children:
        for number in (1, 2):
            _publish(origin, beside, f"{number}.0.0")
            if number == 2:
                _change(origin)
            snapshot = tmp_path / f"snapshot-{number}"
            make(origin, snapshot, keys)
            began = time.monotonic()
            assert _load(children, snapshot, whole) == 0
            duration_s = time.monotonic() - began
            for _ in range(_KILLS):
                child = children.start(f"{snapshot}\t{killed}")
                time.sleep(choose.uniform(0.1, 1) * duration_s)
                kill(child)
                codes[children.wait()] += 1
                _assert_sound(killed)
            assert _load(children, snapshot, killed) == 0
            _assert_is(killed, origin, tmp_path)
    assert codes[-9], "no kill fell into a load"
    assert set(codes) <= {0, -9}
    origin.store.close()


def _load(children: Children, snapshot: Path, data: Path) -> int:
    children.start(f"{snapshot}\t{data}")
    return children.wait()


def _assert_sound(data: Path) -> None:
    """Every existing version has its files."""
    node = prepare_node(data)
    assert_bundles_are_whole(node)
    node.store.close()


def _assert_is(data: Path, origin: Node, tmp_path: Path) -> None:
    node = prepare_node(data)
    assert everything(node, tmp_path / "there") == everything(origin, tmp_path / "here")
    assert check_catalog(node.store, node.bundles, node.replica).errors == []
    node.store.close()

"""kill -9 of a mirror and of its upstream, at any moment: in the end they are equal."""

import os
import random
import time
from pathlib import Path
from typing import Any

from mirror.mirrors import assert_bundles_are_whole, exported
from support.children import children_of, kill
from support.folders import empty_folder
from support.service import Service, free_port
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.node.node import Node, open_node, prepare_node
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.operations.doctor import check_catalog
from widget_catalog.publishing.change_widget import (
    deprecate_version,
    list_widget,
    unlist_widget,
    yank_version,
)

_KILLS = int(os.environ.get("KILLS", "4"))
# The number of kills of the upstream, which takes long to start.
_KILLS_OF_ORIGIN = max(1, _KILLS // 10)
_WIDGETS = 30


def _line(folder: Path, i: int) -> dict[str, Any]:
    (folder / f"{i}.js").write_text(f"export function mount() {{ return {i} }}\n")
    stored = {"bundleFile": f"{i}.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    return widget_line(f"s{i % 3}/w{i}", versions=[version_line("1.0.0", **stored)])


def _change_something(node: Node, choose: random.Random) -> None:
    key = f"s0/w{choose.randrange(0, _WIDGETS, 3)}"
    yank_version(node.store, COMMAND_LINE, key, "1.0.0", f"Reason {choose.random()}.")
    key = f"s1/w{choose.randrange(1, _WIDGETS, 3)}"
    deprecate_version(node.store, COMMAND_LINE, key, "1.0.0", f"Message {choose.random()}.")
    key = f"s2/w{choose.randrange(2, _WIDGETS, 3)}"
    choose.choice([list_widget, unlist_widget])(node.store, COMMAND_LINE, key)


def test_both_sides_killed_at_any_time_are_the_same_in_the_end(tmp_path: Path) -> None:
    choose = random.Random(int(os.environ.get("SEED", "5")))
    files = tmp_path / "files"
    files.mkdir()
    origin = open_node(empty_folder(tmp_path / "origin"), is_durable=False)
    import_widgets(origin, *[_line(files, i) for i in range(_WIDGETS)], base_folder=files)
    data, port = empty_folder(tmp_path / "mirror"), free_port()
    service = Service(origin.folder.path, port=port)
    try:
        with children_of("mirror.mirror_runner", data, service.url) as runner:
            for turn in range(_KILLS):
                child = runner.start()
                time.sleep(choose.uniform(0, 1.5))
                if turn % _KILLS < _KILLS_OF_ORIGIN:
                    service.kill()
                    runner.wait()
                    service = Service(origin.folder.path, port=port)
                else:
                    kill(child)
                    runner.wait()
                _change_something(origin, choose)
            for _ in range(2):
                runner.start()
                assert runner.wait() == 0
        mirror = prepare_node(data)
        assert exported(mirror) == exported(origin)
        assert_bundles_are_whole(mirror)
        assert check_catalog(mirror.store, mirror.bundles, mirror.replica).errors == []
        mirror.store.close()
    finally:
        service.kill()
        origin.store.close()

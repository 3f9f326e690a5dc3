"""The comparison with other servers: their data, and its picture."""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from bench.measures import Outcome, Served
from bench.peer_data import ensure_database, ensure_storage
from bench.picture import draw
from bench.rig import Kept

SIZE, VERSIONS = 20, 8
SVG = "{http://www.w3.org/2000/svg}"


def test_what_scenarios_share_is_started_once_and_stopped_at_the_end() -> None:
    steps = []

    @contextlib.contextmanager
    def server() -> Iterator[str]:
        steps.append("start")
        yield "server"
        steps.append("stop")

    with Kept() as kept:
        assert [kept.get("reading", server) for _ in range(3)] == ["server"] * 3
        assert steps == ["start"]
    assert steps == ["start", "stop"]


def test_verdaccio_has_a_package_with_all_versions_for_every_widget(tmp_path: Path) -> None:
    folder = ensure_storage(tmp_path / "data", SIZE, VERSIONS)

    known = json.loads((folder / "storage" / ".verdaccio-db.json").read_text())["list"]
    assert len(known) == SIZE
    for name in known:
        package = json.loads((folder / "storage" / name / "package.json").read_text())
        assert package["name"] == name
        assert len(package["versions"]) == VERSIONS
        assert package["dist-tags"]["latest"] in package["versions"]


def test_datasette_has_a_row_for_every_widget_and_finds_it_by_its_words(tmp_path: Path) -> None:
    folder = ensure_database(tmp_path / "data", SIZE, VERSIONS)

    with contextlib.closing(sqlite3.connect(folder / "catalog.db")) as database:
        rows = database.execute("SELECT display_name, versions FROM widgets").fetchall()
        word = rows[0][0].split()[0]
        found = database.execute("SELECT rowid FROM widgets_fts(?)", [word]).fetchall()
    assert len(rows) == SIZE
    assert all(len(json.loads(it)) == VERSIONS for _, it in rows)
    assert (1,) in found


def test_data_of_a_peer_is_written_once(tmp_path: Path) -> None:
    folder = ensure_database(tmp_path / "data", SIZE, VERSIONS)
    (folder / "mark").touch()

    ensure_database(folder, SIZE, VERSIONS)
    assert (folder / "mark").exists()
    ensure_database(folder, SIZE, VERSIONS + 1)
    assert not (folder / "mark").exists()


def test_picture_has_a_bar_for_every_server_from_fast_to_slow() -> None:
    servers = {"catalog": Served(60, 1), "nginx": Served(14, 1), "Verdaccio": Served(2_500_000, 1)}

    picture = draw([Outcome("search <20>", 60, "µs", servers=servers)], "On a machine.")

    root = ElementTree.fromstring(picture)
    texts = [it.text or "" for it in root.iter(f"{SVG}text")]
    shown = [it for it in texts if it in ("nginx, a file", "Widget Catalog", "Verdaccio")]
    assert shown == ["nginx, a file", "Widget Catalog", "Verdaccio"]
    assert {"14 µs", "60 µs", "2.5 s", "Search <20>"} <= set(texts)
    widths = [float(it.get("width", "0")) for it in root.iter(f"{SVG}rect")]
    assert widths == sorted(widths)
    assert widths[-1] < 760
    assert "prefers-color-scheme: dark" in picture

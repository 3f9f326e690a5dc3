"""The read model is a picture of the store, drawn change by change or all anew."""

import shutil
import sqlite3
from pathlib import Path

from support.site import InProcessSite
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.reading.checking import check_read_model
from widget_catalog.store.downloads import add_downloads
from widget_catalog.wiring import Node, prepare_node

TABLES = ("listings", "documents", "read_model")


def _picture(node: Node) -> dict[str, list[tuple[object, ...]]]:
    database = sqlite3.connect(node.folder.database)
    try:
        return {it: database.execute(f"SELECT * FROM {it} ORDER BY 1").fetchall() for it in TABLES}
    finally:
        database.close()


def _differences(node: Node) -> int:
    found = check_read_model(node.store, node.projection)
    assert found.damaged == []
    return len(found.mended) + found.counts


def _fill(node: Node) -> None:
    import_widgets(
        node,
        widget_line("acme/clock", versions=[version_line("1.0.0"), version_line("2.0.0")]),
        widget_line("acme/bare", versions=[], description=None, icon=None, isOfficial=None),
        widget_line("acme/hidden", listed=False, downloadCount=3),
    )
    import_widgets(node, widget_line("acme/clock", versions=[version_line("3.0.0", yanked=True)]))


def test_drawn_anew_it_is_the_same_picture(node: Node) -> None:
    _fill(node)
    before = _picture(node)

    assert _differences(node) == 0

    assert _picture(node) == before
    assert [len(before[it]) for it in TABLES] == [3, 3, 1]


def test_damage_is_found_and_mended(node: Node) -> None:
    _fill(node)
    before = _picture(node)
    database = sqlite3.connect(node.folder.database)
    database.execute("UPDATE documents SET head = x'00' WHERE id = 1")
    database.execute("DELETE FROM listings WHERE id = 2")
    database.commit()
    database.close()

    assert _differences(node) == 2

    assert [it[:6] for it in _picture(node)["listings"]] == [it[:6] for it in before["listings"]]
    assert _picture(node)["documents"] == before["documents"]
    assert _differences(node) == 0


def test_wrong_counts_are_found_and_mended(node: Node) -> None:
    """Also the count of a widget that was never downloaded."""
    _fill(node)
    for widget_id, stored in ((1, 0), (3, 3)):
        node.counts.record([(widget_id, 77)])

        assert _differences(node) == 1

        assert node.counts.slots[widget_id] == stored
        assert _differences(node) == 0


def test_a_read_model_of_another_format_is_drawn_anew_at_the_start(node: Node) -> None:
    _fill(node)
    before = _picture(node)
    database = sqlite3.connect(node.folder.database)
    database.execute("UPDATE read_model SET format = 0")
    database.execute("UPDATE documents SET head = x'00'")
    database.commit()
    database.close()

    prepare_node(node.folder.path).store.close()

    assert _picture(node) == before


def test_a_failed_write_leaves_no_trace_in_the_picture(node: Node) -> None:
    _fill(node)
    before = (_picture(node), node.revision.current(), node.counts.revision())

    class Interrupted(Exception):
        pass

    try:
        with node.store.writing() as tx:
            add_downloads(tx, {1: 5})
            raise Interrupted
    except Interrupted:
        pass

    assert (_picture(node), node.revision.current(), node.counts.revision()) == before
    assert node.counts.slots[1] == 0


def test_counts_are_those_of_a_database_that_was_put_back(tmp_path: Path) -> None:
    """A backup holds the database and the bundles; the rest of the folder may be older or newer."""
    data, clock = tmp_path / "data", "/api/v1/widgets/acme/clock"
    with InProcessSite(data) as site:
        site.add(widget_line("acme/clock"), widget_line("acme/seven", downloadCount=7))
    shutil.copy(data / "catalog.db", tmp_path / "backup.db")
    with InProcessSite(data) as site:
        site.post(clock)
        site.post("/api/v1/widgets/acme/seven")
        site.add(widget_line("acme/later", downloadCount=99))
    for leftover in data.glob("catalog.db*"):
        leftover.unlink()
    shutil.copy(tmp_path / "backup.db", data / "catalog.db")

    with InProcessSite(data) as site:
        assert site.get(clock).json()["widget"]["downloadCount"] == 0
        assert site.get("/api/stats").json()["downloads"] == 7
        site.add(widget_line("acme/new"))
        body = site.get("/api/v1/widgets/search").json()

    shown = [(it["name"], it["downloadCount"]) for it in body["widgets"]]
    assert shown == [("seven", 7), ("clock", 0), ("new", 0)]

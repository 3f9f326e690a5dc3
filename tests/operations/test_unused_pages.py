"""Damaged pages that belong to no table: they are discarded, and nothing is lost."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from support.commands import widget_catalog
from support.folders import filled_folder
from support.widgets import widget_line
from widget_catalog.catalog.node.node import Node, open_node
from widget_catalog.catalog.store.downloads import add_downloads
from widget_catalog.core.db.damage import check_file, discard_other_pages
from widget_catalog.operations.doctor import check_catalog

pytestmark = pytest.mark.slow

_WIDGETS = 40
_MENDED = "unused pages of the database were damaged."


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Its database has free pages, of which the first is damaged."""
    folder = filled_folder(
        tmp_path / "data", *(widget_line(f"acme/w{i}", downloadCount=i) for i in range(_WIDGETS))
    )
    _damage_free_pages(folder / "catalog.db")
    return folder


def _damage_free_pages(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("CREATE TABLE former (content BLOB)")
        db.execute("INSERT INTO former VALUES (zeroblob(400000))")
        db.execute("DROP TABLE former")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page_size,) = db.execute("PRAGMA page_size").fetchone()
    with database.open("r+b") as file:
        file.seek(32)  # In the header: the number of the first free page.
        first = int.from_bytes(file.read(4), "big")
        assert first > 0
        file.seek((first - 1) * page_size)
        file.write(b"\xff" * 64)


def _rows(database: Path) -> dict[str, list[tuple[object, ...]]]:
    with contextlib.closing(sqlite3.connect(database)) as db:
        tables = [it for (it,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {it: sorted(db.execute(f'SELECT * FROM "{it}"'), key=repr) for it in tables}


def test_every_row_stays_and_the_file_is_sound_and_smaller(data: Path) -> None:
    database = data / "catalog.db"
    errors = check_file(database)
    assert (errors.truth, bool(errors.elsewhere)) == ([], True)
    before, size = _rows(database), database.stat().st_size

    discard_other_pages(database)

    assert _rows(database) == before
    assert check_file(database) == ([], [])
    assert database.stat().st_size < size


def test_doctor_says_that_it_discarded_them_and_finds_nothing_the_next_time(data: Path) -> None:
    said = widget_catalog("doctor", "--data", data)

    assert said.code == 1
    assert said.err.startswith(f"Checked {_WIDGETS} widgets and 0 stored bundles.\n")
    assert said.err.endswith(f"Repaired: {_MENDED}\n")
    assert "Error" not in said.err
    again = widget_catalog("doctor", "--data", data)
    assert again.code == 0
    assert again.err.endswith("No problems found.\n")


def test_an_open_catalog_is_mended_and_writes_on(data: Path) -> None:
    """The schema's cookie changes; connections of the store are opened again."""
    node: Node = open_node(data)

    findings = check_catalog(node.store, node.bundles, node.replica)

    assert (findings.errors, findings.mended) == ([], [_MENDED])
    with node.store.counting() as counting:
        add_downloads(counting, {1: 5})
    findings = check_catalog(node.store, node.bundles, node.replica)
    assert findings.is_healthy

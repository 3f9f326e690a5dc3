"""`widget-catalog import` and `stats`."""

import contextlib
import gzip
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from accounts.stored_accounts import an_account
from core.db.next_migration import add_next_step
from support.commands import Said, widget_catalog
from support.folders import filled_folder
from support.permissions import without_root_powers
from support.preloaded import run_module
from support.service import clean_environment
from support.widgets import ndjson, version_line, widget_line
from transfer.importing import kept_numbers
from widget_catalog.catalog.node.node import open_node, prepare_node
from widget_catalog.catalog.node.opening import make_folder, undone_on_failure
from widget_catalog.catalog.replica.reader import ReplicaReader
from widget_catalog.catalog.search.file import MIN_WIDGETS, open_index
from widget_catalog.core.data_folder import DataFolder
from widget_catalog.core.db.migrate import is_new
from widget_catalog.core.load_settings import load_settings

pytestmark = pytest.mark.slow


def test_import_makes_the_folder_and_says_what_it_did(tmp_path: Path) -> None:
    lines = [widget_line("acme/clock", downloadCount=3), widget_line("acme/bell", listed=False)]
    (tmp_path / "new.ndjson").write_bytes(ndjson(*lines))
    arguments = ("import", tmp_path / "new.ndjson", "--data", tmp_path / "a" / "b")

    assert widget_catalog(*arguments) == Said(
        0, "", "Added 2 widgets and 2 versions (0 bundles stored); 0 versions already there.\n"
    )
    assert widget_catalog(*arguments) == Said(
        0, "", "Added 0 widgets and 0 versions (0 bundles stored); 2 versions already there.\n"
    )
    assert kept_numbers(tmp_path / "a" / "b") == (2, 2, 3)


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_import_reads_from_a_pipe(tmp_path: Path, name: str) -> None:
    (tmp_path / "clock.js").write_text("export default 1;")
    stored = {"bundleFile": "clock.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    plain = [widget_line("acme/bell")]
    with_bundle = widget_line("acme/clock", versions=[version_line("1.0.0", **stored)])
    # Bundles are relative to the file; for standard input, to the current folder.
    lines = [*plain, with_bundle] if name == "-" else plain

    said = widget_catalog("import", name, "--data", "data", stdin=ndjson(*lines), folder=tmp_path)

    assert said.code == 0, said
    assert kept_numbers(tmp_path / "data")[0] == len(lines)


def test_a_large_import_leaves_the_search_index_behind(tmp_path: Path) -> None:
    lines = ndjson(*(widget_line(f"acme/w{i}") for i in range(MIN_WIDGETS)))

    said = widget_catalog("import", "-", "--data", tmp_path, stdin=lines)

    assert said.code == 0, said
    assert said.err.startswith("Added 20,000 widgets and 20,000 versions ")
    reader = ReplicaReader(tmp_path / "replica")
    made_at = (tmp_path / "run" / "index").stat().st_mtime_ns
    assert open_index(reader, tmp_path / "run" / "index").seq == MIN_WIDGETS
    reader.close()
    assert (tmp_path / "run" / "index").stat().st_mtime_ns == made_at


def test_import_of_nothing_is_no_error(tmp_path: Path) -> None:
    said = widget_catalog("import", "-", "--data", tmp_path / "data", stdin=b"\n\n  \r\n")

    assert (said.code, said.err[:15]) == (0, "Added 0 widgets")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"scope": "acme"', "Line 3: "),
        (b"\xff\xfe", "Line 3: "),
        (ndjson(widget_line(scope="ACME")), "Line 3: scope: 'ACME' is not a scope"),
        (ndjson(widget_line() | {"[/red]": 1}), "Line 3: [/red]: there is no such field."),
        (ndjson(widget_line("acme/[bold]x")), "Line 3: name: '[bold]x' is not a "),
        (
            ndjson(widget_line(versions=[version_line("1.0.0"), version_line("1.0")])),
            "Line 3: versions[1].version: ",
        ),
        (
            ndjson(widget_line(versions=[version_line(bundleUrl=None, bundleFile="no.js")])),
            "Line 3: versions[0].bundleFile: There is no file ",
        ),
    ],
    ids=range(7),
)
def test_a_error_names_its_line_and_field_and_nothing_iskept_numbers(
    tmp_path: Path, line: bytes, complaint: str
) -> None:
    good = ndjson(widget_line("acme/a"), widget_line("acme/b"))
    (tmp_path / "new.ndjson").write_bytes(good + line.strip() + b"\n" + ndjson(widget_line("c/d")))

    said = widget_catalog("import", tmp_path / "new.ndjson", "--data", tmp_path / "data")

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"Error: {complaint}"), said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "data").exists()


def _tree(folder: Path) -> list[str]:
    """The files of a folder, except for SQLite's files and locks, which change with
    every command.
    """
    found = (it.relative_to(folder) for it in folder.rglob("*"))
    return sorted(str(it) for it in found if it.parts[0] != "run" and "catalog.db-" not in it.name)


def test_a_failed_import_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "new.js").write_bytes(b"export default 2;\n")
    stored = {"bundleFile": "new.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    lines = [widget_line("a/b", versions=[version_line("1.0.0", **stored)]), widget_line("A/b")]
    (tmp_path / "new.ndjson").write_bytes(ndjson(*lines))
    data = filled_folder(tmp_path / "data", widget_line("x/y"))
    before = _tree(data)
    empty = tmp_path / "empty"
    empty.mkdir()

    for folder in (data, empty, tmp_path / "a" / "b"):
        said = widget_catalog("import", tmp_path / "new.ndjson", "--data", folder)
        assert (said.code, said.out) == (1, ""), said
        assert said.err.startswith("Error: Line 2: scope: "), said

    assert _tree(data) == before
    assert list(empty.iterdir()) == []
    assert not (tmp_path / "a").exists()


def test_a_new_folder_that_somebody_has_used_meanwhile_iskept_numbers(tmp_path: Path) -> None:
    settings = load_settings({"data": tmp_path / "data"}, None)

    def fail() -> None:
        node = prepare_node(settings.data)
        an_account(node.store, "ann")
        node.store.close()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), undone_on_failure(settings):
        fail()

    assert (tmp_path / "data" / "catalog.db").exists()


def test_a_new_folder_without_tables_is_removed(tmp_path: Path) -> None:
    """As after Ctrl-C while the database is created."""
    settings = load_settings({"data": tmp_path / "data"}, None)

    def make_folders() -> None:
        make_folder(DataFolder(settings.data))

    def make_database() -> None:
        make_folders()
        open_node(settings.data, may_create=True, applies=False).store.close()

    def make_used_database() -> None:
        make_folders()
        node = open_node(settings.data, may_create=True, applies=False)
        with node.store.reading():
            assert is_new(node.store)

    for make in (make_folders, make_database, make_used_database):

        def fail(make: Callable[[], None] = make) -> None:
            make()
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt), undone_on_failure(settings):
            fail()
        assert list(tmp_path.iterdir()) == []


def test_stats_of_a_database_without_tables_says_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    make_folder(DataFolder(data))
    open_node(data, may_create=True, applies=False).store.close()
    (data / "catalog.db").touch()

    assert widget_catalog("stats", "--data", data) == Said(
        1,
        "",
        "Error: This database has no tables yet. Start the service or run doctor: both create "
        "them.\n",
    )


def test_what_a_file_from_somebody_else_brings_is_reported_or_refused(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", widget_line("x/y"))
    node = prepare_node(data)
    an_account(node.store, "ann")
    node.store.close()
    lines = [widget_line("a/b", isOfficial=True, description="a\tb"), widget_line("ann/clock")]
    (tmp_path / "new.ndjson").write_bytes(ndjson(*lines))
    arguments = ("import", tmp_path / "new.ndjson", "--data", data)

    refused = widget_catalog(*arguments)
    taken = widget_catalog(*arguments, "--into-owned", "--lenient")

    assert (refused.code, refused.out) == (1, "")
    assert refused.err.splitlines()[0] == "Error: The file has 2 errors:"
    assert "Line 1: description: contains the character U+0009; " in refused.err
    assert refused.err.endswith(
        "\nLine 2: scope: ann belongs to an account. Give --into-owned to add to it.\n"
    )
    assert taken == Said(
        0,
        "",
        "Added 2 widgets and 2 versions (0 bundles stored); 0 versions already there.\n"
        "The file marks 1 new widget as official.\n"
        "Removed control and invisible characters from 1 text.\n",
    )


def test_stats_counts_what_is_listed_and_changes_nothing(tmp_path: Path) -> None:
    lines = [widget_line("a/b", downloadCount=5), widget_line("c/d", listed=False)]
    data = filled_folder(tmp_path / "data", *lines)
    shutil.rmtree(data / "run")

    said = widget_catalog("stats", "--data", data)

    told = json.loads(said.out)
    del told["generatedAt"]
    assert told == {"widgets": 1, "versions": 1, "scopes": 1, "downloads": 5}
    assert not (data / "run").exists()


def test_stats_of_an_older_database_says_what_to_do_and_upgrades_nothing(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", widget_line())
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        before = list(database.iterdump())
    add_next_step(tmp_path / "migrations")
    given = (str(tmp_path / "migrations"), "stats", "--data", str(data))

    said = run_module("core.db.later_release", *given, environ=clean_environment())

    assert (said.returncode, said.stdout) == (1, b"")
    error = " ".join(said.stderr.decode().split())
    assert "Make a backup, then start the service or run migrate --expand" in error
    assert "restore that backup" in error
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        assert list(database.iterdump()) == before


def test_a_missing_file_is_one_sentence_and_makes_no_folder(tmp_path: Path) -> None:
    said = widget_catalog("import", tmp_path / "no[/b].ndjson", "--data", tmp_path / "data")

    assert said == Said(1, "", f"Error: There is no file {tmp_path / 'no[/b].ndjson'}.\n")
    assert not (tmp_path / "data").exists()


def test_a_folder_is_no_file_to_import(tmp_path: Path) -> None:
    said = widget_catalog("import", tmp_path, "--data", tmp_path / "data")

    assert said == Said(1, "", f"Error: {tmp_path} cannot be read: Is a directory.\n")


def test_a_compressed_file_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "all.ndjson.gz"
    file.write_bytes(gzip.compress(ndjson(widget_line())))

    said = widget_catalog("import", file, "--data", tmp_path / "data")

    assert said == Said(1, "", f"Error: {file} is compressed with gzip. Decompress it first.\n")
    assert not (tmp_path / "data").exists()


def test_a_file_that_may_not_be_read_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "secret.ndjson"
    file.write_bytes(ndjson(widget_line()))
    file.chmod(0)

    said = widget_catalog("import", file, "--data", tmp_path / "data", before=without_root_powers)

    assert said == Said(1, "", f"Error: {file} cannot be read: Permission denied.\n")


def test_a_folder_without_a_catalog_is_reported_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "notes.txt").touch()
    missing, other, file = tmp_path / "nothing", tmp_path / "photos", tmp_path / "notes.txt"

    absent = Said(1, "", f"Error: There is no data folder {missing}.\n")
    assert widget_catalog("stats", "--data", missing) == absent
    for command in (["export", "-"], ["stats"], ["doctor"]):
        assert widget_catalog(*command, "--data", other) == Said(
            1, "", f"Error: There is no catalog in the folder {other}.\n"
        )
    assert widget_catalog("doctor", "--data", file).code == 1
    assert not missing.exists()
    assert os.listdir(other) == []  # noqa: PTH208
    assert file.read_bytes() == b""

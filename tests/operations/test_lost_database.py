"""A data folder whose database was lost is never treated as a new one."""

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from backup.backups import back_up, catalog_with_bundles, files_of
from support.commands import widget_catalog
from support.service import free_port, running_service
from widget_catalog.backup.restore import restore_backup
from widget_catalog.catalog.node.node import prepare_node

pytestmark = pytest.mark.slow

_LOST = (
    "Error: There is no catalog in {data}/catalog.db, but 4 stored bundles in the same folder: "
    "the database is lost. Restore a backup into a new folder: widget-catalog restore BACKUP "
    "--data NEW. To begin with an empty catalog all the same: widget-catalog serve "
    "--new-database.\n"
)
_NEW_ACCOUNT = ("account", "create", "ann", "--email", "a@example.org", "--password-stdin")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return catalog_with_bundles(tmp_path)


@pytest.mark.parametrize("is_empty", [False, True], ids=["missing", "empty"])
def test_no_command_starts_over_where_bundles_lie(data: Path, is_empty: bool) -> None:
    for file in data.glob("catalog.db*"):
        file.unlink()
    if is_empty:
        (data / "catalog.db").touch()
    before = files_of(data)
    commands = [
        ("serve", "--port", str(free_port())),
        ("import", "-"),
        _NEW_ACCOUNT,
        ("doctor", "--clean"),
    ]

    for command in commands[: 1 if is_empty else None]:
        said = widget_catalog(*command, "--data", data, stdin=b"a long password\n")
        assert (said.code, said.err) == (1, _LOST.format(data=data)), command

    assert files_of(data) == before


def test_a_database_without_tables_is_a_lost_one_too(data: Path) -> None:
    for file in data.glob("catalog.db*"):
        file.unlink()
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        database.execute("PRAGMA journal_mode=WAL")

    said = widget_catalog("import", "-", "--data", data)

    assert (said.code, said.err) == (1, _LOST.format(data=data))


_KILLED_WHILE_IT_MAKES_TABLES = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA journal_mode=WAL")
database.execute("PRAGMA cache_size=1")  # So it writes before it commits.
database.execute("BEGIN IMMEDIATE")
for i in range(50):
    database.execute(f"CREATE TABLE t{i} (x TEXT)")
os._exit(9)
"""


def test_a_first_command_that_was_killed_is_no_loss(tmp_path: Path) -> None:
    database = tmp_path / "data" / "catalog.db"
    database.parent.mkdir()
    subprocess.run([sys.executable, "-c", _KILLED_WHILE_IT_MAKES_TABLES, database], check=False)
    assert database.with_name("catalog.db-wal").stat().st_size

    said = widget_catalog("import", "-", "--data", database.parent)

    assert said.code == 0, said.err


def test_the_operator_can_start_over_when_that_is_meant(data: Path) -> None:
    bundles = files_of(data / "bundles")
    for file in data.glob("catalog.db*"):
        file.unlink()
    with running_service(data, "--new-database") as service, service.client() as client:
        assert client.get("/api/stats").json()["widgets"] == 0

    with running_service(data):  # It is an ordinary catalog from then on.
        pass
    assert files_of(data / "bundles") == bundles


def test_nothing_starts_in_a_folder_that_is_half_restored(data: Path, tmp_path: Path) -> None:
    back_up(data, tmp_path / "backup")
    half = tmp_path / "half"
    half.mkdir()
    (half / ".restoring").touch()

    for command in (("serve", "--port", str(free_port())), ("doctor",)):
        said = widget_catalog(*command, "--data", half)
        assert said.err == (
            f"Error: A restore into {half} was interrupted. Run it again: it begins again.\n"
        )
    restore_backup(tmp_path / "backup", half)
    prepare_node(half).store.close()

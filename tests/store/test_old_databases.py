"""Data folders that earlier releases made: they open, and nothing in them is lost or changed."""

import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import sqlalchemy as sa

from support.service import clean_environment
from widget_catalog.actions.check_catalog import check_catalog
from widget_catalog.actions.export_catalog import export_catalog, linked_to
from widget_catalog.store.accounts import list_accounts
from widget_catalog.store.audit import list_entries
from widget_catalog.store.migrate import SCHEMA
from widget_catalog.store.organizations import list_members, list_memberships
from widget_catalog.wiring import Node, prepare_node

FIXTURES = Path(__file__).parent / "fixtures"
OLD_SCHEMAS = sorted(it.name.partition(".")[0] for it in FIXTURES.glob("*.tar.xz"))

# Opens a data folder, and kills itself at a statement, or at the commit after it.
OPEN_AND_DIE = """
import os, signal, sys
from pathlib import Path
import sqlalchemy as sa
from widget_catalog.wiring import prepare_node

at, is_at_commit = sys.argv[2], sys.argv[3] == "commit"
seen = False

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

@sa.event.listens_for(sa.Engine, "after_cursor_execute")
def after(connection, cursor, statement, parameters, context, executemany):
    global seen
    if statement.lstrip().startswith(at):
        seen = True
        if not is_at_commit:
            die()

@sa.event.listens_for(sa.Engine, "commit")
def commit(connection):
    if seen:
        die()

prepare_node(Path(sys.argv[1]))
"""


@pytest.fixture(params=OLD_SCHEMAS)
def old_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    with tarfile.open(FIXTURES / f"{request.param}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def _check(folder: Path) -> Node:
    """It is of this release now, sound, and exports what its own release exported."""
    node = prepare_node(folder)
    with node.store.reading() as connection:
        current = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    assert current == SCHEMA
    exported = b"".join(export_catalog(node.store, linked_to("https://catalog.example/cdn")))
    assert exported == _expected(folder)
    findings = check_catalog(node.store, node.bundles, node.projection)
    assert (findings.is_healthy, findings.documents_differed, findings.orphans) == (True, 0, [])
    return node


def _expected(folder: Path) -> bytes:
    """What its release exported; from schema 0004 on a published widget says it is not official."""
    lines = (folder / "export.ndjson").read_bytes().splitlines(keepends=True)
    null, false = b'"isOfficial":null', b'"isOfficial":false'
    return b"".join(it.replace(null, false) if b'"manifest":' in it else it for it in lines)


def test_an_old_folder_is_upgraded_and_exports_what_its_release_did(old_folder: Path) -> None:
    node = _check(old_folder)
    node.store.close()


@pytest.mark.parametrize(
    ("statement", "when"),
    [("CREATE TABLE", "now"), ("UPDATE alembic_version", "now"), ("UPDATE", "commit")],
    ids=["first table", "first migration", "commit"],
)
def test_an_upgrade_that_was_killed_begins_again(
    old_folder: Path, statement: str, when: str
) -> None:
    died = subprocess.run(
        [sys.executable, "-c", OPEN_AND_DIE, str(old_folder), statement, when],
        env=clean_environment(),
        capture_output=True,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr

    node = _check(old_folder)
    node.store.close()


@pytest.mark.parametrize("old_folder", ["0002"], indirect=True)
def test_people_and_what_they_did_survive_the_upgrade(old_folder: Path) -> None:
    node = _check(old_folder)
    with node.store.reading() as connection:
        accounts = {str(it.username): it for it in list_accounts(connection)}
        [acme] = list_memberships(connection, accounts["ann"].id)
        members = {it.username: it.role for it in list_members(connection, acme.organization.id)}
        _, entries = list_entries(connection, None, None, 1, 1)
        tokens = connection.execute(sa.text("SELECT count(*) FROM access_tokens")).scalar()
    node.store.close()

    assert sorted(accounts) == ["abe", "ann", "eve", "mia", "olly", "pia"]
    assert accounts["olly"].is_operator
    assert members == {"abe": "admin", "ann": "owner", "mia": "member", "pia": "member"}
    assert entries > 15
    assert tokens == 1

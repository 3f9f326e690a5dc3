"""Data folders that earlier releases made: they open, and nothing in them is lost or changed."""

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path

import pyotp
import pytest
import sqlalchemy as sa

from support.oauth import ask, is_good, refresh_fields
from support.people import BUNDLE, PASSWORD, Person, nobody, signed_in
from support.schema_fixture import MADE_AT, STYLES
from support.second_factor import STEP, begin, is_in
from support.service import clean_environment
from support.site import InProcessSite
from support.village import MovableClock
from widget_catalog.actions.check_catalog import check_catalog
from widget_catalog.actions.export_catalog import export_catalog, linked_to
from widget_catalog.store.accounts import list_accounts
from widget_catalog.store.audit import list_entries
from widget_catalog.store.migrate import SCHEMA
from widget_catalog.store.organizations import list_members, list_memberships
from widget_catalog.wiring import Node, prepare_node

FIXTURES = Path(__file__).parent / "fixtures"
OLD_SCHEMAS = sorted(it.name.partition(".")[0] for it in FIXTURES.glob("*.tar.xz"))

# Opens a data folder, and kills itself after so many statements that write, or at the commit
# that comes after them. Says how many there were if it gets to the end.
OPEN_AND_DIE = """
import os, signal, sys
from pathlib import Path
import sqlalchemy as sa
from widget_catalog.wiring import prepare_node

last, is_at_commit = int(sys.argv[2]), sys.argv[3] == "commit"
done = 0

def is_writing(connection):
    return connection.get_execution_options().get("writing", False)

def die():
    os.kill(os.getpid(), signal.SIGKILL)

@sa.event.listens_for(sa.Engine, "after_cursor_execute")
def after(connection, cursor, statement, parameters, context, executemany):
    global done
    done += is_writing(connection)
    if done == last and not is_at_commit:
        die()

@sa.event.listens_for(sa.Engine, "commit")
def commit(connection):
    if done >= last and is_at_commit and is_writing(connection):
        die()

prepare_node(Path(sys.argv[1]))
print(done)
"""
NEVER = 1_000_000


@pytest.fixture(params=OLD_SCHEMAS)
def old_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    with tarfile.open(FIXTURES / f"{request.param}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def _check(folder: Path) -> Node:
    """It is of this release now, sound, and exports what its own release exported."""
    node = prepare_node(folder)
    assert _schema_of(folder) == SCHEMA
    exported = b"".join(export_catalog(node.store, linked_to("https://catalog.example/cdn")))
    assert exported == _expected(folder)
    findings = check_catalog(node.store, node.bundles, node.replica)
    assert (findings.is_healthy, findings.mended, findings.orphans) == (True, [], [])
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
    ("share", "when"),
    [(0.25, "statement"), (0.75, "statement"), (0.0, "commit"), (1.0, "commit")],
)
def test_an_upgrade_that_was_killed_begins_again(
    old_folder: Path, statements: dict[str, int], share: float, when: str
) -> None:
    schema = _schema_of(old_folder)
    if schema not in statements:
        whole = old_folder.with_name("whole")
        shutil.copytree(old_folder, whole)
        done = _open_and_die(whole, NEVER, "statement")
        assert done.returncode == 0, done.stderr
        statements[schema] = int(done.stdout)

    died = _open_and_die(old_folder, max(1, int(statements[schema] * share)), when)
    assert died.returncode == -signal.SIGKILL, died.stderr

    node = _check(old_folder)
    node.store.close()


@pytest.fixture(scope="module")
def statements() -> dict[str, int]:
    """By schema: how many statements write when a folder is opened for the first time."""
    return {}


def _schema_of(folder: Path) -> str:
    with contextlib.closing(sqlite3.connect(folder / "catalog.db")) as database:
        return str(database.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def _open_and_die(folder: Path, last: int, when: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", OPEN_AND_DIE, str(folder), str(last), when],
        env=clean_environment(),
        capture_output=True,
        check=False,
    )


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


WITH_PEOPLE = [it for it in OLD_SCHEMAS if it >= "0007"]


@pytest.mark.parametrize("old_folder", WITH_PEOPLE, indirect=True)
def test_after_the_upgrade_people_go_on_as_before(old_folder: Path) -> None:
    known = json.loads((old_folder / "known.json").read_bytes())
    clock = MovableClock()
    clock.at = MADE_AT
    clock.forward(hours=1)
    with InProcessSite(old_folder, clock) as site:
        olly = signed_in(site, "olly")
        assert olly.get("/api/audit?limit=1").json()["total"] > 20

        machine = Person(site, "ann", {"authorization": f"Bearer {known['token']}"})
        assert machine.publish("ann/clock", "1.2.0").status == 200
        assert machine.publish("acme/clock", "1.2.0").status == 403
        refreshed = ask(site, "token", **refresh_fields(known["refreshToken"]))
        assert is_good(site, refreshed.json()["access_token"])

        code = pyotp.TOTP(known["appSecret"]).at(int(clock.at.timestamp()))
        for secret in (code, known["recoveryCodes"][0]):
            browsing = begin(site, "mia")
            assert browsing.submit(STEP, code=secret).status == 303
            assert is_in(browsing)
        refused = nobody(site).post("/api/auth/sign-in", {"username": "eve", "password": PASSWORD})
        assert refused.status == 401


@pytest.mark.parametrize("old_folder", WITH_PEOPLE, indirect=True)
def test_after_the_upgrade_everything_published_is_served_as_before(old_folder: Path) -> None:
    with InProcessSite(old_folder) as site:
        counts = {
            key: site.get(f"/api/v1/widgets/{key}").json()["widget"]["downloadCount"]
            for key in ("ann/clock", "home/sun", "home/empty")
        }
        yanked = site.get("/api/v1/widgets/ann/clock").json()
        bundle = site.get("/cdn/@ann/clock/1.0.0/index.js").body
        styles = site.get("/cdn/@home/sun/2.0.0/index.css").body
        hidden = site.get("/api/v1/widgets/home/hidden").status
        official = site.get("/api/v1/widgets/acme/clock").json()["widget"]["isOfficial"]

    assert counts == {"ann/clock": 3, "home/sun": 1235, "home/empty": 0}
    assert [(it["version"], it["yankedReason"]) for it in yanked["versions"]] == [
        ("1.1.0", None),
        ("1.0.0", "It stops."),
    ]
    assert (bundle, styles, hidden, official) == (BUNDLE + b"1.0.0", STYLES, 404, True)

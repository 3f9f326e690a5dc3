"""Data folders of earlier releases: they open, and nothing in them is lost or changed."""

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pyotp
import pytest
import sqlalchemy as sa

from accounts.oauth.program import ask, is_good, refresh_fields
from accounts.second_factor.people import STEP, begin, is_in
from core.db.old_folders import FIXTURES, MADE_AT, STYLES, open_fixture
from support.people import BUNDLE, PASSWORD, Person, nobody, signed_in
from support.preloaded import run_module
from support.service import clean_environment
from support.site import InProcessSite
from support.site_with_people import MovableClock
from widget_catalog.accounts.store import list_accounts
from widget_catalog.catalog.node.node import Node, prepare_node
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.catalog.store.tables import revocations
from widget_catalog.core.db import migrate
from widget_catalog.operations.doctor import check_catalog
from widget_catalog.organizations.store import list_members, list_memberships
from widget_catalog.transfer.export_catalog import export_catalog, linked_to

pytestmark = pytest.mark.slow

OLD_FOLDERS = sorted(it.name.partition(".")[0] for it in FIXTURES.glob("*.tar.xz"))

NEVER = 1_000_000
# The rows of rooms that can be removed: they stay, whether the room is installed or not.
OF_ROOMS: dict[str, list[tuple[object, ...]]] = {
    "scope, url FROM webhooks": [("ann", "https://hooks.example/x")],
    "state, type FROM webhook_deliveries": [("waiting", "ping")],
    "scope, name, version, category, state FROM reports": [
        ("ann", "dice", "1.0.0", "harmful", "open")
    ],
}
SNAPSHOT: dict[str, list[tuple[object, ...]]] = {
    "origin, seq, position, scopes FROM loaded_snapshots": [("0123abcd", 7, "7-abcd", '["home"]')],
}
OF_MIRRORS: dict[str, list[tuple[object, ...]]] = {
    "url, mirror_id, through, scopes, seq FROM mirrors": [
        ("https://upstream.example", "0123456789abcdef", "[]", '["ann"]', 7)
    ],
    "scope, name FROM mirror_tasks": [("ann", "dice")],
}


@pytest.fixture(params=OLD_FOLDERS)
def old_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return open_fixture(str(request.param), tmp_path)


def _check(folder: Path) -> Node:
    """It has this release's schema, is intact, and exports the same as its own release did."""
    node = prepare_node(folder)
    assert _schema_of(folder) == migrate.SCHEMA
    exported = b"".join(export_catalog(node.store, linked_to("https://catalog.example/cdn")))
    assert exported == (folder / "export.ndjson").read_bytes()
    findings = check_catalog(node.store, node.bundles, node.replica)
    assert (findings.is_healthy, findings.mended, findings.orphans) == (True, [], [])
    return node


@pytest.mark.parametrize("old_folder", ["0001"], indirect=True)
def test_a_folder_of_the_first_release_is_upgraded_and_what_is_dropped_is_reported(
    old_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = _check(old_folder)
    with node.store.reading() as connection:
        kinds = connection.execute(sa.text("SELECT DISTINCT kind FROM changes")).scalars().all()
        tables = sa.inspect(connection).get_table_names()
    node.store.close()

    assert kinds == ["imported"]
    assert not {"listings", "documents", "read_model"}.intersection(tables)
    said = [it for it in caplog.messages if "0.1.0" in it]
    assert ["the search index are dropped" in it for it in said] == [True]
    with InProcessSite(old_folder) as site:
        detail = site.get("/api/v1/widgets/old/clock").json()
        assert (detail["widget"]["downloadCount"], len(detail["versions"])) == (41, 3)
        assert site.get("/cdn/@old/clock/1.0.0/index.js").status == 200
        assert site.get("/api/v1/widgets/old/hidden").status == 404


@pytest.mark.parametrize("old_folder", [it for it in OLD_FOLDERS if it != "0001"], indirect=True)
def test_an_old_folder_is_upgraded_and_exports_what_its_release_did(old_folder: Path) -> None:
    node = _check(old_folder)
    of_rooms = OF_ROOMS | (SNAPSHOT if old_folder.name.startswith("0022") else {})
    with node.store.reading() as connection:
        revoked = connection.execute(sa.select(revocations.c.identity, revocations.c.reason)).all()
        found = {
            query: [tuple(it) for it in connection.execute(sa.text(f"SELECT {query}"))]
            for query in of_rooms | OF_MIRRORS
        }
    node.store.close()

    assert revoked == [("1.0.0", "It reads passwords.")]
    is_mirror = old_folder.name.endswith("-mirror")
    assert found == of_rooms | (OF_MIRRORS if is_mirror else {key: [] for key in OF_MIRRORS})


@pytest.mark.parametrize("old_folder", ["0001", "0022"], indirect=True)
@pytest.mark.parametrize(
    ("share", "when"),
    [(0.25, "statement"), (0.75, "statement"), (0.0, "commit"), (1.0, "commit")],
)
def test_an_upgrade_that_was_killed_begins_again(
    old_folder: Path, next_step: Path, share: float, when: str
) -> None:
    migrations = next_step.parents[1]
    whole = old_folder.with_name("whole")
    shutil.copytree(old_folder, whole)
    done = _open_and_die(whole, migrations, NEVER, "statement")
    assert done.returncode == 0, done.stderr

    last = max(1, int(int(done.stdout) * share))
    died = _open_and_die(old_folder, migrations, last, when)
    assert died.returncode == -signal.SIGKILL, died.stderr

    node = _check(old_folder)
    node.store.close()


def _schema_of(folder: Path) -> str:
    with contextlib.closing(sqlite3.connect(folder / "catalog.db")) as database:
        return str(database.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def _open_and_die(
    folder: Path, migrations: Path, last: int, when: str
) -> subprocess.CompletedProcess[bytes]:
    given = (str(folder), str(migrations), str(last), when)
    return run_module("core.db.killed_upgrade", *given, environ=clean_environment())


@pytest.mark.parametrize("old_folder", ["0022"], indirect=True)
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


@pytest.mark.parametrize("old_folder", ["0022"], indirect=True)
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


@pytest.mark.parametrize("old_folder", ["0022"], indirect=True)
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

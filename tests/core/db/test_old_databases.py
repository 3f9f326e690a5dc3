"""Data folders of earlier releases: they open, and nothing in them is lost or changed."""

import contextlib
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import tarfile
from pathlib import Path

import pyotp
import pytest
import sqlalchemy as sa

from accounts.oauth.program import ask, is_good, refresh_fields
from accounts.second_factor.people import STEP, begin, is_in
from core.db.schema_fixture import MADE_AT, MIRROR, SNAPSHOT, STYLES
from support.people import BUNDLE, PASSWORD, Person, nobody, signed_in
from support.preloaded import run_module
from support.service import clean_environment
from support.site import InProcessSite
from support.village import MovableClock
from widget_catalog.accounts.store import list_accounts
from widget_catalog.catalog.node.wiring import Node, prepare_node
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.core.db.migrate import SCHEMA
from widget_catalog.core.db.schema import revocations
from widget_catalog.mirror.store import find_mirror, list_tasks
from widget_catalog.moderation.store import list_reports
from widget_catalog.operations.check_catalog import check_catalog
from widget_catalog.organizations.store import list_members, list_memberships
from widget_catalog.snapshot.store import find_loaded
from widget_catalog.transfer.export_catalog import export_catalog, linked_to
from widget_catalog.webhooks.store import list_webhooks

FIXTURES = Path(__file__).parent / "fixtures"
OLD_SCHEMAS = sorted(it.name.partition(".")[0] for it in FIXTURES.glob("*.tar.xz"))

NEVER = 1_000_000
# The upgrade is tested from every schema; from these it is also killed, because each takes long,
# and continued with existing accounts.
SOME_SCHEMAS = ["0001", "0002", "0007", "0011", "0018"]


@pytest.fixture(params=OLD_SCHEMAS)
def old_folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / str(request.param)
    with tarfile.open(FIXTURES / f"{request.param}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def _check(folder: Path) -> Node:
    """It has this release's schema, is intact, and exports the same as its own release did."""
    node = prepare_node(folder)
    assert _schema_of(folder) == SCHEMA
    exported = b"".join(export_catalog(node.store, linked_to("https://catalog.example/cdn")))
    if "0012" <= folder.name < "0015":  # These exported revoked versions only as yanked.
        exported = re.sub(rb',"revoked":{[^}]*}', b"", exported)
    assert exported == _expected(folder)
    findings = check_catalog(node.store, node.bundles, node.replica)
    assert (findings.is_healthy, findings.mended, findings.orphans) == (True, [], [])
    return node


def _check_watched_over(node: Node, schema: str, *, is_mirror: bool) -> None:
    """What `schema_fixture` has done about a harmful version is there, as far as it
    was possible.
    """
    with node.store.reading() as connection:
        revoked = connection.execute(sa.select(revocations.c.identity, revocations.c.reason)).all()
        loaded, mirror = find_loaded(connection), find_mirror(connection)
        webhooks = list_webhooks(connection)
        queued = connection.execute(sa.text("SELECT state, type FROM webhook_deliveries")).all()
        reports, _ = list_reports(connection, "open", 1, 9)
        tasks = list_tasks(connection)
    assert revoked == [("1.0.0", "It reads passwords.")]
    assert loaded == (SNAPSHOT if schema >= "0015" else None)
    has_webhook = schema >= "0016"
    assert [(it.scope, it.url) for it in webhooks] == [
        ("ann", "https://hooks.example/x")
    ] * has_webhook
    assert queued == [("waiting", "ping")] * has_webhook
    about = [(it.scope, it.name, it.version, it.category) for it in reports]
    assert about == [("ann", "dice", "1.0.0", "harmful")] * (schema >= "0017")
    assert (mirror, tasks) == ((MIRROR, [("ann", "dice")]) if is_mirror else (None, []))


def _expected(folder: Path) -> bytes:
    """The export of its release; from schema 0004 on a published widget is explicitly not
    official.
    """
    lines = (folder / "export.ndjson").read_bytes().splitlines(keepends=True)
    null, false = b'"isOfficial":null', b'"isOfficial":false'
    return b"".join(it.replace(null, false) if b'"manifest":' in it else it for it in lines)


def test_an_old_folder_is_upgraded_and_exports_what_its_release_did(old_folder: Path) -> None:
    schema, is_mirror = _schema_of(old_folder), old_folder.name == "0018-mirror"
    node = _check(old_folder)
    if is_mirror or "0012" <= schema < "0018":
        _check_watched_over(node, schema, is_mirror=is_mirror)
    node.store.close()


@pytest.mark.parametrize("old_folder", SOME_SCHEMAS, indirect=True)
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
    """By schema: the number of writing statements when a folder is opened for the first time."""
    return {}


def _schema_of(folder: Path) -> str:
    with contextlib.closing(sqlite3.connect(folder / "catalog.db")) as database:
        return str(database.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def _open_and_die(folder: Path, last: int, when: str) -> subprocess.CompletedProcess[bytes]:
    return run_module(
        "core.db.killed_upgrade", str(folder), str(last), when, environ=clean_environment()
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


WITH_PEOPLE = [it for it in SOME_SCHEMAS if it >= "0007"]


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

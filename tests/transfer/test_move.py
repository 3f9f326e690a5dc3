"""A catalog moves from its folder to shared backends, and back, without losing anything."""

import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

import pytest
import sqlalchemy as sa

from support.commands import Said, widget_catalog
from support.demo import DEMO_FOLDER
from support.nodes import environment_of
from support.passwords import quick_passwords
from support.people import Person
from support.postgresql import new_database
from support.s3 import rclone, settings_of
from support.site import SECRET_KEY, InProcessSite
from support.site_with_people import BuiltPeople, build_people
from widget_catalog.accounts.second_factor.store import put_app
from widget_catalog.accounts.store import get_account
from widget_catalog.accounts.tables import authenticator_apps
from widget_catalog.catalog.node.opening import open_to_read
from widget_catalog.core.db.listening import Listening
from widget_catalog.core.errors import BundlesDown
from widget_catalog.core.files.contract import Kind
from widget_catalog.core.files.local import LocalBundles
from widget_catalog.core.keys import SecretBox, SharedSecretBox
from widget_catalog.core.settings import Backends
from widget_catalog.transfer.move_catalog import Location, move_bundles

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> BuiltPeople:
    folder = tmp_path_factory.mktemp("people") / "data"
    with quick_passwords():
        built = build_people(folder)
        with InProcessSite(folder) as site:
            for _ in range(3):
                assert site.post("/api/v1/widgets/ann/clock").status == 200
            with site.node.store.writing() as tx:
                account = get_account(tx.connection, "ann")
                sealed = SecretBox(site.node.folder.second_factor_key).seal("of ann's app")
                put_app(tx, account.id, sealed, 0)
    return built


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with rclone(tmp_path_factory.mktemp("rclone")) as port:
        yield port


def exported(data: Path, environment: dict[str, str] | None = None) -> str:
    said = widget_catalog("export", "-", "--data", data, environment=environment)
    assert said.code == 0, said
    return said.out


def move(*arguments: str | Path, environment: dict[str, str]) -> Said:
    return widget_catalog("move", *arguments, environment=environment)


def test_everything_moves_there_and_back(
    people: BuiltPeople, postgresql_url: str, s3: int, tmp_path: Path
) -> None:
    url = new_database(postgresql_url)
    environment = environment_of(url, base_url="http://127.0.0.1:8080", **settings_of(s3))

    for _ in range(2):  # The second run finds everything there.
        said = move("--data", people.folder, environment=environment)
        assert said.code == 0, said
        assert "Source and target were compared and are identical." in said.err

    assert exported(tmp_path / "node", environment) == exported(people.folder)
    with InProcessSite(tmp_path / "site", database=url, secret_key=SECRET_KEY) as site:
        ann = Person(site, "ann", people.headers["ann"])
        assert ann.get("/api/organizations/acme").status == 200  # Her session is still valid.
        assert site.get("/api/v1/widgets/ann/clock").json()["widget"]["downloadCount"] == 3
        eve = Person(site, "eve", people.headers["eve"])
        made = eve.post("/api/organizations", {"slug": "new", "displayName": "New"})
        assert made.status == 201  # It gets a new number.
    store = open_to_read(tmp_path, Backends(url))
    with store.reading() as connection:
        [sealed] = connection.execute(sa.select(authenticator_apps.c.sealed_secret)).scalars()
    store.close()
    assert SharedSecretBox([SECRET_KEY]).open(sealed) == "of ann's app"

    said = move("--back", "--data", tmp_path / "back", environment=environment)
    assert said.code == 0, said
    assert exported(tmp_path / "back") == exported(people.folder)
    assert "No problems found" in widget_catalog("doctor", "--data", tmp_path / "back").err


class SlowBundles(LocalBundles):
    """Like a slow object store. `most` is the maximum of concurrent writes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.most = 0
        self._waiting = 0
        self._lock = threading.Lock()

    def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
        with self._lock:
            self._waiting += 1
            self.most = max(self.most, self._waiting)
        time.sleep(0.3)
        with self._lock:
            self._waiting -= 1
        return super().put(source, sha256_hash, kind)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Location]:
    """The demo catalog on the local disk."""
    data = tmp_path / "data"
    assert widget_catalog("import", DEMO_FOLDER / "catalog.ndjson", "--data", data).code == 0
    store = open_to_read(data, Backends())
    yield Location(store, LocalBundles(data / "bundles"), SecretBox(data / "second-factor.key"))
    store.close()


def _move_bundles(source: Location, target: LocalBundles) -> int:
    there = source._replace(bundles=target)
    return move_bundles(source, there, lambda *_: nullcontext(lambda _: None))


def test_bundles_do_not_wait_for_each_other(demo: Location, tmp_path: Path) -> None:
    (tmp_path / "slow").mkdir()
    slow = SlowBundles(tmp_path / "slow")
    files = _move_bundles(demo, slow)
    assert slow.most > 1
    assert len([*slow.list_stored()]) == files


class VanishingBundles(LocalBundles):
    """Becomes unreachable after a file was stored."""

    def open(
        self, sha256_hash: str, kind: Kind = "js", start: int = 0, stop: int | None = None
    ) -> BinaryIO:
        if self.stat(sha256_hash, kind) is not None:
            raise BundlesDown
        return super().open(sha256_hash, kind, start, stop)


def test_a_target_that_becomes_unreachable_is_not_called_incomplete(
    demo: Location, tmp_path: Path
) -> None:
    (tmp_path / "gone").mkdir()
    with pytest.raises(BundlesDown):
        _move_bundles(demo, VanishingBundles(tmp_path / "gone"))


def test_a_target_that_holds_another_catalog_is_refused(
    people: BuiltPeople, database: str, s3: int, tmp_path: Path
) -> None:
    environment = environment_of(database, **settings_of(s3))
    made = widget_catalog(
        *("account", "create", "eve", "--email", "eve@example.org", "--password-stdin"),
        *("--data", tmp_path / "x"),
        stdin=b"correct horse battery",
        environment=environment,
    )
    assert made.code == 0, made

    said = move("--data", people.folder, environment=environment)

    assert said.code == 1
    assert "The target is not empty" in said.err


def test_while_a_node_runs_nothing_is_moved(
    people: BuiltPeople, database: str, s3: int, tmp_path: Path
) -> None:
    environment = environment_of(database, **settings_of(s3))
    there, back = ("--data", people.folder), ("--back", "--data", tmp_path / "back")
    with Listening(database, [SECRET_KEY]):  # As every node's follower does.
        for arguments in (there, back):
            said = move(*arguments, environment=environment)
            assert said.code == 1
            assert "Stop them first" in said.err
    assert move(*back, environment=environment).code == 0


def test_without_a_target_nothing_is_moved(people: BuiltPeople) -> None:
    said = move("--data", people.folder, environment={})
    assert said.code == 1
    assert "--to-database" in said.err

"""What a mirror shows about itself, what it rejects, and which catalogs it cannot copy."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from mirror.mirrors import MAX_BUNDLE_BYTES, a_mirror, assert_bundles_are_whole, exported
from support.commands import widget_catalog
from support.folders import empty_folder, filled_folder
from support.people import a_person, nobody
from support.postgresql import a_database
from support.s3 import object_store, rclone
from support.service import Service, running_service, wait_for
from support.site import InProcessSite
from support.widgets import import_widgets, widget_line
from widget_catalog.accounts.create_account import create_account
from widget_catalog.catalog.model.widgets import Version
from widget_catalog.catalog.node.node import Node, open_node, prepare_node
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.catalog.store.widgets import stream_widgets
from widget_catalog.core.actors import COMMAND_LINE as OPERATOR
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import IsMirror, MirrorRefused
from widget_catalog.core.networks import parse_networks
from widget_catalog.core.settings import Backends
from widget_catalog.mirror.mirroring import Mirroring, Round, Selection
from widget_catalog.mirror.other_hosts import OtherHosts
from widget_catalog.mirror.store import end_mirroring, find_status
from widget_catalog.moderation.revoke_version import revoke_version, unrevoke_version
from widget_catalog.publishing.change_widget import (
    list_widget,
    set_official,
    unlist_widget,
    yank_version,
)
from widget_catalog_client import Catalog, CatalogUnavailable

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory, service: Service) -> Iterator[InProcessSite]:
    data = tmp_path_factory.mktemp("mirror") / "data"
    with InProcessSite(data, registration="open") as site:
        with a_mirror(data, service.url) as copying:
            copying.mirroring.run()
        yield site


def test_a_mirror_says_whose_it_is(mirrored: InProcessSite, service: Service) -> None:
    shown = mirrored.get("/api/settings").json()
    assert shown["mirrorOf"]["url"] == service.url
    assert shown["mirrorOf"]["through"] == []
    assert shown["registrationOpen"] is False
    for path in ("/", "/widgets/acme/clock", "/sign-in"):
        page = mirrored.get(path).body.decode()
        assert f'A mirror of <a href="{service.url}">{service.url}</a>' in page, path
    assert "mirrorOf" not in httpx_settings(service)


def httpx_settings(service: Service) -> dict[str, object]:
    with service.client() as http:
        found: dict[str, object] = http.get("/api/settings").json()
        return found


def test_nothing_can_be_published_or_changed_there(
    mirrored: InProcessSite, service: Service
) -> None:
    ann = a_person(mirrored, "ann", is_operator=True)
    sentence = f"This catalog is a mirror of {service.url}: widgets cannot be published"
    for response in (
        ann.request("ann/clock"),
        ann.post("/api/widgets/acme/clock/versions/1.0.0/yank", {"reason": "Bad."}),
    ):
        assert (response.status, response.json()["error"][: len(sentence)]) == (403, sentence)
    store, bundles = mirrored.node.store, mirrored.node.bundles
    before = exported(mirrored.node)
    for change in (
        lambda: yank_version(store, OPERATOR, "acme/clock", "1.0.0", "Bad."),
        lambda: unlist_widget(store, OPERATOR, "acme/clock"),
        lambda: set_official(store, OPERATOR, "acme/clock", True),
        lambda: revoke_version(store, bundles, OPERATOR, "acme/clock", "1.0.0", "Bad."),
        lambda: import_widgets(mirrored.node, widget_line("ann/own")),
    ):
        with pytest.raises(IsMirror, match=sentence):
            change()
    assert exported(mirrored.node) == before


def test_nobody_registers_at_a_mirror(mirrored: InProcessSite) -> None:
    body = {"username": "bob", "email": "bob@example.org", "password": "correct horse battery"}
    response = nobody(mirrored).post("/api/auth/register", body)
    assert response.status == 403, response.body


def test_it_can_become_an_ordinary_catalog(tmp_path: Path, service: Service) -> None:
    with a_mirror(tmp_path / "data", service.url) as copying:
        copying.mirroring.run()
        node = copying.node
        status = find_status(node.store)
        assert status is not None
        assert status.describe().startswith(f"A mirror of {service.url}: last checked at 20")
        end_mirroring(node.store)
        yank_version(node.store, OPERATOR, "acme/clock", "1.0.0", "Bad.")
        with pytest.raises(MirrorRefused, match="no longer a mirror"):
            copying.mirroring.run()


def test_a_catalog_with_widgets_of_its_own_is_no_mirror(tmp_path: Path, service: Service) -> None:
    data = filled_folder(tmp_path / "data", widget_line("ann/own"))
    with pytest.raises(MirrorRefused, match="has 1 widgets of its own"):
        a_mirror(data, service.url).__enter__()


def test_a_catalog_with_accounts_of_its_own_is_no_mirror(tmp_path: Path, service: Service) -> None:
    data = empty_folder(tmp_path / "data")
    node = open_node(data, is_durable=False)
    create_account(node.store, "acme", "acme@example.org", "correct horse battery")
    before = audited(node.store)
    with pytest.raises(MirrorRefused, match=r"has accounts or organizations \(acme\) of its own"):
        a_mirror(data, service.url, Selection(("acme",))).__enter__()
    assert (find_status(node.store), exported(node), audited(node.store)) == (None, {}, before)
    node.store.close()


def test_rounds_that_change_something_are_in_the_audit_log(
    tmp_path: Path, origin: Node, service: Service
) -> None:
    with a_mirror(tmp_path / "data", service.url) as copying:
        store = copying.node.store
        assert copying.mirroring.run() == Round(6, [])
        begun = [("begin mirroring", None, {"url": service.url})]
        first = [("mirror", None, {"url": service.url, "widgetsChanged": 6})]
        assert audited(store) == [*begun, *first]
        assert copying.mirroring.run() == Round(0, [])
        assert audited(store) == [*begun, *first]

        create_account(store, "acme", "acme@example.org", "correct horse battery", adopts=True)
        unlist_widget(origin.store, OPERATOR, "acme/bare")
        assert copying.mirroring.run() == Round(1, [])
        list_widget(origin.store, OPERATOR, "acme/bare")
        changed = {"url": service.url, "widgetsChanged": 1}
        rounds = [it for it in audited(store) if it[0] == "mirror"]
        assert rounds == [*first, ("mirror", None, changed), ("mirror", "acme", changed)]
        end_mirroring(store)
        assert audited(store)[-1] == ("end mirroring", None, {"url": service.url})


def audited(store: Store) -> list[tuple[str, str | None, object]]:
    """Actions, scopes and details, oldest first."""
    with store.reading() as connection:
        entries, _total = list_entries(connection, None, None, 1, 100)
    return [(it.action, it.scope, it.details) for it in reversed(entries)]


def test_a_mirror_has_one_origin(mirrored: InProcessSite) -> None:
    with pytest.raises(MirrorRefused, match=r"is a mirror of .*, not of http://127.0.0.1:9\."):
        a_mirror(mirrored.settings.data, "http://127.0.0.1:9").__enter__()


def test_an_origin_that_does_not_response_makes_no_mirror(tmp_path: Path) -> None:
    data = empty_folder(tmp_path / "data")
    with pytest.raises(CatalogUnavailable):
        a_mirror(data, "http://127.0.0.1:9").__enter__()
    node = prepare_node(data)
    import_widgets(node, widget_line("ann/own"))  # It is still an ordinary catalog.
    node.store.close()


def test_circles_are_recognised(tmp_path: Path) -> None:
    one, two = empty_folder(tmp_path / "one"), empty_folder(tmp_path / "two")
    with running_service(one) as first, running_service(two) as second:
        with pytest.raises(MirrorRefused, match="is this catalog itself"):
            a_mirror(one, first.url).__enter__()
        with a_mirror(two, first.url) as copying:
            copying.mirroring.run()
        with pytest.raises(MirrorRefused, match="in a circle"):
            a_mirror(one, second.url, others=OtherHosts(parse_networks("127.0.0.0/8"))).__enter__()
        with Catalog(first.url) as catalog:
            wait_for(lambda: catalog.settings().mirror_of is msgspec.UNSET)


def test_a_circle_that_may_not_be_looked_at_is_recognised_by_the_other_mirror(
    tmp_path: Path,
) -> None:
    one, two = empty_folder(tmp_path / "one"), empty_folder(tmp_path / "two")
    with running_service(one) as first, running_service(two) as second:
        with a_mirror(two, first.url) as copying:
            copying.mirroring.run()
        with a_mirror(one, second.url) as copying:
            copying.mirroring.run()
        with a_mirror(two, first.url) as copying, Catalog(first.url) as catalog:
            wait_for(lambda: catalog.settings().mirror_of is not msgspec.UNSET)
            with pytest.raises(MirrorRefused, match="in a circle"):
                copying.mirroring._checked_settings()


def test_a_circle_is_recognised_by_the_url_of_this_catalog(tmp_path: Path) -> None:
    one, two = empty_folder(tmp_path / "one"), empty_folder(tmp_path / "two")
    with running_service(one) as first, running_service(two) as second:
        with a_mirror(two, first.url) as copying:
            copying.mirroring.run()
        said = widget_catalog(
            *("mirror", second.url, "--data", one),
            environment={"WIDGET_CATALOG_BASE_URL": f"{first.url}/"},
        )
        assert (said.code, "in a circle" in said.err) == (1, True)


def test_scopes_that_the_origin_does_not_have_are_named(tmp_path: Path, service: Service) -> None:
    data = tmp_path / "data"
    for scopes, sentence in (
        (("acme", "nosuch"), f"^{service.url} has no scope nosuch\\.$"),
        (("none", "nosuch"), f"^{service.url} has no scopes none, nosuch\\.$"),
    ):
        with pytest.raises(MirrorRefused, match=sentence):
            a_mirror(data, service.url, Selection(scopes)).__enter__()
    with a_mirror(data, service.url, Selection(("core",))) as copying:
        assert copying.mirroring.run() == Round(2, [])
        with pytest.raises(MirrorRefused, match="has no scope nosuch"):
            copying.mirroring.begin(Selection(("core", "nosuch")))
        assert copying.mirroring.run() == Round(0, [])  # Unchanged.


def test_a_mirror_on_postgresql_with_its_bundles_on_s3(
    tmp_path: Path, postgresql_url: str, origin: Node, service: Service
) -> None:
    with (
        a_database(postgresql_url) as database,
        rclone(tmp_path / "s3") as port,
        Catalog(service.url) as catalog,
    ):
        backends = Backends(database, object_store(port))
        node = prepare_node(tmp_path / "data", backends=backends, applies=False)
        mirroring = Mirroring(node.store, node.bundles, catalog, MAX_BUNDLE_BYTES)
        mirroring.begin(Selection())
        assert mirroring.run() == Round(6, [])
        assert exported(node) == exported(origin)
        assert_bundles_are_whole(node)
        assert list((tmp_path / "data" / "bundles").iterdir()) == []
        assert mirroring.run() == Round(0, [])

        revoke_version(origin.store, origin.bundles, OPERATOR, "acme/clock", "2.0.0", "Bad.")
        assert mirroring.run() == Round(1, [])
        (revoked,) = [it for it in found_versions(node) if it.revocation is not None]
        assert node.bundles.stat(revoked.sha256_hash, "js") is None
        unrevoke_version(origin.store, origin.bundles, OPERATOR, "acme/clock", "2.0.0")
        assert mirroring.run() == Round(1, [])
        assert_bundles_are_whole(node)
        node.store.close()


def found_versions(node: Node) -> list[Version]:
    with node.store.reading() as connection:
        return [it for stored in stream_widgets(connection) for it in stored.widget.versions]

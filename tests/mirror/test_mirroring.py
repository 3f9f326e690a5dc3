"""A mirror shows the same as its upstream, and sends one request if nothing has changed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mirror.mirrors import a_mirror, assert_bundles_are_whole, exported
from support.service import Service
from support.site import InProcessSite
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.store.feed import list_changes
from widget_catalog.core.actors import COMMAND_LINE as OPERATOR
from widget_catalog.mirror.mirroring import Round, Selection
from widget_catalog.moderation.revoke_version import revoke_version, unrevoke_version
from widget_catalog.publishing.change_widget import (
    deprecate_version,
    list_widget,
    set_official,
    undeprecate_version,
    unlist_widget,
    unyank_version,
    yank_version,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mirror") / "data"


def test_the_first_copy_is_the_whole_catalog(data: Path, origin: Node, service: Service) -> None:
    with a_mirror(data, service.url) as copying:
        done = copying.mirroring.run()
        assert done == Round(6, [])
        assert exported(copying.node) == exported(origin)
        assert_bundles_are_whole(copying.node)


def test_nothing_new_is_one_request(data: Path, service: Service) -> None:
    with a_mirror(data, service.url) as copying:
        for _ in range(2):
            copying.asked.clear()
            assert copying.mirroring.run() == Round(0, [])
            (asked,) = copying.asked
            assert asked.startswith("/api/v1/widgets/changes?since=")


def test_the_public_sees_the_same_with_addresses_of_the_mirror(
    data: Path, service: Service
) -> None:
    cdn = "https://catalog.example/cdn"
    with InProcessSite(data) as site, service.client() as http:
        for path in (
            "/api/v1/widgets/acme/clock/2.0.0",
            "/api/v1/widgets/acme/notes",
            "/api/v1/widgets/core/map/1.0.0",
            "/api/v1/widgets/search?q=a&compatSdk=1.0.0",
            "/api/v1/widgets/revocations",
        ):
            there = http.get(path).text.replace(f"{service.url}/cdn", cdn)
            shown, expected = site.get(path).json(), json.loads(there)
            for document in (shown, expected):
                document.pop("revision", None)
                for widget in (document.get("widget"), *document.get("widgets", ())):
                    if widget is not None:
                        del widget["downloadCount"]
            assert shown == expected, path
        bundle = site.get("/cdn/@acme/clock/2.0.0/index.js")
        assert bundle.body == http.get("/cdn/@acme/clock/2.0.0/index.js").content


def test_what_happens_there_happens_here(data: Path, origin: Node, service: Service) -> None:
    store, bundles = origin.store, origin.bundles
    happenings: list[tuple[str, Callable[[], object]]] = [
        ("yanked", lambda: yank_version(store, OPERATOR, "acme/clock", "2.0.0", "Oh.")),
        ("unyanked", lambda: unyank_version(store, OPERATOR, "acme/clock", "2.0.0")),
        ("deprecated", lambda: deprecate_version(store, OPERATOR, "acme/clock", "1.0.0", "Old.")),
        ("undeprecated", lambda: undeprecate_version(store, OPERATOR, "acme/clock", "1.0.0")),
        ("unlisted", lambda: unlist_widget(store, OPERATOR, "acme/notes")),
        ("listed", lambda: list_widget(store, OPERATOR, "acme/notes")),
        ("official", lambda: set_official(store, OPERATOR, "acme/clock", True)),
        ("unofficial", lambda: set_official(store, OPERATOR, "acme/clock", False)),
        ("revoked", lambda: revoke_version(store, bundles, OPERATOR, "acme/clock", "2.0.0", "X.")),
        ("unrevoked", lambda: unrevoke_version(store, bundles, OPERATOR, "acme/clock", "2.0.0")),
        ("imported", lambda: import_widgets(origin, widget_line("new/one"))),
        ("imported", lambda: import_widgets(
            origin, widget_line("new/one", versions=[version_line("1.1.0")]))),
    ]  # fmt: skip
    with a_mirror(data, service.url) as copying, InProcessSite(data) as site:
        for kind, happen in happenings:
            with copying.node.store.reading() as connection:
                before = list_changes(connection, 0, 10_000)[-1].seq
            happen()
            assert copying.mirroring.run() == Round(1, []), kind
            assert exported(copying.node) == exported(origin), kind
            with copying.node.store.reading() as connection:
                assert [it.kind for it in list_changes(connection, before)] == [kind]
            is_revoked = kind == "revoked"
            bundle = site.get("/cdn/@acme/clock/2.0.0/index.js").status
            assert bundle == (410 if is_revoked else 200)
            assert len(site.get("/api/v1/widgets/revocations").json()["revocations"]) == is_revoked
        assert_bundles_are_whole(copying.node)


def test_what_is_revoked_while_unlisted_is_revoked_here(
    data: Path, origin: Node, service: Service
) -> None:
    store, bundles = origin.store, origin.bundles
    unlist_widget(store, OPERATOR, "acme/notes")
    revoke_version(store, bundles, OPERATOR, "acme/notes", "1.0.0", "Bad.")
    with a_mirror(data, service.url) as copying, InProcessSite(data) as site:
        assert copying.mirroring.run() == Round(1, [])
        (revocation,) = site.get("/api/v1/widgets/revocations").json()["revocations"]
        assert revocation["id"] == "acme/notes"
        assert site.get("/cdn/@acme/notes/1.0.0/index.js").status == 410
        unrevoke_version(store, bundles, OPERATOR, "acme/notes", "1.0.0")
        list_widget(store, OPERATOR, "acme/notes")
        copying.mirroring.run()
        assert exported(copying.node) == exported(origin)
        assert site.get("/cdn/@acme/notes/1.0.0/index.js").status == 200


def test_a_bundle_that_was_revoked_at_first_comes_when_it_no_longer_is(
    tmp_path: Path, origin: Node, service: Service
) -> None:
    store, bundles = origin.store, origin.bundles
    revoke_version(store, bundles, OPERATOR, "acme/clock", "2.0.0", "Bad.")
    with (
        a_mirror(tmp_path / "late", service.url) as copying,
        InProcessSite(tmp_path / "late") as at,
    ):
        assert copying.mirroring.run().errors == []
        shown = at.get("/api/v1/widgets/acme/clock/2.0.0").json()
        assert shown["revoked"]["reason"] == "Bad."
        unrevoke_version(store, bundles, OPERATOR, "acme/clock", "2.0.0")
        assert copying.mirroring.run() == Round(1, [])
        assert exported(copying.node) == exported(origin)
        files = at.get("/api/v1/widgets/acme/clock/2.0.0").json()["files"]
        assert [it["path"] for it in files] == [
            "index.js",
            "index.css",
            "README.md",
            "screenshots/light.png",
            "screenshots/light.thumb.webp",
        ]
        for file in files:
            assert at.get(f"/cdn/@acme/clock/2.0.0/{file['path']}").status == 200
        assert at.get("/cdn/@acme/clock/2.0.0/index.css").status == 200


def test_each_side_counts_its_own_downloads(data: Path, service: Service) -> None:
    with a_mirror(data, service.url), InProcessSite(data) as site:
        for _ in range(3):
            assert site.post("/api/v1/widgets/core/old").status == 200
        shown = site.get("/api/v1/widgets/core/old").json()["widget"]
        assert shown["downloadCount"] == 3
        assert site.get("/api/v1/widgets/acme/clock").json()["widget"]["downloadCount"] == 0


def test_only_what_is_wanted_is_copied(tmp_path: Path, origin: Node, service: Service) -> None:
    folder = tmp_path / "data"
    everything = exported(origin)
    in_core = {key for key in everything if key.startswith("core/")}
    with a_mirror(folder, service.url, Selection(("core",))) as copying:
        assert copying.mirroring.run() == Round(len(in_core), [])
        assert set(exported(copying.node)) == in_core
        set_official(origin.store, OPERATOR, "acme/clock", True)
        assert copying.mirroring.run() == Round(0, [])
    with a_mirror(folder, service.url, Selection((), only_official=True)) as copying:
        assert copying.mirroring.run().errors == []
        assert set(exported(copying.node)) == {"acme/clock", "core/map"}
        set_official(origin.store, OPERATOR, "acme/clock", False)
        assert copying.mirroring.run() == Round(1, [])
        assert set(exported(copying.node)) == {"core/map"}
    with a_mirror(folder, service.url) as copying:
        copying.mirroring.run()
        assert exported(copying.node) == exported(origin)


def test_a_mirror_of_a_mirror_is_the_same(
    tmp_path: Path, data: Path, origin: Node, service: Service
) -> None:
    from support.service import running_service

    with a_mirror(data, service.url) as first, running_service(data) as middle:
        first.mirroring.run()
        with a_mirror(tmp_path / "second", middle.url) as second:
            assert second.mirroring.run().errors == []
            assert exported(second.node) == exported(origin)
            yank_version(origin.store, OPERATOR, "core/old", "1.0.0", "Oh.")
            first.mirroring.run()
            assert second.mirroring.run() == Round(1, [])
            assert exported(second.node) == exported(origin)
            unyank_version(origin.store, OPERATOR, "core/old", "1.0.0")


@pytest.mark.parametrize("kept", [True, False])
def test_a_catalog_that_was_restored_is_read_again(
    tmp_path: Path, origin: Node, service: Service, kept: bool
) -> None:
    """Its newest change is older than the last one seen, or the changes since are not retained."""
    from mirror.mirrors import Passed, tampering_server

    with tampering_server(service.url) as between, a_mirror(tmp_path / "m", between.url) as copying:
        copying.mirroring.run()
        if kept:
            copying.mirroring._save(seq=10**9)
        else:
            gone = Passed(410, {}, b'{"error": "Not kept."}')
            between.tamper = lambda path, passed: gone if "/changes" in path else passed
        unlist_widget(origin.store, OPERATOR, "core/old")
        assert "core/old" in exported(copying.node)  # Meanwhile it shows its current state.
        assert copying.mirroring.run() == Round(1, [])
        assert exported(copying.node) == exported(origin)
        list_widget(origin.store, OPERATOR, "core/old")

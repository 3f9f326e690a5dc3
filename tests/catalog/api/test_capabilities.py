"""Capabilities of manifests: published, imported and stored; shown, compared and resolved."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from support.html import Html
from support.passwords import quick_passwords
from support.people import BUNDLE, a_person, signed_in
from support.site import InProcessSite
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.model.widgets import Version
from widget_catalog.catalog.store.rows import VersionColumns, version_from, version_row
from widget_contract.semver import SemVer
from widget_contract.wire import Size

CAMERA = {"domain": "camera", "access": "read"}
LOCK = {"domain": "lock", "access": "control"}
FRONT = {**LOCK, "entities": ["lock.front_*"]}
READS = {"domain": "lock", "access": "read"}
DOOR = "/api/v1/widgets/ann/door"
MALFORMED = [CAMERA, {"domain": "api.example", "access": "write"}, 7]


def _imported(number: str, day: int, manifest: str, **fields: Any) -> dict[str, Any]:
    at = f"2026-01-{day:02}T00:00:00Z"
    return version_line(number, publishedAt=at, manifest=manifest, **fields)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with quick_passwords(), InProcessSite(tmp_path_factory.mktemp("shop") / "data") as site:
        ann = a_person(site, "ann")
        for number, capabilities in {
            "0.7.0": [],
            "0.8.0": [CAMERA],
            "0.9.0": [CAMERA, FRONT],
            "0.10.0": [CAMERA, {**FRONT, "services": ["unlock"]}],
            "0.11.0": [CAMERA, FRONT, LOCK],
            "0.12.0": [READS],
        }.items():
            js = BUNDLE + number.encode()
            said = {"permissions": ["network"], "capabilities": capabilities, "x-own": 1}
            assert ann.publish("ann/door", number, js, **said).status == 200
        declared = ["control:lock", "network"]
        escaped = json.dumps({"capabilities": [FRONT]}).replace("c", "\\u0063", 1)
        import_widgets(
            site.node,
            widget_line(
                "acme/door",
                versions=[
                    _imported("1.0.0", 1, json.dumps({"capabilities": MALFORMED})),
                    _imported("1.1.0", 2, escaped),
                    _imported("1.2.0", 3, json.dumps({"capabilities": "?"}), permissions=declared),
                    _imported("1.3.0", 4, "[1]"),
                ],
            ),
            is_lenient=True,  # As earlier releases imported the last one.
        )
        yield site


def entries(shop: InProcessSite, path: str = DOOR) -> dict[str, Any]:
    return {it["version"]: it for it in shop.get(path).json()["versions"]}


def resolved(shop: InProcessSite, installed: str, offered: str, id_: str = "ann/door") -> Any:
    widget = {"id": id_, "installed": installed, "range": offered}
    body = json.dumps({"sdk": "1.5.0", "widgets": [widget]}).encode()
    response = shop.request("POST", "/api/v1/widgets/resolve", body)
    assert response.status == 200, response.body
    (only,) = response.json()["results"]
    return only


def test_they_are_among_the_permissions_wherever_a_version_is_shown(shop: InProcessSite) -> None:
    found = entries(shop)
    assert {number: it["permissions"] for number, it in found.items()} == {
        "0.7.0": ["network"],
        "0.8.0": ["network", "read:camera"],
        "0.9.0": ["network", "read:camera", "control:lock"],
        "0.10.0": ["network", "read:camera", "control:lock"],
        "0.11.0": ["network", "read:camera", "control:lock"],
        "0.12.0": ["network", "read:lock"],
    }
    registry = shop.get("/api/widgets/ann/registry.json").json()
    assert registry["widgets"][0]["versions"] == list(found.values())
    summary = shop.get("/api/v1/widgets/search?scope=ann").json()["widgets"][0]
    assert summary["latestVersion"] == found["0.12.0"]
    filtered = Html(shop.get("/search?permission=read:lock").body)
    assert "ann/door" in filtered.one("main").text


def test_the_detail_of_a_version_shows_them_in_full(shop: InProcessSite) -> None:
    found = shop.get(f"{DOOR}/0.10.0").json()

    assert found["capabilities"] == [CAMERA, {**FRONT, "services": ["unlock"]}]
    assert found["manifest"]["capabilities"] == found["capabilities"]
    assert (found["permissionsAdded"], found["permissionsRemoved"]) == ([], ["control:lock"])
    assert shop.get(f"{DOOR}/0.7.0").json()["capabilities"] == []
    wider = shop.get(f"{DOOR}/0.11.0").json()
    assert (wider["permissionsAdded"], wider["permissionsRemoved"]) == (["control:lock"], [])


@pytest.mark.parametrize(
    ("installed", "offered", "added", "removed", "told"),
    [
        ("0.8.0", "0.9.0", ["control:lock"], [], "0.9.0 may also control locks (lock.front_*)."),
        ("0.9.0", "0.11.0", ["control:lock"], [], "0.11.0 may also control locks."),
        ("0.10.0", "0.9.0", ["control:lock"], [], "0.9.0 may also control locks (lock.front_*)."),
        ("0.9.0", "0.10.0", [], ["control:lock"], ""),
        ("0.11.0", "0.12.0", [], ["read:camera", "control:lock"], ""),
        ("0.7.0", "0.12.0", ["read:lock"], [], "0.12.0 may also read locks."),
        ("0.12.0", "0.8.0", ["read:camera"], ["read:lock"], "0.8.0 may also read cameras."),
    ],
)
def test_resolve_names_what_no_old_capability_covers(
    shop: InProcessSite,
    installed: str,
    offered: str,
    added: list[str],
    removed: list[str],
    told: str,
) -> None:
    found = resolved(shop, installed, offered)

    assert found["offer"]["version"] == offered
    assert (found["permissionsAdded"], found["permissionsRemoved"]) == (added, removed)
    assert found["message"].endswith(told) if told else "may also" not in found["message"]


def test_the_whole_message_of_an_update(shop: InProcessSite) -> None:
    assert resolved(shop, "0.8.0", "0.9.0")["message"] == (
        "ann/door can be updated from 0.8.0 to 0.9.0. 0.9.0 may also control locks (lock.front_*)."
    )


def test_what_is_imported_shows_those_that_can_be_read(shop: InProcessSite) -> None:
    found = entries(shop, "/api/v1/widgets/acme/door")

    assert {number: it["permissions"] for number, it in found.items()} == {
        "1.0.0": ["read:camera"],
        "1.1.0": ["control:lock"],
        "1.2.0": ["control:lock", "network"],
        "1.3.0": [],
    }
    shown = [shop.get(f"/api/v1/widgets/acme/door/{it}").json()["capabilities"] for it in found]
    assert shown == [[], [], [FRONT], [CAMERA]]
    # A declared permission of this form is not narrowed.
    wider = resolved(shop, "1.1.0", "1.2.0", "acme/door")
    assert wider["permissionsAdded"] == ["control:lock", "network"]


def test_a_version_that_an_older_release_stored_without_them_has_them() -> None:
    version = Version(
        version=SemVer.parse("1.0.0"),
        bundle_url=None,
        bundle_size=1,
        sha256_hash="a" * 64,
        published_at=datetime(2026, 1, 1, tzinfo=UTC),
        min_size=Size(1, 1),
        max_size=Size(1, 1),
        sdk_version="^1.0.0",
        permissions=("network",),
    )
    text = json.dumps({"capabilities": [FRONT]})
    columns = VersionColumns(*version_row("ann", "door", version))
    columns.manifest = text
    columns.checksum = columns.checksum_in("ann", "door")

    again = version_from("ann", "door", columns)

    assert again.permissions == ("network", "control:lock")
    assert again.manifest == text


def test_malformed_ones_are_refused_with_every_error(shop: InProcessSite) -> None:
    ann = signed_in(shop, "ann")
    stated = [{"domain": "Lock", "access": "write", "entities": ["front"], "services": []}, None]
    refused = ann.request("ann/door", "0.13.0", capabilities=stated)

    assert refused.status == 400
    assert refused.json()["error"] == (
        "(1) capabilities[0].domain: must be 1 to 64 lowercase letters, digits and _, such as "
        "media_player. (2) capabilities[0].access: must be read or control. "
        "(3) capabilities[0].entities[0]: 'front' is not a pattern such as lock.front_*. "
        "(4) capabilities[0].services: must be a list with at least one name such as unlock. "
        '(5) capabilities[1]: must be an object such as {"domain": "lock", "access": "control"}.'
    )


def test_pages_show_them_in_words(shop: InProcessSite) -> None:
    version = Html(shop.get("/widgets/ann/door/0.10.0").body)
    (listed,) = version.all("ul", class_="permissions")
    assert listed.text == (
        "Connect to the network network Read cameras read:camera "
        "Control locks (lock.front_*; only unlock) control:lock"
    )
    assert "− control locks (lock.front_*)" in version.one("main").text
    versions = Html(shop.get("/widgets/ann/door/versions").body).one("main").text
    assert "+ control locks (lock.front_*)" in versions
    assert "+ control locks " in versions
    compare = Html(shop.get("/widgets/ann/door/compare?from=0.8.0&to=0.9.0").body)
    assert "+ control locks (lock.front_*)" in compare.one("main").text
    same = Html(shop.get("/widgets/ann/door/compare?from=0.11.0&to=0.12.0").body)
    assert "− read cameras − control locks" in same.one("main").text

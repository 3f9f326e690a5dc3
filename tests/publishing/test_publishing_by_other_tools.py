"""Publishing over the network like third-party tools: their manifests have no slug, and additional
keys. They are accepted, and stored unchanged.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from support.author import add_account, token_of
from support.people import BUNDLE
from support.service import Service, running_service
from widget_catalog.catalog.node.node import open_node, prepare_node
from widget_catalog.catalog.store.widgets import find_widget
from widget_contract.names import Scope, WidgetName

PUBLISH = "/api/widgets/publish"
CSS = b".clock { color: rebeccapurple; }\n"

# `name` is the display name, and there is no `displayName`.
PLAIN: dict[str, Any] = {
    "name": "Clock",
    "version": "1.0.0",
    "description": "Shows the time.",
    "icon": "mdi:clock-outline",
    "minSize": {"w": 2, "h": 1},
    "maxSize": {"w": 4, "h": 2},
    "defaultSize": {"w": 3, "h": 1},
    "sdkVersion": "^1.0.0",
    "schema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"zone": {"type": "string", "default": "Europe/Vienna"}},
        "required": ["zone"],
        "additionalProperties": False,
    },
    "defaultConfig": {"zone": "Europe/Vienna", "seconds": False, "offset": 1.5, "note": None},
    "examples": [{"name": "Vienna", "config": {"zone": "Europe/Vienna"}}, {"config": {}}],
    "capabilities": [
        {"domain": "sensor", "access": "read", "entities": ["sensor.clock_*"], "note": "kept"},
        {"domain": "media_player", "access": "control", "services": ["play_media"]},
    ],
    "tag": "time",
    "configVersion": 2,
}
# Edge cases of the same format: empty texts, line breaks, other characters, a long name.
EDGES: dict[str, Any] = {
    **PLAIN,
    "name": "Die Uhr für das Wohnzimmer ⏰ / “Größe” " + "x" * 200,
    "description": "Shows the time.\r\nIn every room.\n",
    "icon": "",
    "license": "",
    "releaseNotes": "",
    "tag": "",
    "capabilities": [],
    "examples": [],
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("dialect") / "data"
    node = prepare_node(data)
    add_account(node, "ann")
    node.store.close()
    with running_service(data) as running:
        yield running


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {token_of(service, 'ann')}"}
    with httpx.Client(base_url=service.url, headers=headers, timeout=60) as made:
        yield made


def request_for(slug: str, manifest: dict[str, Any], css: bytes | None) -> dict[str, Any]:
    """The request of such a tool: its own slug and name, the rest from the manifest."""
    request = {
        "action": "request",
        "scope": "ann",
        "name": slug,
        "displayName": manifest["name"][:40],
        "description": manifest["description"],
        "icon": manifest["icon"],
        "minSize": manifest["minSize"],
        "maxSize": manifest["maxSize"],
        "sdkVersion": manifest["sdkVersion"],
        "version": manifest["version"],
        "bundleSize": len(BUNDLE),
        "sha256Hash": hashlib.sha256(BUNDLE).hexdigest(),
        "manifestJson": json.dumps(manifest),
    }
    if css is not None:
        request |= {"cssSize": len(css), "cssSha256Hash": hashlib.sha256(css).hexdigest()}
    return request


@pytest.mark.parametrize("css", [None, CSS], ids=["bundle alone", "with a style sheet"])
@pytest.mark.parametrize(
    ("slug", "manifest", "shown"),
    [
        ("clock", PLAIN, ("Clock", "Shows the time.", "mdi:clock-outline")),
        (
            "living-room",
            EDGES,
            ("Die Uhr für das Wohnzimmer ⏰ / “Größe” x", "Shows the time. In every room.", None),
        ),
    ],
    ids=["plain", "edges"],
)
def test_a_manifest_with_a_name_for_people_is_published_and_kept_whole(
    service: Service,
    client: httpx.Client,
    slug: str,
    manifest: dict[str, Any],
    shown: tuple[str | None, ...],
    css: bytes | None,
) -> None:
    slug = slug if css is None else f"{slug}-styled"
    response = client.post(PUBLISH, json=request_for(slug, manifest, css))
    assert response.status_code == 200, response.text
    requested = response.json()
    js = {"content-type": "application/javascript"}
    assert (
        httpx.put(requested["uploadUrl"], content=BUNDLE, headers=js, timeout=60).status_code == 200
    )
    if css is not None:
        sheet = {"content-type": "text/css"}
        assert (
            httpx.put(requested["cssUploadUrl"], content=css, headers=sheet, timeout=60).status_code
            == 200
        )
    confirmation = {"action": "confirm", "versionId": requested["versionId"]}
    confirmed = client.post(PUBLISH, json=confirmation)

    assert confirmed.status_code == 200, confirmed.text
    assert httpx.get(confirmed.json()["bundleUrl"], timeout=60).content == BUNDLE
    assert ("cssUrl" in confirmed.json()) is (css is not None)
    if css is not None:
        assert httpx.get(confirmed.json()["cssUrl"], timeout=60).content == css
    detail = client.get(f"/api/v1/widgets/ann/{slug}").json()
    for said in (detail["widget"], detail["versions"][0]):
        assert (said["name"], said["displayName"], said["description"], said["icon"]) == (
            slug,
            *shown,
        )
    (version,) = detail["versions"]
    assert [version[key] for key in ("configVersion", "license", "releaseNotes")] == [2, None, None]
    assert kept_manifest(service, slug) == manifest


def test_a_manifest_that_contradicts_the_request_is_refused(client: httpx.Client) -> None:
    request = request_for("contradiction", PLAIN | {"version": "1.0.1"}, None)
    request |= {"version": "1.0.0", "sdkVersion": "^2.0.0"}

    refused = client.post(PUBLISH, json=request)

    assert (refused.status_code, refused.json()) == (
        400,
        {
            "error": "(1) version: the manifest says '1.0.1', but the request says '1.0.0'. "
            "(2) sdkVersion: the manifest says '^1.0.0', but the request says '^2.0.0'."
        },
    )


def test_a_error_of_the_name_for_people_is_reported_under_the_key_of_the_manifest(
    client: httpx.Client,
) -> None:
    manifest = PLAIN | {"name": "Clo\u200bck"}
    request = request_for("invisible", manifest, None)
    without = {key: value for key, value in request.items() if key != "displayName"}

    for sent in (request, without):
        refused = client.post(PUBLISH, json=sent)

        assert refused.status_code == 400
        assert refused.json()["error"].startswith("name in the manifest: contains the character")
        assert "displayName" not in refused.json()["error"]


def kept_manifest(service: Service, slug: str) -> Any:
    node = open_node(service.data)
    try:
        with node.store.reading() as connection:
            stored = find_widget(connection, Scope("ann"), WidgetName(slug))
    finally:
        node.store.close()
    assert stored is not None
    text = stored.widget.versions[0].manifest
    assert text is not None
    return json.loads(text)

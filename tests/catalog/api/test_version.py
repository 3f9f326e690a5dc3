"""GET /api/v1/widgets/{scope}/{name}/{version}: everything about one version."""

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from support.passwords import quick_passwords
from support.people import BUNDLE, Person, a_person, manifest
from support.site import InProcessSite
from support.widgets import import_widgets, version_line, widget_line
from widget_contract.manifest_details import DETAIL_KEYS

CSS = b".clock { color: red }\n"
CLOCK = "/api/v1/widgets/ann/clock"
UNKNOWN = {"x-unknown": {"deep": [1, 2.50, None, "\u00e9 \"'"]}}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "a.js").write_bytes(BUNDLE)
    (folder / "a.css").write_bytes(CSS)
    stored: dict[str, Any] = {"bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    with quick_passwords(), InProcessSite(folder / "data") as site:
        ann = a_person(site, "ann")
        for version, permissions in (
            ("1.0.0", ["network"]),
            ("1.1.0", ["network", "storage"]),
            ("1.2.0+build.7", ["camera", "storage"]),
        ):
            js = BUNDLE + version.encode()
            ann.publish("ann/clock", version, js, permissions=permissions, **UNKNOWN)
        styled = version_line(bundleFile="a.js", cssFile="a.css", permissions=["a", "b"], **stored)
        odd = [
            version_line(f"{i}.0.0", publishedAt=f"2026-01-0{i + 1}T00:00:00Z", manifest=text)
            for i, text in enumerate(["[1]", "{", '{"a":1}', "[" * 5000, " {} "])
        ]
        import_widgets(
            site.node,
            widget_line("acme/styled", isOfficial=None, versions=[styled]),
            widget_line("acme/hidden", listed=False),
            base_folder=folder,
        )
        # As earlier releases imported them.
        import_widgets(site.node, widget_line("acme/odd", versions=odd), is_lenient=True)
        yield site


@pytest.fixture(scope="module")
def olly(shop: InProcessSite) -> Person:
    return a_person(shop, "olly", is_operator=True)


def version(shop: InProcessSite, path: str) -> Any:
    response = shop.get(f"/api/v1/widgets/{path}")
    assert response.status == 200, response.body
    return response.json()


def test_an_offer_says_where_its_style_sheet_is(shop: InProcessSite) -> None:
    full = version(shop, "acme/styled/1.0.0")
    wanted = {"sdk": "1.0.0", "widgets": [{"id": "acme/styled"}, {"id": "ann/clock"}]}
    response = shop.request("POST", "/api/v1/widgets/resolve", json.dumps(wanted).encode())
    styled, plain = [it["offer"] for it in response.json()["results"]]

    assert styled == {**full["version"], "cssUrl": full["files"][1]["url"]}
    assert "cssUrl" not in plain


def test_it_has_the_whole_manifest_and_what_detail_says(shop: InProcessSite) -> None:
    detail = shop.get(CLOCK).json()
    found = version(shop, "ann/clock/1.1.0")

    assert list(found) == [
        "widget", "version", "manifest", "files", "permissionsAdded", "permissionsRemoved",
        "previousVersion", "revoked", "capabilities", *DETAIL_KEYS.values(),
    ]  # fmt: skip
    assert found["widget"] == detail["widget"]
    assert found["version"] == detail["versions"][1]
    permissions = ["network", "storage"]
    assert found["manifest"] == manifest("clock", "1.1.0", permissions=permissions, **UNKNOWN)
    assert (found["previousVersion"], found["revoked"]) == ("1.0.0", None)
    assert (found["permissionsAdded"], found["permissionsRemoved"]) == (["storage"], [])
    js = BUNDLE + b"1.1.0"
    digest = hashlib.sha256(js)
    assert found["files"] == [
        {
            "path": "index.js",
            "url": "https://catalog.example/cdn/@ann/clock/1.1.0/index.js",
            "size": len(js),
            "sha256Hash": digest.hexdigest(),
            "integrity": f"sha256-{base64.b64encode(digest.digest()).decode()}",
            "contentType": "text/javascript",
        }
    ]


def test_a_style_sheet_is_a_file_and_what_was_imported_has_no_manifest(
    shop: InProcessSite,
) -> None:
    found = version(shop, "acme/styled/1.0.0")

    assert found["manifest"] is None
    assert found["widget"]["isOfficial"] is False
    assert [it["path"] for it in found["files"]] == ["index.js", "index.css"]
    css = found["files"][1]
    assert css["sha256Hash"] == hashlib.sha256(CSS).hexdigest()
    assert (css["size"], css["contentType"]) == (len(CSS), "text/css")
    assert shop.get(css["url"].removeprefix("https://catalog.example")).body == CSS
    assert (found["permissionsAdded"], found["previousVersion"]) == (["a", "b"], None)


def test_what_an_import_calls_a_manifest_is_shown_if_it_is_an_object(shop: InProcessSite) -> None:
    shown = [version(shop, f"acme/odd/{i}.0.0")["manifest"] for i in range(5)]

    assert shown == [None, None, {"a": 1}, None, {}]


@pytest.mark.parametrize("number", ["1.2.0", "1.2.0+build.7", "1.2.0+other", "1.2.0+"])
def test_build_metadata_is_ignored(shop: InProcessSite, number: str) -> None:
    found = version(shop, f"ann/clock/{number}")

    assert found["version"]["version"] == "1.2.0+build.7"
    assert (found["permissionsAdded"], found["permissionsRemoved"]) == (["camera"], ["network"])


@pytest.mark.parametrize(
    "path",
    ["ann/clock/9.9.9", "ann/clock/1", "ann/clock/v1.0.0", "ann/none/1.0.0", "acme/hidden/1.0.0",
     "ann/clock/", "Ann/clock/1.0.0", "ann//1.0.0", "ann/clock/1.0.0/", "ann/clock/%00",
     "ann/clock/1.0.0/x"],
)  # fmt: skip
def test_what_is_not_there_is_404(shop: InProcessSite, path: str) -> None:
    response = shop.get(f"/api/v1/widgets/{path}")

    assert response.status == 404
    assert list(response.json()) == ["error"]
    assert response.headers["access-control-allow-origin"] == "*"


def test_the_tag_changes_only_when_the_response_does(shop: InProcessSite, olly: Person) -> None:
    path = f"{CLOCK}/1.0.0"
    first = shop.get(path)
    assert shop.get(path, if_none_match=first.headers["etag"]).status == 304
    assert shop.get(path, if_none_match=first.headers["etag"], accept_encoding="br").status == 200

    shop.post("/api/v1/widgets/acme/styled")  # Another widget.
    olly.post("/api/widgets/acme/styled/unlist", {"reason": "x"})
    olly.post("/api/widgets/acme/styled/list", {"reason": "x"})
    assert shop.get(path).headers["etag"] == first.headers["etag"]

    shop.post(CLOCK)
    counted = shop.get(path)
    assert counted.headers["etag"] != first.headers["etag"]
    assert counted.json()["widget"]["downloadCount"] == 1
    olly.post("/api/widgets/ann/clock/versions/1.0.0/deprecate", {"message": "Old."})
    changed = shop.get(path)
    assert changed.headers["etag"] != counted.headers["etag"]
    assert changed.json()["version"]["deprecationMessage"] == "Old."


def test_yanked_and_revoked_ones_are_skipped_and_reported(
    shop: InProcessSite, olly: Person
) -> None:
    versions = "/api/widgets/ann/clock/versions"
    olly.post(f"{versions}/1.1.0/yank", {"reason": "Bad."})
    assert version(shop, "ann/clock/1.2.0")["previousVersion"] == "1.0.0"
    olly.post(f"{versions}/1.0.0/revoke", {"reason": "Worse."})

    last = version(shop, "ann/clock/1.2.0")
    assert (last["previousVersion"], last["permissionsAdded"]) == (None, ["camera", "storage"])
    revoked = version(shop, "ann/clock/1.0.0")
    assert revoked["revoked"]["reason"] == "Worse."
    assert revoked["version"]["yanked"] is True

    olly.post(f"{versions}/1.0.0/unrevoke")
    olly.post(f"{versions}/1.1.0/unyank")
    assert version(shop, "ann/clock/1.0.0")["revoked"] is None
    assert version(shop, "ann/clock/1.2.0")["previousVersion"] == "1.1.0"


def test_other_methods(shop: InProcessSite) -> None:
    path = f"{CLOCK}/1.0.0"
    get, head = shop.get(path), shop.request("HEAD", path)
    assert (head.status, head.headers) == (200, get.headers)
    for method in ("POST", "PUT", "DELETE"):
        response = shop.request(method, path)
        assert (response.status, response.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert shop.request("OPTIONS", path).status == 204
    assert shop.get(path, accept_encoding="gzip").headers["content-encoding"] == "gzip"


def test_a_large_manifest_is_whole(shop: InProcessSite) -> None:
    text = "x" * 100_000
    line = version_line(manifest=json.dumps({"notes": text}))
    import_widgets(shop.node, widget_line("acme/large", versions=[line]))

    found = version(shop, "acme/large/1.0.0")

    assert found["manifest"] == {"notes": text}

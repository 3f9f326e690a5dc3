"""GET /cdn/@{scope}/{name}/{version}/index.js: stored bundles."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.site import InProcessSite, Reply
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.core.files.local import LocalBundles

BYTES = bytes(range(256)) * 300 + b"export default class {}"
SIZE = len(BYTES)
HASH = hashlib.sha256(BYTES).hexdigest()
ETAG = f'"{HASH}"'
BUNDLE = "/cdn/@acme/clock/1.0.0/index.js"

HEADERS = {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
    "accept-ranges": "bytes",
    "cross-origin-resource-policy": "cross-origin",
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
    "vary": "accept-encoding",
    "etag": ETAG,
}


def _stored(version: str = "1.0.0", file: str = "clock.js", **fields: Any) -> dict[str, Any]:
    elsewhere = {"bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    return version_line(version, bundleFile=file, **elsewhere, **fields)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "clock.js").write_bytes(BYTES)
    (folder / "empty.js").write_bytes(b"")
    with InProcessSite(folder / "data") as site:
        import_widgets(
            site.node,
            widget_line(
                "acme/clock",
                versions=[
                    _stored(),
                    _stored("1.1.0", yanked=True),
                    _stored("2.0.0-rc.1+build.5"),
                    version_line("3.0.0"),
                ],
            ),
            widget_line("acme/hidden", listed=False, versions=[_stored()]),
            widget_line("acme/empty", versions=[_stored(file="empty.js")]),
            base_folder=folder,
        )
        yield site


def assert_whole(response: Reply) -> None:
    assert response.status == 200
    assert response.headers == HEADERS
    assert response.body == BYTES


def test_the_bundle_is_served_byte_for_byte_at_the_address_the_api_tells(
    shop: InProcessSite,
) -> None:
    entries = shop.get("/api/v1/widgets/acme/clock").json()["versions"]
    [entry] = [it for it in entries if it["version"] == "1.0.0"]
    assert entry["bundleUrl"] == f"https://catalog.example{BUNDLE}"
    assert (entry["bundleSize"], entry["sha256Hash"]) == (SIZE, HASH)

    assert_whole(shop.get(BUNDLE))


@pytest.mark.parametrize(
    "path",
    [
        "/cdn/@acme/clock/1.1.0/index.js",
        "/cdn/@acme/hidden/1.0.0/index.js",
        "/cdn/@acme/clock/2.0.0-rc.1+build.5/index.js",
    ],
)
def test_yanked_unlisted_and_prerelease_bundles_stay_where_they_are(
    shop: InProcessSite, path: str
) -> None:
    assert_whole(shop.get(path))


def test_every_place_that_shows_a_version_tells_the_same_address(shop: InProcessSite) -> None:
    detail = shop.get("/api/v1/widgets/acme/empty").json()["versions"]
    search = shop.get("/api/v1/widgets/search?q=empty&compatSdk=1.0.0").json()["widgets"][0]
    registry = shop.get("/api/widgets/acme/registry.json").json()
    shown = [it["versions"] for it in registry["widgets"] if it["name"] == "empty"]

    address = "https://catalog.example/cdn/@acme/empty/1.0.0/index.js"
    assert detail[0]["bundleUrl"] == address
    assert registry["baseUrl"] == "https://catalog.example/cdn/"
    assert shown == [detail]
    assert search["latestVersion"] == search["latestCompatibleVersion"] == detail[0]


def test_a_cdn_elsewhere_is_reported_in_every_address(shop: InProcessSite, tmp_path: Path) -> None:
    with InProcessSite(shop.node.folder.path, cdn_base_url="https://cdn.example/w/") as other:
        entry = other.get("/api/v1/widgets/acme/hidden")
        shown = other.get("/api/v1/widgets/acme/clock").json()["versions"]
        registry = other.get("/api/widgets/acme/registry.json").json()

    assert entry.status == 404
    by_version = {it["version"]: it["bundleUrl"] for it in shown}
    assert by_version["1.0.0"] == "https://cdn.example/w/@acme/clock/1.0.0/index.js"
    assert by_version["3.0.0"] == "https://cdn.example/3.0.0.js"
    assert registry["baseUrl"] == "https://cdn.example/w/"


@pytest.mark.parametrize(
    ("wanted", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-9", 0, 10),
        ("bytes=100-199", 100, 200),
        (f"bytes={SIZE - 1}-", SIZE - 1, SIZE),
        ("bytes=5-", 5, SIZE),
        ("bytes=0-", 0, SIZE),
        ("bytes=-1", SIZE - 1, SIZE),
        ("bytes=-500", SIZE - 500, SIZE),
        (f"bytes=-{SIZE}", 0, SIZE),
        (f"bytes=-{10**12}", 0, SIZE),
        (f"bytes=10-{SIZE + 5}", 10, SIZE),
        (f"bytes=10-{10**17}", 10, SIZE),
    ],
)
def test_a_range_is_206_with_just_those_bytes(
    shop: InProcessSite, wanted: str, start: int, stop: int
) -> None:
    response = shop.get(BUNDLE, range=wanted)

    assert response.status == 206
    assert response.headers == HEADERS | {"content-range": f"bytes {start}-{stop - 1}/{SIZE}"}
    assert response.body == BYTES[start:stop]


@pytest.mark.parametrize("wanted", [f"bytes={SIZE}-", f"bytes={SIZE}-{SIZE + 9}", "bytes=-0"])
def test_a_range_of_no_bytes_is_416(shop: InProcessSite, wanted: str) -> None:
    response = shop.get(BUNDLE, range=wanted)

    assert response.status == 416
    assert response.json() == {"error": "The bundle has no such bytes."}
    assert response.headers == {
        "content-type": "application/json; charset=utf-8",
        "x-content-type-options": "nosniff",
        "content-range": f"bytes */{SIZE}",
        "access-control-allow-origin": "*",
    }


@pytest.mark.parametrize(
    "wanted",
    [
        "bytes=9-3",
        "bytes=-",
        "bytes=",
        "bytes=a-b",
        "bytes=0-1,5-6",
        "lines=0-1",
        "0-1",
        "",
        "bytes 0-1",
    ],
)
def test_a_range_that_is_not_one_range_of_bytes_is_ignored(
    shop: InProcessSite, wanted: str
) -> None:
    assert_whole(shop.get(BUNDLE, range=wanted))


def test_if_range_gives_the_part_only_of_the_same_bundle(shop: InProcessSite) -> None:
    part = shop.get(BUNDLE, range="bytes=0-9", if_range=ETAG)
    assert (part.status, part.body) == (206, BYTES[:10])

    for other in ('"other"', f"W/{ETAG}", HASH, "Thu, 01 Jan 2026 00:00:00 GMT", ""):
        assert_whole(shop.get(BUNDLE, range="bytes=0-9", if_range=other))


@pytest.mark.parametrize("known", [ETAG, f"W/{ETAG}", f'"x", {ETAG}', "*"])
def test_a_known_bundle_is_304_even_where_a_range_is_asked_for(
    shop: InProcessSite, known: str
) -> None:
    for headers in ({}, {"range": "bytes=0-9"}):
        response = shop.get(BUNDLE, if_none_match=known, **headers)

        assert (response.status, response.response.body) == (304, None)
        assert response.headers == {k: it for k, it in HEADERS.items() if k != "content-type"}


def test_another_etag_gives_the_bundle(shop: InProcessSite) -> None:
    assert_whole(shop.get(BUNDLE, if_none_match='"x"'))


def test_head_has_the_headers_of_get(shop: InProcessSite) -> None:
    head = shop.request("HEAD", BUNDLE)

    assert (head.status, head.headers) == (200, HEADERS)


def test_an_empty_bundle_is_served_and_has_no_range(shop: InProcessSite) -> None:
    path = "/cdn/@acme/empty/1.0.0/index.js"
    response = shop.get(path)

    assert (response.status, response.body) == (200, b"")
    assert response.headers["etag"] == f'"{hashlib.sha256(b"").hexdigest()}"'
    for wanted in ("bytes=0-", "bytes=0-0", "bytes=-1"):
        assert shop.get(path, range=wanted).status == 416


def test_any_other_path_is_404(shop: InProcessSite) -> None:
    cases = [
        "/cdn/",
        "/cdn/@acme",
        "/cdn/@acme/clock",
        "/cdn/@acme/clock/1.0.0",
        "/cdn/@acme/clock/1.0.0/",
        "/cdn/@acme/clock/1.0.0/index.css",
        "/cdn/@acme/clock/1.0.0/index.js/",
        "/cdn//@acme/clock/1.0.0/index.js",
        "/cdn/@acme/clock/1.0.0/INDEX.JS",
        "/cdn/@acme/clock/1.0/index.js",
        "/cdn/@acme/clock/v1.0.0/index.js",
        "/cdn/@acme/clock/latest/index.js",
        "/cdn/@acme/clock/1.0.0+x/index.js",
        "/cdn/acme/clock/1.0.0/index.js",
        "/cdn/@@acme/clock/1.0.0/index.js",
        "/cdn/@Acme/clock/1.0.0/index.js",
        "/cdn/@acme/Clock/1.0.0/index.js",
        "/cdn/@acme/clock/9.9.9/index.js",
        "/cdn/@acme/nothing/1.0.0/index.js",
        "/cdn/@nobody/clock/1.0.0/index.js",
        "/cdn/@acme/clock/3.0.0/index.js",
        "/cdn/@acme/clock/2.0.0-rc.1/index.js",
        "/cdn/@acme/clock/../catalog.db",
        "/cdn/@acme/../acme/clock/1.0.0/index.js",
        "/cdn/../../catalog.db",
        "/cdn/@acme/clock/..%2F/index.js",
        "/cdn/@acme/clock/\x00/index.js",
        "/cdn/@../../1.0.0/index.js",
        "/cdn/@acme/clock/1.0.0/./index.js",
        f"/cdn/{HASH[:2]}/{HASH[2:]}.js",
        f"/cdn/@acme/clock/{HASH}/index.js",
        "/cdn/@/clock/1.0.0/index.js",
        "/cdn/@acme/clock/1.0.0/index.js\x00",
        "/cdn/@acme/" + "x" * 9000 + "/1.0.0/index.js",
    ]
    for path in cases:
        response = shop.get(path, range="bytes=0-1", if_none_match="*")

        assert response.status == 404
        assert response.json() == {"error": f"There is no bundle at {path[:200]}."}
        assert response.headers == {
            "content-type": "application/json; charset=utf-8",
            "x-content-type-options": "nosniff",
            "access-control-allow-origin": "*",
        }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "BREW"])
def test_a_bundle_can_only_be_read(shop: InProcessSite, method: str) -> None:
    response = shop.request(method, BUNDLE)

    assert response.status == 405
    assert list(response.json()) == ["error"]
    assert response.headers == {
        "content-type": "application/json; charset=utf-8",
        "x-content-type-options": "nosniff",
        "allow": "GET, HEAD, OPTIONS",
        "access-control-allow-origin": "*",
    }
    assert_whole(shop.get(BUNDLE))


def test_preflight(shop: InProcessSite) -> None:
    response = shop.request("OPTIONS", BUNDLE)

    assert (response.status, response.response.body) == (204, None)
    assert response.headers == {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, OPTIONS",
        "access-control-allow-headers": "*",
        "x-content-type-options": "nosniff",
    }


def test_a_bundle_that_is_lost_is_503_and_not_cached(site: InProcessSite, tmp_path: Path) -> None:
    (tmp_path / "clock.js").write_bytes(BYTES)
    import_widgets(site.node, widget_line(versions=[_stored()]), base_folder=tmp_path)
    LocalBundles(site.node.folder.bundles).local_path(HASH).unlink()

    response = site.get(BUNDLE)

    assert (response.status, response.json()) == (
        503,
        {"error": "This bundle is missing or damaged on the server."},
    )
    assert "cache-control" not in response.headers


def test_a_bundle_that_was_not_there_is_served_once_it_is(
    site: InProcessSite, tmp_path: Path
) -> None:
    assert site.get(BUNDLE).status == 404
    (tmp_path / "clock.js").write_bytes(BYTES)
    import_widgets(site.node, widget_line(versions=[_stored()]), base_folder=tmp_path)

    assert_whole(site.get(BUNDLE))

"""GET /cdn/…/index.js with Accept-Encoding: compressed forms, made in the background."""

import gzip
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard

from core.files.test_verified import rot
from support.service import wait_for
from support.site import InProcessSite, Reply
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.core.files.contract import STORED_ENCODINGS, Encoding

pytestmark = pytest.mark.slow

BYTES = b"".join(b"export const a%d = () => %d;\n" % (it, it * it) for it in range(2_000))
HASH = hashlib.sha256(BYTES).hexdigest()
STYLE = b"".join(b".a%d { margin: %dpx }\n" % (it, it) for it in range(500))
NOISE = os.urandom(4_000)
SMALL = b"export function mount() {}\n"
BUNDLE = "/cdn/@acme/clock/1.0.0/index.js"
ALL = "gzip, deflate, br, zstd"

DECODERS: dict[str | None, Callable[[bytes], bytes]] = {
    "br": brotli.decompress,
    "zstd": zstandard.ZstdDecompressor().decompress,
    "gzip": gzip.decompress,
    None: bytes,
}
COMMON = {
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
    "cross-origin-resource-policy": "cross-origin",
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
    "vary": "accept-encoding",
}
AS_IT_IS = COMMON | {"accept-ranges": "bytes", "etag": f'"{HASH}"'}


def headers_of(encoding: str) -> dict[str, str]:
    return COMMON | {"content-encoding": encoding, "etag": f'"{HASH}-{encoding}"'}


def _stored(file: str, **fields: Any) -> dict[str, Any]:
    elsewhere: dict[str, Any] = {"bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    return version_line(bundleFile=file, **elsewhere, **fields)


def form_path(site: InProcessSite, encoding: Encoding = "br", sha256_hash: str = HASH) -> Path:
    name = f"{sha256_hash[2:]}.js.{STORED_ENCODINGS[encoding]}"
    return site.node.folder.bundles / sha256_hash[:2] / name


def fill(site: InProcessSite, folder: Path) -> None:
    contents = {"clock.js": BYTES, "clock.css": STYLE, "small.js": SMALL, "noise.js": NOISE}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    import_widgets(
        site.node,
        widget_line("acme/clock", versions=[_stored("clock.js", cssFile="clock.css")]),
        widget_line("acme/small", versions=[_stored("small.js")]),
        widget_line("acme/noise", versions=[_stored("noise.js")]),
        base_folder=folder,
    )


def encoding_sent(site: InProcessSite, path: str = BUNDLE, accepted: str = ALL) -> str | None:
    response = site.get(path, accept_encoding=accepted)
    assert response.status == 200
    return response.headers.get("content-encoding")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    folder = tmp_path_factory.mktemp("shop")
    with InProcessSite(folder / "data") as site:
        fill(site, folder)
        noise = form_path(site, sha256_hash=hashlib.sha256(NOISE).hexdigest())
        wait_for(lambda: noise.exists() and encoding_sent(site) == "br")
        wait_for(lambda: encoding_sent(site, "/cdn/@acme/clock/1.0.0/index.css") == "br")
        yield site


def test_the_smallest_form_that_is_accepted_is_sent(shop: InProcessSite) -> None:
    cases = [
        (ALL, "br"),
        ("zstd, gzip", "zstd"),
        ("gzip, deflate", "gzip"),
        ("x-gzip", "gzip"),
        ("GZIP", "gzip"),
        ("*", "br"),
        ("br;q=0, *", "zstd"),
        ("*;q=0, gzip", "gzip"),
        ("*;q=0", None),
        ("br;q=0.5, gzip;q=0.8", "gzip"),
        ("br;q=0.001", "br"),
        ("br;q=0", None),
        ("br; q = 0 , zstd;q=0.000, gzip;q=0.0", None),
        ("identity, br", "br"),
        ("identity;q=1, br;q=0.5", None),
        ("identity;q=0, gzip", "gzip"),
        ("identity;q=0", None),
        ("br;q=x", None),
        ("deflate, compress", None),
        ("brotli", None),
        ("", None),
        (",;=,", None),
    ]
    for accepted, wanted in cases:
        for method in ("GET", "HEAD"):
            response = shop.request(method, BUNDLE, accept_encoding=accepted)

            assert response.status == 200
            assert response.headers == (AS_IT_IS if wanted is None else headers_of(wanted))
            assert DECODERS[wanted](response.body) == BYTES
            assert wanted is None or len(response.body) < 0.35 * len(BYTES)


def test_a_style_sheet_is_compressed_too(shop: InProcessSite) -> None:
    response = shop.get("/cdn/@acme/clock/1.0.0/index.css", accept_encoding=ALL)

    assert response.headers["content-type"] == "text/css; charset=utf-8"
    assert brotli.decompress(response.body) == STYLE


def test_a_small_file_is_never_compressed_and_does_not_vary(shop: InProcessSite) -> None:
    response = shop.get("/cdn/@acme/small/1.0.0/index.js", accept_encoding=ALL)

    assert response.body == SMALL
    assert not {"content-encoding", "vary"} & set(response.headers)


def test_a_file_that_compresses_badly_is_sent_as_it_is(shop: InProcessSite) -> None:
    response = shop.get("/cdn/@acme/noise/1.0.0/index.js", accept_encoding=ALL)

    assert response.body == NOISE
    assert response.headers["cache-control"] == COMMON["cache-control"]
    assert "content-encoding" not in response.headers


@pytest.mark.parametrize(
    ("accepted", "known", "wanted"),
    [
        ("br", f'"{HASH}-br"', f'"{HASH}-br"'),
        ("br", f'W/"{HASH}-br"', f'"{HASH}-br"'),
        ("gzip", f'"x", "{HASH}-gzip"', f'"{HASH}-gzip"'),
        ("zstd", "*", f'"{HASH}-zstd"'),
        ("br", f'"{HASH}", "{HASH}-br"', f'"{HASH}-br"'),
        ("", f'"{HASH}"', f'"{HASH}"'),
    ],
)
def test_a_known_form_is_304(shop: InProcessSite, accepted: str, known: str, wanted: str) -> None:
    response = shop.get(BUNDLE, accept_encoding=accepted, if_none_match=known)

    assert (response.status, response.response.body) == (304, None)
    assert response.headers["etag"] == wanted
    assert response.headers["vary"] == "accept-encoding"
    assert not {"content-type", "content-encoding"} & set(response.headers)


@pytest.mark.parametrize(
    ("accepted", "known"),
    [
        # A shared cache has kept it since before it was compressed.
        ("br", f'"{HASH}"'),
        ("br", f'"{HASH}-gzip"'),
        ("", f'"{HASH}-br"'),
        ("gzip", '"x"'),
    ],
)
def test_another_form_than_the_best_one_is_not_304(
    shop: InProcessSite, accepted: str, known: str
) -> None:
    response = shop.get(BUNDLE, accept_encoding=accepted, if_none_match=known)

    assert response.status == 200
    assert DECODERS[response.headers.get("content-encoding")](response.body) == BYTES


@pytest.mark.parametrize("condition", [{}, {"if_range": f'"{HASH}"'}])
def test_a_range_is_one_of_the_file_as_it_is(
    shop: InProcessSite, condition: dict[str, str]
) -> None:
    response = shop.get(BUNDLE, accept_encoding=ALL, range="bytes=10-19", **condition)

    assert response.status == 206
    assert response.headers == AS_IT_IS | {"content-range": f"bytes 10-19/{len(BYTES)}"}
    assert response.body == BYTES[10:20]


def test_the_rest_of_a_form_is_the_whole_file(shop: InProcessSite) -> None:
    """Its bytes may differ if it is made again, so parts of it are never put together."""
    asked = {"accept_encoding": ALL, "range": "bytes=10-", "if_range": f'"{HASH}-br"'}

    response = shop.get(BUNDLE, **asked)

    assert (response.status, response.headers, response.body) == (200, AS_IT_IS, BYTES)


def test_a_file_is_sent_as_it_is_until_it_is_compressed(
    site: InProcessSite, tmp_path: Path
) -> None:
    fill(site, tmp_path)

    response: Reply = site.get(BUNDLE, accept_encoding=ALL)

    assert response.body == BYTES
    assert response.headers == AS_IT_IS | {
        "cache-control": "public, max-age=31536000, s-maxage=300, immutable"
    }
    known = site.get(BUNDLE, accept_encoding=ALL, if_none_match=f'"{HASH}"')
    assert (known.status, "s-maxage=300" in known.headers["cache-control"]) == (304, True)
    assert site.get(BUNDLE).headers == AS_IT_IS
    wait_for(lambda: encoding_sent(site) == "br")


@pytest.mark.parametrize("encoding", STORED_ENCODINGS)
def test_a_damaged_form_is_never_sent_and_made_again(
    site: InProcessSite, tmp_path: Path, encoding: Encoding
) -> None:
    fill(site, tmp_path)
    wait_for(form_path(site, "br").exists)
    path = form_path(site, encoding)
    original = path.read_bytes()
    path.chmod(0o600)
    rot(path)

    response = site.get(BUNDLE, accept_encoding=encoding)

    assert (response.status, response.body) == (200, BYTES)
    wait_for(lambda: encoding_sent(site, accepted=encoding) == encoding)
    assert path.read_bytes() == original
    assert site.get("/api/health").status == 200, "What is derived raises no alarm."


def test_a_form_of_a_lost_file_is_still_sent(site: InProcessSite, tmp_path: Path) -> None:
    fill(site, tmp_path)
    # All are compressed: a file that is removed meanwhile loses its forms.
    wait_for(lambda: form_path(site).exists() and site.node.folder.encoded.read_text())
    form_path(site).with_suffix("").unlink()

    assert brotli.decompress(site.get(BUNDLE, accept_encoding="br").body) == BYTES
    assert site.get(BUNDLE).status == 503


def test_nothing_is_compressed_if_that_is_switched_off(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        fill(site, tmp_path)
        wait_for(form_path(site).exists)
    with InProcessSite(tmp_path / "data", compress_bundles=False) as site:
        response = site.get(BUNDLE, accept_encoding=ALL)

    assert response.body == BYTES
    assert not {"content-encoding", "vary"} & set(response.headers)

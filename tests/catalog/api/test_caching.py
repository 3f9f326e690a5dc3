"""Conditional requests and compression of API responses."""

import gzip
from collections.abc import Callable, Iterator

import brotli
import pytest
import zstandard

from support.site import InProcessSite
from support.widgets import version_line, widget_line

DETAIL = "/api/v1/widgets/acme/clock"
SEARCH = "/api/v1/widgets/search"
REGISTRY = "/api/widgets/acme/registry.json"
SMALL = ["/api/health", "/api/version", "/api/widgets/cli-version", "/api/stats"]
LARGE = [DETAIL, SEARCH, f"{SEARCH}?q=clock&compatSdk=1.0.0", REGISTRY]

DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "zstd": lambda body: zstandard.ZstdDecompressor().decompress(body),
    "br": brotli.decompress,
    "gzip": gzip.decompress,
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path_factory.mktemp("shop") / "data") as site:
        versions = [version_line(f"1.{i}.0", releaseNotes="Größer. " * i) for i in range(9)]
        site.add(widget_line("acme/clock", versions=versions), widget_line("acme/bare"))
        yield site


@pytest.mark.parametrize("path", [*LARGE, *SMALL, "/api/settings"])
def test_every_response_has_a_strong_etag_that_stays_while_nothing_changes(
    shop: InProcessSite, path: str
) -> None:
    first, second = shop.get(path), shop.get(path)

    etag = first.headers["etag"]
    assert etag[0] == etag[-1] == '"'
    assert len(etag) > 10
    assert (second.headers, second.body) == (first.headers, first.body)


def test_a_known_etag_is_304_without_a_body_and_keeps_its_headers(shop: InProcessSite) -> None:
    for path in [*LARGE, *SMALL]:
        for form in ["{}", "W/{}", '"x", {}', '"x",W/"y" , W/{} , "z"', "*", " {} "]:
            known = shop.get(path)

            response = shop.get(path, if_none_match=form.format(known.headers["etag"]))

            assert (response.status, response.response.body) == (304, None)
            assert response.headers == {
                key: value for key, value in known.headers.items() if key != "content-type"
            }
            assert {"etag", "vary", "x-content-type-options"} <= set(response.headers)


def test_another_etag_is_answered_in_full(shop: InProcessSite) -> None:
    for path in [*LARGE, *SMALL]:
        for form in ['"x"', "", "{unquoted}", '"*"', "W/", '"{unquoted}', "{unquoted}*"]:
            known = shop.get(path)

            unquoted = known.headers["etag"].strip('"')
            response = shop.get(path, if_none_match=form.format(unquoted=unquoted))

            assert (response.status, response.body) == (200, known.body)


@pytest.mark.parametrize("path", ["/api/v1/widgets/acme/none", f"{SEARCH}?page=0", "/api/none"])
def test_an_error_is_never_304(shop: InProcessSite, path: str) -> None:
    response = shop.get(path, if_none_match="*", accept_encoding="gzip")

    assert response.status in (400, 401, 404)
    assert list(response.json()) == ["error"]
    assert "etag" not in response.headers


@pytest.mark.parametrize("path", LARGE)
def test_each_encoding_decodes_to_the_same_bytes_and_has_an_etag_of_its_own(
    shop: InProcessSite, path: str
) -> None:
    plain = shop.get(path)
    assert "content-encoding" not in plain.headers
    etags = {plain.headers["etag"]}
    for encoding, decode in DECODERS.items():
        response = shop.get(path, accept_encoding=encoding)

        assert response.status == 200
        assert response.headers.pop("content-encoding") == encoding
        assert decode(response.body) == plain.body
        assert len(response.body) < len(plain.body)
        etags.add(response.headers.pop("etag"))
        assert response.headers == {k: it for k, it in plain.headers.items() if k != "etag"}
        assert response.headers["vary"] == "accept-encoding"
    assert len(etags) == 4


@pytest.mark.parametrize("encoding", [*DECODERS, "identity"])
def test_304_is_decided_by_the_etag_of_the_encoding_that_would_be_sent(
    shop: InProcessSite, encoding: str
) -> None:
    known = shop.get(DETAIL, accept_encoding=encoding).headers["etag"]
    for other in [*DECODERS, "identity"]:
        response = shop.get(DETAIL, accept_encoding=other, if_none_match=known)

        assert response.status == (304 if other == encoding else 200)
        if other == encoding:
            assert response.headers["etag"] == known
            assert "content-encoding" not in response.headers


@pytest.mark.parametrize("path", SMALL)
def test_a_small_body_is_sent_as_it_is(shop: InProcessSite, path: str) -> None:
    response = shop.get(path, accept_encoding="zstd, br, gzip")

    assert "content-encoding" not in response.headers
    assert response.json() == shop.get(path).json()


@pytest.mark.parametrize(
    ("accept", "encoding"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip, deflate", "gzip"),
        ("gzip;q=1.0, br;q=0.5", "gzip"),
        ("br;q=0", None),
        ("*", "zstd"),
        ("*;q=0", None),
        ("identity", None),
        ("", None),
        ("deflate", None),
    ],
)
def test_accept_encoding_is_honoured(
    shop: InProcessSite, accept: str, encoding: str | None
) -> None:
    assert shop.get(DETAIL, accept_encoding=accept).headers.get("content-encoding") == encoding


def test_a_count_changes_the_etags_that_show_it_and_no_others(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"), widget_line("acme/other"))
    paths = [DETAIL, SEARCH, "/api/stats", REGISTRY, "/api/v1/widgets/acme/other", "/api/version"]
    before = {path: site.get(path).headers["etag"] for path in paths}

    site.post(DETAIL)

    for path in paths:
        response = site.get(path, if_none_match=before[path])
        assert response.status == (200 if path in paths[:3] else 304)
        if response.status == 200:
            assert response.headers["etag"] != before[path]


def test_a_change_of_content_changes_the_etags_that_show_it(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"), widget_line("other/thing"))
    paths = [DETAIL, SEARCH, "/api/stats", REGISTRY, "/api/v1/widgets/other/thing"]
    encodings = [*DECODERS, "identity"]
    before = {
        (path, accepted): site.get(path, accept_encoding=accepted).headers["etag"]
        for path in paths
        for accepted in encodings
    }

    site.add(widget_line("acme/clock", versions=[version_line("1.1.0")]))

    for (path, encoding), etag in before.items():
        response = site.get(path, accept_encoding=encoding, if_none_match=etag)
        assert response.status == (304 if path == paths[-1] else 200)


def test_different_questions_have_different_etags(shop: InProcessSite) -> None:
    queries = ["", "?limit=1", "?limit=1&page=2", "?q=bare", "?compatSdk=1.0.0", "?compatSdk=9.0.0"]

    etags = {shop.get(SEARCH + it).headers["etag"] for it in queries}

    assert len(etags) == len(queries)

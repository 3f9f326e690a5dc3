"""The client with a catalog that fails half-way; the errors are scripted."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client.runtimes import Runtime, process_runtime
from support.scripted import DROPPED, Scripted, ScriptedServer, scripted_server

pytestmark = pytest.mark.slow

CHANGES = "/api/v1/widgets/changes"
EVENTS = {"Content-Type": "text/event-stream; charset=utf-8"}


@pytest.fixture
def catalog() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


@pytest.fixture(params=["node", "bun"])
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Runtime:
    return process_runtime(request.param, tmp_path)


def change(seq: int) -> dict[str, object]:
    return {"seq": seq, "type": "yanked", "id": "acme/clock", "version": "1.0.0"}


def event(seq: int) -> str:
    return f"id: {seq}\ndata: {json.dumps(change(seq))}\n\n"


def page(*numbers: int, newest: int) -> Scripted:
    changes = [change(it) for it in numbers]
    return Scripted(200, {"changes": changes, "next": numbers[-1], "newest": newest})


def test_a_stream_that_dies_is_taken_up_where_it_was(
    play: Runtime, catalog: ScriptedServer
) -> None:
    cut_off = f": hello\n\n{event(6)}{event(7)[:20]}"
    catalog.on(
        "GET",
        CHANGES,
        Scripted(200, cut_off.encode(), EVENTS),
        page(7, 8, newest=9),
        page(9, newest=9),
        Scripted(503, {"error": "Too many event streams are open here."}),
        page(10, newest=10),
        DROPPED,
        DROPPED,
        Scripted(200, b"data: no JSON\n\n", EVENTS),
        Scripted(200, event(11).replace("\n", "\r\n").encode(), EVENTS),
        page(11, newest=11),
        Scripted(410, {"error": "Start over."}),
    )
    expected = [["FeedExpired", "Start over."], [6, 7, 8, 9, 10, 11]]
    assert play("following", catalog.url, 5) == expected
    # Bun retries by itself if a connection is dropped.
    resumed = [it.headers.get("last-event-id") for it in catalog.of("GET", CHANGES)]
    assert list(dict.fromkeys(filter(None, resumed))) == ["5", "9", "10", "11"]


def test_a_number_that_the_catalog_has_not_reached_ends_the_watching(
    play: Runtime, catalog: ScriptedServer
) -> None:
    """As after a restore of a catalog without event streams."""
    restored = Scripted(200, {"changes": [], "next": 5, "newest": 3})
    catalog.on("GET", CHANGES, Scripted(503, {"error": "None."}), restored)
    assert play("following", catalog.url, 5) == [["FeedExpired", "There is no change 5 yet."], []]


BUNDLE = b"export const mount = 1;\n"
STATED = hashlib.sha256(BUNDLE).hexdigest()
WIDGETS = "/api/v1/widgets/"


def serve_clock(catalog: ScriptedServer, *extra_files: str, **changed: Any) -> None:
    """One widget; `changed`: what this catalog sends instead."""
    url = f"{catalog.url}/clock.js"
    version = {
        "version": "1.0.0",
        "bundleUrl": url,
        "sha256Hash": STATED,
        "publishedAt": "2026-01-31T09:05:00.000Z",
        "permissions": [],
    }
    result: dict[str, Any] = {
        "status": "install",
        "message": "It can be installed.",
        "installed": None,
        "offer": version,
        "permissionsAdded": [],
        "permissionsRemoved": [],
    }
    bundle = {"path": "index.js", "url": url, "size": len(BUNDLE), "sha256Hash": STATED}
    more = [{**bundle, "path": "more", "url": it} for it in extra_files]
    for method, path, body in (
        ("POST", "resolve", {"results": [result]}),
        ("GET", "acme/clock/1.0.0", {"version": version, "files": [bundle, *more]}),
        ("GET", "revocations", {"revision": 1, "revocations": []}),
        ("GET", "search", {"widgets": []}),
    ):
        catalog.on(method, WIDGETS + path, Scripted(200, changed.get(path, body)))
    catalog.on("GET", "/clock.js", changed.get("file", Scripted(200, BUNDLE)))


@pytest.mark.parametrize("sent", [None, {}, {"results": [None]}, [], {"files": {}, "widgets": 1}])
def test_what_no_catalog_sends_is_an_error_of_the_client(
    play: Runtime, catalog: ScriptedServer, sent: object
) -> None:
    for broken in ("resolve", "acme/clock/1.0.0"):
        serve_clock(catalog, **{broken: sent, "revocations": sent, "search": sent})
        wrong = [
            ["Unavailable", f"{catalog.url}{WIDGETS}{path} did not answer as a catalog does."]
            for path in ("search", broken)
        ]
        assert play("hostile", catalog.url) == wrong
    catalog.on("GET", WIDGETS + "search", Scripted(404, b"null"))
    told = f"{catalog.url}{WIDGETS}search answered 404."
    assert play("hostile", catalog.url)[0] == ["NotFound", told]


def test_a_bundle_is_neither_longer_nor_another_than_stated(
    play: Runtime, catalog: ScriptedServer
) -> None:
    url = f"{catalog.url}/clock.js"
    serve_clock(catalog, file=Scripted(200, BUNDLE + b" " * 50_000_000))
    assert play("hostile", catalog.url)[1] == [
        "IntegrityError",
        f"{url} is not what the catalog described.",
    ]
    files = [{"path": "index.js", "url": url, "size": 5, "sha256Hash": "0" * 64}]
    version = catalog.response_of("POST", WIDGETS + "resolve").body
    assert isinstance(version, dict)
    detail = {"version": version["results"][0]["offer"], "files": files}
    serve_clock(catalog, **{"acme/clock/1.0.0": detail})
    assert play("hostile", catalog.url)[1] == [
        "IntegrityError",
        "The bundle of acme/clock 1.0.0 is not the one offered.",
    ]


def test_redirects_are_not_followed(play: Runtime, catalog: ScriptedServer) -> None:
    with scripted_server() as private:
        elsewhere = Scripted(302, b"", {"Location": f"{private.url}/clock.js"})
        serve_clock(catalog, file=elsewhere)
        catalog.on("GET", WIDGETS + "search", elsewhere)
        assert [it[0] for it in play("hostile", catalog.url)] == ["Unavailable", "Unavailable"]
        assert private.asked == []


def test_a_catalog_cannot_delete_what_is_cached_for_another(
    play: Runtime, catalog: ScriptedServer
) -> None:
    elsewhere = f"http://catalog.example{WIDGETS}revocations"
    serve_clock(catalog, elsewhere)
    details = catalog.response_of("GET", WIDGETS + "acme/clock/1.0.0")
    serve_clock(catalog)
    later = catalog.response_of("GET", WIDGETS + "acme/clock/1.0.0")
    catalog.on("GET", WIDGETS + "acme/clock/1.0.0", details, later)
    assert play("forgetting", catalog.url, elsewhere) is True


def test_a_feed_that_does_not_advance_is_not_polled_without_pause(
    play: Runtime, catalog: ScriptedServer
) -> None:
    stuck = Scripted(200, {"changes": [change(3)], "next": 5, "newest": 9})
    endless = Scripted(200, b"data: " + b"x" * (2 << 20), EVENTS)
    catalog.on("GET", CHANGES, endless, *[stuck] * 6, Scripted(410, {"error": "Start over."}))
    start = time.monotonic()
    assert play("following", catalog.url, 5) == [["FeedExpired", "Start over."], []]
    assert time.monotonic() - start > 0.15  # At least three pauses of 50 ms.

"""The client with a catalog that fails half-way; the errors are scripted."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.runtimes import Runtime, process_runtime
from support.scripted import DROPPED, Scripted, ScriptedServer, scripted_server

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

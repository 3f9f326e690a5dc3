"""GET /api/v1/widgets/changes: the feed as JSON; and the health of a node."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.passwords import quick_passwords
from support.people import a_person
from support.site import InProcessSite, Reply
from support.widgets import version_line, widget_line
from widget_catalog.catalog.replica import writing as replica_writing

CHANGES = "/api/v1/widgets/changes"
JSON = "application/json; charset=utf-8"


@pytest.fixture
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with quick_passwords(), InProcessSite(tmp_path_factory.mktemp("shop") / "data") as site:
        yield site


def page(shop: InProcessSite, query: str = "") -> Any:
    response = shop.get(f"{CHANGES}?{query}")
    assert response.status == 200, response.body
    return response.json()


def told(shop: InProcessSite, since: int = 0) -> list[tuple[Any, ...]]:
    keys = ("type", "id", "version", "listed")
    return [tuple(it[key] for key in keys) for it in page(shop, f"since={since}")["changes"]]


def test_everything_that_happens_is_reported_once_and_in_order(shop: InProcessSite) -> None:
    ann, olly = a_person(shop, "ann"), a_person(shop, "olly", is_operator=True)
    assert page(shop) == {"changes": [], "next": 0, "newest": 0}
    ann.publish("ann/clock", "1.0.0")
    ann.publish("ann/clock", "1.1.0", b"export const a = 1;\n", displayName="Sundial")
    version = "/api/widgets/ann/clock/versions/1.0.0"
    for path, body in (
        (f"{version}/yank", {"reason": "x"}),
        (f"{version}/unyank", None),
        (f"{version}/deprecate", {"message": "x"}),
        (f"{version}/undeprecate", None),
        (f"{version}/revoke", {"reason": "x"}),
        (f"{version}/unrevoke", None),
        ("/api/widgets/ann/clock/official", {"isOfficial": True}),
        ("/api/widgets/ann/clock/official", {"isOfficial": False}),
    ):
        assert olly.post(path, body).status == 200
    widgets = [version_line("1.0.0"), version_line("2.0.0", publishedAt="2026-03-01T00:00:00Z")]
    shop.add(widget_line("acme/one"), widget_line("acme/two", versions=widgets))

    clock = "ann/clock"
    assert told(shop) == [
        ("published", clock, "1.0.0", True),
        ("published", clock, "1.1.0", True),
        ("text", clock, None, True),
        ("yanked", clock, "1.0.0", True),
        ("unyanked", clock, "1.0.0", True),
        ("deprecated", clock, "1.0.0", True),
        ("undeprecated", clock, "1.0.0", True),
        ("revoked", clock, "1.0.0", True),
        ("unyanked", clock, "1.0.0", True),
        ("official", clock, None, True),
        ("unofficial", clock, None, True),
        ("published", "acme/one", "1.0.0", True),
        ("published", "acme/two", None, True),
    ]
    first = page(shop)["changes"][0]
    assert list(first) == ["seq", "at", "type", "id", "version", "listed"]
    assert (first["seq"], first["at"][-1]) == (1, "Z")


def test_an_unlisted_widget_is_a_tombstone(shop: InProcessSite) -> None:
    ann = a_person(shop, "ann")
    ann.publish("ann/clock", "1.0.0")
    ann.post("/api/widgets/ann/clock/unlist", {"reason": "x"})

    assert told(shop) == [
        ("published", "ann/clock", None, False),
        ("unlisted", "ann/clock", None, False),
    ]
    ann.post("/api/widgets/ann/clock/list", {"reason": "x"})
    assert told(shop, 1)[-1] == ("listed", "ann/clock", None, True)
    assert told(shop)[0] == ("published", "ann/clock", "1.0.0", True)


def test_walking_the_pages_shows_every_change_once(shop: InProcessSite) -> None:
    shop.add(*[widget_line(f"acme/w{i}") for i in range(25)])
    seen, since = [], 0
    while True:
        some = page(shop, f"since={since}&limit=10")
        assert some["newest"] == 25
        if not some["changes"]:
            break
        seen += [it["seq"] for it in some["changes"]]
        since = some["next"]
    assert seen == list(range(1, 26))
    assert since == 25
    assert len(page(shop, "limit=5000")["changes"]) == 25


def test_a_number_that_is_yet_to_come_has_no_changes(shop: InProcessSite) -> None:
    shop.add(widget_line())

    assert page(shop, "since=7") == {"changes": [], "next": 7, "newest": 1}
    assert page(shop, "since=" + "9" * 400)["changes"] == []


def test_a_stream_from_a_number_that_is_yet_to_come_is_410(shop: InProcessSite) -> None:
    """As after a restore: it would wait until other changes have these numbers."""
    shop.add(widget_line())

    for since in ("since=2", "since=" + "9" * 400):
        response = shop.get(f"{CHANGES}?{since}", accept="text/event-stream")
        assert response.status == 410
        assert "restored from a backup" in response.json()["error"]
    response = shop.get(CHANGES, accept="text/event-stream", last_event_id="2")
    assert response.status == 410
    assert shop.request("HEAD", f"{CHANGES}?since=1", accept="text/event-stream").status == 200


def test_what_is_no_longer_kept_is_410(
    shop: InProcessSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_writing, "KEPT_CHANGES", 3)
    for i in range(6):
        shop.add(widget_line(f"acme/w{i}"))

    assert [it["seq"] for it in page(shop, "since=3")["changes"]] == [4, 5, 6]
    for accept in ("application/json", "text/event-stream"):
        response = shop.get(f"{CHANGES}?since=2", accept=accept)
        assert response.status == 410
        assert "Start over from the registries or from a snapshot" in response.json()["error"]
        assert response.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    "query", ["since=", "since=-1", "since=x", "since=1.0", "limit=0", "limit=", "limit=x",
              "since=%FF", "since=%D9%A1"],
)  # fmt: skip
def test_a_wrong_parameter_is_400(shop: InProcessSite, query: str) -> None:
    response = shop.get(f"{CHANGES}?{query}")
    assert response.status == 400
    assert list(response.json()) == ["error"]


def test_a_wrong_last_event_id_is_400(shop: InProcessSite) -> None:
    response = shop.get(CHANGES, accept="text/event-stream", last_event_id="x")
    assert response.status == 400
    assert response.json()["error"].startswith("Last-Event-ID must be")


def test_tags_and_methods(shop: InProcessSite) -> None:
    first = shop.get(CHANGES)
    assert shop.get(CHANGES, if_none_match=first.headers["etag"]).status == 304
    assert first.headers["vary"] == "accept, accept-encoding"
    shop.add(widget_line())
    assert shop.get(CHANGES, if_none_match=first.headers["etag"]).status == 200
    assert shop.request("HEAD", CHANGES).status == 200
    stream = shop.request("HEAD", CHANGES, accept="text/event-stream")
    assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
    for accept in ("text/event-stream;q=0, application/json", "text/event-streams", "*/*"):
        assert shop.request("HEAD", CHANGES, accept=accept).headers["content-type"] == JSON
    for accept in ("*/*, Text/Event-Stream; charset=utf-8", "text/event-stream;q=0.5"):
        assert shop.request("HEAD", CHANGES, accept=accept).headers["cache-control"] == "no-store"
    wrong = shop.post(CHANGES)
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


def test_a_rebuilt_replica_has_the_same_changes(shop: InProcessSite) -> None:
    for i in range(5):
        shop.add(widget_line(f"acme/w{i}"))
    before = shop.get(CHANGES).body

    shop.node.replica.rebuild(shop.node.store)

    assert shop.get(CHANGES).body == before


def line(response: Reply) -> tuple[int, bytes]:
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert "access-control-allow-origin" not in response.headers
    return response.status, response.body


def test_healthz_is_a_line(shop: InProcessSite) -> None:
    assert line(shop.get("/healthz/live")) == (200, b"ok\n")
    assert line(shop.get("/healthz/ready")) == (200, b"ok\n")
    assert line(shop.request("HEAD", "/healthz/ready")) == (200, b"")
    assert line(shop.get("/healthz/nothing"))[0] == 404
    wrong = shop.post("/healthz/live")
    assert (line(wrong)[0], wrong.headers["allow"]) == (405, "GET, HEAD")


def test_a_worker_that_drains_is_alive_and_not_ready(shop: InProcessSite) -> None:
    shop.drain()

    assert line(shop.get("/healthz/live"))[0] == 200
    status, text = line(shop.get("/healthz/ready"))
    assert (status, text.startswith(b"draining")) == (503, True)
    assert shop.get(CHANGES, accept="text/event-stream").status == 503

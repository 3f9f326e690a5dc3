"""A cached response has the same bytes as one of a newly opened catalog."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from catalog.histories import (
    KEYS,
    Add,
    Count,
    Played,
    Revoke,
    Yank,
    adds,
    changes,
    crowds,
    playing,
    some,
)
from catalog.search.oracle import Shown
from widget_catalog.catalog.api.resolve_request import parse_resolve
from widget_catalog.catalog.model.query import Order, Query, SearchRequest
from widget_catalog.catalog.reading.catalog import CatalogReader
from widget_catalog.catalog.replica.cache import ByteBoundedCache
from widget_catalog.catalog.replica.reader import ReplicaReader
from widget_catalog.catalog.search import popularity
from widget_catalog.catalog.search.index import SearchIndex
from widget_catalog.core.http.content import AnyContent
from widget_catalog.pages.cards import Cards
from widget_catalog.pages.icons import Icons
from widget_contract.semver import SemVer

pytestmark = pytest.mark.slow


class Ask(NamedTuple):
    query: Query
    sdk: str | None = None
    page: str = "1"
    limit: int = 100


def _dashboard(sdk: str, keys: Sequence[tuple[str, str]], **installed: str) -> bytes:
    widgets = [{"id": f"{scope}/{name}", **installed} for scope, name in keys]
    return json.dumps({"sdk": sdk, "widgets": widgets}).encode()


# Dashboards that have widgets in common, with the same and with other versions and ranges.
DASHBOARDS = [
    _dashboard("1.2.0", KEYS),
    _dashboard("1.2.0", KEYS[::3]),
    _dashboard("1.2.0", KEYS[::2], installed="1.0.0"),
    _dashboard("1.2.0", KEYS, installed="1.0.0+other", range="^1.0.0"),
    _dashboard("1.2.0", KEYS[:5] * 2, installed="2.0.1", range="*"),
    _dashboard("3.0.0", KEYS[::2], installed="1.0.0"),
    # The same widget with equal versions and ranges that are written differently.
    json.dumps(
        {
            "sdk": "1.2.0",
            "widgets": [
                {"id": f"{scope}/{name}", "installed": installed, "range": allowed}
                for scope, name in KEYS[:6]
                for installed, allowed in (("1.0.0", "*"), ("1.0.0+other", ""), ("1.0.0", "^1.0.0"))
            ],
        }
    ).encode(),
]
# Sent in every round, in addition to generated ones: most counts change one of them.
ALWAYS = [Ask(Query()), Ask(Query("a"), limit=5), Ask(Query("b"), "1.0.0", "2", 2)]

# It keeps what it has written with the cards.
CARDS = Cards("", Icons(), "https://x")

asks = st.builds(
    Ask,
    st.builds(
        Query,
        st.sampled_from(["", "a", "b", "a b", "ss"]),
        st.sampled_from([None, None, "a"]),
        st.sampled_from([None, None, True]),
        runs_on=st.none() | st.none() | st.just(SemVer.parse("1.2.0")),
        facets=st.sampled_from([(), (), (("permission", "network"),)]),
        order=st.sampled_from(Order),
        is_ranked=st.booleans(),
    ),
    st.sampled_from([None, None, "1.0.0", "3.0.0"]),
    st.sampled_from(["1", "1", "2"]),
    st.sampled_from([2, 5, 100]),
)
counts = st.builds(Count, some, st.integers(1, 3))
rounds = st.lists(counts, min_size=1, max_size=3) | st.lists(
    counts | st.builds(Yank, some) | st.builds(Revoke, some) | changes, max_size=2
)


@settings(max_examples=20)
@given(
    st.lists(adds, min_size=1, max_size=6) | crowds,
    st.lists(asks, max_size=4),
    st.lists(rounds, min_size=2, max_size=6),
    # The order is exact, or may lag: here by zero seconds, so that it is the same.
    st.sampled_from([10_000, 10_000, 0]),
    st.sampled_from([1_000, 2]),
    # Enough for everything; for so little that caches take room from each other; for nothing.
    st.sampled_from([1 << 22, 1 << 22, 1 << 18, 1 << 17, 1 << 14]),
)
def test_any_response_is_that_of_a_catalog_opened_just_now(
    monkeypatch: pytest.MonkeyPatch,
    initial: list[Add],
    drawn: list[Ask],
    history: list[list[Any]],
    exact_up_to: int,
    most_counted: int,
    cache_bytes: int,
) -> None:
    monkeypatch.setattr(popularity, "_EXACT_UP_TO", exact_up_to)
    monkeypatch.setattr(popularity, "_LAG_S", -1.0)
    monkeypatch.setattr(popularity, "_MAX_COUNTED", most_counted)
    with playing(initial, cache_bytes) as played:
        for some_changes in [[], *history]:
            for change in some_changes:
                played.change(change)
            _check(played, [*ALWAYS, *drawn])


FIVE = [Add(("a", name), Shown(f"a {name}", None, None, True, 0)) for name in "abcdz"]


def test_no_page_is_cached_with_a_count_that_is_older_than_its_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The count comes after the search has read the revision, and before the order follows it."""
    with playing(FIVE, 1 << 22) as played:
        asked = [SearchRequest(Query("a"), None, "1", limit) for limit in (5, 6, 7)]
        assert {_shown(played.catalog, it)["z"] for it in asked} == {0}
        follow = SearchIndex.refresh

        def count_first(index: SearchIndex) -> None:
            monkeypatch.setattr(SearchIndex, "refresh", follow)
            played.count(("a", "z"), 1)
            follow(index)

        for number, target in enumerate(asked, start=1):
            monkeypatch.setattr(SearchIndex, "refresh", count_first)
            _shown(played.catalog, target)
            assert _shown(played.catalog, target)["z"] == number
            assert _shown(played.catalog, target)["z"] == number


def test_no_page_is_cached_with_a_count_that_is_being_recorded() -> None:
    """Another process has written it, but not yet that something was counted."""
    with playing(FIVE, 1 << 22) as played:
        asked = SearchRequest(Query("a"), None, "1", 100)
        widget = played.catalog.find_id("a/z")
        assert widget is not None
        assert _shown(played.catalog, asked)["z"] == 0
        slots = played.node.counts.slots
        slots[widget] += 1
        played.yank(("a", "b"))  # The index follows the change, and the count.
        _shown(played.catalog, asked)
        _shown(played.catalog, asked)

        slots[0] += 1

        assert _shown(played.catalog, asked)["z"] == 1


def _shown(catalog: CatalogReader, asked: SearchRequest) -> dict[str, int]:
    """The names of the results, with their counts."""
    widgets = json.loads(catalog.search_page(asked).body)["widgets"]
    return {it["name"]: it["downloadCount"] for it in widgets}


def _check(played: Played, asked: list[Ask]) -> None:
    node = played.node
    reader = ReplicaReader(node.folder.replica)
    fresh = CatalogReader(reader, node.revision, node.counts, "https://x", 1 << 20)
    for ask in asked:
        wanted = (ask.query, SemVer.parse(ask.sdk) if ask.sdk else None, ask.page, ask.limit)
        known = {id(it.content) for it in played.catalog._pages._responses.items.values()}
        search = SearchRequest(*wanted)
        for_pages = SearchRequest(*wanted, is_for_pages=True)
        given, expected = played.catalog.search_page(search), fresh.search_page(search)
        event("remembered" if id(given) in known else "rendered")
        assert (given.body, given.tag) == (expected.body, expected.tag)
        shown, new = played.catalog.card_page(for_pages), fresh.card_page(for_pages)
        event("written before" if any(it.__dict__ for it in shown.widgets) else "all written")
        assert shown == new
        assert CARDS.list(shown.widgets) == CARDS.list(new.widgets)
    for body in DASHBOARDS:
        misses = _cached_results(played.catalog).misses
        given, expected = _resolved(played.catalog, body), _resolved(fresh, body)
        assert (given.body, given.tag) == (expected.body, expected.tag)
        is_new = _cached_results(played.catalog).misses > misses
        event("some results made" if is_new else "all results remembered")
    for key in ("/".join(it) for it in KEYS):
        for show in (CatalogReader.detail, CatalogReader.version):
            at = key if show is CatalogReader.detail else f"{key}/1.0.0"
            some, other = show(played.catalog, at), show(fresh, at)
            assert (some and (some.body, some.tag)) == (other and (other.body, other.tag))
    _check_room(played.catalog)
    fresh.close()


def _check_room(catalog: CatalogReader) -> None:
    """The caches take no more than their room, however they took it from each other."""
    room = catalog._details._room
    taken = sum(sum(it._sizes.values()) for it in room.caches)
    assert all(it.items.keys() == it._sizes.keys() for it in room.caches)
    assert 0 <= room.free_bytes == sum(it._max_bytes for it in room.caches) - taken


def _cached_results(catalog: CatalogReader) -> ByteBoundedCache[str, Any]:
    return catalog._results._kept


def _resolved(catalog: CatalogReader, body: bytes) -> AnyContent:
    remembered = catalog.find_resolved(body)
    return remembered or asyncio.run(_resolve(catalog, body))


async def _resolve(catalog: CatalogReader, body: bytes) -> AnyContent:
    return await catalog.resolve(await parse_resolve(body), body)

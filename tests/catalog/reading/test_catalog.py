"""Catalog: what one worker caches, and when it is invalidated."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.model.query import Query, SearchRequest
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.reading.catalog import CatalogReader
from widget_catalog.catalog.replica.reader import ReplicaReader
from widget_catalog.catalog.search import popularity
from widget_catalog.catalog.store.downloads import add_downloads
from widget_contract.semver import SemVer

LAG_S = 0.2


@pytest.fixture(params=[0, 20_000, 64 << 20], ids="{} bytes of cache".format)
def catalog(node: Node, request: pytest.FixtureRequest) -> Iterator[CatalogReader]:
    """A reader without a cache, with a small one, and with a large one."""
    made = _catalog(node, request.param)
    yield made
    made.close()


def _catalog(node: Node, cache_bytes: int = 1 << 20) -> CatalogReader:
    reader = ReplicaReader(node.folder.replica)
    return CatalogReader(reader, node.revision, node.counts, "https://cdn.example", cache_bytes)


def _search(catalog: CatalogReader, text: str = "", sdk: str | None = None) -> Any:
    wanted = SemVer.parse(sdk) if sdk else None
    return json.loads(catalog.search_page(SearchRequest(Query(text), wanted, "1", 100)).body)


def _names(catalog: CatalogReader, text: str = "") -> list[str]:
    return [it["name"] for it in _search(catalog, text)["widgets"]]


def _count(node: Node, *widget_ids: int) -> None:
    with node.store.writing() as tx:
        add_downloads(tx, dict.fromkeys(widget_ids, 1))


def test_every_response_follows_what_another_process_writes(
    node: Node, catalog: CatalogReader
) -> None:
    for round_ in range(1, 4):
        day = f"2026-02-{round_:02}T00:00:00Z"
        version = version_line(f"1.0.{round_}", publishedAt=day, sdkVersion=f"^{round_}.0.0")
        import_widgets(
            node,
            widget_line("acme/clock", displayName=f"Clock {round_}", versions=[version]),
            widget_line(f"acme/new{round_}", displayName="Clock", description=None),
        )
        _count(node, 1)

        detail = catalog.detail("acme/clock")
        registry = catalog.registry("acme")
        assert detail is not None
        assert registry is not None
        shown = json.loads(detail.body)
        assert shown["widget"]["displayName"] == f"Clock {round_}"
        assert shown["widget"]["downloadCount"] == round_
        assert shown["latestVersion"] == f"1.0.{round_}"
        assert len(json.loads(registry.content.body)["widgets"]) == round_ + 1
        assert _search(catalog, f"clock {round_}")["total"] == 1
        assert _search(catalog, "clock")["total"] == round_ + 1
        assert json.loads(catalog.stats().body)["widgets"] == round_ + 1
        [found] = _search(catalog, f"clock {round_}", sdk="1.5.0")["widgets"]
        assert found["latestCompatibleVersion"]["version"] == "1.0.1"
        assert found["downloadCount"] == round_


def test_the_same_response_is_given_while_nothing_changes(
    node: Node, catalog: CatalogReader
) -> None:
    import_widgets(node, widget_line("acme/clock"), widget_line("acme/other"))
    first = (
        catalog.detail("acme/clock"), catalog.registry("acme"),
        catalog.search_page(SearchRequest(Query("clock"), None, "1", 20)),
    )  # fmt: skip
    second = (
        catalog.detail("acme/clock"), catalog.registry("acme"),
        catalog.search_page(SearchRequest(Query("clock"), None, "1", 20)),
    )  # fmt: skip

    for one, other in ((first[0], second[0]), (first[2], second[2])):
        assert one is not None
        assert other is not None
        assert (one.body, one.tag) == (other.body, other.tag)
    assert first[1] is not None
    assert second[1] is not None
    assert first[1].content.tag == second[1].content.tag


def test_two_readers_see_the_same(node: Node) -> None:
    import_widgets(node, widget_line("acme/clock"))
    early = _catalog(node)
    import_widgets(node, widget_line("acme/alarm"), widget_line("acme/clock2", listed=False))
    _count(node, 1, 3)
    late = _catalog(node)

    for text in ("", "clock", "a", "nothing"):
        one = early.search_page(SearchRequest(Query(text), None, "1", 20))
        other = late.search_page(SearchRequest(Query(text), None, "1", 20))
        assert (one.body, one.tag) == (other.body, other.tag)
    early.close()
    late.close()


def test_in_a_large_catalog_the_order_lags_but_the_counts_do_not(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the lag the order is right, even if nothing was counted meanwhile."""
    monkeypatch.setattr(popularity, "_EXACT_UP_TO", 2)
    monkeypatch.setattr(popularity, "_LAG_S", LAG_S)
    import_widgets(node, *(widget_line(f"acme/{it}") for it in "abc"))
    catalog = _catalog(node)
    assert _names(catalog) == ["a", "b", "c"]

    _count(node, 3)

    shown = {it["name"]: it["downloadCount"] for it in _search(catalog)["widgets"]}
    assert shown == {"a": 0, "b": 0, "c": 1}
    time.sleep(LAG_S * 1.5)
    assert _names(catalog) == ["c", "a", "b"]
    assert _names(catalog, ".") == ["c", "a", "b"]
    catalog.close()

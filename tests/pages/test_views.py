"""Typed views match the API: encoded again, they are its bytes."""

import asyncio
from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import replace

from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.model.query import Query, SearchRequest
from widget_catalog.catalog.node.node import Node, open_catalog
from widget_catalog.catalog.reading.catalog import CatalogReader
from widget_catalog.core.http.content import MAX_INLINE_BYTES
from widget_catalog.core.load_settings import load_settings
from widget_catalog.pages.views import Views
from widget_contract.semver import SemVer


@pytest.fixture
def catalog(node: Node) -> Iterator[CatalogReader]:
    many = [
        version_line(
            f"1.{number}.0",
            publishedAt=f"2026-01-01T00:{number:02}:00.000Z",
            releaseNotes="Größer. " * 700,
            yanked=number == 3,
        )
        for number in range(30)
    ]
    import_widgets(
        node,
        widget_line("acme/clock", isOfficial=None, description=None),
        widget_line("acme/empty", versions=[]),
        widget_line("acme/large", versions=many),
    )
    made = open_catalog(node, load_settings({"data": node.folder.path}))
    yield made
    made.close()


@pytest.mark.parametrize("key", ["acme/clock", "acme/empty", "acme/large"])
def test_a_widget_is_what_its_detail_says(catalog: CatalogReader, key: str) -> None:
    async def check() -> None:
        content = catalog.detail(key)
        view = await Views(catalog).find_widget(key)
        assert content is not None
        assert view is not None
        assert (msgspec.json.encode(view.read()), view.tag) == (content.body, content.tag)
        assert (content.size > MAX_INLINE_BYTES) == (key == "acme/large")

    asyncio.run(check())


def test_there_is_no_view_of_what_is_not_there(catalog: CatalogReader) -> None:
    assert asyncio.run(Views(catalog).find_widget("acme/none")) is None


@pytest.mark.parametrize("sdk", [None, SemVer.parse("1.0.0")], ids=str)
def test_results_are_what_the_search_says(catalog: CatalogReader, sdk: SemVer | None) -> None:
    content = catalog.search_page(SearchRequest(Query(), sdk, "1", 10))
    results = Views(catalog).search(Query(), sdk, 1, 10)
    without_numbers = tuple(replace(it, id=0) for it in results.widgets)
    said = msgspec.json.decode(content.body)["widgets"]
    assert msgspec.json.decode(msgspec.json.encode(without_numbers)) == said
    assert [it.id for it in results.widgets] == [
        catalog.find_id(f"{it.scope}/{it.name}") for it in results.widgets
    ]
    assert results.total == 3


def test_stats_are_what_the_api_says(catalog: CatalogReader) -> None:
    assert msgspec.json.encode(Views(catalog).stats().read()) == catalog.stats().body

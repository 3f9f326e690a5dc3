"""Documents, registries and results too large for the event loop: read and compressed
in a thread.
"""

import asyncio
import gzip
import json
from collections.abc import Callable, Coroutine, Iterator
from random import Random
from typing import Any

import pytest
import zstandard

from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.model.query import Query, SearchRequest
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.reading.catalog import CatalogReader
from widget_catalog.catalog.replica.reader import ReplicaReader
from widget_catalog.catalog.store.downloads import add_downloads
from widget_catalog.core.files.contract import Encoding
from widget_catalog.core.http.content import (
    MAX_INLINE_BYTES,
    PIECE_BYTES,
    Content,
    LargeContent,
)
from widget_contract.semver import SemVer

NOTES = "Größer, schneller, weiter. " * 200
CDN = "https://cdn.example"
_DECODERS: dict[Encoding, Callable[[bytes], bytes]] = {
    "zstd": zstandard.ZstdDecompressor().decompress,
    "gzip": gzip.decompress,
}


def large_widget(key: str, versions: int = 30, **fields: Any) -> dict[str, Any]:
    return widget_line(
        key,
        versions=[
            version_line(
                f"1.{i}.0",
                releaseNotes=NOTES,
                sdkVersion=f"^{i}.0.0",
                publishedAt=f"2026-01-01T00:{i:02}:00.000Z",
            )
            for i in range(versions)
        ],
        **fields,
    )


@pytest.fixture(params=[0, 64 << 20], ids="{} bytes of cache".format)
def catalog(node: Node, request: pytest.FixtureRequest) -> Iterator[CatalogReader]:
    """A reader without a cache, and with a large one."""
    made = CatalogReader(
        ReplicaReader(node.folder.replica), node.revision, node.counts, CDN, request.param
    )
    yield made
    made.close()


def _run(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(work())


def _count(node: Node, widget_id: int) -> None:
    with node.store.writing() as tx:
        add_downloads(tx, {widget_id: 1})


def test_a_large_detail_is_the_same_as_a_small_one_but_for_its_size(
    node: Node, catalog: CatalogReader
) -> None:
    import_widgets(node, large_widget("acme/big"), widget_line("acme/small"))

    assert catalog.find_id("acme/big") == 1
    content = catalog.detail("acme/big")

    assert isinstance(content, LargeContent)
    assert content.size == len(content.body) > MAX_INLINE_BYTES
    shown = json.loads(content.body)
    assert [it["version"] for it in shown["versions"]] == [f"1.{i}.0" for i in range(29, -1, -1)]
    assert shown["versions"][3]["releaseNotes"] == NOTES
    assert list(shown) == ["widget", "versions", "latestVersion"]
    small = catalog.detail("acme/small")
    assert isinstance(small, Content)
    assert json.loads(small.body).keys() == shown.keys()
    assert catalog.detail("acme/none") is None


def test_a_large_detail_follows_counts_and_changes(node: Node, catalog: CatalogReader) -> None:
    import_widgets(node, large_widget("acme/big"))
    tags = set()
    for count in range(3):
        content = catalog.detail("acme/big")
        assert content is not None
        assert json.loads(content.body)["widget"]["downloadCount"] == count
        tags.add(content.tag)
        _count(node, 1)
    newer = version_line("2.0.0", publishedAt="2026-02-01T00:00:00Z")
    import_widgets(node, widget_line("acme/big", versions=[newer]))

    content = catalog.detail("acme/big")

    assert content is not None
    assert json.loads(content.body)["latestVersion"] == "2.0.0"
    assert len(tags | {content.tag}) == 4


@pytest.mark.parametrize("encoding", ["zstd", "gzip"])
def test_compressed_forms_follow_counts_and_take_their_place_in_the_cache(
    node: Node, encoding: Encoding
) -> None:
    reader = ReplicaReader(node.folder.replica)
    catalog = CatalogReader(reader, node.revision, node.counts, CDN, 64 << 20)
    import_widgets(node, large_widget("acme/big"))

    async def read() -> tuple[bytes, int]:
        content = catalog.detail("acme/big")
        assert isinstance(content, LargeContent)
        assert content.is_offered(encoding)
        packed = b"".join(await content.sent_pieces(encoding))
        await asyncio.sleep(0)
        assert content.whole(encoding) == packed
        return packed, content.packed_bytes

    async def read_and_count() -> tuple[list[tuple[bytes, int]], list[int]]:
        forms, sizes = [], []
        for _ in range(4):
            forms.append(await read())
            sizes.append(catalog._details._bytes)
            _count(node, 1)
        return forms, sizes

    forms, sizes = _run(read_and_count)
    catalog.close()

    shown = [json.loads(_DECODERS[encoding](packed)) for packed, _ in forms]
    assert [it["widget"]["downloadCount"] for it in shown] == [0, 1, 2, 3]
    assert [kept for _, kept in forms] == [len(packed) for packed, _ in forms]
    # The form of an earlier count is not accounted for any more.
    assert max(sizes) - min(sizes) < 100


def test_all_who_wait_for_a_large_registry_wait_for_one_reading(
    node: Node, catalog: CatalogReader
) -> None:
    import_widgets(node, large_widget("acme/big"))

    async def many() -> list[Any]:
        return await asyncio.gather(*(catalog.load_registry("acme") for _ in range(5)))

    registries = _run(many)

    assert len({id(it) for it in registries}) == 1


def test_what_changes_while_it_is_read_is_not_kept(node: Node) -> None:
    reader = ReplicaReader(node.folder.replica)
    catalog = CatalogReader(reader, node.revision, node.counts, CDN, 64 << 20)
    import_widgets(node, large_widget("acme/big"))

    async def race() -> Any:
        early = asyncio.ensure_future(catalog.load_registry("acme"))
        await asyncio.sleep(0)
        newer = version_line("2.0.0", publishedAt="2026-02-01T00:00:00Z")
        import_widgets(node, widget_line("acme/big", versions=[newer]))
        late = await catalog.load_registry("acme")
        await early
        return late, await catalog.load_registry("acme")

    for registry in _run(race):
        [widget] = json.loads(registry.content.body)["widgets"]
        assert widget["latestVersion"] == "2.0.0"
    catalog.close()


def test_a_large_registry_is_the_same_as_a_small_one_but_for_its_size(
    node: Node, catalog: CatalogReader
) -> None:
    import_widgets(node, large_widget("acme/big"), widget_line("acme/small"))
    import_widgets(node, *(widget_line(f"many/w{i:03}") for i in range(100)))

    for scope, names in (("acme", ["big", "small"]), ("many", [f"w{i:03}" for i in range(100)])):
        assert catalog.registry(scope) is None
        registry = _run(lambda scope=scope: catalog.load_registry(scope))  # type: ignore[misc]
        shown = json.loads(registry.content.body)
        assert list(shown) == ["version", "scope", "generatedAt", "baseUrl", "widgets"]
        assert [it["name"] for it in shown["widgets"]] == names
    assert _run(lambda: catalog.load_registry("none")) is None


def test_a_registry_follows_its_scope(node: Node, catalog: CatalogReader) -> None:
    import_widgets(node, large_widget("acme/big"))
    before = _run(lambda: catalog.load_registry("acme"))
    import_widgets(node, widget_line("acme/new"), widget_line("other/new"))

    after = _run(lambda: catalog.load_registry("acme"))

    assert [it["name"] for it in json.loads(after.content.body)["widgets"]] == ["big", "new"]
    assert after.content.tag != before.content.tag


def test_search_finds_the_fitting_version_of_a_large_document(
    node: Node, catalog: CatalogReader
) -> None:
    import_widgets(node, large_widget("acme/big"))

    for sdk, fitting in (("7.1.0", "1.7.0"), ("29.0.0", "1.29.0"), ("99.0.0", None)):
        content = catalog.search_page(SearchRequest(Query(), SemVer.parse(sdk), "1", 20))
        [found] = json.loads(content.body)["widgets"]
        assert found["latestVersion"]["version"] == "1.29.0"
        compatible = found["latestCompatibleVersion"]
        assert (compatible and compatible["version"]) == fitting


def test_results_of_megabytes_are_not_joined(node: Node, catalog: CatalogReader) -> None:
    import_widgets(
        node,
        *(
            widget_line(f"acme/w{i}", versions=[version_line(releaseNotes=NOTES * 2)])
            for i in range(60)
        ),
    )

    content = catalog.search_page(SearchRequest(Query(), None, "1", 60))

    assert isinstance(content, LargeContent)
    assert content.size > PIECE_BYTES
    assert len(json.loads(content.body)["widgets"]) == 60


def test_a_compressed_form_that_there_is_no_room_for_is_not_offered_again(node: Node) -> None:
    """It would be compressed again for every request."""
    random = Random(1)
    versions = [
        version_line(f"1.{i}.0", releaseNotes=random.randbytes(5000).hex()) for i in range(9)
    ]
    import_widgets(node, widget_line("acme/big", versions=versions))
    size = 9 * 11_000
    reader = ReplicaReader(node.folder.replica)
    # Details have five sixteenths, of which one may take half; and it may be there twice.
    catalog = CatalogReader(reader, node.revision, node.counts, CDN, size * 22 // 5 * 16 // 5)

    async def ask() -> None:
        content = catalog.detail("acme/big")
        assert isinstance(content, LargeContent)
        assert content.is_offered("gzip")
        assert sum(map(len, await content.sent_pieces("gzip"))) > size // 3
        again = catalog.detail("acme/big")
        assert again is content
        assert not again.is_offered("gzip")

    _run(ask)
    catalog.close()

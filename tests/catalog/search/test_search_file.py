"""The index in its file: mapped again, never confused with another, and built while serving."""

import asyncio
import gc
import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from catalog.replica.replica_content import change_record
from catalog.search.oracle import Key, Search, Shown, check_search
from support.locks import held_by_another_process
from support.shadow_modules import write_shadow_module
from support.widgets import add_old_widgets, import_widgets, widget_line
from transfer.importing import interrupted_import
from widget_catalog.catalog.model.query import Query, SearchRequest
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.reading.accepted_import import finish_import
from widget_catalog.catalog.reading.catalog import CatalogReader
from widget_catalog.catalog.replica.comparison import check_replica
from widget_catalog.catalog.replica.reader import ReplicaReader
from widget_catalog.catalog.search import file as index_file
from widget_catalog.catalog.search.file import keep_index, open_index
from widget_catalog.catalog.search.follower import IndexSource
from widget_catalog.catalog.search.parts import IndexParts, build_parts
from widget_catalog.core.errors import StoreUnavailable
from widget_catalog.core.tracing import Trace, current

pytestmark = pytest.mark.slow

WORDS = ["clock", "Wörld", "天気", "a", "the", "chart-3d", "ß"]


@pytest.fixture
def reader(node: Node) -> Iterator[ReplicaReader]:
    reader = ReplicaReader(node.folder.replica)
    yield reader
    reader.close()


def _widgets(count: int, prefix: str = "w") -> dict[Key, Shown]:
    chance = Random(count)
    return {
        ("acme", f"{prefix}{i}"): Shown(
            " ".join(chance.choices(WORDS, k=3)), " ".join(chance.choices(WORDS, k=5)),
            None, True, i % 7,
        )
        for i in range(count)
    }  # fmt: skip


def _import(node: Node, widgets: dict[Key, Shown]) -> None:
    import_widgets(node, *(it.line(key) for key, it in widgets.items()))


def _catalog(
    node: Node, reader: ReplicaReader, least: int = 10, index_wait_s: float | None = None
) -> CatalogReader:
    source = IndexSource(node.folder.replica, node.folder.search_index, least)
    return CatalogReader(
        reader, node.revision, node.counts, "https://x", 1 << 20, index_source=source,
        index_wait_s=index_wait_s,
    )  # fmt: skip


def _is_mapped(parts: IndexParts) -> bool:
    return not any(array.flags.writeable for array in parts.flat() if len(array))


def _same(one: IndexParts, other: IndexParts) -> bool:
    pairs = zip(one.flat(), other.flat(), strict=True)
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in pairs)


def test_what_is_mapped_is_what_was_built(node: Node, reader: ReplicaReader) -> None:
    _import(node, _widgets(1_200))

    opened = open_index(reader, node.folder.search_index, least=10)

    assert opened.seq == 1_200
    assert _is_mapped(opened.parts)
    assert _same(opened.parts, build_parts(reader))


def test_a_second_start_builds_nothing(
    node: Node, reader: ReplicaReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    _import(node, _widgets(40))
    first = open_index(reader, node.folder.search_index, least=10)
    monkeypatch.setattr(index_file, "build_parts", lambda _: pytest.fail("It was built again."))

    assert _same(open_index(reader, node.folder.search_index, least=10).parts, first.parts)


def test_nobody_waits_without_end_for_another_who_builds(node: Node, reader: ReplicaReader) -> None:
    _import(node, _widgets(40))
    file = node.folder.search_index
    lock = file.with_suffix(".lock")
    lock.touch()
    with held_by_another_process(lock) as other:
        told = rf"process {other.pid} .*has locked index\.lock for 0\.1 seconds \({lock}\)"
        with pytest.raises(StoreUnavailable, match=told):
            open_index(reader, file, least=10, timeout_s=0.1)
    assert _is_mapped(open_index(reader, file, least=10).parts)


def test_a_small_catalog_has_no_file(node: Node, reader: ReplicaReader) -> None:
    _import(node, _widgets(40))

    open_index(reader, node.folder.search_index)

    assert not node.folder.search_index.exists()


def test_changes_since_the_file_was_made_are_imported(node: Node, reader: ReplicaReader) -> None:
    widgets = _widgets(60)
    _import(node, widgets)
    open_index(reader, node.folder.search_index, least=10)
    later = _widgets(30, prefix="later")
    _import(node, later)

    catalog = _catalog(node, reader)

    for q in ("", "clock", "cl", "天", "wö"):
        check_search(catalog, widgets | later, Search(q))


@pytest.mark.parametrize("spoil", ["cut", "noise", "empty", "format", "replica", "mended"])
def test_a_file_that_does_not_fit_is_rebuilt(
    node: Node, reader: ReplicaReader, spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _import(node, _widgets(60))
    file = node.folder.search_index
    open_index(reader, file, least=10)
    before = file.read_bytes()
    match spoil:
        case "cut":
            file.write_bytes(before[:-100])
        case "noise":
            file.write_bytes(b"\xff" * 300)
        case "empty":
            file.write_bytes(b"")
        case "format":
            monkeypatch.setattr(index_file, "FORMAT", index_file.FORMAT + 1)
        case "replica":
            node.replica.rebuild(node.store)
            reader.reopen_if_replaced()
        case "mended":
            change_record(node.folder.path, "index_rows", 7, lambda record: record[:-1] + b"?")
            assert len(check_replica(node.store, node.replica).mended) == 1
            reader.reopen_if_replaced()

    opened = open_index(reader, file, least=10)

    assert _same(opened.parts, build_parts(reader))
    assert _is_mapped(opened.parts)
    assert file.read_bytes() != before or spoil in ("cut", "noise", "empty")


def test_without_room_on_disk_the_index_is_served_from_memory(
    node: Node, reader: ReplicaReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    _import(node, _widgets(60))
    monkeypatch.setattr("os.fsync", refuse)

    opened = open_index(reader, node.folder.search_index, least=10)

    assert _same(opened.parts, build_parts(reader))
    assert sorted(it.name for it in node.folder.search_index.parent.glob("index*")) == [
        "index.lock"
    ]


def test_while_thousands_are_imported_details_are_answered_and_searches_wait(
    node: Node, reader: ReplicaReader
) -> None:
    old, new = _widgets(60), _widgets(2_100, prefix="new")
    _import(node, old)
    catalog = _catalog(node, reader)

    async def play() -> tuple[int, int]:
        _import(node, new)
        waiting = asyncio.ensure_future(catalog.catch_up())
        await asyncio.sleep(0)
        answered = 0
        while not waiting.done():
            assert catalog.detail("acme/new7") is not None
            answered += 1
            await asyncio.sleep(0.001)
        await waiting
        found = catalog.search_page(SearchRequest(Query(), None, "1", 1))
        return answered, json.loads(found.body)["total"]

    answered, total = asyncio.run(play())

    assert answered > 10
    assert total == len(old) + len(new)
    check_search(catalog, old | new, Search("clock"))


def test_someone_who_does_not_wait_sees_the_catalog_as_it_was(
    node: Node, reader: ReplicaReader
) -> None:
    _import(node, _widgets(60))
    catalog = _catalog(node, reader)

    async def play() -> list[int]:
        _import(node, _widgets(2_100, prefix="new"))
        totals = [json.loads(catalog.stats().body)["widgets"]]
        await catalog.catch_up()
        return [*totals, json.loads(catalog.stats().body)["widgets"]]

    assert asyncio.run(play()) == [60, 2_160]


def test_a_node_waits_only_for_a_moment_and_then_finds_what_the_old_index_has(
    node: Node, reader: ReplicaReader
) -> None:
    """And what was published since: only thousands need a new one."""
    _import(node, _widgets(60))
    catalog = _catalog(node, reader, index_wait_s=0.01)

    async def play() -> None:
        _import(node, _widgets(2_100, prefix="new"))
        current.set(Trace("one"))
        await catalog.catch_up()
        assert _total(catalog, Query()) == 60
        assert list(current.get().parts_s) == ["index"]  # type: ignore[union-attr]
        add_old_widgets(node, widget_line("late/clock"))
        assert _total(catalog, Query()) == 61
        while catalog.is_behind:
            await catalog.catch_up()
        assert _total(catalog, Query()) == 2_161

    asyncio.run(play())


def test_the_builder_runs_no_file_of_the_current_folder(
    node: Node, reader: ReplicaReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _import(node, _widgets(60))
    catalog = _catalog(node, reader)
    created = write_shadow_module(tmp_path, "msgspec")
    monkeypatch.chdir(tmp_path)

    async def play() -> None:
        _import(node, _widgets(2_100, prefix="new"))
        await catalog.catch_up()

    asyncio.run(play())

    assert catalog._follower._builder is not None
    assert (created.exists(), catalog._follower._builder.returncode) == (False, 0)


def test_closing_ends_what_is_being_built(node: Node, tmp_path: Path) -> None:
    _import(node, _widgets(60))
    catalog = _catalog(node, ReplicaReader(node.folder.replica))

    logged: list[dict[str, Any]] = []

    async def play() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, it: logged.append(it))
        import_widgets(node, *(widget_line(f"acme/x{i}") for i in range(2_100)))
        waiting = asyncio.ensure_future(catalog.catch_up())
        while (builder := catalog._follower._builder) is None:
            await asyncio.sleep(0.01)
        # Ctrl-C at a terminal does not reach it: it would print a stack trace.
        assert os.getpgid(builder.pid) == builder.pid
        catalog.close()
        assert builder.wait(60) != 0
        waiting.cancel()

    asyncio.run(play())
    gc.collect()
    assert logged == []


def test_while_an_import_is_carried_out_searches_wait_for_nothing(
    node: Node, reader: ReplicaReader
) -> None:
    """They show the state before it, and everything else that is published meanwhile."""
    _import(node, _widgets(40))
    catalog = _catalog(node, reader)
    interrupted_import(node, *(widget_line(f"many/w{i}") for i in range(1_200)), batches=1)

    async def look() -> None:
        await asyncio.wait_for(catalog.catch_up(), 60)
        assert _total(catalog, Query()) == 40
        add_old_widgets(node, widget_line("late/clock"))
        await asyncio.wait_for(catalog.catch_up(), 60)
        assert _total(catalog, Query(scope="late")) == 1
        assert _total(catalog, Query(scope="many")) == 0
        assert catalog._follower._builder is None

        # The import writes an index file when it ends, so that nobody has to build one.
        finish_import(
            node.store, lambda: keep_index(node.folder.replica, node.folder.search_index, least=10)
        )
        await asyncio.wait_for(catalog.catch_up(), 30)
        assert _total(catalog, Query(scope="many")) == 1_200
        assert _total(catalog, Query()) == 1_241
        assert catalog._follower._builder is None

    asyncio.run(look())
    catalog.close()


def _total(catalog: CatalogReader, query: Query) -> int:
    total: int = json.loads(catalog.search_page(SearchRequest(query, None, "1", 20)).body)["total"]
    return total

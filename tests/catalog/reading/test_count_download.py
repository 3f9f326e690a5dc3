"""Counting with group commit: nothing acknowledged is lost, and no request waits forever."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator

import pytest

from support.widgets import import_widgets, widget_line
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.reading import count_download
from widget_catalog.catalog.reading.count_download import DownloadCounter
from widget_catalog.catalog.store.downloads import get_counts
from widget_catalog.core.errors import StoreUnavailable


@pytest.fixture
def counter(node: Node) -> Iterator[DownloadCounter]:
    import_widgets(node, *(widget_line(f"a/w{i}") for i in range(1, 6)))
    made = DownloadCounter(node.store)
    yield made
    made.close()


def _counts(node: Node) -> dict[int, int]:
    """The stored counts; readers see the same."""
    with node.store.reading() as connection:
        stored = get_counts(connection, range(1, 6))
    assert {i: node.counts.slots[i] for i in stored} == stored
    return stored


def test_a_count_is_stored_and_seen_when_it_returns(node: Node, counter: DownloadCounter) -> None:
    async def count() -> None:
        for number in range(1, 4):
            await counter.count(2)
            assert _counts(node) == {2: number}

    asyncio.run(count())


def test_many_at_once_are_all_counted_in_few_commits(node: Node, counter: DownloadCounter) -> None:
    before = node.counts.revision()

    async def count() -> None:
        await asyncio.gather(*(counter.count(1 + i % 5) for i in range(1000)))

    asyncio.run(count())

    assert _counts(node) == dict.fromkeys(range(1, 6), 200)
    assert node.counts.revision() - before < 20


def test_what_is_pending_is_committed_when_the_counter_closes(
    node: Node, counter: DownloadCounter
) -> None:
    async def count() -> None:
        waiting = [asyncio.create_task(counter.count(3)) for _ in range(7)]
        await asyncio.sleep(0)
        counter.close()
        await asyncio.gather(*waiting)

    asyncio.run(count())

    assert _counts(node) == {3: 7}


def test_one_who_goes_away_takes_nobody_along(node: Node, counter: DownloadCounter) -> None:
    async def count() -> list[BaseException | None]:
        with node.store.writing():  # All of them wait until this ends.
            waiting = [asyncio.create_task(counter.count(1)) for _ in range(5)]
            await asyncio.sleep(0.05)
            waiting[2].cancel()
            await asyncio.sleep(0)
        return await asyncio.gather(*waiting, return_exceptions=True)

    outcomes = asyncio.run(count())

    assert isinstance(outcomes.pop(2), asyncio.CancelledError)
    assert outcomes == [None] * 4
    assert _counts(node)[1] >= 4


def test_a_long_write_is_waited_for(node: Node, counter: DownloadCounter) -> None:
    async def count() -> None:
        with node.store.writing():
            waiting = asyncio.create_task(counter.count(1))
            await asyncio.sleep(0.2)
            assert not waiting.done()
        await waiting

    asyncio.run(count())

    assert _counts(node) == {1: 1}


def test_patience_ends_with_a_sentence_and_the_next_count_works(
    node: Node, counter: DownloadCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_download, "_TIMEOUT_S", 0.1)

    async def count() -> None:
        with node.store.writing():
            for _ in range(2):
                with pytest.raises(StoreUnavailable, match="busy with a long write"):
                    await counter.count(1)
        monkeypatch.undo()
        await counter.count(2)

    asyncio.run(count())

    assert _counts(node)[2] == 1


def test_what_was_refused_while_another_wrote_is_not_counted_later(
    node: Node, counter: DownloadCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_download, "_TIMEOUT_S", 0.1)
    monkeypatch.setattr(count_download, "_SHORT_TIMEOUT_S", 0.1)

    async def count() -> None:
        with node.store.writing():
            for _ in range(3):
                refused = await asyncio.gather(
                    *(counter.count(1) for _ in range(20)), return_exceptions=True
                )
                assert [type(it) for it in refused] == [StoreUnavailable] * 20
            monkeypatch.setattr(count_download, "_SHORT_TIMEOUT_S", 60)
            waiting = [asyncio.create_task(counter.count(1)) for _ in range(4)]
            await asyncio.sleep(0)
        await asyncio.gather(*waiting)

    asyncio.run(count())

    assert _counts(node) == {1: 4}


def test_a_error_is_reported_to_all_who_wait_and_passes(
    node: Node, counter: DownloadCounter
) -> None:
    async def count() -> list[BaseException | None]:
        return await asyncio.gather(*(counter.count(4) for _ in range(3)), return_exceptions=True)

    def database(statement: str) -> None:
        connection = sqlite3.connect(node.folder.database)
        connection.execute(statement)
        connection.commit()
        connection.close()

    database("ALTER TABLE downloads RENAME TO elsewhere")
    outcomes = asyncio.run(count())
    database("ALTER TABLE elsewhere RENAME TO downloads")

    assert [type(it) for it in outcomes] == [StoreUnavailable] * 3
    assert _counts(node) == {}
    assert asyncio.run(count()) == [None] * 3
    assert _counts(node) == {4: 3}


def test_a_counter_closes_at_once_when_nothing_is_pending(node: Node) -> None:
    counter = DownloadCounter(node.store)
    began = time.monotonic()

    counter.close()
    counter.close()

    assert time.monotonic() - began < 1

"""Public pages show data of the store, but do not wait for a store that hangs."""

import asyncio
import time

import pytest

from widget_catalog.core.tracing import Trace, current
from widget_catalog.pages import store_reads
from widget_catalog.pages.store_reads import StoreReads


class Numbers(StoreReads[str, int]):
    kept_s = 0.0


def test_a_page_waits_for_a_moment_and_then_shows_the_last_value_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_reads, "WAIT_S", 0.05)
    began = 0

    async def check() -> None:
        responds = asyncio.Event()
        responds.set()

        async def read(_: str) -> int:
            nonlocal began
            began += 1
            number = began
            await responds.wait()
            return number

        numbers = Numbers(read)
        assert await numbers.find("a") == 1
        assert await numbers.find("a") == 2
        responds.clear()
        # One request reads for all others.
        assert await asyncio.gather(*(numbers.find("a") for _ in range(5))) == [2] * 5
        assert (await numbers.find("a"), await numbers.find("b"), began) == (2, None, 4)
        responds.set()
        await asyncio.sleep(0.01)
        assert await numbers.find("a") == 5

    asyncio.run(asyncio.wait_for(check(), 60))


def test_the_log_of_slow_requests_names_the_wait_for_the_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store_reads, "WAIT_S", 0.05)

    async def check() -> Trace:
        async def hang(_: str) -> int:
            await asyncio.sleep(60)
            return 0

        current.set(trace := Trace("an-id"))
        await Numbers(hang).find("a")
        return trace

    assert asyncio.run(check()).parts_s["page_data"] > 0.02


def test_a_store_that_hangs_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_reads, "WAIT_S", 0.01)
    began = 0

    async def check() -> None:
        responds = asyncio.Event()

        async def read(_: str) -> int:
            nonlocal began
            began += 1
            await responds.wait()
            return began

        numbers = Numbers(read)
        assert await asyncio.gather(*(numbers.find("a") for _ in range(5))) == [None] * 5
        assert (await numbers.find("a"), began) == (None, 1)
        responds.set()
        await asyncio.sleep(0.01)
        assert (await numbers.find("a"), began) == (2, 2)

    asyncio.run(asyncio.wait_for(check(), 60))


def test_a_page_waits_for_several_values_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_reads, "WAIT_S", 1.0)

    async def check() -> float:
        async def hang(_: str) -> int:
            await asyncio.sleep(60)
            return 0

        one, other = Numbers(hang), Numbers(hang)
        began = time.monotonic()
        other.begin("a")
        assert (await one.find("a"), await other.find("a")) == (None, None)
        return time.monotonic() - began

    assert 1.0 <= asyncio.run(check()) < 1.9


def test_what_is_begun_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Numbers, "kept_s", 60.0)
    keys = []

    async def check() -> list[int | None]:
        async def read(key: str) -> int:
            keys.append(key)
            return len(keys)

        numbers = Numbers(read)
        numbers.begin("a")
        numbers.begin("a")
        found = [await numbers.find("a")]
        numbers.begin("a")
        return [*found, await numbers.find("a")]

    assert asyncio.run(check()) == [1, 1]
    assert keys == ["a"]

"""Public pages show data of the store, but do not wait for a store that hangs."""

import asyncio

import pytest

from widget_catalog.catalog.pages import rendered_pages
from widget_catalog.catalog.pages.rendered_pages import StoreReads


class Numbers(StoreReads[str, int]):
    kept_s = 0.0


def test_a_page_waits_for_a_moment_and_then_shows_the_last_value_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rendered_pages, "WAIT_S", 0.05)
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

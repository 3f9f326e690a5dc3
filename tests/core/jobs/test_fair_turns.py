"""Turns at work that few can do at a time."""

import asyncio

import pytest

from widget_catalog.core.errors import Busy
from widget_catalog.core.jobs.fair_turns import FairTurns


def _busy() -> Busy:
    return Busy("Too many requests.", wait_s=1)


def test_a_request_that_is_given_up_while_the_queue_is_full_makes_room() -> None:
    asyncio.run(_give_up_while_it_is_full())


async def _give_up_while_it_is_full() -> None:
    """Its place is still in the queue when the next request comes, in the same step."""
    turns = FairTurns(1, max_waiting=3, max_waiting_of_one=3, busy=_busy)
    await turns.take("ann")
    crowd = [asyncio.create_task(turns.take("bob")) for _ in range(3)]
    await asyncio.sleep(0)
    newcomer = asyncio.create_task(turns.take("cid"))
    crowd[-1].cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    for _ in range(3):
        turns.give_back("bob", 1)
        await asyncio.sleep(0)
    await asyncio.gather(newcomer, *crowd[:2])
    with pytest.raises(asyncio.CancelledError):
        await crowd[-1]


def test_who_has_used_little_time_passes_all_who_have_used_much() -> None:
    asyncio.run(_serve_expensive_and_cheap())


async def _serve_expensive_and_cheap() -> None:
    """Four expensive askers keep the queue full; a fifth comes later, three times."""
    turns = FairTurns(1, max_waiting=30, max_waiting_of_one=9, busy=_busy)
    served: list[str] = []
    is_over = asyncio.Event()

    async def ask(asker: str, used_s: float) -> None:
        await turns.take(asker)
        served.append(asker)
        await asyncio.sleep(0)
        turns.give_back(asker, used_s)

    async def ask_again(asker: str) -> None:
        while not is_over.is_set():
            await ask(asker, 2)

    expensive = [asyncio.create_task(ask_again(it)) for it in ("a", "b", "c", "d") * 2]
    while len(served) < 20:
        await asyncio.sleep(0)
    served.clear()
    for _ in range(3):
        await ask("ann", 0.1)
    is_over.set()
    await asyncio.gather(*expensive)

    others = served[: len(served) - served[::-1].index("ann") - 1]
    assert len(others) - others.count("ann") <= 4, "It never waits for a round of the others."


def test_who_asks_for_little_passes_those_who_ask_for_much_for_the_first_time() -> None:
    asyncio.run(_serve_who_came_at_once())


async def _serve_who_came_at_once() -> None:
    turns = FairTurns(1, max_waiting=30, max_waiting_of_one=9, busy=_busy)
    served: list[str] = []

    async def ask(asker: str, cost_s: float) -> None:
        await turns.take(asker, cost_s)
        served.append(asker)
        await asyncio.sleep(0)
        turns.give_back(asker, cost_s)

    async with asyncio.TaskGroup() as asking:
        for asker in "abcdefgh":
            asking.create_task(ask(asker, 1))
        for _ in range(9):
            asking.create_task(ask("ann", 0.3))

    assert served[:4] == ["a", "ann", "ann", "ann"], "Nobody has used any time before."
    assert served.index("h") < len(served) - 2, "Many small ones do not keep others waiting."

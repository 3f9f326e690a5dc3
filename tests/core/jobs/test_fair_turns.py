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
        turns.give_back()
        await asyncio.sleep(0)
    await asyncio.gather(newcomer, *crowd[:2])
    with pytest.raises(asyncio.CancelledError):
        await crowd[-1]

"""Runs something many times at the same moment."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_TIMEOUT_S = 60


def at_once(count: int, work: Callable[[int], T]) -> list[T]:
    """What it returned in each of these threads, which all started at the same time."""
    gate = threading.Barrier(count)

    def run(number: int) -> T:
        gate.wait(_TIMEOUT_S)
        return work(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


def outcomes(work: Sequence[Callable[[], object]]) -> list[object]:
    """What each of these returned or raised, when all start at the same time."""

    def run(number: int) -> object:
        try:
            return work[number]()
        except Exception as error:
            return error

    return at_once(len(work), run)

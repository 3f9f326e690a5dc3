"""Doing something many times in the same moment."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_TIMEOUT_S = 60


def at_once(count: int, work: Callable[[int], T]) -> list[T]:
    """What it gave each of so many threads, which all began at the same time."""
    gate = threading.Barrier(count)

    def run(number: int) -> T:
        gate.wait(_TIMEOUT_S)
        return work(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


def outcomes(work: Sequence[Callable[[], object]]) -> list[object]:
    """What each of these gave or raised, when all begin at the same time."""

    def run(number: int) -> object:
        try:
            return work[number]()
        except Exception as fault:
            return fault

    return at_once(len(work), run)

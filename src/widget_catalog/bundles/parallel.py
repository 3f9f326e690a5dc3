"""Processes many bundles in parallel: each takes several slow requests to an object store."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_THREADS = 8

T = TypeVar("T")
R = TypeVar("R")


def map_parallel(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """The results, in the order of the items. After an error or Ctrl-C, pending work is
    cancelled.
    """
    threads = ThreadPoolExecutor(_THREADS)
    try:
        yield from threads.map(work, items)
    finally:
        threads.shutdown(cancel_futures=True)

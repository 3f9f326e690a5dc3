"""Works on many items in parallel, because each takes several slow requests to an object store."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_THREADS = 8
# A slow item delays the results behind it, which are kept until then.
_MAX_AHEAD = 8 * _THREADS

T = TypeVar("T")
R = TypeVar("R")


def map_parallel(work: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
    """The results, in the order of the items. After an error or Ctrl-C, pending work is
    cancelled.

    Items are taken as they are needed: `ThreadPoolExecutor.map` would queue all of them first.
    """
    threads = ThreadPoolExecutor(_THREADS)
    try:
        started: deque[Future[R]] = deque()
        for item in items:
            started.append(threads.submit(work, item))
            if len(started) >= _MAX_AHEAD:
                yield started.popleft().result()
        while started:
            yield started.popleft().result()
    finally:
        threads.shutdown(cancel_futures=True)

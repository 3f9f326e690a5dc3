"""The shared word that says "something changed", and the counts beside it.

Both are files mapped into the memory of every process that serves this folder: looking
costs 0.1 µs, and what one process writes the others see at once. They are never the truth:
`serve` sets the counts again at every start. To write the word, hold the replica's
lock; to write counts, the store's; on PostgreSQL, which has no such lock, one of the
counts' own.
"""

import contextlib
import fcntl
import mmap
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..domain.errors import StoreUnavailable

_WORD_BYTES = 8
_CAPACITY = 1 << 24
_RESERVED_AT_ONCE = 1 << 14


class Revision:
    """A number that is another one whenever there is something new in the replica."""

    def __init__(self, path: Path) -> None:
        with _opened(path) as descriptor:
            allocate(descriptor, _WORD_BYTES)
            self._word = memoryview(mmap.mmap(descriptor, _WORD_BYTES)).cast("Q")

    def current(self) -> int:
        return self._word[0]

    def show(self, number: int) -> None:
        self._word[0] = number


class Counts:
    """Download counts by widget number. The file is sparse: it takes what is used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _opened(path) as descriptor:
            if os.fstat(descriptor).st_size < _CAPACITY * _WORD_BYTES:
                os.ftruncate(descriptor, _CAPACITY * _WORD_BYTES)
            mapped = mmap.mmap(descriptor, _CAPACITY * _WORD_BYTES)
        # Widgets are numbered from 1, so slot 0 is free: it counts the writes to the others.
        self.slots = memoryview(mapped).cast("Q")
        self.array: npt.NDArray[np.uint64] = np.frombuffer(mapped, dtype=np.uint64)
        self._reserved = 0
        self.reserve(0)

    def revision(self) -> int:
        return self.slots[0]

    def reserve(self, highest_id: int) -> None:
        """Make sure that these counts have a place on disk.

        Writing to a mapped page that a full disk has no room for would end the process.
        """
        if highest_id < self._reserved:
            return
        if highest_id >= _CAPACITY:
            raise StoreUnavailable(f"This release counts at most {_CAPACITY - 1} widgets.")
        wanted = min(_CAPACITY, highest_id + _RESERVED_AT_ONCE)
        with _opened(self._path) as descriptor:
            allocate(descriptor, wanted * _WORD_BYTES)
        self._reserved = wanted

    def record(self, counts: Iterable[tuple[int, int]]) -> None:
        """State the present counts of these widgets, for which a place is reserved."""
        slots = self.slots
        for widget_id, count in counts:
            slots[widget_id] = count
        slots[0] += 1

    def raise_to(self, counts: Iterable[tuple[int, int]]) -> None:
        """The same where several write at once, each after its commit: the larger count is the
        later one, because counts only grow."""
        with self.locked():
            slots = self.slots
            if larger := [it for it in counts if it[1] > slots[it[0]]]:
                self.record(larger)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only one on this machine who raises counts."""
        with _opened(self._path) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield


def allocate(descriptor: int, size: int) -> None:
    """Give so many bytes of a file their place on disk, so that they can be mapped and written."""
    if sys.platform == "darwin":  # It has no such call: there, a full disk is not provided for.
        os.ftruncate(descriptor, max(size, os.fstat(descriptor).st_size))
    else:
        os.posix_fallocate(descriptor, 0, size)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)

"""The revision word, which says "something changed", and the download counts, in shared memory.

Both are files mapped by every process that serves this folder: reading takes 0.1 µs, and writes
are visible to the others at once. They are derived data: `serve` resets the counts at every start.
To write the word, hold the replica's lock; to write counts, the store's writer lock or, on
PostgreSQL, which has none, the counts' own lock.
"""

import contextlib
import fcntl
import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.data_folder import allocate
from ...core.errors import StoreUnavailable

_WORD_BYTES = 8
_CAPACITY = 1 << 24
_RESERVED_AT_ONCE = 1 << 14
MAX_WIDGETS = _CAPACITY - 1


class Revision:
    """A number that changes whenever the replica changes."""

    def __init__(self, path: Path) -> None:
        with opened_file(path) as descriptor:
            allocate(descriptor, _WORD_BYTES)
            self._word = memoryview(mmap.mmap(descriptor, _WORD_BYTES)).cast("Q")

    def current(self) -> int:
        return self._word[0]

    def show(self, number: int) -> None:
        self._word[0] = number


class Counts:
    """Download counts by widget number. The file is sparse."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with opened_file(path) as descriptor:
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
        """Allocate disk space for these counts.

        Writing to a mapped page without disk space would crash the process.
        """
        if highest_id < self._reserved:
            return
        if highest_id >= _CAPACITY:
            raise StoreUnavailable(f"This release counts at most {MAX_WIDGETS} widgets.")
        wanted = min(_CAPACITY, highest_id + _RESERVED_AT_ONCE)
        with opened_file(self._path) as descriptor:
            allocate(descriptor, wanted * _WORD_BYTES)
        self._reserved = wanted

    def record(self, counts: Iterable[tuple[int, int]]) -> None:
        """Set the counts of these widgets, for which space is reserved."""
        slots = self.slots
        for widget_id, count in counts:
            slots[widget_id] = count
        slots[0] += 1

    def record_all(self, ids: npt.NDArray[Any], counts: npt.NDArray[Any]) -> None:
        """Store counts given as arrays: a million take a hundredth of a second."""
        if len(ids):
            self.array[ids] = counts
            self.slots[0] += 1

    def raise_to(self, counts: Iterable[tuple[int, int]]) -> None:
        """Store counts of concurrent writers, each after its commit: the larger count is the later
        one, because counts only grow.
        """
        with self.locked():
            slots = self.slots
            if larger := [it for it in counts if it[1] > slots[it[0]]]:
                self.record(larger)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock for raising counts on this machine."""
        with opened_file(self._path) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield


@contextlib.contextmanager
def opened_file(path: Path, mode: int = 0o644) -> Iterator[int]:
    """Its descriptor; it is created if it is missing."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
    try:
        yield descriptor
    finally:
        os.close(descriptor)

"""The shared word that says "something changed", and the counts beside it.

Both are files mapped into the memory of every process that serves this folder: looking
costs 0.1 µs, and what one process writes the others see at once. They are a picture of
the store, never the truth: `serve` draws them anew at every start. Writers hold the
store's writer lock.
"""

import mmap
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..domain.errors import StoreUnavailable

_WORD_BYTES = 8
_CAPACITY = 1 << 24


class Revision:
    """The number of the newest change that readers may see."""

    def __init__(self, path: Path) -> None:
        self._word = memoryview(_mapped(path, _WORD_BYTES)).cast("Q")

    def current(self) -> int:
        return self._word[0]

    def advance(self, seq: int) -> None:
        self._word[0] = seq


class Counts:
    """Download counts by widget number. The file is sparse: it takes what is used."""

    def __init__(self, path: Path) -> None:
        mapped = _mapped(path, _CAPACITY * _WORD_BYTES)
        # Widgets are numbered from 1, so slot 0 is free: it counts the writes to the others.
        self.slots = memoryview(mapped).cast("Q")
        self.array: npt.NDArray[np.uint64] = np.frombuffer(mapped, dtype=np.uint64)

    def revision(self) -> int:
        return self.slots[0]

    def record(self, counts: Iterable[tuple[int, int]]) -> None:
        """State the present counts of these widgets."""
        slots = self.slots
        for widget_id, count in counts:
            if widget_id >= _CAPACITY:
                raise StoreUnavailable(f"This release counts at most {_CAPACITY - 1} widgets.")
            slots[widget_id] = count
        slots[0] += 1


def _mapped(path: Path, size: int) -> mmap.mmap:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if os.fstat(descriptor).st_size < size:
            os.ftruncate(descriptor, size)
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)

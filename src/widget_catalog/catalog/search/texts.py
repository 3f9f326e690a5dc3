"""Texts: many sorted texts, concatenated, so that a million of them are two flat arrays.

They are stored as UTF-8, whose bytes sort like the characters. Each is terminated by a NUL, which
no text contains.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import overload

import numpy as np

from ..replica.ordinals import Array

# One text in so many is kept as an object. Up to as many are read at once.
_STEP = 32


class Texts(Sequence[bytes]):
    """Text i is `characters[starts[i]:starts[i + 1] - 1]`."""

    def __init__(self, characters: Array, starts: Array) -> None:
        self.characters = characters
        self.starts = starts
        # Views return plain numbers and bytes, five times as fast as arrays.
        self._bytes, self._starts = characters.data, starts.data
        self._some = [self[i] for i in range(0, len(self), _STEP)]

    @staticmethod
    def of(texts: Sequence[str]) -> "Texts":
        joined = "\0".join([*texts, ""]).encode()
        characters = np.frombuffer(joined, dtype=np.uint8)
        ends = np.flatnonzero(characters == 0)
        return Texts(characters, np.concatenate(([0], ends + 1)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, i: int) -> bytes: ...
    @overload
    def __getitem__(self, i: slice) -> list[bytes]: ...
    def __getitem__(self, i: int | slice) -> bytes | list[bytes]:
        starts = self._starts
        if isinstance(i, slice):
            first, last, step = i.indices(len(self))
            if step != 1 or first >= last:
                return [self[at] for at in range(first, last, step)]
            return self._bytes[starts[first] : starts[last] - 1].tobytes().split(b"\0")
        return self._bytes[starts[i] : starts[i + 1] - 1].tobytes()

    def numbers(self) -> Array:
        """For each character, and the NUL after a text, the number of its text."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))

    def bisect(self, text: bytes) -> int:
        """The number of texts that come before this one."""
        first = max(bisect_left(self._some, text) - 1, 0) * _STEP
        start, stop = self._starts[first], self._starts[min(first + _STEP, len(self))]
        return first + bisect_left(self._bytes[start:stop].tobytes().split(b"\0")[:-1], text)

    def starting_with(self, prefix: bytes) -> tuple[int, int]:
        """The range of the texts that start with this."""
        first = self.bisect(prefix)
        if first == len(self) or not self[first].startswith(prefix):
            return first, first
        # No byte of UTF-8 is as high as 0xff.
        return first, self.bisect(prefix + b"\xff")

"""Texts: many sorted texts, concatenated, so that a million of them are two flat arrays.

They are stored as UTF-8, whose bytes sort like the characters. Each is terminated by a NUL, which
no text contains.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import overload

import numpy as np
from pyroaring import BitMap

from ..replica.ordinals import Array, set_of

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

    def around(self, text: bytes, most: int) -> tuple[int, int]:
        """The range of so many texts before and after the place of this one: those with the longest
        beginnings in common with it are among them.
        """
        at = self.bisect(text)
        return max(at - most, 0), min(at + most, len(self))

    def starting_with(self, prefix: bytes) -> tuple[int, int]:
        """The range of the texts that start with this."""
        first = self.bisect(prefix)
        # Mostly few. No byte of UTF-8 is as high as 0xff.
        few = bisect_left(self[first : first + _STEP], end := prefix + b"\xff")
        return first, first + few if few < _STEP else self.bisect(end)


class DisplayNames:
    """The folded display names of all widgets, in order. Those of the build are sorted; `new` are
    those of the following ordinals.
    """

    def __init__(self, sorted_names: Texts, ordinals: Array) -> None:
        self._names = sorted_names
        self._ordinals = ordinals
        self.new: list[str] = []
        self._places: Array | None = None

    def places(self) -> Array:
        """The position of each ordinal's name among all; a new one is between two old ones."""
        size = len(self._ordinals)
        if self._places is None:
            self._places = np.empty(size, np.float64)
            self._places[self._ordinals] = _first_of_equal(self._names)
        if len(self._places) < size + len(self.new):
            # A name that no old widget has goes halfway between two; new ones are sorted among
            # themselves.
            names = sorted(set(self.new))
            step = 0.5 / (len(names) + 1)
            order = {name: number * step for number, name in enumerate(names)}
            places = []
            for name in self.new:
                at = self._names.bisect(name.encode())
                is_old = at < len(self._names) and self._names[at] == name.encode()
                places.append(at if is_old else at - 0.75 + order[name])
            self._places = np.append(self._places[:size], places)
        return self._places

    def like(self, text: str) -> list[BitMap]:
        """Widgets whose name is the text, and whose name starts with it, if any."""
        wanted, size = text.encode(), len(self._ordinals)
        first, last = self._names.starting_with(wanted)
        new = [it for it, name in enumerate(self.new, size) if name.startswith(text)]
        if first == last and not new:
            return []
        between = self._names.bisect(wanted + b"\0")  # No text contains a NUL.
        equal = [it for it in new if self.new[it - size] == text]
        is_name, starts_name = (set_of(self._ordinals[first:it]) for it in (between, last))
        is_name.update(equal)
        starts_name.update(new)
        return [is_name, starts_name]

    def list_around(self, text: str, most: int) -> list[tuple[str, int]]:
        """Names next to this one in the order of names, and their ordinals."""
        found = list_around(self._names, self._ordinals, text, most)
        new = [(name, it) for it, name in enumerate(self.new, len(self._ordinals))]
        return found + start_alike(new, text, most)


def list_around(texts: Texts, ordinals: Array, text: str, most: int) -> list[tuple[str, int]]:
    """The texts next to this one, and the ordinals of their rows."""
    first, last = texts.around(text.encode(), most)
    names = [it.decode() for it in texts[first:last]]
    return list(zip(names, ordinals[first:last].tolist(), strict=True))


def start_alike(named: Iterable[tuple[str, int]], text: str, most: int) -> list[tuple[str, int]]:
    """The first of these that begin with the same two characters: they are in no order."""
    return list(islice((it for it in named if it[0].startswith(text[:2])), most))


def _first_of_equal(names: Texts) -> Array:
    """The position of each sorted name; of equal ones, the first."""
    places = np.arange(len(names), dtype=np.float64)
    texts = names[:]  # Reading them one by one takes ten times as long.
    for at, (before, text) in enumerate(pairwise(texts), 1):
        if text == before:
            places[at] = places[at - 1]
    return places

"""DisplayNames: the folded display names of all widgets, in order."""

from collections.abc import Sequence

import numpy as np
from pyroaring import BitMap

from ..replica.ordinals import Array, set_of
from .texts import Texts


class DisplayNames:
    """Those of the build are sorted; `new` are those of the following ordinals."""

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

    def list_some(self, most: int) -> tuple[list[str], list[int]]:
        """At most about this many names, and their ordinals."""
        old, size = [it.decode() for it in self._names[:most]], len(self._ordinals)
        new = range(size, size + len(self.new))
        return [*old, *self.new], [*self._ordinals[: len(old)].tolist(), *new]


def _first_of_equal(names: Sequence[bytes]) -> Array:
    """The position of each sorted name; of equal ones, the first."""
    places = np.arange(len(names), dtype=np.float64)
    for i in range(1, len(names)):
        if names[i] == names[i - 1]:
            places[i] = places[i - 1]
    return places

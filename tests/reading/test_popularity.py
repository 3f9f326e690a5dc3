"""Popularity against plain sorting: any counts, any names, any changes, any window."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from widget_catalog.reading.ordinals import OrdinalSet
from widget_catalog.reading.popularity import Place, Popularity
from widget_catalog.reading.revision import Counts

CAPACITY = 320

downloads = st.integers(0, 3) | st.sampled_from([2**31, 2**53 - 1, 2**60])


class Step(NamedTuple):
    """A widget with this place among all names comes, goes or is replaced, or is counted."""

    what: str
    place: int
    downloads: int


steps = st.builds(
    Step, st.sampled_from(["come", "go", "replace", "count"]), st.integers(0, 99), downloads
)


def _window(order: list[int], among: set[int], start: int, stop: int) -> list[int]:
    return [it for it in order if it in among][start:stop]


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.integers(0, 99), downloads), max_size=80, unique_by=lambda it: it[0]),
    st.lists(steps, max_size=12),
    st.integers(0, 1 << 32) | st.just(~1),
    st.integers(0, 6),
    st.integers(0, 3) | st.integers(0, 70),
)
def test_windows_are_cut_from_the_one_true_order(
    counts: Counts,
    begin: list[tuple[int, int]],
    changes: list[Step],
    mask: int,
    length: int,
    start: int,
) -> None:
    """A widget's number is its place among all names, plus one."""
    counts.record([(i, 0) for i in range(1, 101)] + [(place + 1, n) for place, n in begin])
    ids = [place + 1 for place, _ in begin]
    popularity = Popularity(
        counts, np.array(ids, dtype=np.int64), np.array(sorted(ids), dtype=np.int64)
    )
    live = np.arange(CAPACITY) < len(ids)
    for change in changes:
        widget_id = change.place + 1
        current = {ids[it]: it for it in np.flatnonzero(live).tolist()}
        old = current.get(widget_id)
        if change.what == "count":
            counts.record([(widget_id, change.downloads)])
            popularity.refresh()
            continue
        if old is not None:
            live[old] = False
        if (change.what == "replace") == (old is not None) and change.what != "go":
            before = max((it for it in current if it < widget_id), default=None)
            place = Place(widget_id, old, None if before is None else current[before])
            popularity.add([place])
            live[len(ids)] = True
            ids.append(widget_id)
        popularity.settle(live)

    order = sorted(np.flatnonzero(live).tolist(), key=lambda it: (-counts.slots[ids[it]], ids[it]))
    some = {it for i, it in enumerate(order) if mask >> (i % 33) & 1}
    for among in (set(order), some):
        marks = np.zeros(CAPACITY, np.bool_)
        marks[list(among)] = True
        stop = min(start + length, len(among))
        if start < stop:
            found = popularity.window(OrdinalSet.of(marks), start, stop)
            assert found == _window(order, among, start, stop)


def test_an_order_that_is_current_is_not_sorted_again(tmp_path: Path) -> None:
    counts = Counts(tmp_path / "counts")
    counts.record([(1, 1), (2, 2)])
    popularity = Popularity(counts, np.array([1, 2]), np.array([1, 2]))
    both = OrdinalSet.of(np.arange(64) < 2)
    assert popularity.is_current
    counts.record([(1, 9)])
    assert not popularity.is_current
    assert popularity.window(both, 0, 2) == [1, 0]

    popularity.refresh()

    assert popularity.is_current
    assert popularity.window(both, 0, 2) == [0, 1]

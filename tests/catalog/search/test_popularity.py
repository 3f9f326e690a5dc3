"""Popularity compared with plain sorting: any counts, names, changes and windows."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from widget_catalog.catalog.replica.revision import Counts
from widget_catalog.catalog.search import popularity as popularity_module
from widget_catalog.catalog.search.popularity import Insertion, Popularity

downloads = st.integers(0, 3) | st.sampled_from([2**31, 2**53 - 1, 2**60])


class Step(NamedTuple):
    """A widget at this position among all names is added, removed, replaced or counted."""

    what: str
    place: int
    downloads: int


steps = st.builds(
    Step, st.sampled_from(["come", "go", "replace", "count"]), st.integers(0, 99), downloads
)


def _popularity(counts: Counts, ids: list[int]) -> Popularity:
    """Of widgets numbered in the order of their names."""
    ranks = np.argsort(np.argsort(ids)).astype(np.int32)
    return Popularity(counts, np.array(ids, np.int32), ranks)


def _ids(popularity: Popularity, among: BitMap, start: int, stop: int) -> list[int]:
    return popularity.ids_at(popularity.window(among, start, stop))


@given(
    st.lists(st.tuples(st.integers(0, 99), downloads), max_size=80, unique_by=lambda it: it[0]),
    st.lists(steps, max_size=12),
    st.integers(0, 1 << 32) | st.just(~1),
    st.integers(0, 6),
    st.integers(0, 3) | st.integers(0, 70),
    st.sampled_from([0, 5, 1_000]),
)
def test_windows_are_cut_from_the_one_true_order(
    counts: Counts,
    monkeypatch: pytest.MonkeyPatch,
    begin: list[tuple[int, int]],
    changes: list[Step],
    mask: int,
    length: int,
    start: int,
    very_few: int,
) -> None:
    """A widget's number is its position among all names, plus one."""
    monkeypatch.setattr(popularity_module, "_VERY_FEW", very_few)
    monkeypatch.setattr(popularity_module, "_HEAD_SHIFTS", (3, 1))
    counts.record([(i, 0) for i in range(1, 101)] + [(place + 1, n) for place, n in begin])
    ids = [place + 1 for place, _ in begin]
    popularity = _popularity(counts, ids)
    live = set(range(len(ids)))
    for change in changes:
        widget_id = change.place + 1
        current = {ids[it]: it for it in live}
        old = current.get(widget_id)
        if change.what == "count":
            counts.record([(widget_id, change.downloads)])
            popularity.refresh()
            continue
        places = []
        if (change.what == "replace") == (old is not None) and change.what != "go":
            before = max((it for it in current if it < widget_id), default=None)
            places = [Insertion(widget_id, old, None if before is None else current[before])]
        popularity.update([] if old is None else [old], places)
        live -= {old}
        live |= {len(ids) + i for i in range(len(places))}
        ids += [it.widget_id for it in places]

    order = sorted(live, key=lambda it: (-counts.slots[ids[it]], ids[it]))
    some = [it for i, it in enumerate(order) if mask >> (i % 33) & 1]
    for among in (order, some):
        stop = min(start + length, len(among))
        if start < stop:
            found = _ids(popularity, BitMap(among), start, stop)
            assert found == [ids[it] for it in among[start:stop]]


@pytest.mark.parametrize("popular", [0, 19, 20, 62])
def test_a_window_is_as_complete_if_few_are_among_the_most_popular(
    counts: Counts, popular: int
) -> None:
    """Of 1,000 without downloads, the first 62 by name are the most popular sixteenth."""
    ids = list(range(1, 1_001))
    counts.record([(it, 0) for it in ids])
    among = ids[:popular] + ids[300:]

    found = _ids(_popularity(counts, ids), BitMap([it - 1 for it in among]), 0, 20)

    assert found == among[:20]


def test_an_order_follows_the_counts_when_it_is_refreshed(counts: Counts) -> None:
    counts.record([(1, 1), (2, 2)])
    popularity = _popularity(counts, [1, 2])
    both = BitMap([0, 1])
    assert _ids(popularity, both, 0, 2) == [2, 1]
    counts.record([(1, 9)])
    assert _ids(popularity, both, 0, 2) == [2, 1]

    popularity.refresh()

    assert _ids(popularity, both, 0, 2) == [1, 2]


def test_a_mark_holds_until_one_of_its_own_is_counted(counts: Counts) -> None:
    popularity = _popularity(counts, [1, 2, 3])
    mark, other = popularity.mark(BitMap([0, 1]), [0, 1]), popularity.mark(BitMap([2]), [2])
    counts.record([(3, 1)])
    popularity.refresh()
    assert popularity.holds(mark)
    assert not popularity.holds(other)

    counts.record([(1, 1)])
    popularity.refresh()

    assert not popularity.holds(mark)


def test_a_mark_holds_while_others_stay_behind_its_page(counts: Counts) -> None:
    """Numbers 1 to 4 have 9, 5, 0 and 0 downloads; a page shows the first two."""
    counts.record([(1, 9), (2, 5), (3, 0), (4, 0)])
    popularity = _popularity(counts, [1, 2, 3, 4])
    everybody = BitMap(range(4))
    mark = popularity.mark(everybody, [0, 1])
    counts.record([(4, 4)])
    popularity.refresh()
    assert popularity.holds(mark)

    counts.record([(3, 6)])
    popularity.refresh()

    assert not popularity.holds(mark)
    assert _ids(popularity, everybody, 0, 4) == [1, 3, 2, 4]


def test_no_mark_outlives_a_change_of_the_catalog(counts: Counts) -> None:
    popularity = _popularity(counts, [1, 2, 3])
    mark = popularity.mark(BitMap([0]), [0])

    popularity.update([1], [])

    assert not popularity.holds(mark)


def test_who_is_gone_can_still_be_counted(counts: Counts) -> None:
    popularity = _popularity(counts, [1, 2])
    popularity.update([0], [])
    counts.record([(1, 5)])
    popularity.refresh()
    assert _ids(popularity, BitMap([1]), 0, 1) == [2]

    popularity.update([1], [])
    counts.record([(1, 6), (2, 6)])
    popularity.refresh()

    assert popularity.window(BitMap(), 0, 0) == []

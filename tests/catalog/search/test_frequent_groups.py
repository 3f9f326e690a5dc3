"""The largest groups among some members, as filters show them."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from pyroaring import BitMap

from widget_catalog.catalog.replica.ordinals import Groups, Rows


@pytest.mark.parametrize("size", [0, 5, 90, 1_500, 9_000])
def test_the_counts_of_frequent_groups_are_exact(size: int) -> None:
    chance = Random(7)
    names = [f"k{i}" for i in range(200)]
    # A few names are everywhere, most are rare.
    of = [{names[int(200 * chance.random() ** 4)] for _ in range(3)} for _ in range(10_000)]
    built, added = of[:9_500], of[9_500:]
    members = [[i for i, some in enumerate(built) if name in some] for name in names]
    items = np.array([it for some in members for it in some], np.uint32)
    groups = Groups(names, Rows.of(items, np.array([*map(len, members)])))
    for ordinal, some in enumerate(added, len(built)):
        for name in some:
            groups.add(name, ordinal)
    groups.add("new", 3)
    among = BitMap(chance.sample(range(10_000), size))
    wanted = Counter(name for it in among for name in of[it])
    if 3 in among:
        wanted["new"] += 1
    best = sorted(wanted.items(), key=lambda it: (-it[1], it[0]))
    assert groups.largest(among, 12) == (best[:12], len(wanted))
    found = groups.frequent(among, 12)
    assert found[:8] == best[:8]
    assert all(wanted[name] == count for name, count in found)


def test_few_members_are_counted_alike_and_the_last_may_have_no_group() -> None:
    of = [{f"k{i % 3}", f"k{i % 5}"} for i in range(40)]
    names = [f"k{i}" for i in range(5)]
    members = [[i for i, some in enumerate(of) if name in some] for name in names]
    items = np.array([it for some in members for it in some], np.uint32)
    groups = Groups(names, Rows.of(items, np.array([*map(len, members)])))
    for among in (BitMap(), BitMap([7]), BitMap([0, 3, 5, 39, 40, 77]), BitMap([90])):
        wanted = Counter(name for it in among if it < 40 for name in of[it])
        best = sorted(wanted.items(), key=lambda it: (-it[1], it[0]))
        assert groups.frequent(among, 3) == groups.largest(among, 3)[0] == best[:3]

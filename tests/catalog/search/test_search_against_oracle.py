"""Search compared with a brute-force oracle, implemented from the contract, over random histories.

Between searches the catalog changes: widgets are added, renamed, hidden, listed and counted.
"""

from typing import Any, NamedTuple

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from catalog.histories import Add, Played, adds, changes, crowds, playing, some, texts
from catalog.search.oracle import Search, check_search
from widget_catalog.catalog.search.index import SearchIndex

pytestmark = pytest.mark.slow


class Ask(NamedTuple):
    q: str | tuple[int, int, int]
    """A text, or a part of some widget's name: which, from, to."""
    scope: str | None
    official: str | None
    page: int
    limit: int


searches = st.builds(
    Ask,
    texts | st.just("") | st.tuples(some, st.integers(0, 3), st.integers(1, 9)) | st.just("a\0"),
    st.none() | st.none() | st.sampled_from(["a", "b", "a-b", "", "x"]),
    st.none() | st.none() | st.sampled_from(["true", "False"]),
    st.integers(1, 4),
    st.sampled_from([1, 2, 3, 5, 20, 100, 1000]),
)
histories = st.lists(st.lists(changes, max_size=4) | searches, max_size=8)


def _search(played: Played, ask: Ask) -> None:
    q = ask.q if isinstance(ask.q, str) else _part_of_a_name(played, *ask.q)
    total = check_search(played.catalog, played.widgets, Search(q, *ask[1:]))
    event("found something" if total else "found nothing")


def _part_of_a_name(played: Played, which: int, start: int, stop: int) -> str:
    names = [it.display_name for it in played.widgets.values()]
    return names[which % len(names)][start:stop] if names else ""


@given(
    st.lists(adds, max_size=6) | crowds,
    histories,
    st.lists(searches, min_size=1, max_size=4),
    st.sampled_from([0, 3, 2000]),
    st.sampled_from([0, 1 << 14, 1 << 22]),
)
def test_search_agrees_with_the_oracle_through_any_history(
    initial: list[Add],
    history: list[Ask | list[Any]],
    final: list[Ask],
    rebuild_over: int,
    cache_bytes: int,
) -> None:
    with playing(initial, cache_bytes) as played:
        follower = played.catalog._follower
        played.catalog._current_index()
        follower.index = SearchIndex(follower._reader, played.node.counts, rebuild_over)
        last = Ask("", None, None, 1, 100)
        for step in [*history, *final, last]:
            if isinstance(step, Ask):
                last = step
            else:
                for change in step:
                    played.change(change)
            # After changes the last query is repeated: caching must not be visible.
            _search(played, last)

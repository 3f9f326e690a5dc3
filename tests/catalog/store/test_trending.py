"""Trending widgets: those whose installs grow, by more than chance."""

from math import log

from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.catalog.store.downloads import add_installs
from widget_catalog.catalog.store.installs import growth, read_trending, today_of
from widget_catalog.catalog.store.tables import widgets
from widget_catalog.core.db import rows
from widget_catalog.core.db.engine import Store

COUNTS = st.integers(0, 10**7)


@given(COUNTS, COUNTS, st.integers(1, 1000))
def test_more_recent_installs_are_more_growth_and_more_before_are_less(
    recent: int, before: int, more: int
) -> None:
    assert growth(recent + more, before) > growth(recent, before) > growth(recent, before + more)


@given(COUNTS, COUNTS)
def test_it_is_never_more_than_the_growth_that_was_counted(recent: int, before: int) -> None:
    assert growth(recent, before) < max(0, log((recent + 1) / (before / 3 + 1)) + 1e-9)


@given(st.integers(0, 1000), st.integers(2, 1000))
def test_the_same_ratio_of_larger_numbers_is_more_growth(usual: int, times: int) -> None:
    assert growth(2 * usual * times + times, 3 * usual * times) > growth(2 * usual + 1, 3 * usual)


@given(COUNTS)
def test_the_same_number_of_installs_is_no_growth(recent: int) -> None:
    assert growth(recent, 3 * recent) < 0


def test_a_few_first_installs_are_less_than_a_hundred_that_double() -> None:
    assert growth(5, 0) < 0 < growth(30, 0) < growth(400, 300)


# Installs a day, in the last two weeks and before.
HISTORY = {
    "steady": (1000, 1000),
    "doubled": (100, 50),
    "new": (50, 0),
    "hidden": (100, 0),
    "former": (0, 500),
    "rare": (0, 0),
}


def test_widgets_are_ordered_by_growth_and_unlisted_ones_are_left_out(store: Store) -> None:
    today = today_of(store)
    history = {
        (id_, today - ago): recent if ago < 14 else before
        for id_, (recent, before) in enumerate(HISTORY.values(), 1)
        for ago in range(80)
    }
    history[6, today] = 3
    with store.writing() as tx:
        for id_, name in enumerate(HISTORY, 1):
            row = {"id": id_, "scope": "a", "name": name, "display_name": name, "created_at": 0}
            rows.insert(tx, widgets, row | {"is_listed": name != "hidden"})
        add_installs(tx, {key: count for key, count in history.items() if count})

    assert read_trending(store) == ("a/new", "a/doubled")

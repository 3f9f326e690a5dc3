"""Installs by day of the example widgets."""

from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.app.start import example_installs
from widget_catalog.catalog.store.installs import CHART_DAYS


@given(name=st.text(max_size=20), total=st.integers(0, 10**9), today=st.integers(90, 40_000))
def test_a_history_is_before_today_and_less_than_all_installs(
    name: str, total: int, today: int
) -> None:
    history = example_installs(name, total, today)
    assert history == example_installs(name, total, today)
    assert all(today - CHART_DAYS < day < today for day in history)
    assert all(count > 0 for count in history.values())
    assert sum(history.values()) <= total


def test_a_popular_widget_has_installs_every_day_and_fewer_at_weekends() -> None:
    today = 20_773  # A Monday.
    history = example_installs("catalog/clock", 18_250, today)
    assert len(history) == CHART_DAYS - 1
    weekends = [count for day, count in history.items() if day % 7 in (2, 3)]
    assert max(weekends) < sum(history.values()) / len(history)
    assert history != example_installs("catalog/sun", 18_250, today)

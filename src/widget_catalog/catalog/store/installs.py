"""Installs by day: collected as downloads are counted, written some seconds later, and shown as a
chart; and trending widgets, whose installs grow most: the last two weeks against the six before.
"""

import time
from collections.abc import Mapping
from math import log, sqrt
from typing import NamedTuple

from ...core.db.engine import Store
from ...core.db.transaction import Write
from .downloads import INSTALLS, add_installs, list_most_installed, sum_installs

CHART_DAYS = 90
_DAY_MS = 86_400_000
_HEIGHT = 40
WRITE_EVERY_S = 5.0

_RECENT_DAYS = 14
_BEFORE_DAYS = 42
# Bounds the work: whatever trends is among the widgets with the most recent installs.
_CANDIDATES = 1_000
_MOST = 24

_PRIOR = 10
_DEVIATIONS = 1.645
_LEAST_GROWTH = log(1.1)


class DayCounts:
    """Counts that are not written by day yet; for one thread.

    They are written together with later counts, so that there are no additional commits. A killed
    process loses some seconds of a chart, but no count.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[int, int], int] = {}
        self._written_at = time.monotonic()

    @property
    def has_any(self) -> bool:
        return bool(self._counts)

    @property
    def is_due(self) -> bool:
        return self.has_any and time.monotonic() - self._written_at >= WRITE_EVERY_S

    def add(self, increments: Mapping[int, int], now_ms: int) -> None:
        day = now_ms // _DAY_MS
        for widget_id, count in increments.items():
            key = (widget_id, day)
            self._counts[key] = self._counts.get(key, 0) + count

    def write(self, tx: Write) -> None:
        """Write all of them; call `forget` after the commit."""
        add_installs(tx, self._counts)

    def forget(self) -> None:
        self._counts.clear()
        self._written_at = time.monotonic()


def today_of(store: Store) -> int:
    """As a number of days since 1970."""
    return store.now_ms() // _DAY_MS


def read_installs(store: Store, widget_id: int, days: int) -> tuple[int, list[tuple[int, int]]]:
    """Today, as a number of days since 1970, and the counts of the last `days` days."""
    today = today_of(store)
    rows = store.read_rows(INSTALLS, of_widget=widget_id, since_day=today - days + 1)
    return today, [(day, count) for day, count in rows]


class Installs(NamedTuple):
    """The counts of the last days, oldest first. Days before counting by day was introduced have
    none.
    """

    counts: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def most(self) -> int:
        return max(self.counts, default=0)

    @property
    def box(self) -> str:
        return f"0 0 {3 * CHART_DAYS} {_HEIGHT}"

    @property
    def bars(self) -> str:
        """An SVG path with one bar per day, scaled to the highest."""
        most = self.most
        heights = [max(round(it * _HEIGHT / most, 1), 1) if it else 0 for it in self.counts]
        return "".join(
            f"M{3 * day} {_HEIGHT}v{-height}h2V{_HEIGHT}z"
            for day, height in enumerate(heights)
            if height
        )


def installs_of(today: int, counts: dict[int, int]) -> Installs:
    if not counts:
        return Installs()
    days = range(today - CHART_DAYS + 1, today + 1)
    return Installs(tuple(counts.get(it, 0) for it in days))


def read_chart(store: Store, widget_id: int) -> Installs:
    today, days = read_installs(store, widget_id, CHART_DAYS)
    return installs_of(today, dict(days))


def growth(recent: int, before: int) -> float:
    """How much installs have grown, as far as it is not chance: 0 is no growth, log(2) is twice as
    many. `recent` are the installs of two weeks, `before` those of the six weeks before them.

    Installs are counts of independent events, so the logarithm of the ratio of two such counts has
    a standard deviation of about sqrt(1/a + 1/b). The result is that logarithm, less 1.645 of these
    deviations: in 19 of 20 cases, the true growth is greater. Ten installs are added to both
    counts, so that the first installs of a new widget are no infinite growth.
    """
    now = recent + _PRIOR
    usual = before * _RECENT_DAYS / _BEFORE_DAYS + _PRIOR
    return log(now / usual) - _DEVIATIONS * sqrt(1 / now + 1 / usual)


def read_trending(store: Store) -> tuple[str, ...]:
    """The listed widgets, `scope/name`, that have grown by over a tenth; most growth first."""
    today = today_of(store)
    since = today - _RECENT_DAYS + 1
    with store.reading() as connection:
        recent = list_most_installed(connection, range(since, today + 1), _CANDIDATES)
        ids = [it.widget_id for it in recent]
        before = sum_installs(connection, ids, since - _BEFORE_DAYS, since)
    grown = [(growth(it.installs, before.get(it.widget_id, 0)), it.key) for it in recent]
    trending = sorted((-by, key) for by, key in grown if by > _LEAST_GROWTH)
    return tuple(key for _, key in trending[:_MOST])

"""Installs by day: collected as downloads are counted, written some seconds later, and shown as a
chart.
"""

import time
from collections.abc import Mapping
from datetime import date, timedelta
from typing import NamedTuple

from ..core.db.engine import Store
from ..core.db.transaction import Write
from .store.downloads import add_installs, list_installs

CHART_DAYS = 90
_DAY_MS = 86_400_000
_FIRST_DAY = date(1970, 1, 1)
_HEIGHT = 40
WRITE_EVERY_S = 5.0


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
    with store.reading() as connection:
        return today, list_installs(connection, widget_id, today - days + 1)


class Installs(NamedTuple):
    """The counts of the last days, oldest first. Days before counting by day was introduced have
    none.
    """

    last_day: date
    counts: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def most(self) -> int:
        return max(self.counts, default=0)

    @property
    def first_day(self) -> date:
        return self.last_day - timedelta(days=len(self.counts) - 1)

    @property
    def box(self) -> str:
        return f"0 0 {3 * CHART_DAYS} {_HEIGHT}"

    @property
    def bars(self) -> str:
        """An SVG path with one bar per day, scaled to the highest."""
        heights = [max(round(it * _HEIGHT / self.most, 1), 1) if it else 0 for it in self.counts]
        return "".join(
            f"M{3 * day} {_HEIGHT}v{-height}h2V{_HEIGHT}z"
            for day, height in enumerate(heights)
            if height
        )


def installs_of(today: int, counts: dict[int, int]) -> Installs:
    days = range(today - CHART_DAYS + 1, today + 1)
    return Installs(_FIRST_DAY + timedelta(days=today), tuple(counts.get(it, 0) for it in days))


def read_chart(store: Store, widget_id: int) -> Installs:
    today, days = read_installs(store, widget_id, CHART_DAYS)
    return installs_of(today, dict(days))

"""Installs over time: the days of a widget as a chart, drawn as SVG."""

import time
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from typing import NamedTuple

from ....actions.installs import CHART_DAYS
from ....domain.errors import StoreUnavailable

_HEIGHT = 40
_KEPT_S = 30.0
_MOST_KNOWN = 5_000
_FIRST_DAY = date(1970, 1, 1)


class Installs(NamedTuple):
    """The counts of the last days, oldest first; none are known before counting by day began."""

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
    def best_day(self) -> date:
        return self.first_day + timedelta(days=self.counts.index(self.most))

    @property
    def box(self) -> str:
        return f"0 0 {3 * CHART_DAYS} {_HEIGHT}"

    @property
    def bars(self) -> str:
        """A path of bars: one a day, of which the highest fills the box."""
        return "".join(
            f"M{3 * day} {_HEIGHT}v{-_bar(count, self.most)}h2V{_HEIGHT}z"
            for day, count in enumerate(self.counts)
            if count
        )


def _bar(count: int, most: int) -> float:
    return max(round(count * _HEIGHT / most, 1), 1)


# Today as a number of days since 1970, and days and counts up to it.
Days = tuple[int, list[tuple[int, int]]]


class InstallsReader:
    """Reads the days of a widget from the store, at most every half minute for each."""

    def __init__(self, read: Callable[[int], Awaitable[Days]]) -> None:
        self._read = read
        self._known: dict[int, tuple[float, Installs | None]] = {}

    async def find(self, widget_id: int) -> Installs | None:
        """None while the store cannot be read and nothing is known."""
        read_at, known = self._known.get(widget_id, (0.0, None))
        if read_at and time.monotonic() - read_at < _KEPT_S:
            return known
        try:
            today, days = await self._read(widget_id)
            known = installs_of(today, dict(days))
        except StoreUnavailable:
            pass
        self._known.pop(widget_id, None)
        if len(self._known) >= _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[widget_id] = (time.monotonic(), known)
        return known


def installs_of(today: int, counts: dict[int, int]) -> Installs:
    days = range(today - CHART_DAYS + 1, today + 1)
    return Installs(_FIRST_DAY + timedelta(days=today), tuple(counts.get(it, 0) for it in days))

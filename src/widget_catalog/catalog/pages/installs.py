"""Installs over time: an SVG chart of a widget's installs per day."""

from datetime import date, timedelta
from typing import NamedTuple

from ..installs import CHART_DAYS
from .store_reads import StoreReads

_HEIGHT = 40
_FIRST_DAY = date(1970, 1, 1)


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
    def best_day(self) -> date:
        return self.first_day + timedelta(days=self.counts.index(self.most))

    @property
    def box(self) -> str:
        return f"0 0 {3 * CHART_DAYS} {_HEIGHT}"

    @property
    def bars(self) -> str:
        """An SVG path with one bar per day, scaled to the highest."""
        return "".join(
            f"M{3 * day} {_HEIGHT}v{-_bar(count, self.most)}h2V{_HEIGHT}z"
            for day, count in enumerate(self.counts)
            if count
        )


def _bar(count: int, most: int) -> float:
    return max(round(count * _HEIGHT / most, 1), 1)


class InstallsReader(StoreReads[int, Installs]):
    """Reads them by the widget's number."""

    kept_s = 30.0


def installs_of(today: int, counts: dict[int, int]) -> Installs:
    days = range(today - CHART_DAYS + 1, today + 1)
    return Installs(_FIRST_DAY + timedelta(days=today), tuple(counts.get(it, 0) for it in days))

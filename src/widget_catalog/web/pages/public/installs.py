"""Installs over time: the days of a widget as a chart, drawn as SVG."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

DAYS = 90
_HEIGHT = 40


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
        return f"0 0 {3 * DAYS} {_HEIGHT}"

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


def installs_until(last_day: date, days: Sequence[tuple[int, int]]) -> Installs:
    """From pairs of a day's number (since 1970) and its count."""
    last = (last_day - date(1970, 1, 1)).days
    counts = dict(days)
    return Installs(last_day, tuple(counts.get(day, 0) for day in range(last - DAYS + 1, last + 1)))

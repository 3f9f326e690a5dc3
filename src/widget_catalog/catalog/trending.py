"""Trending: the widgets whose installs grow most, the last two weeks against the six before."""

from math import log, sqrt

from ..core.db.engine import Store
from .installs import today_of
from .store.downloads import list_most_installed, sum_installs

_RECENT_DAYS = 14
_BEFORE_DAYS = 42
# Bounds the work: whatever trends is among the widgets with the most recent installs.
_CANDIDATES = 1_000
_MOST = 24

_PRIOR = 10
_DEVIATIONS = 1.645
_LEAST_GROWTH = log(1.1)


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

"""Entries of the audit log are kept forever, or for a number of days set by the operator."""

import pytest
import sqlalchemy as sa

from support.store_fixtures import NOW
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.catalog.store.tables import audit
from widget_catalog.core.db.engine import Store
from widget_catalog.operations.audit import prune_audit

DAY_MS = 86_400_000
NOW_MS = round(NOW.timestamp() * 1000)


def add_entries(store: Store, *days_ago: float) -> None:
    entry = {"actor": "ann", "via": "session", "kind": "signed-in", "details": "{}"}
    rows = [{**entry, "at": NOW_MS - round(days * DAY_MS)} for days in days_ago]
    with store.writing() as tx:
        tx.connection.execute(sa.insert(audit), rows)


def days_kept(store: Store) -> list[float]:
    """The ages of all entries, oldest first."""
    with store.reading() as connection:
        entries, total = list_entries(connection, None, None, 1, 10_000)
    assert total == len(entries)
    return [(NOW_MS - it.at) / DAY_MS for it in reversed(entries)]


@pytest.mark.parametrize(
    ("keep_days", "kept"),
    [(0, [90, 31, 30, 1]), (91, [90, 31, 30, 1]), (30, [30, 1]), (1, [1])],
)
def test_what_is_older_is_removed(store: Store, keep_days: int, kept: list[float]) -> None:
    add_entries(store, 90, 31, 30, 1)

    prune_audit(store, keep_days)

    assert days_kept(store) == kept


def test_all_may_be_removed_and_new_ones_follow(store: Store) -> None:
    add_entries(store, 9, 8)
    prune_audit(store, 1)
    assert days_kept(store) == []

    add_entries(store, 0)
    prune_audit(store, 1)
    assert days_kept(store) == [0]


def test_nothing_is_left_of_what_was_before_an_entry_that_is_gone(store: Store) -> None:
    """The clock was ahead: if the second entry were removed, a new owner of a scope could see
    entries from before its release.
    """
    add_entries(store, 90, 10, 80, 5)

    prune_audit(store, 30)

    assert days_kept(store) == [10, 80, 5]


def test_thousands_are_removed_some_at_a_time(store: Store) -> None:
    add_entries(store, *[50] * 2_500, 3)

    prune_audit(store, 30)

    assert days_kept(store) == [3]

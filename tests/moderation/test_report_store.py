"""Reports in the store; of several concurrent decisions, one wins."""

from functools import partial

from accounts.stored_accounts import an_account
from support.at_once import outcomes
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.db.engine import Store
from widget_catalog.moderation.report_widget import decide_about
from widget_catalog.moderation.store import (
    Report,
    add_report,
    count_open_reports,
    find_report,
    list_reports,
)


def a_report(id_: str, name: str = "clock", created_at: int = 1) -> Report:
    return Report(id_, "acme", name, None, "other", "Broken.", None, created_at)


def test_reports_come_back_newest_first_and_by_state(store: Store) -> None:
    an_account(store, "olly")
    with store.writing() as tx:
        for report in (a_report("a"), a_report("b", "dice", 2), a_report("c", created_at=3)):
            add_report(tx, report)
    decide_about(store, COMMAND_LINE, "b", "dismissed", "No.")

    with store.reading() as connection:
        found, total = list_reports(connection, "open", 1, 1)
        assert (found, total) == ([a_report("c", created_at=3)], 2)
        assert [it.id for it in list_reports(connection, None, 1, 9)[0]] == ["c", "b", "a"]
        assert count_open_reports(connection) == 2
        assert count_open_reports(connection, "acme", "dice") == 0
        decided = find_report(connection, "b")
        assert decided is not None
        assert (decided.state, decided.note, decided.decided_by) == (
            "dismissed",
            "No.",
            COMMAND_LINE.name,
        )
        assert find_report(connection, "a\x00") is None


def test_one_of_several_who_decide_at_once_has_decided(store: Store) -> None:
    with store.writing() as tx:
        add_report(tx, a_report("a"))

    decide = partial(decide_about, store, COMMAND_LINE, "a", "resolved", "")

    assert sorted(type(it).__name__ for it in outcomes([decide] * 4)) == [
        *["Conflict"] * 3,
        "NoneType",
    ]

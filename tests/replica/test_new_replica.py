"""A large import into an empty catalog makes a new replica meanwhile: the same as a rebuild."""

from pathlib import Path

import pytest

from support.locks import held_by_another_process
from support.replica import contents
from support.values import a_version, a_widget
from widget_catalog.domain.accounts import COMMAND_LINE
from widget_catalog.domain.events import Imported
from widget_catalog.replica.comparison import Differences, check_replica
from widget_catalog.replica.file import find_current
from widget_catalog.store.engine import Transaction
from widget_catalog.store.rows import draft
from widget_catalog.store.widgets import add_drafts, add_widgets, find_widget, replace_widget
from widget_catalog.wiring import Node, prepare_node
from widget_contract.names import Scope, WidgetName


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widget_catalog.store.prepared._MAX_BYTES", 0)
    monkeypatch.setattr("widget_catalog.replica.new_replica._AT_ONCE", 3)


def _add_some(tx: Transaction, *names: str) -> None:
    add_widgets(tx, [(a_widget(f"acme/{it}", a_version()), 7) for it in names])


def _files(node: Node) -> list[Path]:
    return [it for it in node.folder.replica.iterdir() if it.suffix == ".mdb"]


def test_what_was_imported_into_an_empty_catalog_is_in_a_new_file(node: Node) -> None:
    before = find_current(node.folder.replica)

    with node.store.publishing() as tx:
        _add_some(tx, "zebra", "clock")
        _add_some(tx, "apple", "notes", "bare")
        old = find_widget(tx.connection, Scope("acme"), WidgetName("clock"))
        assert old is not None
        more = old.widget.with_versions([*old.widget.versions, a_version("2.0.0")])
        replace_widget(tx, old, more, COMMAND_LINE, Imported(scope="acme", name="clock"))
        _add_some(tx, "last")

    after = find_current(node.folder.replica)
    assert after not in (None, before)
    assert _files(node) == [after]
    shown = contents(node.folder.path)
    assert [len(shown[it]) for it in ("keys", "documents", "changes")] == [6, 6, 7]
    assert check_replica(node.store, node.replica) == Differences()
    node.replica.rebuild(node.store)
    assert contents(node.folder.path) == shown


def test_a_failed_import_leaves_the_old_file_and_nothing_else(node: Node) -> None:
    before, shown = find_current(node.folder.replica), contents(node.folder.path)

    def fail() -> None:
        with node.store.publishing() as tx:
            _add_some(tx, "clock")
            _add_some(tx, "notes")
            assert len(_files(node)) == 2
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()

    assert _files(node) == [before]
    assert contents(node.folder.path) == shown


def test_into_a_catalog_with_widgets_changes_are_applied(node: Node) -> None:
    with node.store.publishing() as tx:
        _add_some(tx, "clock")
    before = find_current(node.folder.replica)

    with node.store.publishing() as tx:
        _add_some(tx, "notes")
        _add_some(tx, "zebra")

    assert find_current(node.folder.replica) == before
    assert check_replica(node.store, node.replica) == Differences()


def test_while_another_process_makes_one_changes_are_applied(node: Node) -> None:
    before = find_current(node.folder.replica)

    lock = node.folder.replica_lock.with_suffix(".rebuild")
    with held_by_another_process(lock), node.store.publishing() as tx:
        _add_some(tx, "clock")

    assert find_current(node.folder.replica) == before
    assert check_replica(node.store, node.replica) == Differences()


def test_widgets_that_another_release_has_drawn_are_drawn_again(node: Node) -> None:
    before = find_current(node.folder.replica)

    with node.store.publishing() as tx:
        _add_some(tx, "clock")
        add_drafts(tx, [draft(a_widget("acme/old", a_version()), 0, b"unknown")])

    assert find_current(node.folder.replica) == before
    assert check_replica(node.store, node.replica) == Differences()


def test_what_is_committed_is_shown_by_the_next_start_if_the_new_file_could_not_be_used(
    node: Node,
) -> None:
    with held_by_another_process(node.folder.replica_lock), node.store.publishing() as tx:
        _add_some(tx, "clock", "notes")

    assert [it for it in _files(node) if it != find_current(node.folder.replica)] == []
    again = prepare_node(node.folder.path)
    try:
        assert len(contents(node.folder.path)["documents"]) == 2
    finally:
        again.store.close()

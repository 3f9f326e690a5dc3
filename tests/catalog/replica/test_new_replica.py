"""A large import into an empty catalog makes a new replica meanwhile: the same as a rebuild."""

import threading
import time
from pathlib import Path
from typing import IO

import pytest

from catalog.replica.replica_content import contents
from support.locks import held_by_another_process
from support.values import a_version, a_widget
from widget_catalog.catalog.model.events import Imported
from widget_catalog.catalog.node.node import Node, prepare_node
from widget_catalog.catalog.replica.comparison import Differences, check_replica
from widget_catalog.catalog.replica.file import ReplicaFile, find_current, make_current
from widget_catalog.catalog.store.drafts import draft
from widget_catalog.catalog.store.widgets import (
    add_drafts,
    add_widgets,
    find_widget,
    replace_widget,
)
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.db.engine import Transaction
from widget_catalog.core.errors import StoreUnavailable
from widget_contract.names import Scope, WidgetName


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widget_catalog.core.db.prepared._MAX_BYTES", 0)
    monkeypatch.setattr("widget_catalog.catalog.replica.filling._AT_ONCE", 3)
    monkeypatch.setattr("widget_catalog.catalog.replica.current_file._TIMEOUT_S", 2)


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


def test_a_full_disk_after_the_commit_is_no_error_of_the_import(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    with node.store.publishing() as tx:
        _add_some(tx, "clock")

    def full(**_: object) -> IO[bytes]:
        return Path("/dev/full").open("w+b")

    monkeypatch.setattr("widget_catalog.core.db.prepared.tempfile.TemporaryFile", full)
    with node.store.publishing() as tx:
        _add_some(tx, "notes", "zebra")

    monkeypatch.undo()
    node.replica.apply(node.store)
    assert len(contents(node.folder.path)["documents"]) == 3
    assert check_replica(node.store, node.replica) == Differences()


@pytest.mark.slow
def test_while_another_process_makes_one_changes_are_applied(node: Node) -> None:
    before = find_current(node.folder.replica)

    lock = node.folder.replica_lock.with_suffix(".rebuild")
    with held_by_another_process(lock), node.store.publishing() as tx:
        _add_some(tx, "clock")

    assert find_current(node.folder.replica) == before
    assert check_replica(node.store, node.replica) == Differences()


def test_widgets_that_another_release_has_prepared_are_prepared_again(node: Node) -> None:
    before = find_current(node.folder.replica)

    with node.store.publishing() as tx:
        _add_some(tx, "clock")
        add_drafts(tx, [draft(a_widget("acme/old", a_version()), 0, b"unknown")])

    assert find_current(node.folder.replica) == before
    assert check_replica(node.store, node.replica) == Differences()


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_command_waits_while_another_process_updates_the_replica(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widget_catalog.catalog.replica.current_file._TIMEOUT_S", 0.1)
    with held_by_another_process(node.folder.replica_lock) as holder:
        with node.store.publishing() as tx:
            _add_some(tx, "clock")
        ending = threading.Timer(1, holder.kill)
        ending.start()

        prepare_node(node.folder.path).store.close()

        ending.join()
    assert len(contents(node.folder.path)["documents"]) == 1


def test_nobody_applies_to_the_old_file_what_the_new_one_has(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Node] = []
    other = threading.Thread(target=lambda: opened.append(prepare_node(node.folder.path)))

    def make_current_later(path: Path) -> None:
        other.start()
        time.sleep(0.5)
        assert not opened
        make_current(path)

    def fail(*_: object) -> None:
        raise AssertionError("It was rendered again.")

    monkeypatch.setattr("widget_catalog.catalog.replica.filling.make_current", make_current_later)
    monkeypatch.setattr("widget_catalog.catalog.replica.applier.render", fail)
    before = find_current(node.folder.replica)

    with node.store.publishing() as tx:
        _add_some(tx, "clock", "notes")

    other.join()
    opened.pop().store.close()
    assert find_current(node.folder.replica) not in (None, before)


def test_if_the_new_file_cannot_be_written_changes_are_applied(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, writing = find_current(node.folder.replica), ReplicaFile.writing

    def fail_once(_: ReplicaFile) -> None:
        monkeypatch.setattr(ReplicaFile, "writing", writing)
        raise StoreUnavailable("The disk is full.")

    with node.store.publishing() as tx:
        _add_some(tx, "clock")
        monkeypatch.setattr(ReplicaFile, "writing", fail_once)
        _add_some(tx, "notes", "zebra")
        # Its space is available to the database at once.
        assert _files(node) == [before]
        _add_some(tx, "last")

    assert find_current(node.folder.replica) == before
    assert check_replica(node.store, node.replica) == Differences()


def test_few_large_widgets_are_written_before_they_take_much_memory(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widget_catalog.catalog.replica.filling._AT_ONCE", 1000)
    monkeypatch.setattr("widget_catalog.catalog.replica.filling._MAX_BYTES", 3000)
    flushed: list[Path] = []
    monkeypatch.setattr("widget_catalog.catalog.replica.filling.release_mapped", flushed.append)

    with node.store.publishing() as tx:
        _add_some(tx, "clock", "notes")
        for name in ("apple", "zebra"):
            large = a_widget(f"acme/{name}", a_version(release_notes="x" * 4000))
            add_widgets(tx, [(large, 7)])

    assert len(flushed) == 3 + 1  # Once more with the changes.
    assert check_replica(node.store, node.replica) == Differences()


def test_once_it_is_closed_it_removes_no_file_that_another_process_builds(node: Node) -> None:
    new = node.replica.begin_copy(at_ms=0)
    assert new is not None
    new.close()
    unfinished = node.folder.replica / "abc.mdb"
    unfinished.touch()

    new.close()

    assert unfinished.exists()

"""Marks of files that are being removed."""

from accounts.stored_accounts import later
from support.values import a_version, a_widget
from widget_catalog.catalog.model.widgets import Style
from widget_catalog.catalog.store.files import list_marked, mark_for_removal, unmark
from widget_catalog.catalog.store.widgets import add_widgets
from widget_catalog.core.db.engine import Store
from widget_catalog.core.files.contract import FileKey

JS: FileKey = ("a" * 64, "js")
CSS: FileKey = ("c" * 64, "css")
UNUSED: FileKey = ("d" * 64, "js")


def test_only_files_that_nothing_refers_to_are_marked(store: Store) -> None:
    version = a_version("1.0.0", sha256_hash=JS[0], style=Style(3, CSS[0]))
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("acme/clock", version), 0)])

    with store.publishing() as tx:
        marked = mark_for_removal(tx, [JS, CSS, UNUSED, (JS[0], "css")])

    assert marked.files == [(JS[0], "css"), UNUSED]
    with store.reading() as connection:
        assert list_marked(connection) == set(marked.files)


def test_a_file_is_removed_by_one_process_until_that_has_taken_too_long(store: Store) -> None:
    with store.publishing() as tx:
        first = mark_for_removal(tx, [UNUSED])
    with store.publishing() as tx:
        assert mark_for_removal(tx, [UNUSED]).files == []
    with later(store, minutes=15).publishing() as tx:
        second = mark_for_removal(tx, [UNUSED])
    assert second.files == [UNUSED]

    with store.publishing() as tx:
        unmark(tx, first)  # Too late: the mark is another one's by now.
    with store.reading() as connection:
        assert list_marked(connection) == {UNUSED}
        assert list_marked(connection, after_ms=second.until) == set()
    with store.publishing() as tx:
        unmark(tx, second)
    with store.reading() as connection:
        assert list_marked(connection) == set()

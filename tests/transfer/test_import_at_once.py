"""An import while others write, on both databases: nobody waits for the whole import.

The longest wait is measured with a large one, on an otherwise idle machine: WIDGETS=100000 ./dev
test tests/transfer/test_import_at_once.py
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from accounts.stored_accounts import an_account
from support.values import a_version, a_widget
from support.widgets import ndjson, widget_line
from widget_catalog.accounts.attempts import count_attempt
from widget_catalog.accounts.store import add_session
from widget_catalog.catalog.model.events import Published
from widget_catalog.catalog.store.downloads import add_downloads
from widget_catalog.catalog.store.feed import latest_seq, list_changes
from widget_catalog.catalog.store.widgets import add_widget, add_widgets, count_widgets
from widget_catalog.core.actors import Actor, Via
from widget_catalog.core.db.engine import Store
from widget_catalog.core.files.local import LocalBundles
from widget_catalog.transfer.import_catalog import import_catalog

_WIDGETS = int(os.environ.get("WIDGETS", "3000"))
_IS_MEASURED = "WIDGETS" in os.environ
_LONGEST_S = 2


def test_nobody_waits_long_for_an_import(store: Store, tmp_path: Path) -> None:
    ann = Actor(via=Via.SESSION, account=an_account(store))
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("old/clock"), 0)])
    numbers = count()

    def sign_in() -> None:
        number = next(numbers)
        count_attempt(store, {f"attempt {number}": 5}, "Too many.")
        with store.writing() as tx:
            add_session(tx, f"s {number}", f"h {number}", ann.account_id, tx.at_ms + 1)

    def count_download() -> None:
        with store.writing() as tx:
            add_downloads(tx, {1: 1})

    def publish() -> None:
        number = next(numbers)
        told = Published(
            scope="ann", name=f"w{number}", version="1.0.0", sha256_hash="ab" * 32, bundle_size=10
        )
        with store.publishing() as tx:
            add_widget(tx, a_widget(f"ann/w{number}", a_version()), ann, told)

    began = time.monotonic()
    with _importing(store, tmp_path) as is_importing:
        waited, rounds = _longest(is_importing, [sign_in, count_download, publish])

    took = time.monotonic() - began
    assert rounds > 2
    assert waited < took / 2
    assert waited < _LONGEST_S or not _IS_MEASURED
    with store.reading() as connection:
        assert count_widgets(connection) == _WIDGETS + 1 + rounds
        newest = latest_seq(connection)
        seen = [it.seq for it in list_changes(connection, 0, newest + 1)]
    assert seen == list(range(1, newest + 1))


@contextmanager
def _importing(store: Store, folder: Path) -> Iterator[Callable[[], bool]]:
    """Another thread imports; yields a function that returns whether it still does."""
    (folder / "bundles").mkdir()
    lines = ndjson(*(widget_line(f"new/w{i}") for i in range(_WIDGETS))).splitlines(keepends=True)
    errors: list[BaseException] = []

    def run() -> None:
        try:
            import_catalog(store, LocalBundles(folder / "bundles"), lines, folder, 1000)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield thread.is_alive
    finally:
        thread.join()
    assert errors == []


def _longest(is_under_way: Callable[[], bool], work: list[Callable[[], None]]) -> tuple[float, int]:
    """The longest duration of these operations, repeated while something else is running."""
    longest, rounds = 0.0, 0
    while is_under_way():
        for step in work:
            began = time.monotonic()
            step()
            longest = max(longest, time.monotonic() - began)
        rounds += 1
    return longest, rounds

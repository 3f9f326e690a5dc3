"""Download counts and the one writer at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.values import a_widget
from widget_catalog.catalog.store.downloads import add_downloads, get_counts
from widget_catalog.catalog.store.feed import latest_seq
from widget_catalog.catalog.store.widgets import add_widgets
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.transaction import Write
from widget_catalog.core.errors import StoreUnavailable


def _widgets(store: Store, count: int) -> None:
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget(f"acme/w{i}"), i) for i in range(count)])


def test_increments_add_up_and_the_transaction_knows_the_new_counts(store: Store) -> None:
    _widgets(store, 3)

    with store.writing() as tx:
        add_downloads(tx, {1: 2, 3: 1})
        assert tx.counts == {1: 2, 3: 3}

    with store.reading() as connection:
        assert get_counts(connection, [1, 2, 3]) == {1: 2, 2: 1, 3: 3}


def test_more_widgets_than_fit_into_one_query(store: Store) -> None:
    _widgets(store, 1200)

    with store.writing() as tx:
        add_downloads(tx, dict.fromkeys(range(1, 1201), 1))
        assert tx.counts == {i: i for i in range(1, 1201)}


def test_counting_is_not_a_change_of_the_catalog(store: Store) -> None:
    _widgets(store, 1)
    with store.writing() as tx:
        before = latest_seq(tx.connection)
        add_downloads(tx, {1: 1})
        assert latest_seq(tx.connection) == before


def test_a_count_that_fails_leaves_nothing_and_the_next_one_succeeds(store: Store) -> None:
    _widgets(store, 2)

    def count_and_fail(write: Write) -> None:
        add_downloads(write, {1: 5, 2: 5})
        write.run("SELECT * FROM nowhere")

    for _ in range(3):
        with pytest.raises(StoreUnavailable), store.counting() as write:
            count_and_fail(write)
        with store.counting() as write:
            add_downloads(write, {2: 1})

    with store.reading() as connection:
        assert get_counts(connection, [1, 2]) == {2: 4}


def test_writers_at_the_same_time_take_turns_and_lose_nothing(store: Store) -> None:
    _widgets(store, 2)

    def count_many() -> None:
        for i in range(25):
            with store.writing() if i % 2 else store.counting() as tx:
                add_downloads(tx, {1: 1, 2: 2})

    threads = [threading.Thread(target=count_many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with store.reading() as connection:
        assert get_counts(connection, [1, 2]) == {1: 100, 2: 201}


def test_batches_that_name_the_same_widgets_in_other_orders_do_not_lock_each_other_out(
    store: Store,
) -> None:
    _widgets(store, 20)
    there = dict.fromkeys(range(1, 21), 1)
    back = dict.fromkeys(range(20, 0, -1), 1)

    def count_many(increments: dict[int, int]) -> None:
        for _ in range(25):
            with store.counting(is_one_statement=True) as tx:
                add_downloads(tx, increments)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count_many, [there, back, there, back]))

    with store.reading() as connection:
        assert get_counts(connection, range(1, 21)) == {i: i - 1 + 100 for i in range(1, 21)}

"""No connection outlives its store, even if a thread still reads when the store is closed."""

from typing import Any

import sqlalchemy as sa

from widget_catalog.core.db.engine import Store


def is_open(store: Store, driver: Any) -> bool:
    if store.engine.dialect.name == "postgresql":
        return not driver.closed
    try:
        driver.execute("SELECT 1")
    except store.engine.dialect.dbapi.ProgrammingError:  # type: ignore[union-attr]
        return False
    return True


def test_a_connection_in_use_is_closed_when_it_is_returned(store: Store) -> None:
    with store.reading() as connection:
        driver = connection.connection.driver_connection
        store.close()
        assert connection.scalar(sa.text("SELECT 1")) == 1
        assert is_open(store, driver)
    assert not is_open(store, driver)


def test_a_store_can_be_used_again(store: Store) -> None:
    store.close()
    with store.reading() as connection:
        driver = connection.connection.driver_connection
    with store.reading() as connection:
        assert connection.connection.driver_connection is driver


def test_others_are_closed_at_once(store: Store) -> None:
    with store.reading() as connection:
        driver = connection.connection.driver_connection
    assert is_open(store, driver)
    store.close()
    assert not is_open(store, driver)

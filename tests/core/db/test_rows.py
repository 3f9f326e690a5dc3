"""Single rows, by the values of columns, on both databases."""

from typing import NamedTuple

from widget_catalog.catalog.store.tables import scopes
from widget_catalog.core.db import rows
from widget_catalog.core.db.engine import Store


class Scope(NamedTuple):
    name: str
    kind: str
    created_at: int


def test_a_row_is_found_changed_and_removed_by_its_values(store: Store) -> None:
    acme = Scope("acme", "organization", 7)
    with store.writing() as tx:
        rows.insert(tx, scopes, acme._asdict())
        assert rows.find(tx.connection, Scope, scopes, name="acme", locks=True) == acme
        assert not rows.update(tx, scopes, {"kind": "x"}, name="acme", kind="personal")
        assert rows.update(tx, scopes, {"kind": "x"}, scopes.c.created_at < 8, name="acme")
        assert rows.find(tx.connection, Scope, scopes, name="acme") == acme._replace(kind="x")
        assert not rows.delete(tx, scopes, scopes.c.created_at > 7, name="acme")
        assert rows.exists(tx.connection, scopes.c.name == "acme")
        assert rows.delete(tx, scopes, name="acme")
        assert not rows.exists(tx.connection, scopes.c.name == "acme")
        assert rows.find(tx.connection, Scope, scopes, name="acme") is None


def test_rows_are_removed_if_there_are_any(store: Store) -> None:
    with store.writing() as tx:
        for name, created_at in (("old", 1), ("new", 2)):
            rows.insert(tx, scopes, {"name": name, "kind": "x", "created_at": created_at})

    for _ in range(2):
        rows.remove_if_any(store, scopes, scopes.c.created_at < 2)

        with store.reading() as connection:
            assert not rows.exists(connection, scopes.c.name == "old")
            assert rows.exists(connection, scopes.c.name == "new")

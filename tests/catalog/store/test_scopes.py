"""Scopes with widgets but no owner."""

from accounts.stored_accounts import an_account, an_organization
from support.values import a_widget
from widget_catalog.accounts.store import take_scope
from widget_catalog.catalog.store.scopes import (
    OwnerlessScope,
    find_ownerless_scope,
    list_ownerless_scopes,
)
from widget_catalog.catalog.store.widgets import add_widgets
from widget_catalog.core.db.engine import Store
from widget_contract.names import Scope


def test_scopes_without_an_owner_are_counted_with_unlisted_widgets(store: Store) -> None:
    an_account(store, "ann")
    an_organization(store, "globex")
    with store.publishing() as tx:
        take_scope(tx, Scope("kept"), "reserved")
        add_widgets(
            tx,
            [
                (a_widget("acme/clock"), 9_000),
                (a_widget("acme/dice", is_listed=False), 555),
                (a_widget("acme/notes"), 0),
                (a_widget("ann/clock"), 7),
                (a_widget("globex/clock"), 7),
                (a_widget("kept/clock"), 1),
                (a_widget("zoo/clock"), 0),
            ],
        )

    acme, kept, zoo = (
        OwnerlessScope("acme", 3, 9_555),
        OwnerlessScope("kept", 1, 1),
        OwnerlessScope("zoo", 1, 0),
    )
    with store.reading() as connection:
        assert list_ownerless_scopes(connection, 1, 2) == ([acme, kept], 3)
        assert list_ownerless_scopes(connection, 2, 2) == ([zoo], 3)
        assert find_ownerless_scope(connection, "acme") == acme
        for name in ("ann", "globex", "free"):
            assert find_ownerless_scope(connection, name) is None
    assert acme.summary == "3 widgets with 9,555 installs"
    assert kept.summary == "1 widget with 1 install"

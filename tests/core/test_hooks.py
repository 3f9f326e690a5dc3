"""Hooks and extension points: how rooms act in rooms below them."""

from collections.abc import Iterator
from functools import partial

import pytest

from accounts.stored_accounts import an_account, an_organization
from widget_catalog.accounts.events import AccountDisabled, AccountEnabled
from widget_catalog.accounts.permissions import list_organization_names, owns_organization
from widget_catalog.app.features import install_features
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.catalog.store.events import append
from widget_catalog.core import features, hooks
from widget_catalog.core.actors import COMMAND_LINE, Actor
from widget_catalog.core.db.engine import Transaction
from widget_catalog.core.errors import Conflict
from widget_catalog.core.features import Feature
from widget_catalog.core.hooks import Hooks, extension_point


@pytest.fixture(autouse=True)
def _connected_again() -> Iterator[None]:
    yield
    install_features()


def _install(*rooms: Hooks) -> None:
    features.install([Feature(name=str(i), hooks=partial(dict, it)) for i, it in enumerate(rooms)])


@extension_point
def greeting(name: str) -> str:
    return f"Hello {name}"


def test_hooks_run_in_the_order_of_rooms_before_the_event_is_recorded(node: Node) -> None:
    seen: list[tuple[str, int]] = []

    def hook(tx: Transaction, by: Actor, event: AccountDisabled) -> None:
        assert (by, event.scope) == (COMMAND_LINE, "ann")
        seen.append((f"room {len(seen)}", list_entries(tx.connection, None, None, 1, 1)[1]))

    _install({AccountDisabled: hook}, {}, {AccountDisabled: hook})
    with node.store.writing() as tx:
        append(tx, COMMAND_LINE, AccountDisabled(scope="ann"), AccountEnabled(scope="ann"))

    assert seen == [("room 0", 0), ("room 1", 0)]
    with node.store.reading() as connection:
        assert list_entries(connection, None, None, 1, 10)[1] == 2


def test_a_hook_can_refuse(node: Node) -> None:
    def refuse(*_: object) -> None:
        raise Conflict("Not now.")

    _install({AccountDisabled: refuse})
    with pytest.raises(Conflict, match="Not now"), node.store.writing() as tx:
        append(tx, COMMAND_LINE, AccountDisabled(scope="ann"))

    with node.store.reading() as connection:
        assert list_entries(connection, None, None, 1, 10) == ([], 0)


def test_the_last_room_replaces_a_function_until_others_are_installed() -> None:
    _install({})
    assert greeting("Ann") == "Hello Ann"

    _install({greeting: str.upper}, {greeting: str.title})
    assert greeting("ann bo") == "Ann Bo"

    _install({})
    assert greeting(name="Ann") == "Hello Ann"


def test_accounts_work_without_organizations(node: Node) -> None:
    ann = an_account(node.store)
    an_organization(node.store, owner=ann)
    with node.store.reading() as connection:
        assert owns_organization(connection, ann.id)
        assert list_organization_names(connection, ann.id) == ["acme"]
        _install({})
        assert not owns_organization(connection, ann.id)
        assert list_organization_names(connection, ann.id) == []


def test_a_process_without_hooks_changes_nothing() -> None:
    """Otherwise an account could be closed while its memberships stay."""
    features.install([])
    with pytest.raises(RuntimeError, match="No features are installed"):
        hooks.load()

"""Accounts in the store, their names, and their identities at a provider."""

import contextlib

import pytest

from accounts.stored_accounts import an_account, an_organization
from support.values import a_widget
from widget_catalog.accounts.store import (
    add_account,
    add_identity,
    end_account,
    find_account,
    find_account_by_id,
    find_account_by_identity,
    find_credentials,
    get_account,
    has_accounts,
    is_email_used,
    list_accounts,
    take_scope,
    update_account,
)
from widget_catalog.catalog.store.widgets import add_widgets
from widget_catalog.core.actors import Account, Actor, Via
from widget_catalog.core.clock import from_ms
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import Conflict, InvalidRequest, NotFound, StoreUnavailable
from widget_catalog.organizations.store import find_invitation, scope_kind
from widget_catalog.publishing.view_own import list_own_widgets
from widget_contract.errors import InvalidName
from widget_contract.names import Scope


def test_an_account_comes_back_as_it_was_added(store: Store) -> None:
    with store.reading() as connection:
        assert not has_accounts(connection)

    ann = an_account(store, is_operator=True)

    assert ann == Account(
        id=ann.id,
        username=Scope("ann"),
        email="ann@example.org",
        is_operator=True,
        is_disabled=False,
        created_at=from_ms(store.now_ms()),
        has_password=True,
    )
    with store.reading() as connection:
        assert has_accounts(connection)
        assert find_account(connection, "ann") == get_account(connection, "ann") == ann
        assert find_account_by_id(connection, ann.id) == ann
        assert find_credentials(connection, "ann") == (ann, "a hash")


def test_who_is_not_there_is_not_found_whatever_they_are_called(store: Store) -> None:
    an_account(store)
    with store.reading() as connection:
        for name in (
            "",
            "ANN",
            "ann ",
            "nobody",
            "ann\n",
            "ann\0",
            "\0",
            "%",
            "\ud800",
            "x" * 5000,
        ):
            assert find_account(connection, name) is None
            assert find_credentials(connection, name) is None
            with pytest.raises(NotFound, match="There is no account '"):
                get_account(connection, name)
        assert find_account_by_id(connection, 99) is None


def test_an_account_that_has_ended_keeps_its_name_and_frees_its_address(store: Store) -> None:
    ann = an_account(store)
    with store.writing() as tx:
        end_account(tx, ann.id)

    with store.reading() as connection:
        found = find_credentials(connection, "ann")
    assert found is not None
    assert (found.account.is_closed, found.account.is_disabled) == (True, True)
    assert (found.account.email, found.password_hash) == ("ann@example.org", None)
    with store.writing() as tx:
        take_scope(tx, Scope("bob"), "personal")
        add_account(tx, Scope("bob"), "ann@example.org", None, is_operator=False)


def test_accounts_are_listed_by_name_bytewise(store: Store) -> None:
    for name in ("b", "a-b", "a0", "a", "ab"):
        an_account(store, name)

    with store.reading() as connection:
        listed = [str(it.username) for it in list_accounts(connection)]
    assert listed == ["a", "a-b", "a0", "ab", "b"]


def test_a_name_is_given_away_once_whatever_for(store: Store) -> None:
    an_account(store, "ann")
    an_organization(store, "acme")
    with store.writing() as tx:
        take_scope(tx, Scope("kept"), "reserved")

    with store.reading() as connection:
        kinds = [scope_kind(connection, it) for it in ("ann", "acme", "kept", "free")]
    assert kinds == ["personal", "organization", "reserved", None]
    for name in ("ann", "acme", "kept"):
        for adopts in (False, True):
            with (
                pytest.raises(Conflict, match=f"The name {name} is taken"),
                store.writing() as tx,
            ):
                take_scope(tx, Scope(name), "personal", adopts=adopts)


def test_a_scope_with_widgets_is_given_to_whom_it_is_meant_for_alone(store: Store) -> None:
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("imported/clock"), 0)])

    with (
        pytest.raises(Conflict, match="has no owner, but 1 widget with 0 installs"),
        store.writing() as tx,
    ):
        take_scope(tx, Scope("imported"), "personal")
    with store.writing() as tx:
        take_scope(tx, Scope("imported"), "personal", adopts=True)


def test_several_accounts_can_have_one_address_however_it_is_written(store: Store) -> None:
    ann = an_account(store)

    for name in ("other", "third"):
        with store.writing() as tx:
            take_scope(tx, Scope(name), "personal")
            made = add_account(tx, Scope(name), "ANN@EXAMPLE.ORG", None, is_operator=False)
            assert made.email == "ANN@EXAMPLE.ORG"

    with store.writing() as tx:
        assert is_email_used(tx.connection, "Ann@Example.org")
        assert not is_email_used(tx.connection, "bob@example.org")
        end_account(tx, ann.id)
        assert not is_email_used(tx.connection, "ann@example.org")


def test_an_account_needs_its_name_taken_first(store: Store) -> None:
    """The database itself enforces that."""
    with pytest.raises(StoreUnavailable), store.writing() as tx:
        add_account(tx, Scope("ann"), "ann@example.org", None, is_operator=False)


def test_changes_to_an_account_are_its_own(store: Store) -> None:
    ann, bob = an_account(store, "ann"), an_account(store, "bob")
    with store.writing() as tx:
        update_account(tx, ann.id, is_disabled=True, password_hash=None, closed_at=tx.at_ms)

    with store.reading() as connection:
        changed = get_account(connection, "ann")
        assert (changed.is_disabled, changed.has_password) == (True, False)
        assert get_account(connection, "bob") == bob


def test_a_text_that_the_database_does_not_take_is_no_error_of_the_database(store: Store) -> None:
    """PostgreSQL rejects NUL. The client gets an error, if nothing has checked before."""
    ann = Actor(via=Via.SESSION, account=an_account(store, is_operator=True))
    with store.reading() as connection:
        assert find_invitation(connection, "\0", store.now_ms()) is None
    with pytest.raises(InvalidName):
        list_own_widgets(store, ann, "\0", 1, 20)
    with contextlib.suppress(InvalidRequest), store.reading() as connection:
        assert find_account_by_identity(connection, "https://a.example", "\0") is None


def test_an_identity_leads_to_its_account(store: Store) -> None:
    ann, bob = an_account(store, "ann"), an_account(store, "bob")
    with store.writing() as tx:
        add_identity(tx, "https://a.example", "1", ann.id)
        add_identity(tx, "https://b.example", "1", bob.id)

    with store.reading() as connection:
        assert find_account_by_identity(connection, "https://a.example", "1") == ann
        assert find_account_by_identity(connection, "https://b.example", "1") == bob
        assert find_account_by_identity(connection, "https://a.example", "2") is None

"""Passkeys, authenticator apps and recovery codes in the store; confirmed sessions."""

from accounts.stored_accounts import an_account, an_organization, later
from widget_catalog.accounts.second_factor.store import (
    App,
    Factors,
    Passkey,
    add_passkey,
    find_app,
    find_factors,
    find_passkey,
    has_factor,
    has_recovery_code,
    list_accounts_with_factor,
    put_app,
    remove_app,
    remove_factors,
    remove_passkey,
    rename_passkey,
    set_recovery_codes,
    use_passkey,
    use_recovery_code,
    use_step,
)
from widget_catalog.accounts.store import add_session, confirm_session, find_session
from widget_catalog.core.db.engine import Store
from widget_catalog.organizations.store import owns_organization

NONE = Factors((), None, 0)


def a_passkey(account_id: int, id_: str = "one") -> Passkey:
    return Passkey(
        id=id_,
        account_id=account_id,
        host="catalog.example",
        credential_id=f"credential-{id_}",
        public_key="cHVibGlj",
        sign_count=3,
        transports=("internal", "hybrid"),
        is_backed_up=False,
        name="Phone",
        created_at=1000,
        last_used_at=None,
    )


def test_an_account_begins_without_any(store: Store) -> None:
    ann = an_account(store)
    with store.reading() as connection:
        assert find_factors(connection, ann.id) == NONE
        assert not find_factors(connection, ann.id).has_any
        assert not has_factor(connection, ann.id)
        assert find_passkey(connection, "credential-one") is None
        assert list_accounts_with_factor(connection) == set()


def test_a_passkey_is_found_again_and_its_use_is_noted(store: Store) -> None:
    ann, eve = an_account(store), an_account(store, "eve")
    one, two = a_passkey(ann.id), a_passkey(ann.id, "two")
    with store.writing() as tx:
        add_passkey(tx, two)
        add_passkey(tx, one)
        assert use_passkey(tx, one, 4, is_backed_up=True)
        at_ms = tx.at_ms

    used = one._replace(sign_count=4, is_backed_up=True, last_used_at=at_ms)
    with store.reading() as connection:
        assert find_passkey(connection, one.credential_id) == used
        assert find_factors(connection, ann.id) == Factors((used, two), None, 0)
        assert find_factors(connection, eve.id) == NONE
        assert has_factor(connection, ann.id)
        assert list_accounts_with_factor(connection) == {ann.id}


def test_a_passkey_that_was_used_or_removed_meanwhile_cannot_be_used(store: Store) -> None:
    one = a_passkey(an_account(store).id)
    with store.writing() as tx:
        add_passkey(tx, one)
        assert use_passkey(tx, one, 4, is_backed_up=False)
        assert not use_passkey(tx, one, 4, is_backed_up=False)
        current = find_passkey(tx.connection, one.credential_id)
        assert current is not None
        assert remove_passkey(tx, one.account_id, one.id)
        assert not use_passkey(tx, current, 5, is_backed_up=False)


def test_only_its_account_can_rename_or_remove_a_passkey(store: Store) -> None:
    ann, eve = an_account(store), an_account(store, "eve")
    one = a_passkey(ann.id)
    with store.writing() as tx:
        add_passkey(tx, one)
        assert not rename_passkey(tx, eve.id, one.id, "Mine")
        assert not remove_passkey(tx, eve.id, one.id)
        assert rename_passkey(tx, ann.id, one.id, "Blue key")
        found = find_passkey(tx.connection, one.credential_id)
        assert found == one._replace(name="Blue key")
        assert remove_passkey(tx, ann.id, one.id)
        assert not remove_passkey(tx, ann.id, one.id)


def test_a_step_of_an_app_is_used_once_and_never_goes_back(store: Store) -> None:
    ann = an_account(store)
    with store.writing() as tx:
        assert not use_step(tx, ann.id, 10)
        put_app(tx, ann.id, "sealed", 9)
        assert find_app(tx.connection, ann.id) == App(ann.id, "sealed", 9, tx.at_ms)
        assert not use_step(tx, ann.id, 9)
        assert use_step(tx, ann.id, 11)
        assert not use_step(tx, ann.id, 11)
        assert not use_step(tx, ann.id, 10)


def test_another_app_takes_the_place_of_the_former(store: Store) -> None:
    ann = an_account(store)
    with store.writing() as tx:
        put_app(tx, ann.id, "old", 99)
        put_app(tx, ann.id, "new", 7)
        assert find_app(tx.connection, ann.id) == App(ann.id, "new", 7, tx.at_ms)
        assert remove_app(tx, ann.id)
        assert not remove_app(tx, ann.id)


def test_a_recovery_code_works_once_and_for_its_account_alone(store: Store) -> None:
    ann, eve = an_account(store), an_account(store, "eve")
    with store.writing() as tx:
        set_recovery_codes(tx, ann.id, ["a", "b"])
        set_recovery_codes(tx, eve.id, ["a"])
        assert not has_recovery_code(tx.connection, eve.id, "b")
        assert not use_recovery_code(tx, eve.id, "b")
        assert use_recovery_code(tx, ann.id, "a")
        assert not use_recovery_code(tx, ann.id, "a")
        assert has_recovery_code(tx.connection, eve.id, "a")
        assert find_factors(tx.connection, ann.id) == NONE._replace(recovery_codes=1)
        assert not has_factor(tx.connection, ann.id)  # They replace a factor, but are none.
        set_recovery_codes(tx, ann.id, ["c", "d", "e"])
        assert not has_recovery_code(tx.connection, ann.id, "b")
        assert find_factors(tx.connection, ann.id).recovery_codes == 3


def test_all_factors_of_one_account_are_removed_at_once(store: Store) -> None:
    ann, eve = an_account(store), an_account(store, "eve")
    with store.writing() as tx:
        for account, id_ in ((ann, "one"), (eve, "two")):
            add_passkey(tx, a_passkey(account.id, id_))
            put_app(tx, account.id, "sealed", 0)
            set_recovery_codes(tx, account.id, ["a"])
        remove_factors(tx, ann.id)
        assert find_factors(tx.connection, ann.id) == NONE
        assert find_factors(tx.connection, eve.id).recovery_codes == 1
        assert list_accounts_with_factor(tx.connection) == {eve.id}


def test_a_session_says_when_it_was_confirmed_and_how_strongly(store: Store) -> None:
    ann = an_account(store)
    with store.writing() as tx:
        opened = add_session(tx, "s1", "hash", ann.id, tx.at_ms + 1000)
        assert (opened.confirmed_at, opened.is_two_factor) == (tx.at_ms, False)
    with later(store, minutes=20).writing() as tx:
        confirm_session(tx, "s1", is_two_factor=True)
        at_ms = tx.at_ms
    with store.reading() as connection:
        found = find_session(connection, "hash")
    assert found is not None
    assert found[0] == opened._replace(confirmed_at=at_ms, is_two_factor=True)


def test_an_owner_of_any_organization_is_one(store: Store) -> None:
    ann, abe, eve = (an_account(store, name) for name in ("ann", "abe", "eve"))
    an_organization(store, "acme", owner=ann, admin=abe)
    an_organization(store, "labs", admin=ann, member=abe)
    with store.reading() as connection:
        owners = [owns_organization(connection, it.id) for it in (ann, abe, eve)]
    assert owners == [True, False, False]

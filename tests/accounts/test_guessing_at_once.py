"""Concurrent guesses are limited and recorded like sequential ones, on both databases."""

from functools import partial
from pathlib import Path

import pytest

from accounts.stored_accounts import an_account
from support.at_once import outcomes
from support.passwords import quick_passwords
from widget_catalog.accounts.manage_account import check_password
from widget_catalog.accounts.second_factor.passkeys import site_at
from widget_catalog.accounts.second_factor.proving import (
    FactorPolicy,
    new_app_secret,
    prove_by_code,
)
from widget_catalog.accounts.second_factor.store import put_app
from widget_catalog.accounts.settings import RequiredOf
from widget_catalog.accounts.sign_in import Browser, Lifetimes, sign_in
from widget_catalog.accounts.store import add_session, update_account
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.core.actors import Account, Actor, Session, Via, Visitor
from widget_catalog.core.credentials import hash_password
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import AccountLocked, NotAllowed, NotSignedIn, TooOften
from widget_catalog.core.keys import SecretBox

PASSWORD = "correct horse battery"
LIFETIMES = Lifetimes(3_600_000, 86_400_000)


@pytest.fixture
def ann(store: Store) -> Account:
    account = an_account(store)
    with quick_passwords(), store.writing() as tx:
        update_account(tx, account.id, password_hash=hash_password(PASSWORD))
    return account


def sessions_of(
    store: Store, account: Account, count: int, *, is_two_factor: bool = False
) -> list[Session]:
    with store.writing() as tx:
        return [
            add_session(
                tx, f"s{i}", f"hash {i}", account.id, tx.at_ms + 10**9, is_two_factor=is_two_factor
            )
            for i in range(count)
        ]


def recorded(store: Store) -> list[int]:
    """The failures in the audit log, oldest first: which attempt each of them was."""
    with store.reading() as connection:
        entries, _ = list_entries(connection, "ann", None, 1, 100)
    return [it.details["attempts"] for it in reversed(entries) if it.action == "failed sign-in"]


def test_codes_in_many_sessions_are_guessed_as_often_as_in_one(
    store: Store, ann: Account, tmp_path: Path
) -> None:
    policy = FactorPolicy(
        site_at("https://catalog.example", "Catalog"),
        SecretBox(tmp_path / "second-factor.key"),
        RequiredOf.NOBODY,
    )
    with store.writing() as tx:
        put_app(tx, ann.id, policy.box.seal(new_app_secret()), 0)
    guess = partial(prove_by_code, store, policy, ann, "000000")

    for networks in (1, 4):
        done = outcomes(
            [
                partial(guess, f"192.0.{networks}.{i % networks}", session=session)
                for i, session in enumerate(sessions_of(store, ann, 12))
            ]
        )
        assert sum(isinstance(it, NotSignedIn) for it in done) == 5, done
        assert sum(isinstance(it, TooOften) for it in done) == 7
        with store.writing() as tx:
            tx.connection.exec_driver_sql("DELETE FROM sessions")
    assert recorded(store)[:2] in ([1, 5], [5, 1])


def test_passwords_asked_again_in_many_sessions_are_guessed_as_often_as_in_one(
    store: Store, ann: Account
) -> None:
    actor = Actor(via=Via.SESSION, account=ann, address="192.0.2.1")
    with quick_passwords():
        done = outcomes(
            [
                partial(check_password, store, Visitor(actor, session), ann, "a guess")
                for session in sessions_of(store, ann, 12)
            ]
        )
        assert sum(isinstance(it, NotAllowed) for it in done) == 5, done
        assert sum(isinstance(it, TooOften) for it in done) == 7
        assert sorted(recorded(store)) == [1, 5]
        # Sessions opened with the second factor have their own.
        with store.writing() as tx:
            tx.connection.exec_driver_sql("DELETE FROM sessions")
        (own,) = sessions_of(store, ann, 1, is_two_factor=True)
        assert check_password(store, Visitor(actor, own), ann, PASSWORD).account == ann
        # And so have programs, which cannot use up those of the person.
        program = Visitor(actor, None, "grant")
        assert check_password(store, program, ann, PASSWORD).account == ann


def test_an_account_is_guessed_at_as_often_as_it_may_be_and_its_owner_gets_in(
    store: Store, ann: Account
) -> None:
    with quick_passwords():

        def enter(password: str, address: str) -> object:
            return sign_in(store, "ann", password, Browser(address, LIFETIMES))

        enter(PASSWORD, "198.51.100.1")
        for i in range(24):
            for _ in range(4):
                with pytest.raises(NotSignedIn):
                    enter("a guess", f"192.0.2.{i}")

        done = outcomes([partial(enter, "a guess", f"203.0.113.{i}") for i in range(12)])

        assert sum(isinstance(it, NotSignedIn) for it in done) == 4, done
        assert sum(isinstance(it, AccountLocked) for it in done) == 8
        assert enter(PASSWORD, "198.51.100.1")
        with pytest.raises(AccountLocked):
            enter(PASSWORD, "198.51.100.2")

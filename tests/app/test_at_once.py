"""What must happen once, or not at all, with concurrent requests.

Every race runs on both databases. On PostgreSQL transactions of `writing` really run concurrently:
each is correct because of its locks, or a constraint.
"""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from accounts.oauth.program import CLIENTS, DEVICE_GRANT, WANTED, code_fields
from accounts.stored_accounts import an_account, an_organization
from support.at_once import at_once, outcomes
from support.values import a_widget
from widget_catalog.accounts.administer_account import (
    appoint_operator,
    dismiss_operator,
    reset_password,
    set_disabled,
)
from widget_catalog.accounts.attempts import (
    add_attempts,
    count_attempt,
    forgive_attempts,
    list_attempts,
)
from widget_catalog.accounts.create_account import OPERATOR, invite
from widget_catalog.accounts.oauth.devices import (
    DeviceRequest,
    decide_device,
    find_device_request,
    request_token,
)
from widget_catalog.accounts.oauth.serving import (
    OAuthConfig,
    OAuthResponse,
    authorize,
    exchange,
    start_device,
)
from widget_catalog.accounts.oauth.store import Grant, add_grant
from widget_catalog.accounts.second_factor.store import (
    put_app,
    set_recovery_codes,
    use_recovery_code,
    use_step,
)
from widget_catalog.accounts.settings import parse_clients
from widget_catalog.accounts.sign_in import Browser, Lifetimes, SignInResult, sign_in
from widget_catalog.accounts.store import (
    add_session,
    list_sessions,
    lock_active_operators,
    update_account,
)
from widget_catalog.accounts.tokens.store import WantedToken
from widget_catalog.catalog.store.downloads import add_downloads, get_counts
from widget_catalog.catalog.store.widgets import add_widgets
from widget_catalog.core.actors import Account, Actor, Limits, Right, Role, Via, Visitor
from widget_catalog.core.credentials import hash_password
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.file_lock import WaitPolicy
from widget_catalog.core.errors import (
    Conflict,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TooOften,
    WriterBusy,
)
from widget_catalog.moderation.manage_scopes import reserve_scope
from widget_catalog.organizations.invite_member import answer_invitation, invite_member
from widget_catalog.organizations.organize import (
    change_role,
    create_organization,
    end_membership,
    transfer_organization,
)
from widget_catalog.organizations.store import list_members, list_memberships

ROUNDS = 4
CONFIG = OAuthConfig(parse_clients(CLIENTS), "https://catalog.example", 180 * 86_400_000)
LIFETIMES = Lifetimes(3_600_000, 86_400_000)
PASSWORD, OTHER = "correct horse battery", "staple correct horse"


def by(account: Account) -> Actor:
    return Actor(via=Via.SESSION, account=account)


def roles(store: Store, organization_id: int) -> dict[str, Role]:
    with store.reading() as connection:
        return {it.username: it.role for it in list_members(connection, organization_id)}


def test_of_two_last_owners_who_leave_one_stays(store: Store) -> None:
    ann, bob = an_account(store, "ann"), an_account(store, "bob")
    for number in range(ROUNDS):
        slug = f"acme-{number}"
        acme = an_organization(store, slug, owner=ann, owner2=bob)

        leave = [
            partial(end_membership, store, by(it), slug, str(it.username)) for it in (ann, bob)
        ]
        done = outcomes(leave)

        assert (done.count(None), sum(isinstance(it, Conflict) for it in done)) == (1, 1), done
        assert list(roles(store, acme.id).values()) == [Role.OWNER]


def test_of_two_owners_who_demote_each_other_one_stays_an_owner(store: Store) -> None:
    ann, bob = an_account(store, "ann"), an_account(store, "bob")
    for number in range(ROUNDS):
        slug = f"acme-{number}"
        acme = an_organization(store, slug, owner=ann, owner2=bob)

        done = outcomes(
            [
                partial(change_role, store, by(ann), slug, "bob", Role.MEMBER),
                partial(transfer_organization, store, by(bob), slug, "ann"),
                partial(change_role, store, by(bob), slug, "ann", Role.MEMBER),
            ]
        )

        assert Role.OWNER in roles(store, acme.id).values(), done
        assert all(it is None or isinstance(it, NotAllowed | Conflict) for it in done), done


def test_of_operators_who_demote_or_disable_each_other_one_stays(store: Store) -> None:
    ann = an_account(store, "ann", is_operator=True)
    bob = an_account(store, "bob", is_operator=True)
    for _ in range(ROUNDS):
        with store.writing() as tx:
            for account in (ann, bob):
                update_account(tx, account.id, is_operator=True, is_disabled=False)

        done = outcomes(
            [
                partial(dismiss_operator, store, "bob", by(ann)),
                partial(dismiss_operator, store, "ann", by(bob)),
                partial(set_disabled, store, "bob", is_disabled=True, actor=by(ann)),
            ]
        )

        with store.writing() as tx:
            assert lock_active_operators(tx), done
        assert all(it is None or isinstance(it, NotAllowed | Conflict) for it in done), done


def test_an_operator_who_is_being_dismissed_invites_and_appoints_nobody(store: Store) -> None:
    """Otherwise the invitation would be a way back."""
    bob = an_account(store, "bob", is_operator=True)
    an_account(store, "cid")
    with ThreadPoolExecutor(2) as pool:
        with store.writing() as tx:
            lock_active_operators(tx)
            update_account(tx, bob.id, is_operator=False)
            attempts: list[Future[Any]] = [
                pool.submit(invite, store, OPERATOR, actor=by(bob)),
                pool.submit(appoint_operator, store, "cid", by(bob)),
            ]
            time.sleep(0.5)

        for attempt in attempts:
            with pytest.raises(NotAllowed):
                attempt.result()


def test_codes_of_machines_are_guessed_no_more_often_than_one_by_one(store: Store) -> None:
    ann = Visitor(by(an_account(store)))
    guess = partial(find_device_request, store, CONFIG, ann, "BCDF-GHJK")

    done = outcomes([guess] * 16)

    assert sum(isinstance(it, NotFound) for it in done) == 10, done
    assert sum(isinstance(it, TooOften) for it in done) == 6, done


def test_no_more_machines_wait_than_one_by_one(store: Store) -> None:
    start = partial(start_device, store, CONFIG, [("client_id", "widget-cli")], "192.0.2.1")
    for _ in range(24):
        start()

    done = outcomes([start] * 12)

    assert sum(isinstance(it, OAuthResponse) for it in done) == 6, done
    assert sum(isinstance(it, TooOften) for it in done) == 6, done


def test_an_invitation_by_link_lets_one_in(store: Store) -> None:
    ann = an_account(store, "ann")
    guests = [an_account(store, f"guest-{i}") for i in range(6)]
    for number in range(ROUNDS):
        slug = f"acme-{number}"
        acme = an_organization(store, slug, owner=ann)
        invitation, secret = invite_member(store, by(ann), slug, Role.MEMBER, email="x@example.org")

        accept = partial(answer_invitation, store, is_accepted=True)
        done = outcomes([partial(accept, by(it), invitation.id, secret or "") for it in guests])

        assert sorted(it for it in done if isinstance(it, str)) == [slug]
        assert sum(isinstance(it, NotFound) for it in done) == 5, done
        assert len(roles(store, acme.id)) == 2


def test_somebody_is_invited_once(store: Store) -> None:
    ann, bob = an_account(store, "ann"), an_account(store, "bob")
    an_organization(store, "acme", owner=ann)

    invite = partial(invite_member, store, by(ann), "acme", Role.MEMBER, username="bob")
    done = outcomes([invite] * 6)

    assert sum(isinstance(it, Conflict) for it in done) == 5, done
    assert bob.username == "bob"


def test_nobody_owns_more_organizations_than_they_may(store: Store) -> None:
    ann, bob = an_account(store, "ann"), an_account(store, "bob")
    for number in range(4):
        an_organization(store, f"of-bob-{number}", owner=bob, member=ann)

    made = [partial(create_organization, store, by(ann), f"acme-{i}", "Acme", 3) for i in range(4)]
    given = [
        partial(change_role, store, by(bob), f"of-bob-{i}", "ann", Role.OWNER, 3) for i in range(4)
    ]
    done = outcomes([*made, *given])

    assert sum(isinstance(it, TooOften) for it in done) == 5, done
    with store.reading() as connection:
        owned = [it for it in list_memberships(connection, ann.id) if it.role is Role.OWNER]
    assert len(owned) == 3


def test_a_name_is_taken_once(store: Store) -> None:
    people = [an_account(store, f"person-{i}") for i in range(4)]

    make = [partial(create_organization, store, by(it), "wanted", "Wanted") for it in people]
    done = outcomes([*make, partial(reserve_scope, store, "wanted")])

    assert sum(isinstance(it, Conflict) for it in done) == 4, done


def test_so_many_attempts_are_heard_as_may_be(store: Store) -> None:
    for number in range(ROUNDS):
        limits = {f"own {number}": 5, "shared": 1000}

        done = outcomes([partial(count_attempt, store, limits, "Too many.")] * 12)

        assert sum(isinstance(it, dict) for it in done) == 5, done
        assert sum(isinstance(it, TooOften) for it in done) == 7
        with store.reading() as connection:
            counted = list_attempts(connection, [*limits], store.now_ms(), 900_000)
        assert {key: it[0] for key, it in counted.items()} == {
            f"own {number}": 5,
            "shared": 5 * (number + 1),
        }


def test_anyone_who_counts_and_forgives_crosswise_waits_for_nobody_who_waits_for_them(
    store: Store,
) -> None:
    keys = ["a", "b", "c", "d"]

    def work(number: int) -> None:
        own, *shared = keys[number % 4 :] + keys[: number % 4]
        for _ in range(10):
            with store.writing() as tx:
                add_attempts(tx, [own, *shared], 900_000)
            with store.writing() as tx:
                forgive_attempts(tx, own, shared)

    at_once(8, work)


def test_factors_are_used_once(store: Store) -> None:
    ann = an_account(store)
    with store.writing() as tx:
        put_app(tx, ann.id, "sealed", 0)
        set_recovery_codes(tx, ann.id, ["hash"])

    def use(_number: int) -> tuple[bool, bool]:
        with store.writing() as tx:
            return use_step(tx, ann.id, 7), use_recovery_code(tx, ann.id, "hash")

    used = at_once(8, use)

    assert [sum(column) for column in zip(*used, strict=True)] == [1, 1]


def test_a_confirmed_token_is_given_out_once(store: Store) -> None:
    ann = an_account(store)
    with store.writing() as tx:
        add_grant(tx, Grant("grant", ann.id, "widget-cli", "openid", tx.at_ms))
        session = add_session(tx, "s", "h", ann.id, tx.at_ms + 1)
    program, browser = Visitor(by(ann), grant_id="grant"), Visitor(by(ann), session)
    limits = Limits(rights=(Right.PUBLISH,))

    requested = at_once(
        4, lambda _: request_token(store, CONFIG, program, WantedToken("CI", limits, days=3))
    )
    decided = outcomes(
        [
            partial(decide_device, store, CONFIG, browser, str(device["user_code"]), is_agreed=True)
            for device in requested
        ]
    )
    [request] = [it for it in decided if isinstance(it, DeviceRequest)]
    [device_code] = [it["device_code"] for it in requested if it["user_code"] == request.user_code]
    fields = [
        ("grant_type", DEVICE_GRANT),
        ("client_id", "widget-cli"),
        ("device_code", str(device_code)),
    ]
    claimed = at_once(6, lambda _: exchange(store, CONFIG, fields, "192.0.2.1"))

    assert sum(isinstance(it, NotFound) for it in decided) == 3, decided
    assert sorted(it.status for it in claimed) == [200] + [400] * 5, claimed


def test_a_code_is_exchanged_once(store: Store) -> None:
    ann = an_account(store)
    response = authorize(store, CONFIG, list(WANTED.items()), Visitor(by(ann)))
    assert isinstance(response, OAuthResponse)
    code = dict(parse_qsl(urlsplit(response.location or "").query))["code"]

    fields = list(code_fields(code).items())
    responses = at_once(6, lambda _: exchange(store, CONFIG, fields, "192.0.2.1"))

    assert sorted(it.status for it in responses) == [200] + [400] * 5


def test_nobody_comes_in_with_a_password_that_is_being_changed(store: Store) -> None:
    ann, known = an_account(store), hash_password(PASSWORD)
    for number in range(ROUNDS):
        with store.writing() as tx:
            update_account(tx, ann.id, password_hash=known)

        browser = Browser(f"192.0.{number}.1", LIFETIMES)
        enter = partial(sign_in, store, "ann", PASSWORD, browser)
        done = outcomes([enter, enter, partial(reset_password, store, "ann", OTHER)])

        assert all(it is None or isinstance(it, SignInResult | NotSignedIn) for it in done), done
        with store.reading() as connection:
            assert list_sessions(connection, ann.id, store.now_ms(), 0) == []


@contextmanager
def _publishing(store: Store) -> Iterator[None]:
    """Another thread publishes all the time."""
    has_begun, ends = threading.Event(), threading.Event()

    def publish() -> None:
        with store.publishing() as tx:
            add_widgets(tx, [(a_widget("acme/second"), 0)])
            has_begun.set()
            ends.wait(60)

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        assert has_begun.wait(60)
        yield
    finally:
        ends.set()
        thread.join()


def test_on_postgresql_nobody_waits_for_a_publisher_but_publishers(store: Store) -> None:
    """With SQLite all writers do, but not for long."""
    ann = an_account(store)
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("acme/first"), 0)])
    hasty = Store(store.engine, store._lock_file, wait_policy=WaitPolicy(0.2))

    def write() -> None:
        count_attempt(hasty, {"a": 5}, "Too many.")
        with hasty.writing() as tx:
            add_downloads(tx, {1: 1})
            add_session(tx, "s", "hash", ann.id, tx.at_ms + 1)
        response = authorize(hasty, CONFIG, list(WANTED.items()), Visitor(by(ann)))
        assert isinstance(response, OAuthResponse)

    with _publishing(store):
        if store.engine.dialect.name == "postgresql":
            write()
            with store.reading() as connection:
                assert get_counts(connection, [1]) == {1: 1}
        else:
            with pytest.raises(WriterBusy):
                write()
        with pytest.raises(WriterBusy):
            reserve_scope(hasty, "kept")

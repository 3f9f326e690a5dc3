"""A person is signed out everywhere, or their account is disabled, during another request: what
that request would leave behind is not created, or ends with the rest. On both databases."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

import pyotp
import pytest

from accounts.oauth.program import CLIENTS, WANTED
from accounts.stored_accounts import an_account, an_organization
from support.at_once import outcomes
from support.values import a_version, a_widget
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.accounts.manage_account import (
    change_password,
    close_account,
    end_other_sessions,
)
from widget_catalog.accounts.oauth.devices import decide_device, request_token
from widget_catalog.accounts.oauth.serving import OAuthConfig, authorize
from widget_catalog.accounts.oauth.store import Grant, add_grant
from widget_catalog.accounts.oidc.account_linking import Person, connect_identity
from widget_catalog.accounts.second_factor.managing import add_own_app, offer_app
from widget_catalog.accounts.second_factor.passkeys import PasskeySite
from widget_catalog.accounts.second_factor.proving import FactorPolicy
from widget_catalog.accounts.second_factor.store import has_factor
from widget_catalog.accounts.settings import RequiredOf, parse_clients
from widget_catalog.accounts.store import (
    add_session,
    find_account_by_identity,
    find_credentials,
    get_account,
    lock_active_operators,
    update_account,
)
from widget_catalog.accounts.tokens.issue_token import issue_token
from widget_catalog.accounts.tokens.store import WantedToken, list_tokens
from widget_catalog.catalog.store.widgets import add_widgets, get_widget
from widget_catalog.core.actors import Account, Actor, Limits, Right, Role, Via, Visitor
from widget_catalog.core.credentials import hash_password
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import NotAllowed, NotSignedIn
from widget_catalog.core.keys import SecretBox
from widget_catalog.organizations.invite_member import answer_invitation, invite_member
from widget_catalog.organizations.organize import create_organization
from widget_catalog.organizations.store import list_memberships
from widget_catalog.publishing.change_widget import yank_version

ROUNDS = 4
CONFIG = OAuthConfig(parse_clients(CLIENTS), "https://catalog.example", 180 * 86_400_000)
LIMITS = Limits(rights=(Right.PUBLISH,))
PASSWORD, ANOTHER = "correct horse battery", "staple correct horse"


def a_visitor(store: Store, account: Account, name: str) -> Visitor:
    """With a new session."""
    with store.writing() as tx:
        session = add_session(tx, name, f"hash of {name}", account.id, tx.at_ms + 3_600_000)
    return Visitor(Actor(via=Via.SESSION, account=account), session)


@pytest.fixture
def ann(store: Store) -> Account:
    return an_account(store)


@pytest.fixture
def signed_out(store: Store, ann: Account) -> Visitor:
    """The authenticated visitor of a request, whose session ended afterwards."""
    gone = a_visitor(store, ann, "gone")
    end_other_sessions(store, a_visitor(store, ann, "here"))
    return gone


def test_no_token_is_made(store: Store, ann: Account, signed_out: Visitor) -> None:
    with pytest.raises(NotSignedIn, match="signed out"):
        issue_token(store, signed_out, WantedToken("CI", LIMITS, days=3))
    with store.reading() as connection:
        assert list_tokens(connection, ann.id, store.now_ms()) == []


def test_no_token_is_confirmed(store: Store, ann: Account, signed_out: Visitor) -> None:
    with store.writing() as tx:
        add_grant(tx, Grant("grant", ann.id, "widget-cli", "openid", tx.at_ms))
    program = Visitor(Actor(via=Via.OAUTH, account=ann), grant_id="grant")
    request = request_token(store, CONFIG, program, WantedToken("CI", LIMITS, days=3))
    with pytest.raises(NotSignedIn, match="signed out"):
        decide_device(store, CONFIG, signed_out, str(request["user_code"]), is_agreed=True)


def test_a_program_that_was_signed_out_asks_for_no_token(store: Store, ann: Account) -> None:
    program = Visitor(Actor(via=Via.OAUTH, account=ann), grant_id="ended")
    with pytest.raises(NotSignedIn, match="signed out"):
        request_token(store, CONFIG, program, WantedToken("CI", LIMITS, days=3))


def test_no_program_is_let_in(store: Store, signed_out: Visitor) -> None:
    with pytest.raises(NotSignedIn, match="signed out"):
        authorize(store, CONFIG, list(WANTED.items()), signed_out)


def test_no_identity_is_connected(store: Store, signed_out: Visitor) -> None:
    with pytest.raises(NotSignedIn, match="signed out"):
        connect_identity(store, signed_out, Person("https://id.example", "1", "ann", "a@x.example"))
    with store.reading() as connection:
        assert find_account_by_identity(connection, "https://id.example", "1") is None


def test_no_second_factor_is_added(
    store: Store, ann: Account, signed_out: Visitor, tmp_path: Path
) -> None:
    site = PasskeySite("Catalog", "catalog.example", "https://catalog.example")
    policy = FactorPolicy(site, SecretBox(tmp_path / "key"), RequiredOf.NOBODY)
    offered = offer_app(signed_out)
    code = pyotp.TOTP(offered.secret).at(store.now_ms() // 1000)
    with pytest.raises(NotSignedIn, match="signed out"):
        add_own_app(store, policy, signed_out, offered, code)
    with store.reading() as connection:
        assert not has_factor(connection, ann.id)


def test_no_token_made_in_the_same_moment_is_left(store: Store, ann: Account) -> None:
    here = a_visitor(store, ann, "here")
    for number in range(ROUNDS):
        other = a_visitor(store, ann, f"other {number}")
        issue = partial(issue_token, store, other, WantedToken("CI", LIMITS, days=3))

        done = outcomes([issue, issue, issue, partial(end_other_sessions, store, here)])

        assert done[-1] is None
        with store.reading() as connection:
            assert list_tokens(connection, ann.id, store.now_ms()) == [], done


def test_no_password_is_changed(store: Store, ann: Account, signed_out: Visitor) -> None:
    set_password(store, ann)
    with pytest.raises(NotSignedIn, match="signed out"):
        change_password(store, signed_out, PASSWORD, ANOTHER)
    assert has_still_the_password(store)


def test_no_account_is_closed(store: Store, ann: Account, signed_out: Visitor) -> None:
    set_password(store, ann)
    for password in (PASSWORD, ""):
        with pytest.raises(NotSignedIn, match="signed out"):
            close_account(store, signed_out, password)
    with store.reading() as connection:
        assert not get_account(connection, "ann").is_closed


def test_no_program_changes_the_password_after_it_was_signed_out(
    store: Store, ann: Account
) -> None:
    set_password(store, ann)
    program = Visitor(Actor(via=Via.OAUTH, account=ann), grant_id="ended")
    with pytest.raises(NotSignedIn, match="signed out"):
        change_password(store, program, PASSWORD, ANOTHER)
    assert has_still_the_password(store)


def test_nothing_is_done_for_an_account_that_is_disabled(store: Store, ann: Account) -> None:
    widget = a_widget("ann/clock", a_version())
    with store.publishing() as tx:
        add_widgets(tx, [(widget, 0)])
    bob = an_account(store, "bob")
    acme = an_organization(store, owner=bob)
    invited, _ = invite_member(store, by(bob), acme.slug, Role.MEMBER, username="ann")
    set_disabled(store, "ann", is_disabled=True)

    key = f"{widget.scope}/{widget.name}"
    for work in (
        partial(yank_version, store, by(ann), key, "1.0.0", "Broken."),
        partial(create_organization, store, by(ann), "newer", "Newer"),
        partial(answer_invitation, store, by(ann), invited.id, "", is_accepted=True),
    ):
        with pytest.raises(NotAllowed, match="disabled"):
            work()

    with store.reading() as connection:
        assert get_widget(connection, widget.scope, widget.name).widget == widget
        assert list_memberships(connection, ann.id) == []


def by(account: Account) -> Actor:
    return Actor(via=Via.SESSION, account=account)


@cache
def password_hash() -> str:
    return hash_password(PASSWORD)


def set_password(store: Store, account: Account) -> None:
    with store.writing() as tx:
        update_account(tx, account.id, password_hash=password_hash())


def has_still_the_password(store: Store) -> bool:
    with store.reading() as connection:
        found = find_credentials(connection, "ann")
    return found is not None and found.password_hash == password_hash()


def test_an_operator_who_is_being_disabled_disables_nobody(store: Store) -> None:
    """Otherwise two who disable each other would leave no operator."""
    olly = an_account(store, "olly", is_operator=True)
    bob = an_account(store, "bob", is_operator=True)
    by_bob = Actor(via=Via.SESSION, account=bob)
    with ThreadPoolExecutor(1) as pool:
        with store.writing() as tx:
            update_account(tx, bob.id, is_disabled=True)
            attempt = pool.submit(set_disabled, store, "olly", is_disabled=True, actor=by_bob)
            time.sleep(0.5)
        with pytest.raises(NotAllowed):
            attempt.result(timeout=60)

    with store.writing() as tx:
        assert lock_active_operators(tx) == {olly.id}

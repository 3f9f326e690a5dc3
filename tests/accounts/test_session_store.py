"""Sessions, failed attempts, access tokens and invitations in the store."""

from accounts.stored_accounts import an_account, an_organization, later
from widget_catalog.accounts.attempts import add_attempts, forgive_attempts, list_attempts
from widget_catalog.accounts.store import (
    CatalogInvitation,
    add_invitation,
    add_session,
    find_catalog_invitation,
    find_session,
    list_catalog_invitations,
    list_sessions,
    remove_catalog_invitations,
    remove_ended_sessions,
    remove_expired_invitations,
    remove_invitation,
    remove_invitations_of_inviter,
    remove_session,
    remove_sessions,
    touch_session,
    update_account,
)
from widget_catalog.accounts.tokens.issue_token import forget_tokens
from widget_catalog.accounts.tokens.store import (
    Token,
    add_token,
    find_token,
    list_tokens,
    remove_token,
    remove_tokens,
    touch_token,
)
from widget_catalog.core.actors import Limits, Right, Session
from widget_catalog.core.db.engine import Store
from widget_catalog.organizations.store import (
    Invitation,
    find_invitation,
    list_invitations_of,
    list_invitations_to,
)
from widget_contract.names import Scope

HOUR = 3_600_000


def test_a_session_leads_to_its_account_and_can_be_touched(store: Store) -> None:
    ann, now = an_account(store), store.now_ms()
    with store.writing() as tx:
        session = add_session(tx, "one", "hash", ann.id, now + HOUR)
    with later(store, minutes=5).writing() as tx:
        touch_session(tx, "one")
        update_account(tx, ann.id, is_disabled=True)

    assert session == Session("one", "hash", ann.id, now, now, now + HOUR, now, False)
    with store.reading() as connection:
        found = find_session(connection, "hash")
        assert found is not None
        assert found[0] == session._replace(last_seen_at=now + 300_000)
        assert (found[1].username, found[1].is_disabled) == ("ann", True)
        assert find_session(connection, "another") is None


def test_sessions_are_listed_while_they_are_good(store: Store) -> None:
    ann, bob, now = an_account(store, "ann"), an_account(store, "bob"), store.now_ms()
    with store.writing() as tx:
        add_session(tx, "short", "1", ann.id, now + 1)
        add_session(tx, "long", "2", ann.id, now + HOUR)
        add_session(tx, "bobs", "3", bob.id, now + HOUR)

    with store.reading() as connection:

        def ids(at: int, idle_since: int = 0) -> list[str]:
            return [it.id for it in list_sessions(connection, ann.id, at, idle_since)]

        assert ids(now) == ["long", "short"]
        assert ids(now + 1) == ["long"]
        assert ids(now, idle_since=now - 1) == ["long", "short"]
        assert ids(now, idle_since=now) == []


def test_sessions_end_one_by_one_all_but_one_and_by_time(store: Store) -> None:
    ann, bob, now = an_account(store, "ann"), an_account(store, "bob"), store.now_ms()
    with store.writing() as tx:
        for i in range(4):
            add_session(tx, f"a{i}", f"a{i}", ann.id, now + (i + 1) * HOUR)
        add_session(tx, "b", "b", bob.id, now + HOUR)

    def ids() -> list[str]:
        with store.reading() as connection:
            both = [list_sessions(connection, it.id, 0, 0) for it in (ann, bob)]
        return [it.id for sessions in both for it in sessions]

    with store.writing() as tx:
        assert not remove_session(tx, bob.id, "a0")
        assert remove_session(tx, ann.id, "a0")
        assert not remove_session(tx, ann.id, "a0")
    assert ids() == ["a1", "a2", "a3", "b"]
    with later(store, hours=2).writing() as tx:
        touch_session(tx, "b")
        remove_ended_sessions(tx, idle_since=now - 1)
    assert ids() == ["a2", "a3"]
    with store.writing() as tx:
        remove_sessions(tx, ann.id, but="a3")
    assert ids() == ["a3"]
    with store.writing() as tx:
        remove_ended_sessions(tx, idle_since=now)
    assert ids() == []


def test_attempts_are_counted_within_a_window_that_begins_with_the_first(store: Store) -> None:
    now = store.now_ms()
    with store.writing() as tx:
        add_attempts(tx, ["x"], HOUR)
        add_attempts(tx, ["other"], HOUR)
    with later(store, minutes=30).writing() as tx:
        add_attempts(tx, ["x"], HOUR)
    with store.reading() as connection:
        assert list_attempts(connection, ["x", "none"], now, HOUR) == {"x": (2, now + HOUR)}
        assert list_attempts(connection, ["x"], now + HOUR, HOUR) == {}
        assert list_attempts(connection, [], now, HOUR) == {}

    with later(store, hours=1).writing() as tx:
        add_attempts(tx, ["x"], HOUR)
        forgive_attempts(tx, "other", [])
    with store.reading() as connection:
        found = list_attempts(connection, ["x", "other"], now + HOUR, HOUR)
    assert found == {"x": (1, now + 2 * HOUR)}


def test_a_window_that_began_while_the_clock_was_ahead_shuts_nobody_out(store: Store) -> None:
    with later(store, days=400).writing() as tx:
        add_attempts(tx, ["x"], HOUR)
    with store.reading() as connection:
        assert list_attempts(connection, ["x"], store.now_ms(), HOUR) == {}
    with store.writing() as tx:
        add_attempts(tx, ["x"], HOUR)

    with store.reading() as connection:
        found = list_attempts(connection, ["x"], store.now_ms(), HOUR)
    assert found == {"x": (1, store.now_ms() + HOUR)}


def test_attempts_that_are_over_are_swept_out_with_sessions(store: Store) -> None:
    with store.writing() as tx:
        add_attempts(tx, ["x"], HOUR)
    with later(store, hours=1).writing() as tx:
        remove_ended_sessions(tx, idle_since=0)

    with store.reading() as connection:
        assert list_attempts(connection, ["x"], store.now_ms() - 1, 2 * HOUR) == {}


def test_a_token_comes_back_with_its_limits(store: Store) -> None:
    ann, now = an_account(store), store.now_ms()
    limits = Limits(
        rights=(Right.PUBLISH, Right.LIST), scopes=(Scope("acme"),), widgets=("ann/clock",)
    )
    with store.writing() as tx:
        token = Token("t", ann.id, "CI ✓", limits, now, now + HOUR, None)
        add_token(tx, token, "h")
    with later(store, minutes=1).writing() as tx:
        touch_token(tx, "t")

    used = token._replace(last_used_at=now + 60_000)
    with store.reading() as connection:
        assert find_token(connection, "h") == (used, ann)
        assert find_token(connection, "x") is None
        assert list_tokens(connection, ann.id, now) == [used]
        assert list_tokens(connection, ann.id, now + HOUR) == []


def test_tokens_that_have_expired_are_forgotten(store: Store) -> None:
    ann, now = an_account(store), store.now_ms()
    with store.writing() as tx:
        for id_, hours in (("short", 1), ("long", 2)):
            ends_at = now + hours * HOUR
            add_token(tx, Token(id_, ann.id, id_, Limits(rights=()), now, ends_at), id_)
    forget_tokens(store)
    with store.reading() as connection:
        assert find_token(connection, "short") is not None

    forget_tokens(later(store, hours=1))

    with store.reading() as connection:
        assert find_token(connection, "short") is None
        assert find_token(connection, "long") is not None


def test_a_token_is_removed_by_its_account_alone_or_with_all_of_it(store: Store) -> None:
    ann, bob = an_account(store, "ann"), an_account(store, "bob")
    with store.writing() as tx:
        for i, account in enumerate((ann, ann, bob)):
            limits, ends_at = Limits(rights=(Right.YANK,)), tx.at_ms + HOUR
            token = Token(f"t{i}", account.id, "x", limits, tx.at_ms, ends_at)
            add_token(tx, token, f"h{i}")
        assert not remove_token(tx, bob.id, "t0")
        assert remove_token(tx, ann.id, "t0")
        assert not remove_token(tx, ann.id, "t0")
        remove_tokens(tx, ann.id)

    with store.reading() as connection:
        assert list_tokens(connection, ann.id, 0) == []
        assert [it.id for it in list_tokens(connection, bob.id, 0)] == ["t2"]


def test_invitations_are_found_while_they_are_open(store: Store) -> None:
    ann, now = an_account(store), store.now_ms()
    acme = an_organization(store)
    ends_at = now + HOUR
    with store.writing() as tx:
        add_invitation(
            tx, id_="by-name", organization_id=acme.id, account_id=ann.id, role="admin",
            invited_by="bob", expires_at=ends_at,
        )  # fmt: skip
    with later(store, minutes=1).writing() as tx:
        add_invitation(
            tx, id_="by-link", organization_id=acme.id, email="x@example.org", secret_hash="s",
            role="member", invited_by="ann", inviter_id=ann.id,
            expires_at=ends_at,
        )  # fmt: skip
        add_invitation(
            tx, id_="to-all", organization_id=None, secret_hash="c", role="author",
            invited_by="operator", expires_at=ends_at,
        )  # fmt: skip

    by_name = Invitation(
        "by-name", "acme", acme.id, ann.id, "ann", None, None, "admin", "bob", now + HOUR, None,
        acme.display_name,
    )  # fmt: skip
    by_link = Invitation(
        "by-link", "acme", acme.id, None, None, "x@example.org", "s", "member", "ann", now + HOUR,
        ann.id, acme.display_name,
    )  # fmt: skip
    with store.reading() as connection:
        assert list_invitations_to(connection, acme.id, now) == [by_name, by_link]
        assert list_invitations_of(connection, ann.id, now) == [by_name]
        assert find_invitation(connection, "by-link", now) == by_link
        assert find_invitation(connection, "to-all", now) is None
        to_all = CatalogInvitation("to-all", None, "author", "operator", now + HOUR)
        assert find_catalog_invitation(connection, "c", now) == to_all
        assert list_catalog_invitations(connection, now) == [to_all]
        assert find_catalog_invitation(connection, "s", now) is None
        over = now + HOUR
        assert list_invitations_to(connection, acme.id, over) == []
        assert list_invitations_of(connection, ann.id, over) == []
        assert find_invitation(connection, "by-link", over) is None
        assert find_catalog_invitation(connection, "c", over) is None
        assert list_catalog_invitations(connection, over) == []


def test_invitations_go_one_by_one_by_role_and_by_time(store: Store) -> None:
    acme, now = an_organization(store), store.now_ms()

    def ids() -> set[str]:
        with store.reading() as connection:
            members = {it.id for it in list_invitations_to(connection, acme.id, 0)}
            return members | {it.id for it in list_catalog_invitations(connection, 0)}

    with store.writing() as tx:
        for id_, where, role, ends_at in [
            ("operator", None, "operator", now + HOUR),
            ("author", None, "author", now + HOUR),
            ("member", acme.id, "operator", now + HOUR),
            ("short", acme.id, "member", now + 1),
        ]:
            add_invitation(
                tx, id_=id_, organization_id=where, secret_hash=id_, role=role, invited_by="x",
                expires_at=ends_at,
            )  # fmt: skip
        remove_catalog_invitations(tx, "operator")
    assert ids() == {"author", "member", "short"}
    with later(store, minutes=1).writing() as tx:
        remove_expired_invitations(tx)
    assert ids() == {"author", "member"}
    with store.writing() as tx:
        remove_invitation(tx, "author")
    assert ids() == {"member"}


def test_what_somebody_has_invited_to_ends_for_one_organization_or_for_all(store: Store) -> None:
    ann, bob, now = an_account(store, "ann"), an_account(store, "bob"), store.now_ms()
    places = {slug: an_organization(store, slug).id for slug in ("acme", "other")}

    def ids() -> set[str]:
        with store.reading() as connection:
            known = ("ann acme", "ann other", "bob acme")
            return {it for it in known if find_invitation(connection, it, now)}

    with store.writing() as tx:
        for inviter, slug in ((ann, "acme"), (ann, "other"), (bob, "acme")):
            add_invitation(
                tx, id_=f"{inviter.username} {slug}", organization_id=places[slug], role="member",
                invited_by=inviter.username, inviter_id=inviter.id, expires_at=now + HOUR,
            )  # fmt: skip
        remove_invitations_of_inviter(tx, ann.id, places["acme"])
    assert ids() == {"ann other", "bob acme"}
    with store.writing() as tx:
        remove_invitations_of_inviter(tx, ann.id)
    assert ids() == {"bob acme"}

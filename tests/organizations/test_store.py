"""Organizations in the store: members, publishers, and the role of an account in a scope."""

import pytest

from accounts.stored_accounts import an_account, an_organization, later
from widget_catalog.accounts.permissions import PublishingScope
from widget_catalog.accounts.store import update_account
from widget_catalog.core.actors import Role, Standing
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import NotFound
from widget_catalog.organizations.store import (
    Member,
    Membership,
    Organization,
    find_organization,
    get_organization,
    list_members,
    list_memberships,
    list_publishers,
    list_scopes_of,
    put_member,
    remove_member,
    set_members_public,
    set_publishers,
    standing_of,
)


def test_an_organization_comes_back_as_it_was_added(store: Store) -> None:
    made = an_organization(store, "acme")

    assert made == Organization(made.id, "acme", "Acme", store.now_ms(), False)
    with store.reading() as connection:
        assert find_organization(connection, "acme") == get_organization(connection, "acme") == made
        for name in ("", "Acme", "acm", "nothing", "\0", "\ud800"):
            assert find_organization(connection, name) is None
            with pytest.raises(NotFound, match="There is no organization '"):
                get_organization(connection, name)


def test_an_organization_says_whether_its_members_are_public(store: Store) -> None:
    acme, other = an_organization(store, "acme"), an_organization(store, "other")
    with store.writing() as tx:
        set_members_public(tx, acme, True)
    with store.reading() as connection:
        assert get_organization(connection, "acme") == acme._replace(are_members_public=True)
        assert get_organization(connection, "other") == other
    with store.writing() as tx:
        set_members_public(tx, acme, False)
    with store.reading() as connection:
        assert get_organization(connection, "acme") == acme


def test_members_have_a_role_and_keep_the_day_they_came(store: Store) -> None:
    ann, bob = an_account(store, "ann"), an_account(store, "bob")
    acme = an_organization(store, "acme", owner=ann, member=bob)
    other = an_organization(store, "other", admin=bob)
    since = store.now_ms()
    with later(store, hours=1).writing() as tx:
        put_member(tx, acme.id, bob.id, Role.ADMIN)
        update_account(tx, bob.id, is_disabled=True)

    with store.reading() as connection:
        assert list_members(connection, acme.id) == [
            Member(ann.id, "ann", Role.OWNER, since, False),
            Member(bob.id, "bob", Role.ADMIN, since, True),
        ]
        assert list_memberships(connection, bob.id) == [
            Membership(acme, Role.ADMIN),
            Membership(other, Role.ADMIN),
        ]
        assert list_memberships(connection, ann.id) == [Membership(acme, Role.OWNER)]


def test_what_somebody_is_in_a_scope(store: Store) -> None:
    ann, bob, eve = (an_account(store, name) for name in ("ann", "bob", "eve"))
    an_organization(store, "acme", owner=ann, member=bob)
    with store.writing() as tx:
        set_publishers(tx, "acme", "clock", [bob.id])
        # Named as a publisher, but not a member: has no effect without a role.
        set_publishers(tx, "acme", "other", [eve.id])

    with store.reading() as connection:
        assert standing_of(connection, ann, "ann", None) == Standing(Role.OWNER)
        assert standing_of(connection, ann, "acme", "clock") == Standing(Role.OWNER)
        assert standing_of(connection, bob, "acme", None) == Standing(Role.MEMBER)
        assert standing_of(connection, bob, "acme", "clock") == Standing(Role.MEMBER, True)
        assert standing_of(connection, bob, "acme", "other") == Standing(Role.MEMBER)
        for scope in ("acme", "ann", "nothing", "", "\0", "\ud800"):
            assert standing_of(connection, eve, scope, "other") == Standing()
        assert standing_of(connection, None, "acme", "clock") == Standing()


def test_a_membership_ends_with_what_it_allowed_in_that_scope_alone(store: Store) -> None:
    bob = an_account(store, "bob")
    acme = an_organization(store, "acme", member=bob)
    an_organization(store, "other", member=bob)
    with store.writing() as tx:
        for scope, name in (("acme", "clock"), ("acme", "board"), ("other", "clock")):
            set_publishers(tx, scope, name, [bob.id])

    with store.writing() as tx:
        assert remove_member(tx, acme, bob.id) == ["board", "clock"]
        assert remove_member(tx, acme, bob.id) == []

    with store.reading() as connection:
        assert list_members(connection, acme.id) == []
        assert list_publishers(connection, "acme", "clock") == []
        assert list_publishers(connection, "acme", "board") == []
        assert list_publishers(connection, "other", "clock") == ["bob"]
        assert standing_of(connection, bob, "acme", "clock") == Standing()


def test_publishers_are_set_as_a_whole_for_one_widget(store: Store) -> None:
    ann, bob = an_account(store, "ann"), an_account(store, "bob")
    an_organization(store, "acme", owner=ann, member=bob)
    with store.writing() as tx:
        set_publishers(tx, "acme", "clock", [bob.id, ann.id])
        set_publishers(tx, "acme", "board", [bob.id])
        set_publishers(tx, "acme", "clock", [ann.id])
        set_publishers(tx, "acme", "empty", [])

    with store.reading() as connection:
        assert list_publishers(connection, "acme", "clock") == ["ann"]
        assert list_publishers(connection, "acme", "board") == ["bob"]
        assert list_publishers(connection, "acme", "empty") == []


def test_where_somebody_may_publish(store: Store) -> None:
    ann, bob, eve = (an_account(store, name) for name in ("ann", "bob", "eve"))
    an_organization(store, "zoo", owner=ann, admin=bob)
    an_organization(store, "acme", owner=ann, member=bob, member2=eve)
    with store.writing() as tx:
        set_publishers(tx, "acme", "clock", [bob.id])
        set_publishers(tx, "acme", "board", [bob.id])
        set_publishers(tx, "zoo", "clock", [eve.id])  # Not a member there.

    with store.reading() as connection:
        acme, zoo = (PublishingScope(it, "organization", it.capitalize()) for it in ("acme", "zoo"))
        assert list_scopes_of(connection, ann) == [
            PublishingScope("ann", "personal", "ann"),
            acme,
            zoo,
        ]
        assert list_scopes_of(connection, bob) == [
            PublishingScope("bob", "personal", "bob"),
            acme,
            zoo,
        ]
        assert list_scopes_of(connection, eve) == [PublishingScope("eve", "personal", "eve")]

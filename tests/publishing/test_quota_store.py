"""Quotas, counted in the store: exact with concurrent processes or machines."""

import pytest

from accounts.stored_accounts import an_account, later
from support.at_once import at_once
from widget_catalog.accounts.events import TokenRevoked
from widget_catalog.accounts.store import take_scope
from widget_catalog.catalog.model.events import Event, PublishersChanged
from widget_catalog.catalog.store.audit import list_instants
from widget_catalog.catalog.store.events import append
from widget_catalog.core.actors import Account, Actor, Role, Via
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import TooOften
from widget_catalog.organizations.organize import check_may_own
from widget_catalog.organizations.store import add_organization, list_memberships, put_member
from widget_catalog.publishing.quotas import Load, Quotas, check_may_publish, count_publication
from widget_catalog.publishing.store import Publication, add_publication, list_publications
from widget_contract.names import Scope

HOUR = 3_600_000
ONE, NEW = Load(1, is_new_widget=False), Load(1, is_new_widget=True)
QUOTAS = Quotas(new_widgets_per_day=4, versions_per_hour=10, bytes_per_day=1000)


def sized(size_bytes: int) -> Load:
    return Load(size_bytes, is_new_widget=False)


def publish(
    store: Store,
    account: Account,
    load: Load = ONE,
    quotas: Quotas = QUOTAS,
) -> int | None:
    """Publish like the action; returns how many seconds to wait, if it is rejected."""
    actor = Actor(via=Via.TOKEN, account=account)
    try:
        with store.publishing() as tx:
            check_may_publish(tx.connection, actor, quotas, load, tx.at_ms)
            count_publication(tx, actor, load)
    except TooOften as error:
        return error.wait_s
    return None


def test_publications_come_back_in_order_and_are_forgotten_after_a_day(store: Store) -> None:
    ann, bob, now = an_account(store, "ann"), an_account(store, "bob"), store.now_ms()
    with later(store, hours=1).writing() as tx:
        add_publication(tx, ann.id, 2**40, is_new_widget=True)
    with store.writing() as tx:
        add_publication(tx, ann.id, 7, is_new_widget=False)
        add_publication(tx, bob.id, 8, is_new_widget=False)

    with store.reading() as connection:
        assert list_publications(connection, ann.id, now - 1, now + HOUR) == [
            Publication(now, 7, False),
            Publication(now + HOUR, 2**40, True),
        ]
        assert len(list_publications(connection, ann.id, now, now + HOUR)) == 1
        # One dated later than now was published while the clock was ahead.
        assert [it.size_bytes for it in list_publications(connection, ann.id, 0, now)] == [7]
    assert publish(later(store, hours=24), bob) is None
    with store.reading() as connection:
        assert [
            publication.size_bytes
            for publication in list_publications(connection, ann.id, 0, now + 24 * HOUR)
        ] == [2**40]


def test_changes_are_found_by_their_kind_and_time_in_a_long_log(store: Store) -> None:
    ann, now = an_account(store), store.now_ms()
    actor = Actor(via=Via.SESSION, account=ann)
    changed = PublishersChanged(scope="ann", name="clock", publishers=[])

    def append_at(hours: float, *events: Event) -> None:
        with later(store, hours=hours).writing() as tx:
            append(tx, actor, *events)

    append_at(-2, changed)
    append_at(-1, changed)
    append_at(-0.5, changed)
    # More than one read returns.
    append_at(-0.25, *[TokenRevoked(scope="ann", id="t")] * 600)
    append_at(0, changed)
    append_at(5, changed)  # The clock was ahead.

    with store.reading() as connection:
        found = list_instants(connection, "ann", {changed.kind}, now - HOUR, now)
        assert found == [now - HOUR // 2, now]
        assert list_instants(connection, "bob", {changed.kind}, 0, now) == []


@pytest.mark.parametrize(
    ("load", "fits", "span"),
    [(ONE, 10, HOUR), (sized(300), 3, 24 * HOUR), (NEW, 4, 24 * HOUR)],
    ids=["versions", "bytes", "new widgets"],
)
def test_a_window_moves_with_the_time_and_the_response_says_by_how_much(
    store: Store, load: Load, fits: int, span: int
) -> None:
    ann = an_account(store)
    for i in range(fits):
        assert publish(later(store, minutes=i), ann, load) is None

    refused = publish(later(store, minutes=fits), ann, load)

    assert refused == span // 1000 - fits * 60
    assert publish(later(store, minutes=fits, seconds=refused - 1), ann, load) == 1
    assert publish(later(store, minutes=fits, seconds=refused), ann, load) is None
    assert publish(later(store, minutes=fits, seconds=refused), ann, load) == 60


def test_the_wait_is_long_enough_for_all_that_must_be_forgotten(store: Store) -> None:
    ann = an_account(store)
    for minutes, size in ((0, 100), (10, 300), (20, 600)):
        assert publish(later(store, minutes=minutes), ann, sized(size)) is None

    wait_s = publish(later(store, minutes=30), ann, sized(350))

    assert wait_s == 24 * 3600 - 20 * 60
    assert publish(later(store, minutes=30, seconds=wait_s), ann, sized(350)) is None


def test_what_is_larger_than_the_whole_quota_never_fits_and_nothing_is_no_limit(
    store: Store,
) -> None:
    ann = an_account(store)

    assert publish(store, ann, sized(1001)) == 86_400
    assert publish(store, ann, sized(10**15), Quotas()) is None


def test_operators_have_no_quota_and_accounts_one_each(store: Store) -> None:
    olly = an_account(store, "olly", is_operator=True)
    ann, bob = an_account(store, "ann"), an_account(store, "bob")

    assert [publish(store, olly, Load(900, is_new_widget=True)) for _ in range(6)] == [None] * 6
    assert publish(store, ann, sized(900)) is None
    assert publish(store, ann, sized(900)) == 86_400
    assert publish(store, bob, sized(900)) is None


def test_of_many_that_publish_at_once_exactly_as_many_succeed_as_may(store: Store) -> None:
    ann = an_account(store)

    outcomes = at_once(16, lambda _: publish(store, ann))

    assert outcomes.count(None) == 10
    with store.reading() as connection:
        assert len(list_publications(connection, ann.id, 0, store.now_ms())) == 10


def test_of_many_organizations_made_at_once_exactly_as_many_are_as_may(store: Store) -> None:
    ann = an_account(store)

    def make(number: int) -> bool:
        slug = Scope(f"org-{number}")
        try:
            with store.publishing() as tx:
                check_may_own(tx.connection, ann, 3)
                take_scope(tx, slug, "organization")
                made = add_organization(tx, slug, "An organization")
                put_member(tx, made.id, ann.id, Role.OWNER)
        except TooOften:
            return False
        return True

    assert at_once(8, make).count(True) == 3
    with store.reading() as connection:
        assert len(list_memberships(connection, ann.id)) == 3

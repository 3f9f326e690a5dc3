"""Publish requests in the store."""

from support.accounts import an_account, later
from support.values import a_version, a_widget
from widget_catalog.domain.widgets import Style
from widget_catalog.store.engine import Store
from widget_catalog.store.publishing import (
    PublishRequest,
    add_request,
    confirm_request,
    count_open_requests,
    find_request,
    is_referred_to,
    list_requests,
    remove_expired_requests,
)
from widget_catalog.store.widgets import add_widgets

HOUR = 3_600_000


def a_request(
    store: Store, account_id: int, id_: str = "one", ends_in: int = HOUR
) -> PublishRequest:
    now = store.now_ms()
    made = PublishRequest(
        id=id_,
        account_id=account_id,
        scope="ann",
        name="clock",
        version="1.0.0+é",
        bundle_size=2**40,
        sha256_hash="ab" * 32,
        css_size=None,
        css_sha256_hash=None,
        manifest='{"a": "“\\u0000”"}',
        beside="{}",
        created_at=now,
        expires_at=now + ends_in,
        confirmed_at=None,
    )
    with store.writing() as tx:
        add_request(tx, made)
    return made


def test_a_request_comes_back_as_it_was_made_and_can_be_confirmed(store: Store) -> None:
    made = a_request(store, an_account(store).id)
    with store.reading() as connection:
        assert find_request(connection, "one") == made
        for other in ("two", "", "\0", "\ud800", "one "):
            assert find_request(connection, other) is None

    with later(store, minutes=1).writing() as tx:
        confirm_request(tx, "one")

    with store.reading() as connection:
        confirmed = made._replace(confirmed_at=store.now_ms() + 60_000)
        assert list_requests(connection) == [confirmed]


def test_open_requests_are_counted_by_account(store: Store) -> None:
    ann, bob, now = an_account(store, "ann"), an_account(store, "bob"), store.now_ms()
    a_request(store, ann.id, "open")
    a_request(store, ann.id, "short", ends_in=1)
    a_request(store, ann.id, "done")
    a_request(store, bob.id, "bobs")
    with store.writing() as tx:
        confirm_request(tx, "done")

    with store.reading() as connection:
        assert count_open_requests(connection, ann.id, now) == 2
        assert count_open_requests(connection, ann.id, now + 1) == 1
        assert count_open_requests(connection, bob.id, now) == 1


def test_requests_whose_time_is_over_are_given_back_once(store: Store) -> None:
    ann = an_account(store)
    short = a_request(store, ann.id, "short", ends_in=HOUR)
    a_request(store, ann.id, "long", ends_in=HOUR + 1)

    with later(store, hours=1).writing() as tx:
        assert remove_expired_requests(tx) == [short]
        assert remove_expired_requests(tx) == []
    with store.reading() as connection:
        assert [it.id for it in list_requests(connection)] == ["long"]


def test_whether_a_stored_file_is_referred_to(store: Store) -> None:
    here = a_version("1.0.0", sha256_hash="a" * 64, style=Style(3, "c" * 64))
    elsewhere = a_version("2.0.0", sha256_hash="b" * 64, bundle_url="https://cdn.example/x.js")
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("acme/clock", here, elsewhere), 0)])

    with store.reading() as connection:
        assert is_referred_to(connection, "a" * 64, "js")
        assert is_referred_to(connection, "c" * 64, "css")
        assert not is_referred_to(connection, "b" * 64, "js")
        assert not is_referred_to(connection, "a" * 64, "css")
        assert not is_referred_to(connection, "c" * 64, "js")

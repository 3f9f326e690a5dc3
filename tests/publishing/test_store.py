"""Publish requests in the store."""

from accounts.stored_accounts import an_account, later
from support.values import a_version, a_widget
from widget_catalog.catalog.model.widgets import Style
from widget_catalog.catalog.store.files import find_referred_to
from widget_catalog.catalog.store.widgets import add_widgets
from widget_catalog.core.db.engine import Store
from widget_catalog.core.files.contract import FileKey
from widget_catalog.publishing.store import (
    PublishRequest,
    add_request,
    confirm_request,
    end_open_request,
    find_request,
    list_ended,
    list_ends_of_open,
    list_request_ids,
    list_requests,
    list_unconfirmed,
    remove_requests,
)

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
        assert len(list_ends_of_open(connection, ann.id, now)) == 2
        assert len(list_ends_of_open(connection, ann.id, now + 1)) == 1
        assert len(list_ends_of_open(connection, bob.id, now)) == 1


def test_requests_whose_time_is_over_are_listed_in_batches_with_files_that_may_be_left(
    store: Store,
) -> None:
    ann = an_account(store)
    for id_ in ("short", "done"):
        a_request(store, ann.id, id_, ends_in=HOUR)
    a_request(store, ann.id, "long", ends_in=HOUR + 1)
    with store.writing() as tx:
        confirm_request(tx, "done")
    now = store.now_ms() + HOUR

    with store.reading() as connection:
        assert list_ended(connection, now - 1, 10) == ([], set())
        ids, files = list_ended(connection, now, 10)
        assert (sorted(ids), files) == (["done", "short"], {("ab" * 32, "js")})
        assert len(list_ended(connection, now, 1).ids) == 1
    with store.writing() as tx:
        remove_requests(tx, ids)
    with store.reading() as connection:
        assert list_request_ids(connection) == {"long"}


def test_a_request_that_was_ended_early_stays_without_texts_while_its_address_is_valid(
    store: Store,
) -> None:
    ann, now = an_account(store), store.now_ms()
    made = a_request(store, ann.id)
    with store.publishing() as tx:
        assert end_open_request(tx, ann.id, "ann", "clock", made.version)
        assert not end_open_request(tx, ann.id, "ann", "clock", made.version)

    with store.reading() as connection:
        assert list_ends_of_open(connection, ann.id, now) == []
        assert list_unconfirmed(connection, ann.id, now - 1) == [now]
        assert list_unconfirmed(connection, ann.id, now) == []
        assert list_ended(connection, now + HOUR - 1, 10).ids == []
        assert list_ended(connection, now + HOUR, 10).ids == ["one"]
        ended = made._replace(expires_at=now, manifest="", beside="")
        assert list_requests(connection) == [ended]


def test_whether_a_stored_file_is_referred_to(store: Store) -> None:
    here = a_version("1.0.0", sha256_hash="a" * 64, style=Style(3, "c" * 64))
    elsewhere = a_version("2.0.0", sha256_hash="b" * 64, bundle_url="https://cdn.example/x.js")
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("acme/clock", here, elsewhere), 0)])

    with store.reading() as connection:
        hashes = ("a" * 64, "b" * 64, "c" * 64)
        files: list[FileKey] = [*((it, "js") for it in hashes), *((it, "css") for it in hashes)]
        assert find_referred_to(connection, files) == {("a" * 64, "js"), ("c" * 64, "css")}

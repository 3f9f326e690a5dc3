"""An event is recorded once: in the audit log, and in the feed if it is public."""

from typing import Any

import msgspec
import pytest

from accounts.stored_accounts import an_account
from support.values import a_version, a_widget
from widget_catalog.accounts.events import SignInFailed
from widget_catalog.catalog.model.events import (
    PublicEvent,
    Published,
    ScopeReserved,
    Unlisted,
    Yanked,
)
from widget_catalog.catalog.store.audit import AuditEntry, list_entries
from widget_catalog.catalog.store.events import append
from widget_catalog.catalog.store.feed import list_changes
from widget_catalog.catalog.store.widgets import add_widget, get_widget, replace_widget
from widget_catalog.core.actors import COMMAND_LINE, Actor, Anonymous, Via
from widget_catalog.core.db.engine import Store
from widget_contract.names import Scope, WidgetName

PUBLISHED = Published(
    scope="ann", name="clock", version="1.0.0", sha256_hash="ab" * 32, bundle_size=3
)
BY = ("an-id", "A name", "203.0.113.7")


@pytest.fixture
def ann(store: Store) -> Actor:
    return Actor(
        via=Via.OAUTH,
        account=an_account(store),
        client_id=BY[0],
        client_name=BY[1],
        address=BY[2],
    )


def change(store: Store, actor: Actor, event: PublicEvent, **changed: Any) -> None:
    with store.publishing() as tx:
        stored = get_widget(tx.connection, Scope(event.scope), WidgetName(event.name))
        new = msgspec.structs.replace(stored.widget, **changed)
        replace_widget(tx, stored, new, actor, event)


def test_log_and_feed_tell_the_same_of_a_widget(store: Store, ann: Actor) -> None:
    yanked = Yanked(scope="ann", name="clock", version="1.0.0", reason="“Broken” ✗")
    with store.publishing() as tx:
        add_widget(tx, a_widget("ann/clock", a_version("1.0.0")), ann, PUBLISHED)
        append(tx, COMMAND_LINE, ScopeReserved(scope="kept"))
    change(store, ann, yanked, versions=(a_version("1.0.0", is_yanked=True),))
    change(store, ann, Unlisted(scope="ann", name="clock"), is_listed=False)

    at = store.now_ms()
    files = {"sha256Hash": "ab" * 32, "bundleSize": 3}
    why = {"reason": "“Broken” ✗"}
    entries = [
        AuditEntry(at, "ann", "oauth", "unlist", "ann", "clock", None, {}, *BY),
        AuditEntry(at, "ann", "oauth", "yank", "ann", "clock", "1.0.0", why, *BY),
        AuditEntry(at, "operator", "command", "reserve scope", "kept", None, None, {}),
        AuditEntry(at, "ann", "oauth", "publish", "ann", "clock", "1.0.0", files, *BY),
    ]
    with store.reading() as connection:
        assert list_changes(connection, after=0) == [
            (1, 1, "ann", at, "published", "1.0.0"),
            (2, 1, "ann", at, "yanked", "1.0.0"),
            (3, 1, "ann", at, "unlisted", None),
        ]
        assert list_entries(connection, None, None, 1, 10) == (entries, 4)
        assert list_entries(connection, None, None, 2, 3) == (entries[3:], 4)
        assert list_entries(connection, None, None, 10**9, 100) == ([], 4)
        assert list_entries(connection, "ann", None, 1, 10) == (
            [entries[0], entries[1], entries[3]],
            3,
        )
        assert list_entries(connection, "ann", "clock", 1, 1) == (entries[:1], 3)
        assert list_entries(connection, "nobody", "clock", 1, 10) == ([], 0)


def test_another_text_is_reported_in_the_feed_alone(store: Store, ann: Actor) -> None:
    with store.publishing() as tx:
        add_widget(tx, a_widget("ann/clock", a_version("1.0.0")), ann, PUBLISHED)
    second = msgspec.structs.replace(PUBLISHED, version="2.0.0")
    change(store, ann, second, display_name="Another", icon="mdi:clock")

    with store.reading() as connection:
        told = [(it.kind, it.version) for it in list_changes(connection, after=1)]
        _, lines = list_entries(connection, None, None, 1, 10)
    assert told == [("published", "2.0.0"), ("text", None)]
    assert lines == 2


def test_what_did_not_happen_is_not_told(store: Store, ann: Actor) -> None:
    def fail_half_way() -> None:
        with store.publishing() as tx:
            add_widget(tx, a_widget("ann/clock", a_version("1.0.0")), ann, PUBLISHED)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    with store.reading() as connection:
        assert list_changes(connection, after=0) == []
        assert list_entries(connection, None, None, 1, 10) == ([], 0)


def test_what_the_public_sees_is_reported_only_with_the_widget_it_happened_to(store: Store) -> None:
    with pytest.raises(TypeError, match="published happens to a widget"), store.publishing() as tx:
        append(tx, COMMAND_LINE, PUBLISHED)


def test_a_visitor_has_no_name_and_a_short_address(store: Store) -> None:
    with store.writing() as tx:
        append(tx, Anonymous("x" * 100), SignInFailed(scope="ann", attempts=1))

    with store.reading() as connection:
        [entry], _ = list_entries(connection, "ann", None, 1, 10)
    assert entry == AuditEntry(
        store.now_ms(), "-", "session", "failed sign-in", "ann", None, None, {"attempts": 1},
        None, None, "x" * 64,
    )  # fmt: skip

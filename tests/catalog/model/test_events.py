"""Events: every kind is unique, and details are in order."""

from typing import get_args

from widget_catalog.accounts.events import AccountCreated, InvitedToCatalog
from widget_catalog.catalog.model import events
from widget_catalog.catalog.model.events import Listed, Published
from widget_catalog.catalog.reading.changes import type_of
from widget_contract.wire_running import ChangeType


def test_every_kind_and_every_action_is_one_event_alone() -> None:
    named = events.list_actions()
    kinds = events.list_kinds()
    actions = [it.action for it in kinds if it.action is not None]
    assert len({it.kind for it in kinds}) == len(kinds)
    assert len(set(actions)) == len(actions)
    assert named == {it.kind: it.action for it in kinds if it.action is not None}
    assert {"publish", "create account", "change role"} <= set(actions)


def test_every_public_event_has_a_type_that_clients_know() -> None:
    kinds = [it.kind for it in events.list_kinds() if issubclass(it, events.PublicEvent)]
    assert {type_of(it) for it in kinds} <= set(get_args(ChangeType))


def test_details_are_in_order_and_leave_out_what_was_not_said() -> None:
    published = Published(
        scope="ann", name="clock", version="1.0.0", sha256_hash="ab", bundle_size=3, css_size=0
    )
    assert list(published.details().items()) == [
        ("sha256Hash", "ab"),
        ("bundleSize", 3),
        ("cssSize", 0),
    ]
    assert Listed(scope="ann", name="clock").details() == {}
    assert AccountCreated(scope="ann", is_operator=False).details() == {"isOperator": False}
    assert InvitedToCatalog(role="author", email=None).details() == {
        "role": "author",
        "email": None,
    }

"""Changes to a widget: list, unlist, official or not, publishers."""

import msgspec

from widget_contract.names import Scope, WidgetName

from ..catalog.events import (
    Listed,
    MadeOfficial,
    MadeUnofficial,
    PublicEvent,
    PublishersChanged,
    Unlisted,
)
from ..catalog.store.downloads import get_counts
from ..catalog.store.events import append
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import get_widget, replace_widget
from ..catalog.widgets import checked_reason, parse_key
from ..core.actors import Actor, Right
from ..core.db.engine import Store
from ..core.errors import InvalidRequest
from ..organizations.permissions import require
from ..organizations.store import (
    find_organization,
    list_members,
    list_publishers,
    lock_organization,
    set_publishers,
)
from .quotas import NO_QUOTAS, Quotas, check_may_change


def list_widget(
    store: Store,
    actor: Actor,
    key: str,
    reason: str | None = None,
    quotas: Quotas = NO_QUOTAS,
) -> None:
    scope, name = parse_key(key)
    event = Listed(scope=scope, name=name, reason=_checked(reason))
    _change(store, actor, Right.LIST, event, quotas, is_listed=True)


def unlist_widget(
    store: Store,
    actor: Actor,
    key: str,
    reason: str | None = None,
    quotas: Quotas = NO_QUOTAS,
) -> None:
    """Hide a widget from search, detail and registry; its bundles stay."""
    scope, name = parse_key(key)
    event = Unlisted(scope=scope, name=name, reason=_checked(reason))
    _change(store, actor, Right.LIST, event, quotas, is_listed=False)


def set_official(store: Store, actor: Actor, key: str, is_official: bool | None) -> None:
    scope, name = parse_key(key)
    event = (MadeOfficial if is_official else MadeUnofficial)(scope=scope, name=name)
    _change(store, actor, Right.MAKE_OFFICIAL, event, NO_QUOTAS, is_official=is_official)


def view_widget(store: Store, actor: Actor, key: str) -> tuple[StoredWidget, int]:
    """A widget as its owners see it, listed or not, and its downloads."""
    scope, name = parse_key(key)
    with store.reading() as connection:
        require(connection, actor, Right.VIEW, scope, name)
        stored = get_widget(connection, scope, name)
        return stored, get_counts(connection, [stored.id]).get(stored.id, 0)


def get_publishers(store: Store, actor: Actor, key: str) -> list[str]:
    scope, name = parse_key(key)
    with store.reading() as connection:
        require(connection, actor, Right.VIEW, scope, name)
        get_widget(connection, scope, name)
        return list_publishers(connection, scope, name)


def name_publishers(
    store: Store, actor: Actor, key: str, usernames: list[str], quotas: Quotas = NO_QUOTAS
) -> None:
    """Set which members of an organization may publish a widget, besides its admins.

    The widget need not exist yet, so that a member can publish its first version.
    """
    scope, name = parse_key(key)
    with store.writing() as tx:
        lock_organization(tx, scope)
        require(tx.connection, actor, Right.NAME_PUBLISHERS, scope, name)
        organization = find_organization(tx.connection, scope)
        members = list_members(tx.connection, organization.id) if organization else []
        ids = {member.username: member.account_id for member in members}
        strangers = [it for it in usernames if it not in ids]
        if strangers:
            raise InvalidRequest(
                f"Not a member of {scope}: {', '.join(it[:80] for it in strangers[:10])}."
            )
        before = list_publishers(tx.connection, scope, name)
        if sorted(set(usernames)) != before:
            check_may_change(tx, actor, quotas)
            set_publishers(tx, scope, name, [ids[it] for it in sorted(set(usernames))])
            named = sorted(set(usernames))
            append(tx, actor, PublishersChanged(scope=scope, name=name, publishers=named))


def _checked(reason: str | None) -> str | None:
    return None if reason is None else checked_reason("reason", reason)


def _change(
    store: Store,
    actor: Actor,
    right: Right,
    event: PublicEvent,
    quotas: Quotas,
    **change: bool | None,
) -> None:
    scope, name = Scope(event.scope), WidgetName(event.name)
    with store.publishing() as tx:
        require(tx.connection, actor, right, scope, name)
        stored = get_widget(tx.connection, scope, name)
        new = msgspec.structs.replace(stored.widget, **change)
        if new != stored.widget:
            check_may_change(tx, actor, quotas)
            replace_widget(tx, stored, new, actor, event)

"""Changes to a widget: list, unlist, official or not, publishers; and to its versions: yank,
deprecate, redate. Revoking is in `moderation/revoke_version.py`: it moves files, too.
"""

from collections.abc import Callable
from functools import partial

import msgspec

from ..catalog.model.events import (
    Deprecated,
    Listed,
    MadeOfficial,
    MadeUnofficial,
    PublicEvent,
    PublishersChanged,
    Redated,
    Undeprecated,
    Unlisted,
    Unyanked,
    Yanked,
)
from ..catalog.model.widgets import checked_reason, parse_key
from ..catalog.store.events import append
from ..catalog.store.widgets import get_version, get_widget, replace_widget
from ..core.actors import COMMAND_LINE, Actor, Right
from ..core.clock import from_ms, iso
from ..core.db.engine import Store
from ..core.errors import Conflict, InvalidRequest
from ..organizations.permissions import require
from ..organizations.store import (
    find_organization,
    list_members,
    list_publishers,
    lock_organization,
    set_publishers,
)
from .quotas import NO_QUOTAS, Quotas, check_may_change


def yank_version(
    store: Store, actor: Actor, key: str, number: str, reason: str, quotas: Quotas = NO_QUOTAS
) -> None:
    """Withdraw a version: no longer offered, still loadable where it is installed."""
    checked = checked_reason("reason", reason)
    event = partial(Yanked, reason=checked)
    fields: dict[str, bool | str] = {"is_yanked": True, "yanked_reason": checked}
    _change(store, actor, Right.YANK, quotas, event, key, number, **fields)


def unyank_version(
    store: Store, actor: Actor, key: str, number: str, quotas: Quotas = NO_QUOTAS
) -> None:
    fields = {"is_yanked": False, "yanked_reason": None}
    _change(store, actor, Right.YANK, quotas, Unyanked, key, number, **fields)


def deprecate_version(
    store: Store, actor: Actor, key: str, number: str, message: str, quotas: Quotas = NO_QUOTAS
) -> None:
    """Warn users of a version."""
    checked = checked_reason("message", message)
    event = partial(Deprecated, message=checked)
    _change(store, actor, Right.DEPRECATE, quotas, event, key, number, deprecation_message=checked)


def undeprecate_version(
    store: Store, actor: Actor, key: str, number: str, quotas: Quotas = NO_QUOTAS
) -> None:
    event = Undeprecated
    _change(store, actor, Right.DEPRECATE, quotas, event, key, number, deprecation_message=None)


def list_widget(
    store: Store, actor: Actor, key: str, reason: str | None = None, quotas: Quotas = NO_QUOTAS
) -> None:
    event = partial(Listed, reason=_checked(reason))
    _change(store, actor, Right.LIST, quotas, event, key, is_listed=True)


def unlist_widget(
    store: Store, actor: Actor, key: str, reason: str | None = None, quotas: Quotas = NO_QUOTAS
) -> None:
    """Hide a widget from search, detail and registry; its bundles stay."""
    event = partial(Unlisted, reason=_checked(reason))
    _change(store, actor, Right.LIST, quotas, event, key, is_listed=False)


def set_official(store: Store, actor: Actor, key: str, is_official: bool | None) -> None:
    event = MadeOfficial if is_official else MadeUnofficial
    _change(store, actor, Right.MAKE_OFFICIAL, NO_QUOTAS, event, key, is_official=is_official)


def name_publishers(
    store: Store, actor: Actor, key: str, usernames: list[str], quotas: Quotas = NO_QUOTAS
) -> None:
    """Set which members of an organization may publish a widget, besides its admins.

    The widget need not exist yet, so that a member can publish its first version.
    """
    scope, name = parse_key(key)
    named = sorted(set(usernames))
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
        if named != list_publishers(tx.connection, scope, name):
            check_may_change(tx, actor, quotas)
            set_publishers(tx, scope, name, [ids[it] for it in named])
            append(tx, actor, PublishersChanged(scope=scope, name=name, publishers=named))


def redate_widget(store: Store, key: str) -> int:
    """Set versions dated in the future to the current time, in the same order; returns how many.

    For the operator, after the clock was ahead while versions were published.
    """
    scope, name = parse_key(key)
    with store.publishing() as tx:
        stored = get_widget(tx.connection, scope, name)
        redated = stored.widget.redated(from_ms(tx.at_ms))
        events = [
            Redated(
                scope=scope,
                name=name,
                version=old.number,
                before=iso(old.published_at),
                after=iso(new.published_at),
            )
            for old, new in zip(stored.widget.versions, redated.versions, strict=True)
            if old != new
        ]
        if events:
            replace_widget(tx, stored, redated, COMMAND_LINE, *events)
    return len(events)


def _checked(reason: str | None) -> str | None:
    return None if reason is None else checked_reason("reason", reason)


def _change(
    store: Store,
    actor: Actor,
    right: Right,
    quotas: Quotas,
    event: Callable[..., PublicEvent],
    key: str,
    number: str | None = None,
    **fields: bool | str | None,
) -> None:
    """Change fields of a widget or, with a number, of one of its versions. Nothing happens if they
    have these values.
    """
    scope, name = parse_key(key)
    with store.publishing() as tx:
        require(tx.connection, actor, right, scope, name)
        stored = get_widget(tx.connection, scope, name)
        if number is None:
            happened = event(scope=scope, name=name)
            changed = msgspec.structs.replace(stored.widget, **fields)
        else:
            old = get_version(stored.widget.versions, key, number)
            if event is Unyanked and old.revocation is not None:
                sentence = "is revoked: only the operator can take that back."
                raise Conflict(f"{key} {old.number} {sentence}")
            happened = event(scope=scope, name=name, version=old.number)
            new = msgspec.structs.replace(old, **fields)
            versions = [new if it is old else it for it in stored.widget.versions]
            changed = stored.widget.with_versions(versions)
        if changed != stored.widget:
            check_may_change(tx, actor, quotas)
            replace_widget(tx, stored, changed, actor, happened)

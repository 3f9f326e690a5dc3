"""Changes to a published version: yank, unyank, deprecate, undeprecate.

Revoking is in `revoke_version.py`: it moves files, too.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import msgspec

from ..catalog.events import Deprecated, Redated, Undeprecated, Unyanked, VersionEvent, Yanked
from ..catalog.store.widgets import get_version, get_widget, replace_widget
from ..catalog.widgets import checked_reason, parse_key
from ..core.actors import COMMAND_LINE, Actor, Right
from ..core.clock import from_ms, iso
from ..core.db.engine import Store
from ..core.errors import Conflict
from ..organizations.permissions import require
from .quotas import NO_QUOTAS, Quotas, check_may_change


def yank_version(
    store: Store, actor: Actor, key: str, number: str, reason: str, quotas: Quotas = NO_QUOTAS
) -> None:
    """Withdraw a version: no longer offered, still loadable where it is installed."""
    checked = checked_reason("reason", reason)
    yanked = partial(Yanked, reason=checked)
    change = _Change(key, number, Right.YANK, yanked)
    _change(store, actor, quotas, change, is_yanked=True, yanked_reason=checked)


def unyank_version(
    store: Store, actor: Actor, key: str, number: str, quotas: Quotas = NO_QUOTAS
) -> None:
    change = _Change(key, number, Right.YANK, Unyanked)
    _change(store, actor, quotas, change, is_yanked=False, yanked_reason=None)


def deprecate_version(
    store: Store, actor: Actor, key: str, number: str, message: str, quotas: Quotas = NO_QUOTAS
) -> None:
    """Warn users of a version."""
    checked = checked_reason("message", message)
    deprecated = partial(Deprecated, message=checked)
    change = _Change(key, number, Right.DEPRECATE, deprecated)
    _change(store, actor, quotas, change, deprecation_message=checked)


def undeprecate_version(
    store: Store, actor: Actor, key: str, number: str, quotas: Quotas = NO_QUOTAS
) -> None:
    change = _Change(key, number, Right.DEPRECATE, Undeprecated)
    _change(store, actor, quotas, change, deprecation_message=None)


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


class _Change(NamedTuple):
    key: str
    number: str
    right: Right
    event: Callable[..., VersionEvent]


def _change(
    store: Store, actor: Actor, quotas: Quotas, change: _Change, **fields: bool | str | None
) -> None:
    scope, name = parse_key(change.key)
    with store.publishing() as tx:
        require(tx.connection, actor, change.right, scope, name)
        stored = get_widget(tx.connection, scope, name)
        old = get_version(stored.widget.versions, change.key, change.number)
        if change.event is Unyanked and old.revocation is not None:
            sentence = "is revoked: only the operator can take that back."
            raise Conflict(f"{change.key} {old.number} {sentence}")
        new = msgspec.structs.replace(old, **fields)
        if new == old:
            return
        check_may_change(tx, actor, quotas)
        changed = stored.widget.with_versions(
            [new if it is old else it for it in stored.widget.versions]
        )
        happened = change.event(scope=scope, name=name, version=old.number)
        replace_widget(tx, stored, changed, actor, happened)

"""Bringing widgets that are there to the state that their origin says they are in.

Import adds, and never changes; this changes what a version or a widget is said to be: yanked,
deprecated, revoked, listed, official, and the text. Versions are never removed.
"""

from collections.abc import Iterator, Mapping

import msgspec

from ..bundles.contract import Bundles
from ..domain.accounts import COMMAND_LINE
from ..domain.clock import iso
from ..domain.events import (
    Deprecated,
    Listed,
    MadeOfficial,
    MadeUnofficial,
    PublicEvent,
    Redated,
    Revoked,
    Undeprecated,
    Unlisted,
    Unrevoked,
    Unyanked,
    Yanked,
)
from ..domain.widgets import Version, Widget
from ..store.engine import Snapshot, Store, Transaction
from ..store.feed import was_revoked_here
from ..store.rows import StoredWidget
from ..store.widgets import Key, find_widgets, replace_widget

_STATE = ("is_yanked", "yanked_reason", "deprecation_message", "revocation", "published_at")
_OF_WIDGET = ("display_name", "description", "icon", "is_official", "is_listed")


def follow_widgets(store: Store, bundles: Bundles, wanted: Mapping[Key, Widget]) -> int:
    """Make those of these widgets that are there what they should be; how many were not."""
    with store.reading() as connection:
        stale = _stale(connection, wanted)
    if not stale:
        return 0
    with store.publishing() as tx:
        stale = _stale(tx.connection, wanted)
        for old, new in stale:
            _replace(tx, bundles, old, new)
    return len(stale)


def _stale(connection: Snapshot, wanted: Mapping[Key, Widget]) -> list[tuple[StoredWidget, Widget]]:
    found = []
    for key, old in find_widgets(connection, list(wanted)).items():
        new = _followed(connection, old, wanted[key])
        if new != old.widget:
            found.append((old, new))
    return found


def _followed(connection: Snapshot, old: StoredWidget, origin: Widget) -> Widget:
    said = {it.identity: it for it in origin.versions}
    versions = [
        _version(connection, old.id, it, said[it.identity]) if it.identity in said else it
        for it in old.widget.versions
    ]
    changed = {name: getattr(origin, name) for name in _OF_WIDGET}
    return msgspec.structs.replace(old.widget.with_versions(versions), **changed)


def _version(connection: Snapshot, widget_id: int, old: Version, origin: Version) -> Version:
    new = msgspec.structs.replace(old, **{name: getattr(origin, name) for name in _STATE})
    if (
        old.revocation is not None
        and new.revocation is None
        and was_revoked_here(connection, widget_id, old.number, old.revocation.revoked_at)
    ):
        # By the operator of this catalog, and not by following: only they take it back.
        return new.with_revocation(old.revocation)
    return new


def _replace(tx: Transaction, bundles: Bundles, old: StoredWidget, new: Widget) -> None:
    before = {it.identity: it for it in old.widget.versions}
    events: list[PublicEvent] = []
    for version in new.versions:
        was = before[version.identity]
        if was != version:
            events += _events_of(new, was, version)
        if was.revocation is not None and version.revocation is None:
            # Before the commit: a version that is not revoked never lacks its files.
            if was.bundle_url is None:
                bundles.restore(was.sha256_hash, "js")
            if was.style is not None:
                bundles.restore(was.style.sha256_hash, "css")
    replace_widget(tx, old, new, COMMAND_LINE, *events, *_events_of_widget(old.widget, new))


def _events_of(widget: Widget, old: Version, new: Version) -> Iterator[PublicEvent]:
    subject = {"scope": widget.scope, "name": widget.name, "version": new.number}
    if (old.is_yanked, old.yanked_reason) != (new.is_yanked, new.yanked_reason):
        yield (
            Yanked(**subject, reason=new.yanked_reason or "")
            if new.is_yanked
            else Unyanked(**subject)
        )
    if old.deprecation_message != new.deprecation_message:
        message = new.deprecation_message
        yield (
            Undeprecated(**subject) if message is None else Deprecated(**subject, message=message)
        )
    if old.revocation != new.revocation:
        why = new.revocation
        yield Unrevoked(**subject) if why is None else Revoked(**subject, reason=why.reason)
    if old.published_at != new.published_at:
        yield Redated(**subject, before=iso(old.published_at), after=iso(new.published_at))


def _events_of_widget(old: Widget, new: Widget) -> Iterator[PublicEvent]:
    subject = {"scope": new.scope, "name": new.name}
    if old.is_listed != new.is_listed:
        yield Listed(**subject) if new.is_listed else Unlisted(**subject)
    if old.is_official != new.is_official:
        yield MadeOfficial(**subject) if new.is_official else MadeUnofficial(**subject)

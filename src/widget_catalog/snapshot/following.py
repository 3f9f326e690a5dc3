"""Updates existing widgets to the state of their origin.

Import only adds; this changes states: yanked, deprecated, revoked, listed, official, and the text.
Versions are never removed.
"""

from collections.abc import Mapping

import msgspec

from ..catalog.store.feed import was_revoked_here
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import Key, find_widgets
from ..catalog.widgets import Version, Widget
from ..core.db.engine import Snapshot, Store
from ..core.files.contract import Bundles
from ..transfer.save_difference import save_difference

_STATE = ("is_yanked", "yanked_reason", "deprecation_message", "revocation", "published_at")
_OF_WIDGET = ("display_name", "description", "icon", "is_official", "is_listed")


def follow_widgets(store: Store, bundles: Bundles, wanted: Mapping[Key, Widget]) -> int:
    """Update those of these widgets that exist; returns how many changed."""
    with store.reading() as connection:
        stale = _stale(connection, wanted)
    if not stale:
        return 0
    with store.publishing() as tx:
        stale = _stale(tx.connection, wanted)
        for old, new in stale:
            save_difference(tx, bundles, old, new)
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
        # Revoked by the operator of this catalog, who alone can withdraw it.
        return new.with_revocation(old.revocation)
    return new

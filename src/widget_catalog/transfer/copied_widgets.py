"""Widgets that a mirror copies from another catalog.

It receives states, but the feed of this catalog has events: of everything that differs.
"""

from collections.abc import Iterator
from typing import Any

from ..catalog.model import events
from ..catalog.model.events import Imported, PublicEvent
from ..catalog.model.widgets import Version, Widget
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import replace_widget
from ..core.actors import COMMAND_LINE
from ..core.clock import iso
from ..core.db.engine import Transaction
from ..core.files.contract import Bundles


def save_difference(tx: Transaction, bundles: Bundles, old: StoredWidget, new: Widget) -> None:
    """Update a widget to the state of its origin. `new` has all existing versions."""
    # Before the commit: the files of a version that is not revoked must always exist.
    revoked = {it.identity for it in old.widget.versions if it.revocation is not None}
    for version in new.versions:
        if version.identity in revoked and version.revocation is None:
            for file in version.stored_files:
                bundles.restore(file.sha256_hash, file.kind)
    happened = list(_events(old.widget, new))
    if not happened and old.widget.text == new.text:
        # For example, only its creation time differs.
        happened = [Imported(scope=new.scope, name=new.name)]
    replace_widget(tx, old, new, COMMAND_LINE, *happened)


def _events(old: Widget, new: Widget) -> Iterator[PublicEvent]:
    subject = {"scope": str(new.scope), "name": str(new.name)}
    known = {it.identity: it for it in old.versions}
    added = [it.number for it in new.versions if it.identity not in known]
    if added:
        yield Imported(**subject, version=added[0] if len(added) == 1 else None)
    for version in reversed(new.versions):
        yield from _version_events(
            {**subject, "version": version.number}, known.get(version.identity), version
        )
    if bool(old.is_official) != bool(new.is_official):
        yield (events.MadeOfficial if new.is_official else events.MadeUnofficial)(**subject)
    if old.is_listed != new.is_listed:
        yield (events.Listed if new.is_listed else events.Unlisted)(**subject)


def _version_events(
    subject: dict[str, Any], old: Version | None, new: Version
) -> Iterator[PublicEvent]:
    revocation, message = new.revocation, new.deprecation_message
    if revocation != (None if old is None else old.revocation):
        if revocation is None:
            yield events.Unrevoked(**subject)
        else:
            yield events.Revoked(**subject, reason=revocation.reason)
    if old is None:
        return
    if (old.is_yanked, old.yanked_reason) != (new.is_yanked, new.yanked_reason):
        if new.is_yanked:
            yield events.Yanked(**subject, reason=new.yanked_reason or "")
        else:
            yield events.Unyanked(**subject)
    if old.deprecation_message != message:
        if message is None:
            yield events.Undeprecated(**subject)
        else:
            yield events.Deprecated(**subject, message=message)
    if old.published_at != new.published_at:
        yield events.Redated(**subject, before=iso(old.published_at), after=iso(new.published_at))

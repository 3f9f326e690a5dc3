"""Updates a widget to another catalog's state, with the corresponding events.

Shared by mirrors and snapshots: both receive states, but the feed of this catalog has events.
"""

from collections.abc import Iterator
from typing import Any

from ..catalog.events import (
    Deprecated,
    Imported,
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
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import replace_widget
from ..catalog.widgets import Version, Widget
from ..core.actors import COMMAND_LINE
from ..core.clock import iso
from ..core.db.engine import Transaction
from ..core.files.contract import Bundles


def save_difference(tx: Transaction, bundles: Bundles, old: StoredWidget, new: Widget) -> None:
    """`new` has all existing versions."""
    # Before the commit: the files of a version that is not revoked must always exist.
    _restore_files(bundles, old.widget, new)
    events = list(_events(old.widget, new))
    if not events and old.widget.text == new.text:
        # For example, only its creation time differs.
        events = [Imported(scope=new.scope, name=new.name)]
    replace_widget(tx, old, new, COMMAND_LINE, *events)


def _restore_files(bundles: Bundles, old: Widget, new: Widget) -> None:
    revoked = {it.identity for it in old.versions if it.revocation is not None}
    for it in new.versions:
        if it.identity not in revoked or it.revocation is not None:
            continue
        if it.bundle_url is None:
            bundles.restore(it.sha256_hash, "js")
        if it.style is not None:
            bundles.restore(it.style.sha256_hash, "css")


def _events(old: Widget, new: Widget) -> Iterator[PublicEvent]:
    subject = {"scope": str(new.scope), "name": str(new.name)}
    known = {it.identity: it for it in old.versions}
    added = [it.number for it in new.versions if it.identity not in known]
    if added:
        yield Imported(**subject, version=added[0] if len(added) == 1 else None)
    for it in reversed(new.versions):
        yield from _version_events(subject, known.get(it.identity), it)
    if bool(old.is_official) != bool(new.is_official):
        yield (MadeOfficial if new.is_official else MadeUnofficial)(**subject)
    if old.is_listed != new.is_listed:
        yield (Listed if new.is_listed else Unlisted)(**subject)


def _version_events(
    widget: dict[str, str], old: Version | None, new: Version
) -> Iterator[PublicEvent]:
    subject: dict[str, Any] = {**widget, "version": new.number}
    if old is None:
        if new.revocation is not None:
            yield Revoked(**subject, reason=new.revocation.reason)
        return
    if old.revocation != new.revocation:
        if new.revocation is not None:
            yield Revoked(**subject, reason=new.revocation.reason)
        else:
            yield Unrevoked(**subject)
    if (old.is_yanked, old.yanked_reason) != (new.is_yanked, new.yanked_reason):
        if new.is_yanked:
            yield Yanked(**subject, reason=new.yanked_reason or "")
        else:
            yield Unyanked(**subject)
    if old.deprecation_message != new.deprecation_message:
        if new.deprecation_message is not None:
            yield Deprecated(**subject, message=new.deprecation_message)
        else:
            yield Undeprecated(**subject)
    if old.published_at != new.published_at:
        yield Redated(**subject, before=iso(old.published_at), after=iso(new.published_at))

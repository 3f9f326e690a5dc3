"""Saving what the other catalog says of a widget, as the events that have led there."""

from collections.abc import Iterator

import msgspec

from ...bundles.contract import Bundles
from ...domain.accounts import COMMAND_LINE
from ...domain.errors import StoreUnavailable
from ...domain.events import (
    Deprecated,
    Imported,
    Listed,
    MadeOfficial,
    MadeUnofficial,
    PublicEvent,
    Revoked,
    Undeprecated,
    Unlisted,
    Unrevoked,
    Unyanked,
    Yanked,
)
from ...domain.widgets import Version, Widget
from ...store.engine import Transaction
from ...store.widgets import add_widget, find_widget, get_widget, replace_widget


def save_copy(tx: Transaction, bundles: Bundles, wanted: Widget) -> bool:
    """Make a widget what it should be; whether that changed anything. Doing it twice is doing it
    once, so that a mirror which was killed begins again wherever it was."""
    old = find_widget(tx.connection, wanted.scope, wanted.name)
    is_new = old is None
    if old is None:
        _require_files(bundles, wanted.versions)
        plain = [msgspec.structs.replace(it, revocation=None) for it in wanted.versions]
        only = wanted.versions[0].number if len(wanted.versions) == 1 else None
        event = Imported(scope=wanted.scope, name=wanted.name, version=only)
        add_widget(tx, wanted.with_versions(plain), COMMAND_LINE, event)
        old = get_widget(tx.connection, wanted.scope, wanted.name)
    known = {it.identity: it for it in old.widget.versions}
    kept = [it for identity, it in known.items() if identity not in _identities(wanted)]
    new = wanted.with_versions([*wanted.versions, *kept])
    if new == old.widget:
        return is_new
    _restore_files(bundles, known, new)
    _require_files(bundles, [it for it in new.versions if it != known.get(it.identity)])
    events = list(_events(old.widget, new))
    if not events and old.widget.text == new.text:
        events = [Imported(scope=new.scope, name=new.name)]  # Dates, above all.
    replace_widget(tx, old, new, COMMAND_LINE, *events)
    return True


def _identities(widget: Widget) -> set[str]:
    return {it.identity for it in widget.versions}


def _require_files(bundles: Bundles, versions: "list[Version] | tuple[Version, ...]") -> None:
    """Files that were stored before the lock was taken may have been removed meanwhile."""
    for it in versions:
        if it.revocation is not None:
            continue
        is_here = it.bundle_url is not None or bundles.stat(it.sha256_hash, "js") is not None
        if not is_here or (it.style is not None and not bundles.stat(it.style.sha256_hash, "css")):
            raise StoreUnavailable("A stored bundle was removed while it was copied. Try again.")


def _restore_files(bundles: Bundles, known: dict[str, Version], new: Widget) -> None:
    for it in new.versions:
        before = known.get(it.identity)
        if before is None or before.revocation is None or it.revocation is not None:
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
    if old is None:
        if new.revocation is not None:
            yield Revoked(**widget, version=new.number, reason=new.revocation.reason)
        return
    subject = {**widget, "version": new.number}
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

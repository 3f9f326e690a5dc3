"""Saves a copied widget."""

from collections.abc import Iterable

import msgspec

from ..catalog.events import Imported
from ..catalog.store.widgets import add_widget, find_widget, get_widget
from ..catalog.stored_files import are_present
from ..catalog.widgets import Version, Widget
from ..core.actors import COMMAND_LINE
from ..core.db.engine import Transaction
from ..core.errors import StoreUnavailable
from ..core.files.contract import Bundles, FileKey
from ..transfer.copied_widgets import save_difference


def save_copy(tx: Transaction, bundles: Bundles, wanted: Widget) -> bool:
    """Update a widget to its upstream state; returns whether that changed anything. Idempotent, so
    that a killed mirror can resume anywhere.
    """
    old = find_widget(tx.connection, wanted.scope, wanted.name)
    is_new = old is None
    if old is None:
        _require_files(tx, bundles, wanted.versions)
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
    save_difference(tx, bundles, old, new)
    _require_files(tx, bundles, [it for it in new.versions if it != known.get(it.identity)])
    return True


def _identities(widget: Widget) -> set[str]:
    return {it.identity for it in widget.versions}


def _require_files(tx: Transaction, bundles: Bundles, versions: Iterable[Version]) -> None:
    """Files that were stored before the lock was acquired may have been removed since."""
    files: list[FileKey] = []
    for it in versions:
        if it.revocation is not None:
            continue
        if it.bundle_url is None:
            files.append((it.sha256_hash, "js"))
        if it.style is not None:
            files.append((it.style.sha256_hash, "css"))
    if not are_present(tx.connection, bundles, files):
        raise StoreUnavailable("A stored bundle was removed while it was copied. Try again.")

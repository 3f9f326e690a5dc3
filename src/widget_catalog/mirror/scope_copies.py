"""The widgets of one scope as they should be here, compared with the upstream; and saving them."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from widget_catalog_client import CatalogUnavailable, ClientError, NotFound

from ..catalog.model.widgets import Version, Widget
from ..catalog.store.files import are_present
from ..catalog.store.widgets import Key, add_widgets, find_widget, find_widgets
from ..core.db.engine import Store, Transaction
from ..core.errors import InvalidWidget, StoreUnavailable
from ..core.files.contract import Bundles
from ..transfer.copied_widgets import save_difference
from .store import Mirror
from .upstream import Head, MirrorError, Upstream, head_in_detail, head_in_registry

_WIDGETS_PER_COMMIT = 64
# Scopes with more changed widgets than this are read from the registry.
_MAX_DETAILS = 20


class Copy(NamedTuple):
    """The widget to save; None if it should not be here and never was."""

    key: Key
    wanted: Widget | None
    error: str | None = None
    unavailable: CatalogUnavailable | None = None


class ScopeCopies:
    """The widgets of one scope that have to be compared with the upstream."""

    def __init__(
        self, upstream: Upstream, mirror: Mirror, store: Store, scope: str, keys: list[Key]
    ) -> None:
        self._upstream = upstream
        self._is_wanted = not mirror.scopes or scope in mirror.scopes
        self._only_official = mirror.only_official
        self._keys = keys
        with store.reading() as connection:
            found = find_widgets(connection, keys)
        self._known = {key: it.widget for key, it in found.items()}
        self._listed: dict[str, Head] | None = None
        if self._is_wanted and (len(self._known) < len(keys) or len(keys) > _MAX_DETAILS):
            try:
                registry = upstream.catalog.registry(scope)
                self._listed = {it.name: head_in_registry(scope, it) for it in registry.widgets}
            except NotFound:
                self._listed = {}

    def batches(self) -> Iterator[list[Key]]:
        for start in range(0, len(self._keys), _WIDGETS_PER_COMMIT):
            yield self._keys[start : start + _WIDGETS_PER_COMMIT]

    def copy(self, key: Key) -> Copy:
        """Called by several threads at once."""
        try:
            return Copy(key, self._wanted(key))
        except CatalogUnavailable as error:
            # If the catalog does not respond at all, the next request would fail, too.
            self._upstream.catalog.settings()
            return Copy(key, None, f"{'/'.join(key)}: {error.message}", error)
        except InvalidWidget as error:
            return Copy(key, None, f"{'/'.join(key)}: {' '.join(error.errors)}")
        except (ClientError, MirrorError) as error:
            return Copy(key, None, f"{'/'.join(key)}: {error.message}")

    def _wanted(self, key: Key) -> Widget | None:
        known = self._known.get(key)
        head = self._find(key, known)
        if head is None or (self._only_official and not head.widget.is_official):
            if known is None:
                return None
            gone = msgspec.structs.replace(known, is_listed=False)
            return self._upstream.with_revocations(gone, {it.identity: it for it in gone.versions})
        return self._upstream.copy(head, known)

    def _find(self, key: Key, known: Widget | None) -> Head | None:
        if not self._is_wanted:
            return None
        if self._listed is not None or known is None:
            return (self._listed or {}).get(key[1])
        try:
            detail = self._upstream.catalog.detail("/".join(key))
        except NotFound:
            return None
        return head_in_detail(detail, known)


def save_copy(tx: Transaction, bundles: Bundles, wanted: Widget) -> bool:
    """Update a widget to its upstream state; returns whether that changed anything. Idempotent, so
    that a killed mirror can resume anywhere.
    """
    old = find_widget(tx.connection, wanted.scope, wanted.name)
    if old is None:
        _require_files(tx, bundles, wanted.versions)
        add_widgets(tx, [(wanted, 0)])
        return True
    known = {it.identity: it for it in old.widget.versions}
    copied = {it.identity for it in wanted.versions}
    kept = [it for identity, it in known.items() if identity not in copied]
    new = wanted.with_versions([*wanted.versions, *kept])
    if new == old.widget:
        return False
    save_difference(tx, bundles, old, new)
    _require_files(tx, bundles, [it for it in new.versions if it != known.get(it.identity)])
    return True


def _require_files(tx: Transaction, bundles: Bundles, versions: Iterable[Version]) -> None:
    """Files that were stored before the lock was acquired may have been removed since."""
    served = [it for it in versions if it.revocation is None]
    files = [(it.sha256_hash, it.kind) for version in served for it in version.stored_files]
    if not are_present(tx.connection, bundles, files):
        raise StoreUnavailable("A stored bundle was removed while it was copied. Try again.")

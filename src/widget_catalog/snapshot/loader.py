"""Loads a verified snapshot: imports new widgets and versions, and updates existing ones.

Bundles come first, because nothing refers to them yet; then the import, which is atomic; then
changes to existing widgets, in batches: their text, and the states yanked, deprecated, revoked,
listed and official. If this is interrupted, loading the same snapshot again completes it.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, cast

import msgspec

from widget_contract.errors import CatalogError
from widget_contract.version_files import max_bytes_of

from ..catalog.attached_content import stored_words
from ..catalog.store.feed import was_revoked_here
from ..catalog.store.files import withdraw_files
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import Key, count_widgets, find_widgets
from ..catalog.widgets import Version, Widget
from ..core.db.engine import Snapshot as Reading
from ..core.db.engine import Store
from ..core.errors import BundleNotFound, BundleRefused, SnapshotRefused
from ..core.files.contract import Bundles, Kind
from ..core.files.verified import hash_stream
from ..core.progress import Bar
from ..transfer.copied_widgets import save_difference
from ..transfer.import_bundles import BundleImporter
from ..transfer.import_catalog import import_lines, rules_of_now
from ..transfer.import_checks import ImportSummary
from ..transfer.ndjson import ImportedBundle, decode_line
from ..transfer.staged_import import Started
from .layout import Header
from .reader import Part, Snapshot
from .store import LoadedSnapshot, find_loaded, save_loaded

_BATCH = 250
# The sequence number of a catalog whose first snapshot is only partly loaded.
_BEGUN = 0
_OF_VERSION = ("is_yanked", "yanked_reason", "deprecation_message", "revocation", "published_at")
_OF_WIDGET = ("display_name", "description", "icon", "is_official", "is_listed")


class Loaded(NamedTuple):
    imported: ImportSummary
    changed: int
    """How many of the widgets that were there were not as their origin has them."""


def load_snapshot(
    store: Store,
    bundles: Bundles,
    snapshot: Snapshot,
    bar: Bar,
    *,
    into_owned: bool = False,
    make_index_ready: Callable[[], None] = lambda: None,
) -> Loaded:
    """Load a verified snapshot. Raises SnapshotRefused, without changing anything, if it does not
    match the catalog.
    """
    header = snapshot.header
    with store.reading() as connection:
        before = find_loaded(connection)
        was_empty = count_widgets(connection) == 0
    _check_goes_with(header, before, was_empty=was_empty)
    if before is None:
        with store.writing() as tx:
            save_loaded(tx, LoadedSnapshot(header.origin, _BEGUN, "", header.scopes))
    importer = _PartImporter(store, bundles)
    try:
        with bar("Storing bundles", header.files) as advance:
            for part, sha256_hash in snapshot.parts():
                if part.path.startswith("bundles/"):
                    importer.store_part(snapshot, part, sha256_hash)
                    advance(1)
        with bar("Importing", header.widgets) as advance:
            started = Started(importer, snapshot.path.name, into_owned, make_index_ready)
            imported = import_lines(started, snapshot.catalog(), advance, is_lenient=True)
    except CatalogError:
        with store.writing() as tx:
            save_loaded(tx, before)
        raise
    changed = 0 if was_empty else _update_all(store, bundles, snapshot, importer, bar)
    with store.writing() as tx:
        loaded = LoadedSnapshot(header.origin, header.seq, header.position, header.scopes)
        save_loaded(tx, loaded)
    return Loaded(imported, changed)


def _check_goes_with(header: Header, before: LoadedSnapshot | None, *, was_empty: bool) -> None:
    if before is None:
        if header.base is not None:
            raise SnapshotRefused(
                "This is a delta, and no snapshot was loaded here that it could be loaded over. "
                "Load the whole one first."
            )
        if not was_empty:
            raise SnapshotRefused(
                "This catalog has widgets that came from no snapshot. Load it into a new folder."
            )
        return
    if header.origin != before.origin:
        raise SnapshotRefused("The snapshot that was loaded here was one of another catalog.")
    here, this = (before.seq, before.position), (header.seq, header.position)
    base = header.base
    if base is not None and here not in ((base.seq, base.position), this):
        raise SnapshotRefused(
            "This is a delta to another snapshot than the one that was loaded here last: it begins "
            f"at change {base.seq:,}, and that one ended with change {before.seq:,}."
        )
    if header.seq < before.seq or (header.seq == before.seq and here != this):
        raise SnapshotRefused(
            f"The snapshot is older than what is here: it ends with change {header.seq:,}, and the "
            f"one that was loaded last with {before.seq:,}."
        )
    lacks_some = header.scopes is not None and (
        before.scopes is None or not set(before.scopes) <= set(header.scopes)
    )
    if lacks_some or (base is not None and header.scopes != before.scopes):
        raise SnapshotRefused("The snapshot that was loaded here has other scopes than this one.")


class _PartImporter(BundleImporter):
    """Bundles that were in the snapshot, or are here already, as those that a delta leaves out."""

    def store_part(self, snapshot: Snapshot, part: Part, sha256_hash: str) -> None:
        kind = cast(Kind, part.path.rpartition(".")[2])
        if kind in ("js", "css"):
            self._put(io.BytesIO(snapshot.read(part)), sha256_hash, kind)
        elif self.bundles.stat(sha256_hash, kind) is None:  # Not verified yet.
            most = max_bytes_of(kind, 0)
            if part.size_bytes > most:
                raise BundleRefused(f"{part.path} has more than {most:,} bytes.")
            self._put_attached(part.path, snapshot.read(part), sha256_hash, kind)

    def add(self, name: str, kind: Kind, _makes_thumbnail: bool = False) -> ImportedBundle:
        sha256_hash = name.removeprefix("bundles/").removesuffix(f".{kind}")
        if name != f"bundles/{sha256_hash}.{kind}":
            raise BundleRefused(f"{name} is no bundle of a snapshot.")
        stored = self.bundles.stat(sha256_hash, kind)
        if stored is not None:
            words = stored_words(self.bundles, sha256_hash, kind, stored.size_bytes)
            imported = ImportedBundle(sha256_hash, stored.size_bytes, words=words)
            return self._record(imported, kind)
        try:
            with self.bundles.open(sha256_hash, kind) as withdrawn:
                size_bytes = hash_stream(withdrawn).size_bytes
        except BundleNotFound:
            raise BundleRefused(
                f"{name} is neither in the snapshot nor here. Load a whole snapshot."
            ) from None
        return ImportedBundle(sha256_hash, size_bytes)


def _update_all(
    store: Store, bundles: Bundles, snapshot: Snapshot, importer: _PartImporter, bar: Bar
) -> int:
    changed = 0
    with bar("Comparing", snapshot.header.widgets) as advance:
        for some in _batches(snapshot, store, importer):
            changed += _update(store, bundles, some)
            advance(len(some))
    withdraw_files(store, bundles)
    return changed


def _batches(
    snapshot: Snapshot, store: Store, importer: _PartImporter
) -> Iterator[dict[Key, Widget]]:
    rules = rules_of_now(store, is_lenient=True)
    batch: dict[Key, Widget] = {}
    for line in snapshot.catalog():
        widget = decode_line(line, importer.add, rules).widget
        batch[(widget.scope, widget.name)] = widget
        if len(batch) == _BATCH:
            yield batch
            batch = {}
    if batch:
        yield batch


def _update(store: Store, bundles: Bundles, origin: Mapping[Key, Widget]) -> int:
    """Update those of these widgets that exist; returns how many changed."""
    with store.reading() as connection:
        if not _find_changed(connection, origin):
            return 0
    with store.publishing() as tx:
        changed = _find_changed(tx.connection, origin)
        for old, new in changed:
            save_difference(tx, bundles, old, new)
    return len(changed)


def _find_changed(
    connection: Reading, origin: Mapping[Key, Widget]
) -> list[tuple[StoredWidget, Widget]]:
    found = []
    for key, old in find_widgets(connection, list(origin)).items():
        new = _updated(connection, old, origin[key])
        if new != old.widget:
            found.append((old, new))
    return found


def _updated(connection: Reading, old: StoredWidget, origin: Widget) -> Widget:
    """Versions are never removed."""
    theirs = {it.identity: it for it in origin.versions}
    versions = [
        _updated_version(connection, old.id, it, theirs.get(it.identity, it))
        for it in old.widget.versions
    ]
    changed = {name: getattr(origin, name) for name in _OF_WIDGET}
    return msgspec.structs.replace(old.widget.with_versions(versions), **changed)


def _updated_version(connection: Reading, widget_id: int, old: Version, origin: Version) -> Version:
    new = msgspec.structs.replace(old, **{name: getattr(origin, name) for name in _OF_VERSION})
    if (
        old.revocation is not None
        and new.revocation is None
        and was_revoked_here(connection, widget_id, old.number, old.revocation.revoked_at)
    ):
        # Revoked by the operator of this catalog, who alone can withdraw it.
        return new.with_revocation(old.revocation)
    return new

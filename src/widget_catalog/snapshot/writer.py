"""Creates a snapshot: a consistent copy of the catalog, or the changes since another
one (delta).
"""

import hashlib
import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..catalog.store.feed import find_change, latest_seq, list_changes
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import read_widgets, stream_widgets
from ..catalog.widgets import VersionFile
from ..core import release
from ..core.clock import from_ms, iso
from ..core.db.engine import Snapshot as Reading
from ..core.db.engine import Store
from ..core.errors import BundleNotFound, DataDamaged, SnapshotRefused
from ..core.files.contract import Bundles
from ..core.files.verified import Hashed, hash_stream
from ..core.progress import Advance, Bar
from ..transfer.export_catalog import export_widgets, named_by_hash, replacing
from . import layout
from .keys import SigningKey
from .layout import Header

_BATCH = 500
_CHANGES_AT_ONCE = 10_000
# Events that may add versions.
_ADDING = frozenset({"published", "imported"})


class Wanted(NamedTuple):
    """What the snapshot should contain."""

    base_url: str | None
    scopes: list[str] | None = None
    since: Header | None = None
    """Of the snapshot that this one is a delta to."""


def make_snapshot(
    store: Store, bundles: Bundles, target: Path, wanted: Wanted, key: SigningKey | None, bar: Bar
) -> Header:
    """Write the file atomically. The service may be running."""
    try:
        with (
            replacing(target) as output,
            tempfile.TemporaryFile(dir=target.parent) as lines,
            store.reading() as connection,
        ):
            contents = _Contents(connection, wanted)
            contents.write_lines(lines, bar)
            header = _write(output, contents, lines, bundles, key, bar)
            output.flush()
            os.fsync(output.fileno())
    except OSError as error:
        raise SnapshotRefused(f"{target} cannot be written: {error.strerror}.") from None
    return header


class _Contents:
    """The content of the snapshot: its widgets, the files they need, and the state
    they belong to.
    """

    def __init__(self, connection: Reading, wanted: Wanted) -> None:
        self._connection = connection
        self._wanted = wanted
        self._files: set[VersionFile] = set()
        self._widgets, self._versions = 0, 0
        self._seq = latest_seq(connection)
        first, last = find_change(connection, 1), find_change(connection, self._seq)
        if first is None or last is None:
            raise SnapshotRefused("There is nothing in this catalog that a snapshot could hold.")
        self._origin, self._last = layout.position_of(first), last
        self._added = None if wanted.since is None else self._added_since(wanted.since)

    def write_lines(self, target: BinaryIO, bar: Bar) -> None:
        found = self._all() if self._added is None else self._changed(sorted(self._added))
        with bar("Reading widgets", 0 if self._added is None else len(self._added)) as advance:
            for line in export_widgets(
                self._connection, self._noted(found, advance), named_by_hash
            ):
                target.write(line)

    def files(self) -> list[VersionFile]:
        """The files of versions, each once."""
        return sorted(self._files, key=lambda it: it.name)

    def header(self, sums_sha256: str, key: SigningKey | None) -> Header:
        since = self._wanted.since
        return Header(
            format=layout.FORMAT,
            origin=self._origin,
            base_url=self._wanted.base_url,
            seq=self._seq,
            position=layout.position_of(self._last),
            at=iso(from_ms(self._last.changed_at)),
            scopes=self._wanted.scopes,
            base=None if since is None else layout.Base(since.seq, since.position),
            widgets=self._widgets,
            versions=self._versions,
            files=len(self._files),
            sums_sha256=sums_sha256,
            key=None if key is None else key.fingerprint,
            release=release.VERSION,
        )

    def _all(self) -> Iterator[StoredWidget]:
        seen = set()
        for it in stream_widgets(self._connection, _BATCH, self._wanted.scopes):
            seen.add(str(it.widget.scope))
            yield it
        if missing := sorted(set(self._wanted.scopes or ()) - seen):
            raise SnapshotRefused(f"There is no widget in the scope {missing[0]}.")

    def _changed(self, ids: Sequence[int]) -> Iterator[StoredWidget]:
        for start in range(0, len(ids), _BATCH):
            found = read_widgets(self._connection, ids[start : start + _BATCH])
            for damaged in found.damaged.values():
                raise DataDamaged(damaged.sentence)
            yield from sorted(found.intact, key=lambda it: it.id)

    def _noted(self, found: Iterator[StoredWidget], advance: Advance) -> Iterator[StoredWidget]:
        for it in found:
            self._widgets += 1
            self._versions += len(it.widget.versions)
            added = {None} if self._added is None else self._added[it.id]
            for version in it.widget.versions:
                if None in added or version.number in added:
                    self._files.update(version.stored_files)
            advance(1)
            yield it

    def _added_since(self, base: Header) -> dict[int, set[str | None]]:
        """The changed widgets, each with its new versions; None: any may be new."""
        then = find_change(self._connection, base.seq)
        if base.origin != self._origin or then is None or layout.position_of(then) != base.position:
            raise SnapshotRefused(
                "The older snapshot was made of another catalog, or of this one before it was "
                "restored from a backup. Make a whole snapshot, without --since."
            )
        if base.scopes != self._wanted.scopes:
            raise SnapshotRefused("The older snapshot holds other scopes than this one would.")
        added: dict[int, set[str | None]] = {}
        seq = base.seq
        while changes := list_changes(self._connection, seq, _CHANGES_AT_ONCE):
            for it in changes:
                if self._wanted.scopes is None or it.scope in self._wanted.scopes:
                    its = added.setdefault(it.widget_id, set())
                    if it.kind in _ADDING:
                        its.add(it.version)
            seq = changes[-1].seq
        return added


def _write(
    output: BinaryIO,
    contents: _Contents,
    lines: BinaryIO,
    bundles: Bundles,
    key: SigningKey | None,
    bar: Bar,
) -> Header:
    lines.seek(0)
    catalog, files = hash_stream(lines), contents.files()
    sums = layout.sums_line(layout.CATALOG, catalog.sha256_hash) + b"".join(
        layout.sums_line(it.name, it.sha256_hash) for it in files
    )
    header = contents.header(hashlib.sha256(sums).hexdigest(), key)
    content = layout.encode_header(header)
    _add_bytes(output, layout.HEADER, content)
    if key is not None:
        _add_bytes(output, layout.SIGNATURE, key.key.sign(content))
    _add_bytes(output, layout.SUMS, sums)
    lines.seek(0)
    _add(output, layout.CATALOG, lines, catalog.size_bytes)
    with bar("Copying bundles", len(files)) as advance:
        for it in files:
            _add_bundle(output, bundles, it)
            advance(1)
    output.write(bytes(layout.end_of(output.tell())))
    return header


def _add_bytes(output: BinaryIO, path: str, content: bytes) -> None:
    _add(output, path, io.BytesIO(content), len(content))


def _add(output: BinaryIO, path: str, content: BinaryIO, size_bytes: int) -> Hashed:
    """Append a file to the archive."""
    output.write(layout.tar_header(path, size_bytes))
    copied = hash_stream(content, output)
    output.write(bytes(layout.padding_after(size_bytes)))
    return copied


def _add_bundle(output: BinaryIO, bundles: Bundles, file: VersionFile) -> None:
    try:
        with bundles.open(file.sha256_hash, file.kind, 0, file.size_bytes) as content:
            copied = _add(output, file.name, content, file.size_bytes)
    except BundleNotFound as error:
        raise SnapshotRefused(error.message) from None
    if copied != (file.sha256_hash, file.size_bytes):
        raise SnapshotRefused(
            f"The stored bundle {file.sha256_hash}.{file.kind} is damaged; doctor says whose it is."
        )

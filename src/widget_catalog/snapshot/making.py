"""Creates a snapshot: a consistent copy of the catalog, or the changes since another
one (delta).
"""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..catalog.store.feed import find_change, latest_seq, list_changes
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import read_widgets, stream_widgets
from ..catalog.widgets import Version, Widget
from ..core import release
from ..core.clock import from_ms, iso
from ..core.db.engine import Snapshot as Reading
from ..core.db.engine import Store
from ..core.errors import BundleNotFound, DataDamaged, SnapshotRefused
from ..core.files.contract import Bundles, Kind
from ..core.files.hashing import hash_stream
from ..core.progress import Bar
from ..transfer.export_catalog import export_widgets
from .keys import SigningKey
from .layout import (
    CATALOG,
    CHUNK_BYTES,
    FORMAT,
    HEADER,
    SIGNATURE,
    SUMS,
    Base,
    Header,
    Sum,
    encode_header,
    end_of,
    padding_after,
    position_of,
    sums_line,
    tar_header,
)

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
    partial = target.with_name(f".{target.name}.part")
    try:
        with (
            partial.open("wb") as output,
            tempfile.TemporaryFile(dir=target.parent) as lines,
            contextlib.closing(_Files()) as files,
            store.reading() as connection,
        ):
            draft = _Draft(connection, wanted, files)
            draft.write_lines(lines, bar)
            header = _write(_Archive(output), draft, lines, bundles, key, bar)
            output.flush()
            os.fsync(output.fileno())
        partial.replace(target)
    except OSError as error:
        raise SnapshotRefused(f"{target} cannot be written: {error.strerror}.") from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    return header


class _Draft:
    """The content of the snapshot: its widgets, the files they need, and the state
    they belong to.
    """

    def __init__(self, connection: Reading, wanted: Wanted, files: "_Files") -> None:
        self._connection = connection
        self._wanted = wanted
        self.files = files
        self.widgets, self.versions = 0, 0
        self._seq = latest_seq(connection)
        first, last = find_change(connection, 1), find_change(connection, self._seq)
        if first is None or last is None:
            raise SnapshotRefused("There is nothing in this catalog that a snapshot could hold.")
        self._origin, self._last = position_of(first), last
        self._added = None if wanted.since is None else self._added_since(wanted.since)

    def write_lines(self, target: BinaryIO, bar: Bar) -> None:
        found = self._all() if self._added is None else self._changed(sorted(self._added))
        with bar("Reading widgets", 0 if self._added is None else len(self._added)) as advance:
            for line in export_widgets(self._connection, self._noted(found, advance), _names_of):
                target.write(line)

    def header(self, sums_sha256: str, files: int, key: SigningKey | None) -> Header:
        since = self._wanted.since
        return Header(
            format=FORMAT,
            origin=self._origin,
            base_url=self._wanted.base_url,
            seq=self._seq,
            position=position_of(self._last),
            at=iso(from_ms(self._last.changed_at)),
            scopes=self._wanted.scopes,
            base=None if since is None else Base(since.seq, since.position),
            widgets=self.widgets,
            versions=self.versions,
            files=files,
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

    def _noted(
        self, found: Iterator[StoredWidget], advance: Callable[[int], None]
    ) -> Iterator[StoredWidget]:
        for it in found:
            self.widgets += 1
            self.versions += len(it.widget.versions)
            added = {None} if self._added is None else self._added[it.id]
            for version in it.widget.versions:
                if None in added or version.number in added:
                    self.files.add(version)
            advance(1)
            yield it

    def _added_since(self, base: Header) -> dict[int, set[str | None]]:
        """The changed widgets, each with its new versions; None: any may be new."""
        then = find_change(self._connection, base.seq)
        if base.origin != self._origin or then is None or position_of(then) != base.position:
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


class _Files:
    """The required bundles and style sheets, each once and in order, in a temporary file: there
    may be millions.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute("CREATE TABLE files (path PRIMARY KEY, size) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def add(self, version: Version) -> None:
        if version.bundle_url is None:
            self._add(version.sha256_hash, "js", version.bundle_size)
        if version.style is not None:
            self._add(version.style.sha256_hash, "css", version.style.size_bytes)

    def _add(self, sha256_hash: str, kind: Kind, size_bytes: int) -> None:
        row = (f"{sha256_hash}.{kind}", size_bytes)
        self._database.execute("INSERT OR IGNORE INTO files VALUES (?, ?)", row)

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM files").fetchone()[0])

    def __iter__(self) -> Iterator[tuple[str, Kind, int]]:
        for path, size_bytes in self._database.execute("SELECT * FROM files ORDER BY path"):
            sha256_hash, _, kind = path.partition(".")
            yield sha256_hash, kind, size_bytes

    def close(self) -> None:
        self._database.close()


def _names_of(_widget: Widget, version: Version) -> dict[str, str]:
    names = {}
    if version.bundle_url is None:
        names["bundleFile"] = f"bundles/{version.sha256_hash}.js"
    if version.style is not None:
        names["cssFile"] = f"bundles/{version.style.sha256_hash}.css"
    return names


def _write(
    archive: "_Archive",
    draft: _Draft,
    lines: BinaryIO,
    bundles: Bundles,
    key: SigningKey | None,
    bar: Bar,
) -> Header:
    lines_bytes = lines.tell()
    lines.seek(0)
    catalog = Sum(CATALOG, hash_stream(lines).sha256_hash)
    with tempfile.TemporaryFile(dir=Path(archive.name).parent) as sums:
        sums.write(sums_line(catalog))
        for sha256_hash, kind, _ in draft.files:
            sums.write(sums_line(Sum(f"bundles/{sha256_hash}.{kind}", sha256_hash)))
        sums_bytes = sums.tell()
        sums.seek(0)
        count = len(draft.files)
        header = draft.header(hash_stream(sums).sha256_hash, count, key)
        content = encode_header(header)
        archive.add_bytes(HEADER, content)
        if key is not None:
            archive.add_bytes(SIGNATURE, key.sign(content))
        archive.add(SUMS, sums, sums_bytes)
    archive.add(CATALOG, lines, lines_bytes)
    with bar("Copying bundles", count) as advance:
        for sha256_hash, kind, size_bytes in draft.files:
            _add_bundle(archive, bundles, sha256_hash, kind, size_bytes)
            advance(1)
    archive.end()
    return header


def _add_bundle(
    archive: "_Archive", bundles: Bundles, sha256_hash: str, kind: Kind, size_bytes: int
) -> None:
    try:
        with bundles.open(sha256_hash, kind) as content:
            archive.begin(f"bundles/{sha256_hash}.{kind}", size_bytes)
            copied = hash_stream(content, archive.output)
    except BundleNotFound as fault:
        raise SnapshotRefused(fault.message) from None
    if (copied.sha256_hash, copied.size_bytes) != (sha256_hash, size_bytes):
        raise SnapshotRefused(
            f"The stored bundle {sha256_hash}.{kind} is damaged; doctor says whose it is."
        )
    archive.pad(size_bytes)


class _Archive:
    """Writes a tar file that depends only on its content."""

    def __init__(self, output: BinaryIO) -> None:
        self.output = output
        self.name = output.name

    def add_bytes(self, path: str, content: bytes) -> None:
        self.begin(path, len(content))
        self.output.write(content)
        self.pad(len(content))

    def add(self, path: str, content: BinaryIO, size_bytes: int) -> None:
        self.begin(path, size_bytes)
        content.seek(0)
        while some := content.read(CHUNK_BYTES):
            self.output.write(some)
        self.pad(size_bytes)

    def begin(self, path: str, size_bytes: int) -> None:
        self.output.write(tar_header(path, size_bytes))

    def pad(self, size_bytes: int) -> None:
        self.output.write(bytes(padding_after(size_bytes)))

    def end(self) -> None:
        self.output.write(bytes(end_of(self.output.tell())))

"""Reads backups: every byte is verified against its hash."""

import contextlib
import functools
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from ..core.db.migrate import check_upgradable
from ..core.errors import InvalidBackup, StoreUnavailable
from ..core.progress import Bar, no_bar
from . import layout
from .database_copy import DatabaseFacts, check_copy, check_rows, list_stored_names
from .layout import BackupManifest, bundle_hash

_CHUNK_BYTES = 1 << 20

_OTHER_SNAPSHOT = "Another snapshot may be whole: --list lists them, --snapshot NAME takes one."

Target = Callable[[str], Path | None]
"""Where a file of the backup goes, by its path there; None if it is only looked at."""


class Snapshot(NamedTuple):
    """An intact snapshot."""

    name: str
    manifest: BackupManifest


def check_backup(
    source: Path, name: str | None = None, bar: Bar = no_bar, scratch: Path | None = None
) -> Snapshot:
    """Read a whole backup. The database of an archive is unpacked temporarily, into `scratch`."""
    with (
        _errors_named(source),
        tempfile.TemporaryDirectory(prefix="widget-catalog-", dir=scratch) as folder,
    ):
        copy = None if source.is_dir() else Path(folder) / layout.DATABASE
        return read_backup(
            source, name, lambda path: copy if layout.is_database(path) else None, bar
        )


def read_backup(source: Path, name: str | None, target: Target, bar: Bar = no_bar) -> Snapshot:
    """Copy a snapshot: its database, and its bundles. The database of a folder need not be copied.

    Raises InvalidBackup with all errors; the copy must not be used then.
    """
    found = _Contents(target)
    if source.is_dir():
        _read_folder(found, source, _chosen(source, name), bar)
    else:
        _read_file(found, source, name, bar)
    path = found.path(layout.DATABASE)
    errors = found.errors()
    if found.hashes.get(path) == found.sums.get(path):
        errors += _database_errors(found, target(path) or source / path)
    if errors:
        raise InvalidBackup(errors)
    return Snapshot(found.name, found.manifest)


def describe(folder: Path) -> dict[str, BackupManifest | str]:
    """The snapshots of a backup folder, oldest first, according to their manifests; not verified.

    For one without a usable manifest: its errors.
    """
    with _errors_named(folder):
        return {
            it: _described(folder / layout.SNAPSHOTS / it) for it in layout.list_snapshots(folder)
        }


def _described(snapshot: Path) -> BackupManifest | str:
    try:
        return layout.decode_manifest((snapshot / layout.MANIFEST).read_bytes())
    except OSError as error:
        return f"damaged: {layout.MANIFEST} cannot be read ({error.strerror})."
    except InvalidBackup as error:
        return f"damaged: {error.message}"


class _Contents:
    """The files found in a backup, to be compared with its manifest."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.name = ""
        self.hashes: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}
        self._kept: dict[str, bytes] = {}

    def path(self, file: str) -> str:
        """Of a file of the snapshot."""
        return f"{layout.SNAPSHOTS}/{self.name}/{file}"

    def take(self, path: str, content: IO[bytes]) -> None:
        """Copy a file to its target, and remember its hash."""
        if bundle_hash(path) is not None:
            self.hashes[path] = _copy(content, self._target(path))
            return
        top, _, rest = path.partition("/")
        name, _, file = rest.partition("/")
        known = (layout.DATABASE, layout.MANIFEST, layout.SUMS)
        if top != layout.SNAPSHOTS or layout.number_of(name) is None or file not in known:
            raise InvalidBackup([f"{path} does not belong into a backup."])
        if self.name not in ("", name):
            raise InvalidBackup(["The file holds more than one snapshot."])
        self.name = name
        if file == layout.DATABASE:
            self.hashes[path] = _copy(content, self._target(path))
        else:
            self._kept[file] = content.read()
            self.hashes[path] = hashlib.sha256(self._kept[file]).hexdigest()

    @functools.cached_property
    def manifest(self) -> BackupManifest:
        """Only trusted if its hash is right."""
        path = self.path(layout.MANIFEST)
        if layout.MANIFEST not in self._kept:
            raise InvalidBackup([f"{path} is missing."], _OTHER_SNAPSHOT)
        if self.sums.get(path) != self.hashes[path]:
            raise InvalidBackup([_damaged(path)], _OTHER_SNAPSHOT)
        return layout.decode_manifest(self._kept[layout.MANIFEST])

    @functools.cached_property
    def sums(self) -> dict[str, str]:
        if not self.name:
            raise InvalidBackup(["There is no snapshot in it: this is not a backup."])
        if layout.SUMS not in self._kept:
            problem = f"{self.path(layout.SUMS)} is missing: this snapshot is not complete."
            raise InvalidBackup([problem], _OTHER_SNAPSHOT)
        try:
            return layout.decode_sums(self._kept[layout.SUMS])
        except InvalidBackup as error:
            problem = f"The snapshot {self.name}: {error.message}"
            raise InvalidBackup([problem], _OTHER_SNAPSHOT) from None

    def errors(self) -> list[str]:
        """Files that are missing, damaged, or unexpected. The manifest must be intact."""
        sums, _manifest = self.sums, self.manifest
        found = {path: it for path, it in self.hashes.items() if path != self.path(layout.SUMS)}
        needed = dict.fromkeys((self.path(layout.DATABASE), *sums))
        missing = [it for it in needed if it not in found and it not in self.unreadable]
        damaged = [path for path, it in sums.items() if found.get(path, it) != it]
        return [
            *self.unreadable.values(),
            *(f"{it} is missing." for it in missing),
            *(_damaged(it) for it in damaged),
            *(f"{it} is not listed in {layout.SUMS}." for it in found.keys() - sums.keys()),
        ]


def _damaged(path: str) -> str:
    return f"{path} is damaged: its hash is not the one in {layout.SUMS}."


def _database_errors(found: _Contents, database: Path) -> list[str]:
    """Whether the database is intact, and refers to exactly the bundles that are there."""
    manifest = found.manifest
    check_upgradable(manifest.schema)
    expected = DatabaseFacts(manifest.schema, manifest.rows)
    try:
        if errors := check_copy(database, expected):
            return errors
        stored = list_stored_names(database)
    except StoreUnavailable as error:
        return [f"{layout.DATABASE}: {error.message}"]
    missing = sorted({it.path for it in stored} - found.sums.keys() - set(manifest.missing))
    return [
        *check_rows(database),
        *(f"{it} is missing, and a version refers to it." for it in missing),
    ]


def _chosen(folder: Path, name: str | None) -> str:
    """The snapshot whose name starts with this; the newest one without a name."""
    known = layout.list_snapshots(folder)
    if not known:
        raise InvalidBackup([f"{folder} is not a backup: there is no snapshot in it."])
    if name is None:
        return known[-1]
    found = [it for it in known if name and it.startswith(name)]
    if len(found) == 1:
        return found[0]
    what = "There are several snapshots" if found else "There is no snapshot"
    raise InvalidBackup([f"{what} {name} in {folder}. There are: {', '.join(found or known)}."])


def _read_folder(found: _Contents, folder: Path, name: str, bar: Bar) -> None:
    found.name = name
    for path in (found.path(layout.MANIFEST), found.path(layout.SUMS)):
        with contextlib.suppress(FileNotFoundError), (folder / path).open("rb") as content:
            found.take(path, content)
    check_upgradable(found.manifest.schema)
    listed = [it for it in found.sums if it != found.path(layout.MANIFEST)]
    with bar("Reading the backup", len(listed)) as advance:
        for path in listed:
            if bundle_hash(path) is None and path != found.path(layout.DATABASE):
                raise InvalidBackup([f"{layout.SUMS} is damaged: it lists {path}."])
            try:
                with (folder / path).open("rb") as content:
                    found.take(path, content)
            except FileNotFoundError:
                pass
            except OSError as error:
                if error.filename != str(folder / path):
                    raise
                found.unreadable[path] = f"{path} cannot be read: {error.strerror}."
            advance(1)


def _read_file(found: _Contents, source: Path, name: str | None, bar: Bar) -> None:
    size = source.stat().st_size
    with (
        source.open("rb") as packed,
        bar("Reading the backup", size) as advance,
        layout.reading_archive(packed, source.name) as files,
    ):
        at = 0
        for path, content in files:
            if path in found.hashes:
                raise InvalidBackup([f"{path} is in the file twice."])
            found.take(path, content)
            advance(packed.tell() - at)
            at = packed.tell()
    if name is not None and not found.name.startswith(name):
        raise InvalidBackup([f"There is no snapshot {name} in {source}, only {found.name}."])


def _copy(content: IO[bytes], target: Path | None) -> str:
    """Copy to a new file, if a path is given; returns the hash of the bytes read."""
    digest = hashlib.sha256()
    with contextlib.nullcontext() if target is None else target.open("xb") as file:
        while chunk := _read(content):
            digest.update(chunk)
            if file is not None:
                file.write(chunk)
    return digest.hexdigest()


def _read(content: IO[bytes]) -> bytes:
    try:
        return content.read(_CHUNK_BYTES)
    except OSError as error:  # A read error of the disk has no file name.
        error.filename = error.filename or getattr(content, "name", None)
        raise


@contextlib.contextmanager
def _errors_named(source: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or source
        raise InvalidBackup([f"{where} cannot be used: {error.strerror}."]) from error

"""Reading backups: every byte is checked against its hash while it is read."""

import contextlib
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, NamedTuple

from ...domain.errors import InvalidBackup, StoreUnavailable
from ...store.copying import (
    DatabaseFacts,
    check_copy,
    check_rows,
    list_stored_names,
    require_known_schema,
)
from .archive import read_archive
from .layout import (
    DATABASE,
    MANIFEST,
    SNAPSHOTS,
    SUMS,
    Manifest,
    bundle_hash,
    bundle_path,
    decode_manifest,
    decode_sums,
    list_snapshots,
    number_of,
)

Advance = Callable[[int], None]
Bar = Callable[[str, int], AbstractContextManager[Advance]]
"""Opens a progress bar: what is done, and how many steps it takes."""

_CHUNK_BYTES = 1 << 20

Place = Callable[[str], Path | None]
"""Where a file of the backup goes, by its path there; None if it is only looked at."""


def no_bar(_what: str, _total: int) -> AbstractContextManager[Advance]:
    return nullcontext(lambda _: None)


class Snapshot(NamedTuple):
    """A snapshot of a backup that was read whole, and is sound."""

    name: str
    manifest: Manifest


def check_backup(
    source: Path, name: str | None = None, bar: Bar = no_bar, scratch: Path | None = None
) -> Snapshot:
    """Read all of a backup. Of a file, the database is unpacked for a while, into `scratch`."""
    with _faults_named(source):
        if source.is_dir():
            return read_backup(source, name, None, lambda _: None, bar)
        with tempfile.TemporaryDirectory(prefix="widget-catalog-", dir=scratch) as folder:
            return read_backup(source, name, Path(folder) / DATABASE, lambda _: None, bar)


def read_backup(
    source: Path, name: str | None, database: Path | None, place: Place, bar: Bar = no_bar
) -> Snapshot:
    """Copy a snapshot: its database, and its bundles to where `place` says.

    The database of a folder may stay where it is.

    Raises InvalidBackup with everything that is wrong with it. What was copied is then of no use.
    """
    if source.is_dir():
        found = _read_folder(source, name or _newest(source), database, place, bar)
    else:
        found = _read_file(source, name, database, place, bar)
    faults = found.faults()
    if not faults:
        here = source / SNAPSHOTS / found.name / DATABASE
        faults = _database_faults(found, here if database is None else database)
    if faults:
        raise InvalidBackup(faults)
    return Snapshot(found.name, found.manifest)


def describe(folder: Path) -> list[Snapshot]:
    """The snapshots of a backup folder, oldest first, as their manifests tell; not verified."""
    with _faults_named(folder):
        return [
            Snapshot(it, decode_manifest((folder / SNAPSHOTS / it / MANIFEST).read_bytes()))
            for it in list_snapshots(folder)
        ]


class _Contents:
    """What was found in a backup, to be compared with what it says of itself."""

    def __init__(self) -> None:
        self.name = ""
        self.hashes: dict[str, str] = {}
        self.unreadable: list[str] = []
        self._kept: dict[str, bytes] = {}

    def take(self, path: str, content: IO[bytes], database: Path | None, place: Place) -> None:
        """Copy a file to its place, and remember its hash."""
        if bundle_hash(path) is not None:
            self.hashes[path] = _copy(content, place(path))
            return
        top, _, rest = path.partition("/")
        name, _, file = rest.partition("/")
        known = (DATABASE, MANIFEST, SUMS)
        if top != SNAPSHOTS or number_of(name) is None or file not in known:
            raise InvalidBackup([f"{path} does not belong into a backup."])
        if self.name not in ("", name):
            raise InvalidBackup(["The file holds more than one snapshot."])
        self.name = name
        if file == DATABASE:
            self.hashes[path] = _copy(content, database)
        else:
            self._kept[file] = content.read()
            self.hashes[path] = hashlib.sha256(self._kept[file]).hexdigest()

    @property
    def manifest(self) -> Manifest:
        """What it says is believed only if its hash is right."""
        path = f"{SNAPSHOTS}/{self.name}/{MANIFEST}"
        if path in self.hashes and self.sums.get(path) != self.hashes[path]:
            raise InvalidBackup([_damaged(path)])
        return decode_manifest(self._kept.get(MANIFEST, b""))

    @property
    def sums(self) -> dict[str, str]:
        if SUMS not in self._kept:
            raise InvalidBackup([f"{SUMS} is missing: this is not a backup, or half of one."])
        return decode_sums(self._kept[SUMS])

    def faults(self) -> list[str]:
        """Files that are missing, damaged, or too many."""
        sums = self.sums
        found = {path: it for path, it in self.hashes.items() if not path.endswith(f"/{SUMS}")}
        needed = (f"{SNAPSHOTS}/{self.name}/{file}" for file in (DATABASE, MANIFEST))
        missing = [path for path in (*needed, *sums) if path not in found]
        damaged = [path for path, it in sums.items() if found.get(path, it) != it]
        return [
            *self.unreadable,
            *(f"{it} is missing." for it in dict.fromkeys(missing) if it not in self.unread()),
            *map(_damaged, damaged),
            *(f"{it} is not listed in {SUMS}." for it in found.keys() - sums.keys()),
        ]

    def unread(self) -> set[str]:
        return {it.partition(" ")[0] for it in self.unreadable}


def _damaged(path: str) -> str:
    return f"{path} is damaged: its hash is not the one in {SUMS}."


def _database_faults(found: _Contents, database: Path) -> list[str]:
    """Whether the database is sound, and refers to just the bundles that are there."""
    manifest = found.manifest
    require_known_schema(manifest.schema)
    expected = DatabaseFacts(manifest.schema, manifest.rows)
    try:
        faults = check_copy(database, expected, is_thorough=True) or check_rows(database)
        if faults:
            return faults
    except StoreUnavailable as error:
        return [f"{DATABASE}: {error.message}"]
    needed = {bundle_path(it.sha256_hash, it.kind) for it in list_stored_names(database)}
    held = {it for it in found.sums if bundle_hash(it) is not None}
    return [
        f"{it} is missing, and a version refers to it."
        for it in sorted(needed - held - set(manifest.missing))
    ]


def _newest(folder: Path) -> str:
    known = list_snapshots(folder)
    if not known:
        raise InvalidBackup([f"{folder} is not a backup: there is no snapshot in it."])
    return known[-1]


def _read_folder(
    folder: Path, name: str, database: Path | None, place: Place, bar: Bar
) -> _Contents:
    found = _Contents()
    path = f"{SNAPSHOTS}/{name}"
    if number_of(name) is None or not (folder / path).is_dir():
        known = ", ".join(list_snapshots(folder)) or "none"
        raise InvalidBackup([f"There is no snapshot {name} in {folder}. There are: {known}."])
    for file in (MANIFEST, SUMS):
        with contextlib.suppress(FileNotFoundError), (folder / path / file).open("rb") as content:
            found.take(f"{path}/{file}", content, database, place)
    require_known_schema(found.manifest.schema)
    listed = [it for it in found.sums if it != f"{path}/{MANIFEST}"]
    with bar("Reading the backup", len(listed)) as advance:
        for it in listed:
            if bundle_hash(it) is None and it != f"{path}/{DATABASE}":
                raise InvalidBackup([f"{SUMS} is damaged: it lists {it}."])
            try:
                with (folder / it).open("rb") as content:
                    found.take(it, content, database, place)
            except FileNotFoundError:
                pass
            except OSError as error:
                if error.filename != str(folder / it):
                    raise
                found.unreadable.append(f"{it} cannot be read: {error.strerror}.")
            advance(1)
    return found


def _read_file(
    source: Path, name: str | None, database: Path | None, place: Place, bar: Bar
) -> _Contents:
    found = _Contents()
    size = source.stat().st_size
    with source.open("rb") as packed, bar("Reading the backup", size) as advance:
        at = 0
        for path, content in read_archive(packed, source.name):
            if path in found.hashes:
                raise InvalidBackup([f"{path} is in the file twice."])
            found.take(path, content, database, place)
            advance(packed.tell() - at)
            at = packed.tell()
    if name not in (None, found.name):
        raise InvalidBackup([f"There is no snapshot {name} in {source}, only {found.name}."])
    return found


def _copy(content: IO[bytes], target: Path | None) -> str:
    """Copy to a new file, if there is one to write; gives the hash of what was read."""
    digest = hashlib.sha256()
    with contextlib.ExitStack() as stack:
        file = None if target is None else stack.enter_context(target.open("xb"))
        for chunk in _chunks(content):
            digest.update(chunk)
            if file is not None:
                file.write(chunk)
    return digest.hexdigest()


def _chunks(content: IO[bytes]) -> Iterator[bytes]:
    while chunk := content.read(_CHUNK_BYTES):
        yield chunk


@contextlib.contextmanager
def _faults_named(source: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        where = error.filename or source
        raise InvalidBackup([f"{where} cannot be used: {error.strerror}."]) from error

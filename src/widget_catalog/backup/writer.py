"""Creates backups: a copy of the database, then the bundles it refers to.

Bundles are stored before the version that needs them, and never change. So everything a copy of the
database refers to can be copied afterwards.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..core import clock, release
from ..core.data_folder import DataFolder, sync
from ..core.db.migrate import check_upgradable
from ..core.errors import BackupFailed
from ..core.files.contract import Bundles
from ..core.progress import Bar, no_bar
from . import layout
from .bundle_pool import BundlePool, read_bundle
from .database_copy import (
    StoredName,
    check_copy,
    check_rows,
    copy_database,
    list_stored_names,
)
from .layout import BackupManifest, hash_of, write_file
from .reader import check_backup


class BackupSource(NamedTuple):
    """The catalog to back up."""

    folder: DataFolder
    bundles: Bundles


class BackupResult(NamedTuple):
    """A backup that is complete, verified and durable."""

    path: Path
    manifest: BackupManifest
    bundles_copied: int
    repaired: list[str]
    """Bundles whose copies in the backup had the wrong size, and that were copied again."""


class FolderBackup:
    """A folder of snapshots that share their bundles; only this process writes to it."""

    def __init__(self, folder: Path, catalog: BackupSource, keep: int, bar: Bar = no_bar) -> None:
        self._folder = folder
        self._catalog = catalog
        self._keep = keep
        self._bar = bar
        self._pool = BundlePool(folder, catalog.bundles, bar)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Create the folder if necessary, and remove leftovers of an interrupted backup."""
        _check_outside(self._folder, self._catalog)
        with _errors_named(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            snapshots = self._folder / layout.SNAPSHOTS
            if not snapshots.is_dir() and any(self._folder.iterdir()):
                raise BackupFailed(
                    f"{self._folder} is not empty, and is not a backup folder. Choose another."
                )
            with _folder_lock(self._folder):
                snapshots.mkdir(exist_ok=True)
                (self._folder / layout.BUNDLES).mkdir(exist_ok=True)
                for leftover in (
                    *snapshots.glob(f"{layout.PARTIAL}*"),
                    *self._folder.glob(f"{layout.BUNDLES}/??/{layout.PARTIAL}*"),
                ):
                    _remove(leftover)
                yield

    def add_snapshot(self) -> BackupResult:
        """Copy the current catalog. The last good snapshot is kept until this one is complete."""
        with _errors_named(self._folder):
            known = layout.list_snapshots(self._folder)
            number = 1 + ((layout.number_of(known[-1]) or 0) if known else 0)
            name = layout.snapshot_name(number, clock.iso(clock.now()))
            draft = self._folder / layout.SNAPSHOTS / f"{layout.PARTIAL}{name}"
            draft.mkdir()
            try:
                made = self._fill(draft, name)
                draft.rename(made.path)
                sync(made.path.parent)
            finally:
                if draft.exists():
                    _remove(draft)
            self._forget_old()
        _note_time(self._catalog)
        return made

    def _fill(self, draft: Path, name: str) -> BackupResult:
        copy = draft / layout.DATABASE
        manifest, files = _copy_database(self._catalog, copy, self._bar)
        copied = self._pool.add(files)
        path = f"{layout.SNAPSHOTS}/{name}"
        for file, written in _described(path, manifest, copy, files, copied.missing):
            write_file(draft / file, written)
            if (draft / file).read_bytes() != written:
                raise BackupFailed(f"{draft / file} is not what was written to it.")
        sync(draft)
        return BackupResult(self._folder / path, manifest, copied.new, copied.repaired)

    def _forget_old(self) -> None:
        for name in layout.list_snapshots(self._folder)[: -self._keep]:
            old = self._folder / layout.SNAPSHOTS / name
            # Renamed first, so that a partly removed snapshot is never mistaken for a complete
            # one.
            draft = old.with_name(f"{layout.PARTIAL}{name}")
            old.rename(draft)
            _remove(draft)


def back_up_to_file(target: Path, catalog: BackupSource, bar: Bar = no_bar) -> BackupResult:
    """Write one archive; an existing one is replaced when the new one is verified."""
    _check_outside(target, catalog)
    with _errors_named(target):
        if not target.parent.is_dir():
            raise BackupFailed(f"There is no folder {target.parent}.")
        # A fixed name, so that the next run finds the leftovers of an interrupted one.
        folder = target.with_name(f".{target.name}.partial")
        folder.mkdir(exist_ok=True, mode=0o700)
        with _folder_lock(folder):
            try:
                for leftover in folder.iterdir():
                    _remove(leftover)
                draft = folder / f"backup{layout.ARCHIVE_SUFFIX}"
                manifest = _write_archive(draft, folder, catalog, bar)
                check_backup(draft, bar=bar, scratch=folder)
                draft.replace(target)
                sync(target.parent)
            finally:
                _remove(folder)
    _note_time(catalog)
    return BackupResult(target, manifest, manifest.bundles, [])


def _write_archive(draft: Path, scratch: Path, catalog: BackupSource, bar: Bar) -> BackupManifest:
    copy = scratch / layout.DATABASE
    manifest, files = _copy_database(catalog, copy, bar)
    path = f"{layout.SNAPSHOTS}/{layout.snapshot_name(1, manifest.made_at)}"
    missing = []
    at_s = int(clock.now().timestamp())
    with draft.open("wb") as file, layout.writing_archive(file, at_s) as archive:
        archive.add_file(f"{path}/{layout.DATABASE}", copy)
        with bar("Copying bundles", len(files)) as advance:
            for stored in sorted(files):
                bundle = read_bundle(catalog.bundles, stored)
                if bundle is None:
                    missing.append(stored.path)
                else:
                    archive.add(stored.path, bundle)
                advance(1)
        for name, described in _described(path, manifest, copy, files, missing):
            archive.add(f"{path}/{name}", described)
    sync(draft)
    return manifest


def _copy_database(
    catalog: BackupSource, target: Path, bar: Bar
) -> tuple[BackupManifest, set[StoredName]]:
    """A consistent, verified copy of the database, and the files that belong to it."""
    made_at = clock.iso(clock.now())
    facts = copy_database(catalog.folder.database, target, bar)
    check_upgradable(facts.schema)
    if errors := check_copy(target, facts) or check_rows(target):
        lines = [
            "The database is damaged. No backup was made, and no snapshot was removed.",
            *errors,
            "Run doctor. If it finds the same, restore the last good snapshot.",
        ]
        raise BackupFailed("\n".join(lines))
    manifest = BackupManifest(
        format=layout.FORMAT,
        release=release.VERSION,
        schema=facts.schema,
        made_at=made_at,
        rows=facts.rows,
        database_bytes=target.stat().st_size,
        bundles=0,
        bundle_bytes=0,
        missing=[],
    )
    return manifest, list_stored_names(target)


def _described(
    path: str, manifest: BackupManifest, database: Path, files: set[StoredName], missing: list[str]
) -> list[tuple[str, bytes]]:
    """The manifest of a snapshot, completed with its bundles, and the hashes of all its files."""
    gone = set(missing)
    kept = [it for it in files if it.path not in gone]
    manifest.missing = missing
    manifest.bundles, manifest.bundle_bytes = len(kept), sum(it.size_bytes for it in kept)
    content = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    sums = {it.path: it.sha256_hash for it in kept}
    sums[f"{path}/{layout.DATABASE}"] = hash_of(database)
    sums[f"{path}/{layout.MANIFEST}"] = hashlib.sha256(content).hexdigest()
    return [(layout.MANIFEST, content), (layout.SUMS, layout.encode_sums(sums))]


def _note_time(catalog: BackupSource) -> None:
    """For the operator's pages. Failure to write it does not affect the backup."""
    with contextlib.suppress(OSError):
        (catalog.folder.path / layout.LAST_BACKUP).write_text(clock.iso(clock.now()))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _check_outside(target: Path, catalog: BackupSource) -> None:
    data = catalog.folder.path
    if data.resolve() in (target.resolve(), *target.resolve().parents):
        raise BackupFailed(
            f"{target} is inside the data folder {data}, and would be lost with it. "
            "Choose a place outside, best on another machine."
        )


@contextlib.contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupFailed(f"Another backup is being written to {folder}.") from None
        except OSError:
            pass  # A network file system without locks.
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _errors_named(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BackupFailed(f"{target} cannot be written: {error.strerror}.") from error

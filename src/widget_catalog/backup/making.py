"""Creates backups: the read model, a copy of the database, then the bundles it refers to.

The read model is never ahead of the database: see replica_pool.py. Bundles are stored before the
version that needs them, and never change. So everything a copy of the database refers to can be
copied afterwards.
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
from ..core.data_folder import DataFolder
from ..core.db.migrate import check_upgradable
from ..core.errors import BackupFailed, StoreUnavailable
from ..core.files.contract import Bundles
from ..core.progress import Advance, Bar, no_bar
from .archive import writing_archive
from .bundle_pool import BundlePool, path_of, read_bundle
from .copying import (
    StoredName,
    check_copy,
    check_rows,
    copy_database,
    has_change,
    list_stored_names,
)
from .layout import (
    ARCHIVE_SUFFIX,
    BUNDLES,
    DATABASE,
    FORMAT,
    FORMAT_WITH_REPLICA,
    MANIFEST,
    PARTIAL,
    REPLICA,
    SNAPSHOTS,
    SUMS,
    Manifest,
    ReplicaManifest,
    encode_sums,
    hash_in_name,
    hash_of,
    list_snapshots,
    number_of,
    snapshot_name,
    sync,
    write_file,
)
from .reading import check_backup, describe
from .replica_pool import ReplicaPool, ReplicaSource


class Catalog(NamedTuple):
    """The catalog to back up."""

    folder: Path
    database: Path
    bundles: Bundles
    replica: ReplicaSource | None = None


class Made(NamedTuple):
    """A backup that is complete, verified and durable."""

    path: Path
    manifest: Manifest
    bundles_copied: int
    repaired: list[str]
    """Bundles whose copies in the backup were damaged, and that were copied again."""
    replica_fault: str | None = None
    """Why the read model is not in it, although it should be."""


class FolderBackup:
    """A folder of snapshots that share their bundles; only this process writes to it."""

    def __init__(self, folder: Path, catalog: Catalog, keep: int, bar: Bar = no_bar) -> None:
        self._folder = folder
        self._catalog = catalog
        self._keep = keep
        self._bar = bar
        self._pool = BundlePool(folder, catalog.bundles, bar)
        source = catalog.replica
        self._replicas = None if source is None else ReplicaPool(folder, source, bar)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Create the folder if necessary, and remove leftovers of an interrupted backup."""
        check_outside(self._folder, self._catalog.folder)
        with _faults_named(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            snapshots = self._folder / SNAPSHOTS
            if not snapshots.is_dir() and any(self._folder.iterdir()):
                raise BackupFailed(
                    f"{self._folder} is not empty, and is not a backup folder. Choose another."
                )
            with _folder_lock(self._folder):
                snapshots.mkdir(exist_ok=True)
                (self._folder / BUNDLES).mkdir(exist_ok=True)
                for leftover in (
                    *snapshots.glob(f"{PARTIAL}*"),
                    *self._folder.glob(f"{BUNDLES}/??/{PARTIAL}*"),
                    *self._folder.glob(f"{REPLICA}/{PARTIAL}*"),
                ):
                    _remove(leftover)
                yield

    def add_snapshot(self, *, is_thorough: bool = True) -> Made:
        """Copy the current catalog. The last good snapshot is kept until this one is complete."""
        with _faults_named(self._folder):
            name = self._next_name()
            draft = self._folder / SNAPSHOTS / f"{PARTIAL}{name}"
            draft.mkdir()
            try:
                made = self._fill(draft, name, is_thorough=is_thorough)
                draft.rename(made.path)
                sync(made.path.parent)
            finally:
                if draft.exists():
                    _remove(draft)
            self._forget_old()
        _note_time(self._catalog)
        return made

    def is_alive(self) -> None:
        """Record that nothing has changed since the last snapshot, in the folder's modification
        time.
        """
        with _faults_named(self._folder):
            os.utime(self._folder / SNAPSHOTS)
        _note_time(self._catalog)

    def _next_name(self) -> str:
        known = list_snapshots(self._folder)
        number = (number_of(known[-1]) or 0) if known else 0
        return snapshot_name(number + 1, clock.iso(clock.now()))

    def _fill(self, draft: Path, name: str, *, is_thorough: bool) -> Made:
        replica = _copy_replica(self._replicas, self._last_replica(), is_thorough=is_thorough)
        manifest, files = _copy_database(
            self._catalog, draft / DATABASE, self._bar, is_thorough=is_thorough
        )
        _note_replica(manifest, replica.manifest, draft / DATABASE)
        copied = self._pool.add(files, number_of(name) or 0, is_thorough=is_thorough)
        manifest.missing += copied.missing
        _count(manifest, files)
        path = f"{SNAPSHOTS}/{name}"
        for file, written in _described(path, manifest, draft / DATABASE, files):
            write_file(draft / file, written)
            if (draft / file).read_bytes() != written:
                raise BackupFailed(f"{draft / file} is not what was written to it.")
        sync(draft)
        return Made(self._folder / path, manifest, copied.new, copied.repaired, replica.fault)

    def _last_replica(self) -> ReplicaManifest | None:
        for manifest in reversed(describe(self._folder).values()):
            if isinstance(manifest, Manifest):
                return manifest.replica or None
        return None

    def _forget_old(self) -> None:
        for name in list_snapshots(self._folder)[: -self._keep]:
            old = self._folder / SNAPSHOTS / name
            # Renamed first, so that a partly removed snapshot is never mistaken for a complete
            # one.
            draft = old.with_name(f"{PARTIAL}{name}")
            old.rename(draft)
            _remove(draft)
        kept = describe(self._folder).values()
        if self._replicas is not None and all(isinstance(it, Manifest) for it in kept):
            self._replicas.keep_only([it for it in kept if isinstance(it, Manifest)])


def back_up_to_file(target: Path, catalog: Catalog, bar: Bar = no_bar) -> Made:
    """Write one archive; an existing one is replaced when the new one is verified."""
    check_outside(target, catalog.folder)
    with _faults_named(target):
        if not target.parent.is_dir():
            raise BackupFailed(f"There is no folder {target.parent}.")
        # A fixed name, so that the next run finds the leftovers of an interrupted one.
        folder = target.with_name(f".{target.name}.partial")
        folder.mkdir(exist_ok=True, mode=0o700)
        with _folder_lock(folder):
            try:
                for leftover in folder.iterdir():
                    _remove(leftover)
                draft = folder / f"backup{ARCHIVE_SUFFIX}"
                manifest, fault = _write_archive(draft, folder, catalog, bar)
                check_backup(draft, bar=bar, scratch=folder)
                draft.replace(target)
                sync(target.parent)
            finally:
                _remove(folder)
    _note_time(catalog)
    return Made(target, manifest, manifest.bundles, [], fault)


def _note_time(catalog: Catalog) -> None:
    """For the operator's pages. Failure to write it does not affect the backup."""
    with contextlib.suppress(OSError):
        DataFolder(catalog.folder).last_backup.write_text(clock.iso(clock.now()))


def _write_archive(
    draft: Path, scratch: Path, catalog: Catalog, bar: Bar
) -> tuple[Manifest, str | None]:
    """Also returns why the read model is not included, if it should be."""
    copy = scratch / DATABASE
    pool = None if catalog.replica is None else ReplicaPool(scratch, catalog.replica, bar)
    replica = _copy_replica(pool, None, is_thorough=True)
    manifest, files = _copy_database(catalog, copy, bar, is_thorough=True)
    _note_replica(manifest, replica.manifest, copy)
    path = f"{SNAPSHOTS}/{snapshot_name(1, manifest.made_at)}"
    at_s = int(clock.now().timestamp())
    with draft.open("wb") as file, writing_archive(file, at_s) as archive:
        archive.add_file(f"{path}/{DATABASE}", copy)
        for it in manifest.replica.files if manifest.replica else ():
            archive.add_file(it, scratch / it)
        with bar("Copying bundles", len(files)) as advance:
            for stored in sorted(files):
                bundle = read_bundle(catalog.bundles, stored)
                if bundle is None:
                    manifest.missing.append(path_of(stored))
                else:
                    archive.add(path_of(stored), bundle)
                advance(1)
        _count(manifest, files)
        for name, described in _described(path, manifest, copy, files):
            archive.add(f"{path}/{name}", described)
    sync(draft)
    return manifest, replica.fault


class _CopiedReplica(NamedTuple):
    manifest: ReplicaManifest | None = None
    fault: str | None = None


def _copy_replica(
    pool: ReplicaPool | None, last: ReplicaManifest | None, *, is_thorough: bool
) -> _CopiedReplica:
    """It can be rebuilt, so errors do not stop the backup."""
    if pool is None:
        return _CopiedReplica()
    try:
        return _CopiedReplica(pool.add(last, is_thorough=is_thorough))
    except StoreUnavailable as fault:
        return _CopiedReplica(fault=fault.message)


def _note_replica(manifest: Manifest, copied: ReplicaManifest | None, database: Path) -> None:
    """It belongs to the snapshot if it was built from this database."""
    if copied is not None and has_change(database, copied.applied):
        manifest.replica = copied
        manifest.format = FORMAT_WITH_REPLICA


def _copy_database(
    catalog: Catalog, target: Path, bar: Bar, *, is_thorough: bool
) -> tuple[Manifest, set[StoredName]]:
    """A consistent, verified copy of the database, and the files that belong to it."""
    made_at = clock.iso(clock.now())
    with contextlib.ExitStack() as stack:
        advance: Advance | None = None
        shown = 0

        def progress(done: int, total: int) -> None:
            nonlocal advance, shown
            if advance is None:
                advance = stack.enter_context(bar("Copying the database", total))
            advance(done - shown)
            shown = done

        facts = copy_database(catalog.database, target, progress)
    check_upgradable(facts.schema)
    if faults := check_copy(target, facts, is_thorough=is_thorough) or check_rows(target):
        raise BackupFailed(
            "\n".join(
                [
                    "The database is damaged. No backup was made, and no snapshot was removed.",
                    *faults,
                    "Run doctor. If it finds the same, restore the last good snapshot.",
                ]
            )
        )
    manifest = Manifest(
        format=FORMAT,
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


def _count(manifest: Manifest, files: set[StoredName]) -> None:
    missing = set(manifest.missing)
    kept = [it for it in files if path_of(it) not in missing]
    manifest.bundles, manifest.bundle_bytes = len(kept), sum(it.size_bytes for it in kept)


def _described(
    path: str, manifest: Manifest, database: Path, files: set[StoredName]
) -> list[tuple[str, bytes]]:
    """The manifest of a snapshot, and the hashes of all its files."""
    content = msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"
    sums = {path_of(it): it.sha256_hash for it in files}
    for missing in manifest.missing:
        del sums[missing]
    if manifest.replica:
        sums |= {it: hash_in_name(it) for it in manifest.replica.files}
    sums[f"{path}/{DATABASE}"] = hash_of(database)
    sums[f"{path}/{MANIFEST}"] = hashlib.sha256(content).hexdigest()
    return [(MANIFEST, content), (SUMS, encode_sums(sums))]


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def check_outside(target: Path, data: Path) -> None:
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
def _faults_named(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BackupFailed(f"{target} cannot be written: {error.strerror}.") from error

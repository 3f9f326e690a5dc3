"""The bundles of a backup folder, shared by all its snapshots.

Disks fail. So each run compares the size of every bundle, and hashes a different part of them.
Damaged bundles are copied again.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..core.data_folder import sync
from ..core.errors import BackupFailed, BundleNotFound
from ..core.files.contract import Bundles
from ..core.files.verified import map_parallel, read_verified
from ..core.progress import Bar
from .database_copy import StoredName
from .layout import BUNDLES, PARTIAL, hash_of, write_file

# Number of snapshots after which every bundle has been read again: nightly, and continuous.
_PARTS, _PARTS_IN_HASTE = 8, 256
_DAMAGED = ".damaged"


class Copied(NamedTuple):
    """The result of a run: new bundles, those copied again, and those that are lost."""

    new: int
    repaired: list[str]
    missing: list[str]


class BundlePool:
    """Only one process at a time writes to it."""

    def __init__(self, folder: Path, bundles: Bundles, bar: Bar) -> None:
        self._folder = folder
        self._bundles = bundles
        self._bar = bar
        self._sizes: dict[str, int] | None = None

    def add(self, files: Iterable[StoredName], number: int, *, is_thorough: bool) -> Copied:
        """Copy missing or damaged bundles. `number` selects which part is hashed."""
        if is_thorough or self._sizes is None:
            self._sizes = _list_sizes(self._folder)
        sizes, needed = self._sizes, sorted(files)
        here = [it for it in needed if it.path in sizes]
        wrong_size = {it for it in here if sizes[it.path] != it.size_bytes}
        parts = _PARTS if is_thorough else _PARTS_IN_HASTE
        hashed = [it for it in here if int(it.sha256_hash[:2], 16) % parts == number % parts]
        damaged = wrong_size | self._find_damaged(hashed)
        for it in damaged:
            del sizes[it.path]
        wanted = [it for it in needed if it.path not in sizes]
        missing = self._copy(wanted, sizes)
        for it in damaged & missing:
            # Renamed, so that the next run does not consider it intact, but it is still there for
            # recovery.
            path = self._folder / it.path
            path.replace(path.with_name(f"{path.name}{_DAMAGED}"))
        return Copied(
            new=len(set(wanted) - damaged - missing),
            repaired=[it.path for it in sorted(damaged - missing)],
            missing=[it.path for it in wanted if it in missing],
        )

    def _find_damaged(self, files: list[StoredName]) -> set[StoredName]:
        found = set()
        with self._bar("Checking bundles", len(files)) as advance:
            for file, is_whole in zip(files, map_parallel(self._is_whole, files), strict=True):
                if not is_whole:
                    found.add(file)
                advance(1)
        return found

    def _is_whole(self, file: StoredName) -> bool:
        try:
            return hash_of(self._folder / file.path) == file.sha256_hash
        except OSError:
            return False

    def _copy(self, files: list[StoredName], sizes: dict[str, int]) -> set[StoredName]:
        """Returns those that are missing from the catalog, or damaged there; adds the others to
        `sizes`.
        """
        missing = set()
        folders = {(self._folder / it.path).parent for it in files}
        for folder in folders:
            folder.mkdir(exist_ok=True)
        with self._bar("Copying bundles", len(files)) as advance:
            for file, is_copied in zip(files, map_parallel(self._copy_one, files), strict=True):
                if is_copied:
                    sizes[file.path] = file.size_bytes
                else:
                    missing.add(file)
                advance(1)
        for folder in (*folders, self._folder / BUNDLES):
            sync(folder)
        return missing

    def _copy_one(self, file: StoredName) -> bool:
        """False if it is missing or damaged. It gets its name when its copy has been verified."""
        content = read_bundle(self._bundles, file)
        if content is None:
            return False
        target = self._folder / file.path
        draft = target.with_name(f"{PARTIAL}{target.name}")
        write_file(draft, content)
        if hash_of(draft) != file.sha256_hash:
            raise BackupFailed(f"{draft} is not what was written to it.")
        draft.replace(target)
        return True


def read_bundle(bundles: Bundles, file: StoredName) -> bytes | None:
    """None if it is missing or damaged."""
    try:
        return read_verified(bundles, file.sha256_hash, file.kind, file.size_bytes)
    except (BundleNotFound, OSError):
        return None


def _list_sizes(folder: Path) -> dict[str, int]:
    sizes = {}
    for parent in os.scandir(folder / BUNDLES):
        if parent.is_dir():
            for it in os.scandir(parent):
                sizes[f"{BUNDLES}/{parent.name}/{it.name}"] = it.stat().st_size
    return sizes

"""The bundles of a backup folder, shared by all its snapshots.

Disks fail. So each run compares the size of every bundle, and hashes a different part of them.
Damaged bundles are copied again.
"""

import hashlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ..core.errors import BackupFailed, BundleNotFound
from ..core.files.contract import Bundles, Kind
from ..core.progress import Bar
from .copying import StoredName
from .layout import BUNDLES, PARTIAL, bundle_path, hash_of, sync, write_file

# Each thread mostly waits for the disk.
_AT_ONCE = 4
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
        self._sizes: dict[str, int] = {}
        self._is_listed = False

    def add(self, files: Iterable[StoredName], number: int, *, is_thorough: bool) -> Copied:
        """Copy missing or damaged bundles. `number` selects which part is hashed."""
        if is_thorough or not self._is_listed:
            self._sizes = _list_sizes(self._folder)
            self._is_listed = True
        needed = sorted(files)
        damaged = self._find_damaged(needed, number, _PARTS if is_thorough else _PARTS_IN_HASTE)
        for it in damaged:
            del self._sizes[path_of(it)]
        wanted = [it for it in needed if path_of(it) not in self._sizes]
        missing = self._copy(wanted)
        for it in damaged:
            if it in missing:
                # Renamed, so that the next run does not consider it intact, but it is still there
                # for recovery.
                place = self._folder / path_of(it)
                place.replace(place.with_name(f"{place.name}{_DAMAGED}"))
        return Copied(
            new=len(set(wanted) - set(damaged) - missing),
            repaired=[path_of(it) for it in damaged if it not in missing],
            missing=[path_of(it) for it in wanted if it in missing],
        )

    def _find_damaged(self, files: list[StoredName], number: int, parts: int) -> list[StoredName]:
        here = [it for it in files if path_of(it) in self._sizes]
        hashed = [it for it in here if int(it.sha256_hash[:2], 16) % parts == number % parts]
        with (
            self._bar("Checking bundles", len(hashed)) as advance,
            ThreadPoolExecutor(_AT_ONCE) as threads,
        ):
            found = {it for it in here if self._sizes[path_of(it)] != it.size_bytes}
            for it, is_whole in zip(hashed, threads.map(self._is_whole, hashed), strict=True):
                if not is_whole:
                    found.add(it)
                advance(1)
        return sorted(found)

    def _is_whole(self, file: StoredName) -> bool:
        try:
            return hash_of(self._folder / path_of(file)) == file.sha256_hash
        except OSError:
            return False

    def _copy(self, files: list[StoredName]) -> set[StoredName]:
        """Returns those that are missing from the catalog, or damaged there."""
        missing = set()
        folders = {(self._folder / path_of(it)).parent for it in files}
        for folder in folders:
            folder.mkdir(exist_ok=True)
        with (
            self._bar("Copying bundles", len(files)) as advance,
            ThreadPoolExecutor(_AT_ONCE) as threads,
        ):
            for file, is_copied in zip(files, threads.map(self._copy_one, files), strict=True):
                if is_copied:
                    self._sizes[path_of(file)] = file.size_bytes
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
        target = self._folder / path_of(file)
        draft = target.with_name(f"{PARTIAL}{target.name}")
        write_file(draft, content)
        if hash_of(draft) != file.sha256_hash:
            raise BackupFailed(f"{draft} is not what was written to it.")
        draft.replace(target)
        return True


def path_of(file: StoredName) -> str:
    return bundle_path(file.sha256_hash, file.kind)


def read_bundle(bundles: Bundles, file: StoredName) -> bytes | None:
    """None if it is missing or damaged."""
    kind: Kind = "css" if file.kind == "css" else "js"
    try:
        with bundles.open(file.sha256_hash, kind) as stream:
            content = stream.read()
    except (BundleNotFound, OSError):
        return None
    is_intact = hashlib.sha256(content).hexdigest() == file.sha256_hash
    return content if is_intact else None


def _list_sizes(folder: Path) -> dict[str, int]:
    sizes = {}
    for parent in os.scandir(folder / BUNDLES):
        if parent.is_dir():
            for it in os.scandir(parent):
                sizes[f"{BUNDLES}/{parent.name}/{it.name}"] = it.stat().st_size
    return sizes

"""The bundles of a backup folder, shared by all its snapshots.

Each run compares the size of every bundle, and copies again what is cut off. `restore --check`
reads them.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..core.data_folder import sync
from ..core.errors import BackupFailed, BundleNotFound
from ..core.files.contract import Bundles
from ..core.files.verified_bundles import read_verified
from ..core.jobs.parallel import map_parallel
from ..core.progress import Bar
from .database_copy import StoredName
from .layout import BUNDLES, PARTIAL, hash_of, write_file

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

    def add(self, files: Iterable[StoredName]) -> Copied:
        """Copy bundles that are not there in their size."""
        sizes, needed = _list_sizes(self._folder), sorted(files)
        wanted = [it for it in needed if sizes.get(it.path) != it.size_bytes]
        damaged = {it for it in wanted if it.path in sizes}
        missing = self._copy(wanted)
        for name in damaged & missing:
            # Renamed, so that the next run does not consider it intact, but it is still there for
            # recovery.
            path = self._folder / name.path
            path.replace(path.with_name(f"{path.name}{_DAMAGED}"))
        return Copied(
            new=len(set(wanted) - damaged - missing),
            repaired=[it.path for it in sorted(damaged - missing)],
            missing=[it.path for it in wanted if it in missing],
        )

    def _copy(self, files: list[StoredName]) -> set[StoredName]:
        """Returns those that are missing from the catalog, or damaged there."""
        missing = set()
        folders = {(self._folder / it.path).parent for it in files}
        for folder in folders:
            folder.mkdir(exist_ok=True)
        with self._bar("Copying bundles", len(files)) as advance:
            for file, is_copied in zip(files, map_parallel(self._copy_one, files), strict=True):
                if not is_copied:
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
            for entry in os.scandir(parent):
                sizes[f"{BUNDLES}/{parent.name}/{entry.name}"] = entry.stat().st_size
    return sizes

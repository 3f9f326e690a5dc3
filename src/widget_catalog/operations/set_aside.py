"""Moves orphaned files aside instead of deleting them.

They go to `aside/` in the data folder, into a timestamped folder, with the same paths as before:
to restore them, move them back.
"""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from widget_contract.errors import CatalogError

from ..catalog.store.files import remove_unused
from ..core.db.engine import Store
from ..core.files.contract import Bundles, FileKey, Stored
from .check_catalog import list_known_files, list_orphans

ASIDE = "aside"
_NAMED_BY = "%Y-%m-%dT%H-%M-%SZ"
# If a smaller share of the stored files is referenced, the database is probably wrong, not the
# files.
_MIN_REFERRED = 0.1


class TooMuch(CatalogError):
    """Nearly all stored files would be moved aside."""


class Orphans(NamedTuple):
    """Files that no version refers to, and their share of all stored files."""

    files: list[Stored]
    size_bytes: int
    stored: int
    referred: int

    @property
    def are_too_many(self) -> bool:
        return self.stored > self.referred and self.referred < self.stored * _MIN_REFERRED


class Aside(NamedTuple):
    """A folder that files were moved into."""

    folder: Path
    files: int
    size_bytes: int


def find_orphans(store: Store, bundles: Bundles, suspects: set[str]) -> Orphans:
    """Those of the suspects that are still orphans."""
    with store.reading() as connection:
        known = list_known_files(connection)
    return _measured(bundles, list_orphans(bundles, known), suspects)


def set_aside(
    store: Store,
    bundles: Bundles,
    data: Path,
    suspects: set[str],
    *,
    is_forced: bool = False,
) -> Aside:
    """Move the suspects that are still orphans; raises TooMuch if nearly everything would be
    moved. Nobody waits meanwhile.
    """
    now = datetime.fromtimestamp(store.now_ms() / 1000, UTC)
    folder = data / ASIDE / now.strftime(_NAMED_BY)
    orphans = find_orphans(store, bundles, suspects)
    if orphans.are_too_many and not is_forced:
        raise TooMuch(
            f"Only {orphans.referred:,} of {orphans.stored:,} stored files are referred to by "
            "a version, so the database is more likely wrong than the files: it may be an old "
            "one, or of another catalog. Nothing was moved. To move "
            f"{len(orphans.files):,} files aside all the same, add --force."
        )
    moved: list[Stored] = []

    def move(it: Stored) -> None:
        bundles.set_aside(it, folder)
        moved.append(it)

    named: dict[FileKey, Stored] = {}
    for it in orphans.files:
        if it.sha256_hash is None:
            move(it)  # A leftover of an interrupted write: no version can refer to it.
        else:
            named[it.sha256_hash, it.kind] = it
    remove_unused(store, bundles, named, lambda key: move(named[key]))
    return Aside(folder, len(moved), sum(it.size_bytes for it in moved))


def list_aside(data: Path, older_than: timedelta, now: datetime) -> Iterator[Aside]:
    """Folders that were moved aside that long ago, according to their names."""
    for folder in sorted((data / ASIDE).glob("*")):
        try:
            moved_at = datetime.strptime(folder.name, _NAMED_BY).replace(tzinfo=UTC)
        except ValueError:
            continue  # Not created by this command.
        if now - moved_at >= older_than:
            files = [it for it in folder.rglob("*") if it.is_file()]
            yield Aside(folder, len(files), sum(it.stat().st_size for it in files))


def delete_aside(aside: Aside) -> None:
    shutil.rmtree(aside.folder)


def _measured(bundles: Bundles, orphans: list[Stored], suspects: set[str]) -> Orphans:
    """By path: `suspects` were found before."""
    stored = {it.place for it in bundles.list_stored()}
    files = sorted((it for it in orphans if it.place in suspects), key=lambda it: it.place)
    size_bytes = sum(it.size_bytes for it in files)
    return Orphans(files, size_bytes, len(stored), len(stored - {it.place for it in orphans}))

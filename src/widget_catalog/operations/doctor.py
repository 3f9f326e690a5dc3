"""Doctor: checks a data folder, repairs what can be rebuilt, and moves orphaned files aside.

Those go to `aside/` in the data folder, into a timestamped folder, with the same paths as before:
to restore them, move them back.
"""

import contextlib
import re
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from widget_contract.errors import CatalogError
from widget_contract.version_files import PICTURE_KINDS

from ..catalog.replica.comparison import check_replica
from ..catalog.replica.replica import Replica
from ..catalog.store.files import list_stored_files, remove_unused, withdraw_files
from ..catalog.store.rows import StoredFile
from ..catalog.store.widgets import count_widgets
from ..core.db.damage import check_integrity, discard_other_pages
from ..core.db.engine import Snapshot, Store
from ..core.errors import DataDamaged, StoreUnavailable
from ..core.files.contract import Bundles, FileKey, Kind, Stored
from ..core.files.hashing import Hashed, hash_stream
from ..core.files.verified_bundles import note_damaged
from ..core.jobs.parallel import map_parallel
from ..core.progress import Advance, Bar, no_bar
from ..publishing.store import list_awaited_files

# Publishing and imports store a file before its version is committed.
_YOUNG_S = 15 * 60


class Findings(msgspec.Struct):
    """The result of a check: errors, warnings, and repairs."""

    widgets: int = 0
    bundles: int = 0
    errors: list[str] = msgspec.field(default_factory=list)
    orphans: list[str] = msgspec.field(default_factory=list)
    mended: list[str] = msgspec.field(default_factory=list)
    counts_mended: int = 0
    is_store_intact: bool = True

    @property
    def is_healthy(self) -> bool:
        return not (self.errors or self.orphans or self.mended or self.counts_mended)


def check_catalog(store: Store, bundles: Bundles, replica: Replica, bar: Bar = no_bar) -> Findings:
    """Continues after damaged rows, to name all of them; then no orphans are reported."""
    with store.reading() as connection:
        widgets = count_widgets(connection)
    with bar("Checking widgets", widgets) as progress:
        findings = check_database(store, replica, progress)
    if findings.is_store_intact:
        with _damage_noted(findings):
            withdraw_files(store, bundles)
    _check_bundles(store, bundles, findings, bar)
    if findings.is_store_intact:  # Otherwise a damaged row may be the one that refers to a file.
        with _damage_noted(findings):
            with store.reading() as connection:
                known = list_known_files(connection)
            findings.orphans += [it.place for it in list_orphans(bundles, known)]
    return findings


def check_database(store: Store, replica: Replica, progress: Advance = lambda _: None) -> Findings:
    """Check the database, and compare the replica with it, which is repaired if it differs."""
    findings = Findings()
    with store.reading() as connection:
        broken = check_integrity(connection)
    findings.errors += broken.truth
    if broken.truth:  # Nothing may be derived from damaged tables.
        findings.is_store_intact = False
        return findings
    database = store.engine.url.database
    if broken.elsewhere and database is not None:
        store.close()  # Its connections cache the schema, which is about to change.
        discard_other_pages(Path(database))
        findings.mended.append("unused pages of the database were damaged.")
    found = check_replica(store, replica, progress)
    findings.errors += found.damaged
    findings.is_store_intact = not found.damaged
    findings.mended += found.mended
    findings.counts_mended = found.counts
    return findings


def _check_bundles(store: Store, bundles: Bundles, findings: Findings, bar: Bar) -> None:
    """Reading all bundles may take hours: no transaction is open meanwhile."""
    files: set[FileKey] = set()
    with _damage_noted(findings), store.reading() as connection:
        findings.widgets = count_widgets(connection)
        # A row with anything else as its hash is damaged, and already reported.
        files.update(it.key for it in list_stored_files(connection) if _is_hash(it.sha256_hash))
    findings.bundles = len(files)
    measured = {}
    with bar("Checking bundles", len(files)) as progress:
        for key, found in map_parallel(partial(_measure, bundles), sorted(files)):
            measured[key] = found
            progress(1)
    errors = []
    with _damage_noted(findings), store.reading() as connection:
        for file in list_stored_files(connection):
            key = file.key
            # Files that were stored meanwhile have not been read.
            if key in measured and (error := _error(file, measured[key])):
                note_damaged(bundles, *key)
                errors.append(f"{file.scope}/{file.name} {file.version}: {error}")
    findings.errors += sorted(errors)


@contextlib.contextmanager
def _damage_noted(findings: Findings) -> Iterator[None]:
    """The check continues after this block."""
    try:
        yield
    except DataDamaged as error:
        findings.is_store_intact = False
        if error.message not in findings.errors:
            findings.errors.append(error.message)


class KnownFiles(NamedTuple):
    """The files that versions and requests refer to, as of this time."""

    keys: set[FileKey]
    at_s: float


def list_known_files(connection: Snapshot) -> KnownFiles:
    at_s = time.time()
    # Those of requests may still be confirmed; they are removed with their requests.
    known = {it.key for it in list_stored_files(connection)} | list_awaited_files(connection)
    return KnownFiles(known, at_s)


def list_orphans(bundles: Bundles, known: KnownFiles) -> list[Stored]:
    """Bundles that no version refers to, and leftovers of interrupted writes.

    A recent file is not an orphan: its version may have been committed since.
    """
    unknown = [it for it in bundles.list_stored() if (it.sha256_hash, it.kind) not in known.keys]
    before = known.at_s - _YOUNG_S
    return [it for it in (*unknown, *bundles.list_leftovers()) if it.stored_at < before]


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _measure(bundles: Bundles, key: FileKey) -> tuple[FileKey, Hashed | None]:
    """The hash and size of a stored file; None if it is missing or cannot be read."""
    try:
        with bundles.open(*key) as content:
            return key, hash_stream(content)
    except StoreUnavailable:
        raise  # An unreachable store, or a full disk here, says nothing about the file.
    except (CatalogError, OSError):
        return key, None


def _error(file: StoredFile, found: Hashed | None) -> str | None:
    what = _WHAT[file.kind]
    if found is None:
        return f"its {what} is missing or cannot be read."
    if found != (file.sha256_hash, file.size_bytes):
        return f"its {what} is damaged (its hash is {found[0]})."
    return None


_WHAT: dict[Kind, str] = {
    "js": "bundle",
    "css": "style sheet",
    "md": "README",
    **dict.fromkeys(PICTURE_KINDS, "picture"),
}
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


def quarantine(
    store: Store, bundles: Bundles, data: Path, suspects: set[str], *, is_forced: bool = False
) -> Aside:
    """Move suspects that are still orphans; raises TooMuch if that is nearly everything."""
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

    def move(stored: Stored) -> None:
        bundles.quarantine(stored, folder)
        moved.append(stored)

    named: dict[FileKey, Stored] = {}
    for file in orphans.files:
        if file.sha256_hash is None:
            move(file)  # A leftover of an interrupted write: no version can refer to it.
        else:
            named[file.sha256_hash, file.kind] = file
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

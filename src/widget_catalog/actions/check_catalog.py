"""Doctor: is everything in a data folder as it should be? Mends what can be made anew."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from widget_contract.errors import CatalogError

from ..bundles.local import LocalBundles, hash_file
from ..domain.errors import DataDamaged
from ..reading.checking import check_read_model
from ..reading.document_tables import TABLES
from ..reading.projection import Projection
from ..store.engine import Snapshot, Store
from ..store.integrity import check_integrity, discard_tables
from ..store.publishing import list_requests
from ..store.rows import StoredFile
from ..store.widgets import count_widgets, list_stored_files

Progress = Callable[[int], None]

# A publish or an import puts a file in place before its version is committed.
_YOUNG_S = 15 * 60


class Findings(msgspec.Struct):
    """What was looked at, what is wrong, what was only untidy, and what was mended."""

    widgets: int = 0
    bundles: int = 0
    faults: list[str] = msgspec.field(default_factory=list)
    orphans: list[str] = msgspec.field(default_factory=list)
    mended: list[str] = msgspec.field(default_factory=list)
    counts_mended: int = 0
    is_truth_sound: bool = True

    @property
    def is_healthy(self) -> bool:
        return not (self.faults or self.orphans or self.mended or self.counts_mended)


def check_catalog(
    store: Store, bundles: LocalBundles, projection: Projection, progress: Progress = lambda _: None
) -> Findings:
    """Goes on where rows are damaged, to name all that is; then no file is called an orphan."""
    findings = check_database(store, projection, progress)
    try:
        _check_bundles(store, bundles, findings)
    except DataDamaged as fault:
        findings.is_truth_sound = False
        if fault.message not in findings.faults:
            findings.faults.append(fault.message)
    return findings


def check_database(
    store: Store, projection: Projection, progress: Progress = lambda _: None
) -> Findings:
    """The database alone. The read model is mended if it is only that which is damaged."""
    findings = Findings()
    with store.reading() as connection:
        broken = check_integrity(connection)
    findings.faults += broken.truth
    if broken.truth:  # Nothing is made from a truth that is none.
        findings.is_truth_sound = False
        return findings
    database = store.engine.url.database
    if broken.read_model and database is not None:
        store.close()  # Its connections know the tables that are about to go.
        discard_read_model(Path(database))
        findings.mended.append("the whole read model was damaged, and was made anew.")
    found = check_read_model(store, projection, progress)
    findings.faults += found.damaged
    findings.is_truth_sound = not found.damaged
    findings.mended += found.mended
    findings.counts_mended = found.counts
    return findings


def discard_read_model(database: Path) -> None:
    """Remove it, however damaged it is; it is made anew before anything reads it."""
    discard_tables(database, TABLES)


def _check_bundles(store: Store, bundles: LocalBundles, findings: Findings) -> None:
    with store.reading() as connection:
        findings.widgets = count_widgets(connection)
        known: set[Path] = set()
        for file in list_stored_files(connection):
            if not _is_hash(file.sha256_hash):
                continue  # A damaged row, which has been named.
            path = _path_of(bundles, file)
            if path not in known:
                known.add(path)
                findings.bundles += 1
            fault = _fault(path, file)
            if fault is not None:
                findings.faults.append(f"{file.scope}/{file.name} {file.version}: {fault}")
    if not findings.is_truth_sound:
        return  # A damaged row may have been what refers to a file.
    with store.reading() as connection:  # Afresh: to hash all that took a while.
        findings.orphans += map(str, list_orphans(bundles, connection))


def list_orphans(bundles: LocalBundles, connection: Snapshot) -> list[Path]:
    """Bundles that no version refers to, and what an interrupted write left behind.

    A file that was put in place just now is none: its version may be committed in a moment.
    """
    known = {_path_of(bundles, file) for file in list_stored_files(connection)}
    known |= _awaited(bundles, connection)
    unknown = [path for path in bundles.list_files() if path not in known]
    before = time.time() - _YOUNG_S
    return [path for path in (*unknown, *bundles.list_leftovers()) if _is_older(path, before)]


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _is_older(path: Path, before: float) -> bool:
    try:
        return path.stat().st_mtime < before
    except FileNotFoundError:
        return False


def _path_of(bundles: LocalBundles, file: StoredFile) -> Path:
    return bundles.path_of(file.sha256_hash, "css" if file.kind == "css" else "js")


def _awaited(bundles: LocalBundles, connection: Snapshot) -> set[Path]:
    """Files of versions that may still be confirmed; who forgets them removes them, too."""
    files = set()
    for request in list_requests(connection):
        files.add(bundles.path_of(request.sha256_hash))
        if request.css_sha256_hash is not None:
            files.add(bundles.path_of(request.css_sha256_hash, "css"))
    return files


def _fault(path: Path, file: StoredFile) -> str | None:
    what = "style sheet" if file.kind == "css" else "bundle"
    try:
        found_hash, found_size = hash_file(path)
    except CatalogError:
        return f"its {what} is missing or cannot be read."
    if (found_hash, found_size) != (file.sha256_hash, file.size_bytes):
        return f"its {what} is damaged (its hash is {found_hash})."
    return None

"""Doctor: checks a data folder, and repairs what can be rebuilt."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from widget_contract.errors import CatalogError

from ..bundles.contract import Bundles, Kind, Stored
from ..bundles.hashing import hash_stream
from ..domain.errors import BundlesDown, DataDamaged
from ..replica.comparison import check_replica
from ..replica.replica import Replica
from ..store.engine import Snapshot, Store
from ..store.integrity import check_integrity, discard_other_pages
from ..store.publishing import list_requests
from ..store.rows import StoredFile
from ..store.widgets import count_widgets, list_stored_files
from .revoke_version import withdraw_files

Progress = Callable[[int], None]

# Publishing and imports store a file before its version is committed.
_YOUNG_S = 15 * 60


class Findings(msgspec.Struct):
    """The result of a check: errors, warnings, and repairs."""

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
    store: Store, bundles: Bundles, replica: Replica, progress: Progress = lambda _: None
) -> Findings:
    """Continues after damaged rows, to name all of them; then no orphans are reported."""
    findings = check_database(store, replica, progress)
    try:
        if findings.is_truth_sound:
            withdraw_files(store, bundles)
        _check_bundles(store, bundles, findings)
    except DataDamaged as fault:
        findings.is_truth_sound = False
        if fault.message not in findings.faults:
            findings.faults.append(fault.message)
    return findings


def check_database(store: Store, replica: Replica, progress: Progress = lambda _: None) -> Findings:
    """Check the database, and compare the replica with it; the replica is repaired if
    it differs.
    """
    findings = Findings()
    with store.reading() as connection:
        broken = check_integrity(connection)
    findings.faults += broken.truth
    if broken.truth:  # Nothing may be derived from damaged tables.
        findings.is_truth_sound = False
        return findings
    database = store.engine.url.database
    if broken.elsewhere and database is not None:
        store.close()  # Its connections cache the schema, which is about to change.
        discard_other_pages(Path(database))
        findings.mended.append("unused pages of the database were damaged.")
    found = check_replica(store, replica, progress)
    findings.faults += found.damaged
    findings.is_truth_sound = not found.damaged
    findings.mended += found.mended
    findings.counts_mended = found.counts
    return findings


def _check_bundles(store: Store, bundles: Bundles, findings: Findings) -> None:
    with store.reading() as connection:
        findings.widgets = count_widgets(connection)
        known: set[tuple[str, Kind]] = set()
        for file in list_stored_files(connection):
            if not _is_hash(file.sha256_hash):
                continue  # A damaged row, already reported.
            if _key(file) not in known:
                known.add(_key(file))
                findings.bundles += 1
            fault = _fault(bundles, file)
            if fault is not None:
                findings.faults.append(f"{file.scope}/{file.name} {file.version}: {fault}")
    if not findings.is_truth_sound:
        return  # A damaged row may be the one that refers to a file.
    with store.reading() as connection:  # A new snapshot, because hashing took a while.
        findings.orphans += [it.place for it in list_orphans(bundles, connection)]


def list_orphans(bundles: Bundles, connection: Snapshot) -> list[Stored]:
    """Bundles that no version refers to, and leftovers of interrupted writes.

    A recent file is not an orphan: its version may be committed in a moment.
    """
    known = {_key(file) for file in list_stored_files(connection)}
    known |= _awaited(connection)
    unknown = [it for it in bundles.list_stored() if (it.sha256_hash, it.kind) not in known]
    before = time.time() - _YOUNG_S
    return [it for it in (*unknown, *bundles.list_leftovers()) if it.stored_at < before]


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _key(file: StoredFile) -> tuple[str, Kind]:
    return (file.sha256_hash, "css" if file.kind == "css" else "js")


def _awaited(connection: Snapshot) -> set[tuple[str, Kind]]:
    """Files of requests that may still be confirmed. They are removed with their requests."""
    files: set[tuple[str, Kind]] = set()
    for request in list_requests(connection):
        files.add((request.sha256_hash, "js"))
        if request.css_sha256_hash is not None:
            files.add((request.css_sha256_hash, "css"))
    return files


def _fault(bundles: Bundles, file: StoredFile) -> str | None:
    what = "style sheet" if file.kind == "css" else "bundle"
    try:
        with bundles.open(*_key(file)) as content:
            found_hash, found_size = hash_stream(content)
    except BundlesDown:
        raise  # An unreachable store says nothing about the file.
    except (CatalogError, OSError):
        return f"its {what} is missing or cannot be read."
    if (found_hash, found_size) != (file.sha256_hash, file.size_bytes):
        return f"its {what} is damaged (its hash is {found_hash})."
    return None

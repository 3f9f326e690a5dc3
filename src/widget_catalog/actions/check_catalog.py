"""Doctor: checks a data folder, and repairs what can be rebuilt."""

import re
import time
from functools import partial
from pathlib import Path

import msgspec

from widget_contract.errors import CatalogError

from ..bundles.contract import Bundles, Kind, Stored
from ..bundles.hashing import Hashed, hash_stream
from ..bundles.parallel import map_parallel
from ..domain.errors import BundlesDown, DataDamaged
from ..replica.comparison import check_replica
from ..replica.replica import Replica
from ..store.engine import Snapshot, Store
from ..store.integrity import check_integrity, discard_other_pages
from ..store.publishing import list_requests
from ..store.rows import StoredFile
from ..store.widgets import count_widgets, list_stored_files
from .bars import Advance, Bar, no_bar
from .revoke_version import withdraw_files

_FileKey = tuple[str, Kind]

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
    is_store_intact: bool = True

    @property
    def is_healthy(self) -> bool:
        return not (self.faults or self.orphans or self.mended or self.counts_mended)


def check_catalog(store: Store, bundles: Bundles, replica: Replica, bar: Bar = no_bar) -> Findings:
    """Continues after damaged rows, to name all of them; then no orphans are reported."""
    with store.reading() as connection:
        widgets = count_widgets(connection)
    with bar("Checking widgets", widgets) as progress:
        findings = check_database(store, replica, progress)
    try:
        if findings.is_store_intact:
            withdraw_files(store, bundles)
        _check_bundles(store, bundles, findings, bar)
    except DataDamaged as fault:
        findings.is_store_intact = False
        if fault.message not in findings.faults:
            findings.faults.append(fault.message)
    return findings


def check_database(store: Store, replica: Replica, progress: Advance = lambda _: None) -> Findings:
    """Check the database, and compare the replica with it; the replica is repaired if
    it differs.
    """
    findings = Findings()
    with store.reading() as connection:
        broken = check_integrity(connection)
    findings.faults += broken.truth
    if broken.truth:  # Nothing may be derived from damaged tables.
        findings.is_store_intact = False
        return findings
    database = store.engine.url.database
    if broken.elsewhere and database is not None:
        store.close()  # Its connections cache the schema, which is about to change.
        discard_other_pages(Path(database))
        findings.mended.append("unused pages of the database were damaged.")
    found = check_replica(store, replica, progress)
    findings.faults += found.damaged
    findings.is_store_intact = not found.damaged
    findings.mended += found.mended
    findings.counts_mended = found.counts
    return findings


def _check_bundles(store: Store, bundles: Bundles, findings: Findings, bar: Bar) -> None:
    with store.reading() as connection:
        findings.widgets = count_widgets(connection)
        # A row with anything else as its hash is damaged, and already reported.
        files = {_key(it) for it in list_stored_files(connection) if _is_hash(it.sha256_hash)}
        findings.bundles = len(files)
        measured = {}
        with bar("Checking bundles", len(files)) as progress:
            for key, found in map_parallel(partial(_measure, bundles), sorted(files)):
                measured[key] = found
                progress(1)
        faults = [
            f"{it.scope}/{it.name} {it.version}: {fault}"
            for it in list_stored_files(connection)
            if _is_hash(it.sha256_hash) and (fault := _fault(it, measured[_key(it)]))
        ]
    findings.faults += sorted(faults)
    if not findings.is_store_intact:
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


def _key(file: StoredFile) -> _FileKey:
    return (file.sha256_hash, "css" if file.kind == "css" else "js")


def _awaited(connection: Snapshot) -> set[_FileKey]:
    """Files of requests that may still be confirmed. They are removed with their requests."""
    files: set[_FileKey] = set()
    for request in list_requests(connection):
        files.add((request.sha256_hash, "js"))
        if request.css_sha256_hash is not None:
            files.add((request.css_sha256_hash, "css"))
    return files


def _measure(bundles: Bundles, key: _FileKey) -> tuple[_FileKey, Hashed | None]:
    """The hash and size of a stored file; None if it is missing or cannot be read."""
    try:
        with bundles.open(*key) as content:
            return key, hash_stream(content)
    except BundlesDown:
        raise  # An unreachable store says nothing about the file.
    except (CatalogError, OSError):
        return key, None


def _fault(file: StoredFile, found: Hashed | None) -> str | None:
    what = "style sheet" if file.kind == "css" else "bundle"
    if found is None:
        return f"its {what} is missing or cannot be read."
    if found != (file.sha256_hash, file.size_bytes):
        return f"its {what} is damaged (its hash is {found[0]})."
    return None

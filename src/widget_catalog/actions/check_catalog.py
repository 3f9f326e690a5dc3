"""Doctor: is everything in a data folder as it should be? Mends what can be made anew."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from ..bundles.local import LocalBundles, hash_file
from ..domain.errors import CatalogError
from ..reading.projection import Projection
from ..store.engine import Snapshot, Store, check_integrity
from ..store.publishing import list_requests
from ..store.widgets import StoredFile, count_widgets, list_stored_files

Progress = Callable[[int], None]


class Findings(msgspec.Struct):
    """What was looked at, what is wrong, and what was only untidy."""

    widgets: int = 0
    bundles: int = 0
    faults: list[str] = msgspec.field(default_factory=list)
    orphans: list[str] = msgspec.field(default_factory=list)
    documents_differed: int = 0

    @property
    def is_healthy(self) -> bool:
        return not self.faults and not self.orphans and not self.documents_differed


def check_catalog(
    store: Store, bundles: LocalBundles, projection: Projection, progress: Progress = lambda _: None
) -> Findings:
    findings = Findings()
    with store.reading() as connection:
        broken = check_integrity(connection)
        findings.faults += broken
        findings.widgets = count_widgets(connection)
        known: set[Path] = set()
        for file in list_stored_files(connection):
            path = _path_of(bundles, file)
            if path not in known:
                known.add(path)
                findings.bundles += 1
            fault = _fault(path, file)
            if fault is not None:
                findings.faults.append(f"{file.scope}/{file.name} {file.version}: {fault}")
        known |= _awaited(bundles, connection)
    findings.orphans += map(str, _orphans(bundles, known))
    if not broken:  # Nothing is drawn from a truth that is none.
        findings.documents_differed = projection.rebuild(store, progress)
    return findings


def list_orphans(bundles: LocalBundles, connection: Snapshot) -> list[Path]:
    """Bundles that no version refers to, and what an interrupted write left behind."""
    known = {_path_of(bundles, file) for file in list_stored_files(connection)}
    return _orphans(bundles, known | _awaited(bundles, connection))


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


def _orphans(bundles: LocalBundles, known: set[Path]) -> list[Path]:
    unknown = [path for path in bundles.list_files() if path not in known]
    return [*unknown, *bundles.list_leftovers()]


def _fault(path: Path, file: StoredFile) -> str | None:
    what = "style sheet" if file.kind == "css" else "bundle"
    try:
        found_hash, found_size = hash_file(path)
    except CatalogError:
        return f"its {what} is missing or cannot be read."
    if (found_hash, found_size) != (file.sha256_hash, file.size_bytes):
        return f"its {what} is damaged (its hash is {found_hash})."
    return None

"""Doctor: is everything in a data folder as it should be? Mends what can be made anew."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from ..bundles.local import LocalBundles, hash_file
from ..domain.errors import CatalogError
from ..reading.projection import Projection
from ..store.engine import Store, check_integrity
from ..store.widgets import count_widgets, list_stored_bundles

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
        findings.faults += check_integrity(connection)
        findings.widgets = count_widgets(connection)
        known: set[str] = set()
        for scope, name, version, sha256_hash, size in list_stored_bundles(connection):
            if sha256_hash not in known:
                known.add(sha256_hash)
                findings.bundles += 1
            fault = _bundle_fault(bundles, sha256_hash, size)
            if fault is not None:
                findings.faults.append(f"{scope}/{name} {version}: {fault}")
    findings.orphans += map(str, _orphans(bundles, known))
    if not findings.faults:
        findings.documents_differed = projection.rebuild(store, progress)
    return findings


def remove_orphans(store: Store, bundles: LocalBundles) -> list[Path]:
    """Remove bundles that no version refers to, and what an interrupted write left behind."""
    # An import holds the writer lock from its first bundle to its commit: none is under way here.
    with store.writing() as tx:
        known = {sha256_hash for _, _, _, sha256_hash, _ in list_stored_bundles(tx.connection)}
        orphans = _orphans(bundles, known)
        for path in orphans:
            path.unlink(missing_ok=True)
    return orphans


def _orphans(bundles: LocalBundles, known: set[str]) -> list[Path]:
    unknown = [bundles.path_of(it) for it in bundles.list_hashes() if it not in known]
    return [*unknown, *bundles.list_leftovers()]


def _bundle_fault(bundles: LocalBundles, sha256_hash: str, size: int) -> str | None:
    try:
        found_hash, found_size = hash_file(bundles.path_of(sha256_hash))
    except CatalogError:
        return "its bundle is missing or cannot be read."
    if found_hash != sha256_hash or found_size != size:
        return f"its bundle is damaged (its hash is {found_hash})."
    return None

"""Doctor: is everything in a data folder as it should be? Mends what can be made anew."""

from collections.abc import Callable

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
    read_model_differed: bool = False

    @property
    def is_healthy(self) -> bool:
        return not self.faults and not self.orphans and not self.read_model_differed


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
    findings.orphans += [
        f"bundle {it} belongs to no version" for it in bundles.list_hashes() if it not in known
    ]
    findings.orphans += [
        f"{path.name} was left by an interrupted write" for path in bundles.list_leftovers()
    ]
    if not findings.faults:
        findings.read_model_differed = projection.rebuild(store, progress)
    return findings


def _bundle_fault(bundles: LocalBundles, sha256_hash: str, size: int) -> str | None:
    try:
        found_hash, found_size = hash_file(bundles.path_of(sha256_hash))
    except CatalogError:
        return "its bundle is missing or cannot be read."
    if found_hash != sha256_hash or found_size != size:
        return f"its bundle is damaged (its hash is {found_hash})."
    return None

"""Import: a file of widgets into the catalog, all of it or nothing.

Import adds what is missing and never changes what is there: a version that is already
published with the same hash is skipped, with another hash it is an error.
"""

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..bundles.local import LocalBundles, hash_file
from ..bundles.store import Kind
from ..domain.errors import BundleRefused, InvalidImport, InvalidWidget
from ..domain.widgets import Version, Widget
from ..store.engine import Store, Transaction
from ..store.rows import Draft, StoredWidget, draft
from ..store.widgets import add_drafts, find_widgets, replace_widget
from .drafting import Line, draft_lines
from .ndjson import TakenBundle, decode_line


class ImportSummary(msgspec.Struct):
    """What an import has done."""

    widgets_added: int = 0
    versions_added: int = 0
    versions_skipped: int = 0
    bundles_stored: int = 0


def import_catalog(
    store: Store,
    bundles: LocalBundles,
    lines: Iterable[bytes],
    beside: Path,
    max_bundle_bytes: int,
    progress: Callable[[int], None] = lambda _lines: None,
) -> ImportSummary:
    """Take every line in, or raise InvalidImport and keep nothing.

    `beside` is the folder that `bundleFile` paths are relative to.
    """
    summary = ImportSummary()
    with _collector_paused(), store.writing() as tx:
        taking = _BundleTaker(tx, bundles, beside, max_bundle_bytes)
        with contextlib.closing(draft_lines(lines, tx.draw)) as drafted:
            for batch in drafted:
                _save(tx, _looked_into(tx, batch, taking), taking, summary)
                progress(len(batch))
        taking.let_go()
        summary.bundles_stored = taking.stored
    return summary


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Widgets hold no cycles: to look for some, again and again, takes a seventh of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Widget(NamedTuple):
    """A widget as a line has it. `decoded` is there if the line was decoded here."""

    line: Line
    draft: Draft
    decoded: Widget | None

    @property
    def key(self) -> tuple[str, str]:
        return (self.draft.scope, self.draft.name)


def _looked_into(tx: Transaction, batch: list[Line], taking: "_BundleTaker") -> list[_Widget]:
    found = []
    for line in batch:
        if line.draft is not None:
            found.append(_Widget(line, line.draft, None))
        elif line.text.strip():
            widget, downloads = _decode(line, taking)
            found.append(_Widget(line, draft(widget, downloads, tx.draw(widget)), widget))
    return found


def _decode(line: Line, taking: "_BundleTaker") -> tuple[Widget, int]:
    try:
        return decode_line(line.text, taking.take)
    except InvalidWidget as error:
        raise InvalidImport(line.number, error.message) from None


def _save(
    tx: Transaction, widgets: list[_Widget], taking: "_BundleTaker", summary: ImportSummary
) -> None:
    # The same widget may stand in several lines: each is then held against the one before.
    while widgets:
        first: dict[tuple[str, str], _Widget] = {}
        again = []
        for it in widgets:
            if it.key in first:
                again.append(it)
            else:
                first[it.key] = it
        known = find_widgets(tx.connection, list(first))
        new = [it for key, it in first.items() if key not in known]
        add_drafts(tx, [it.draft for it in new])
        # What was not decoded here refers to no files of ours.
        taking.keep(version for it in new if it.decoded for version in it.decoded.versions)
        summary.widgets_added += len(new)
        summary.versions_added += sum(len(it.draft.versions) for it in new)
        for key, old in known.items():
            line, _, decoded = first[key]
            widget = decoded or _decode(line, taking)[0]
            taking.keep(_merge(tx, old, widget, line.number, summary))
        widgets = again


def _merge(
    tx: Transaction, old: StoredWidget, new: Widget, line: int, summary: ImportSummary
) -> Sequence[Version]:
    """Add the versions that the catalog does not have yet; gives all that it has then."""
    known = {version.identity: version for version in old.widget.versions}
    added: list[Version] = []
    for version in new.versions:
        before = known.get(version.identity)
        if before is None:
            added.append(version)
        elif before.sha256_hash == version.sha256_hash:
            summary.versions_skipped += 1
        else:
            raise InvalidImport(
                line,
                f"sha256Hash: {new.scope}/{new.name} {version.version} is already "
                f"published with another hash ({before.sha256_hash}); "
                "a published version never changes.",
            )
    if not added:
        return old.widget.versions
    merged = old.widget.with_versions([*old.widget.versions, *added])
    if merged.versions[0] in added:
        # The newest version sets the widget's own text.
        merged = msgspec.structs.replace(
            merged, display_name=new.display_name, description=new.description, icon=new.icon
        )
    replace_widget(tx, old, merged)
    summary.versions_added += len(added)
    return merged.versions


class _BundleTaker:
    """Stores bundle files; those that were new are taken back if all fails."""

    def __init__(
        self, tx: Transaction, bundles: LocalBundles, beside: Path, max_bytes: int
    ) -> None:
        self._tx = tx
        self._bundles = bundles
        self._beside = beside.resolve()
        self._max_bytes = max_bytes
        self._new: set[tuple[str, Kind]] = set()
        self._kept: set[tuple[str, Kind]] = set()

    @property
    def stored(self) -> int:
        return len(self._new)

    def take(self, name: str, kind: Kind) -> TakenBundle:
        try:
            path = (self._beside / name).resolve()
            is_something_else = path.exists() and not path.is_file()
        except (OSError, RuntimeError):  # Too long a name, or links in a loop.
            raise BundleRefused(f"{name[:200]} leads to no file.") from None
        if not path.is_relative_to(self._beside):
            raise BundleRefused(f"{name} is not beside the file that names it.")
        if is_something_else:  # To open a pipe would be to wait for ever.
            raise BundleRefused(f"{name} is not a file.")
        sha256_hash, size_bytes = hash_file(path)
        if size_bytes > self._max_bytes:
            raise BundleRefused(f"{name} has {size_bytes} bytes; at most {self._max_bytes} go in.")
        if self._bundles.put_file(path, sha256_hash, kind):
            self._tx.undo.callback(self._bundles.remove, sha256_hash, kind)
            self._new.add((sha256_hash, kind))
        return TakenBundle(sha256_hash, size_bytes)

    def keep(self, versions: Iterable[Version]) -> None:
        """These versions are in the catalog now, with the bundles that they refer to."""
        for it in versions:
            if it.bundle_url is None:
                self._kept.add((it.sha256_hash, "js"))
            if it.style is not None:
                self._kept.add((it.style.sha256_hash, "css"))

    def let_go(self) -> None:
        """Remove what no version refers to: one that is there already keeps its address."""
        for sha256_hash, kind in self._new - self._kept:
            self._bundles.remove(sha256_hash, kind)
        self._new &= self._kept

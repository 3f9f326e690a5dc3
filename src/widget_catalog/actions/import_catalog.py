"""Import: a file of widgets into the catalog, all of it or nothing.

Import adds what is missing and never changes what is there: a version that is already
published with the same hash is skipped, with another hash it is an error.
"""

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..bundles.local import LocalBundles, hash_file
from ..bundles.store import Kind
from ..domain.accounts import COMMAND_LINE
from ..domain.clock import from_ms
from ..domain.errors import BundleRefused, InvalidWidget
from ..domain.widgets import Version, Widget
from ..store.audit import record
from ..store.engine import Store, Transaction
from ..store.organizations import find_owned_scopes
from ..store.rows import Draft, StoredWidget, draft
from ..store.widgets import add_drafts, find_widgets, replace_widget
from .drafting import Line, draft_lines
from .import_faults import ImportFaults
from .ndjson import Decoded, Rules, TakenBundle, decode_line

# The clock of the machine that wrote the file may be so far ahead of ours.
_CLOCK_SKEW = timedelta(minutes=5)


class ImportSummary(msgspec.Struct, rename="camel"):
    """What an import has done."""

    widgets_added: int = 0
    versions_added: int = 0
    versions_skipped: int = 0
    bundles_stored: int = 0
    official_added: int = 0
    texts_cleaned: int = 0


def import_catalog(
    store: Store,
    bundles: LocalBundles,
    lines: Iterable[bytes],
    beside: Path,
    max_bundle_bytes: int,
    progress: Callable[[int], None] = lambda _lines: None,
    *,
    file_name: str = "standard input",
    into_owned: bool = False,
    is_lenient: bool = False,
) -> ImportSummary:
    """Import every line, or raise InvalidImport with all faults and keep nothing.

    `beside` is the folder that `bundleFile` paths are relative to; `file_name` goes into the
    audit log. Only with `into_owned` may a line add to a scope of an account or organization.
    `is_lenient` removes unwanted characters from texts, instead of refusing the file.
    """
    with _collector_paused(), store.writing() as tx:
        rules = Rules(from_ms(tx.at_ms) + _CLOCK_SKEW, is_lenient)
        taking = _BundleTaker(tx, bundles, beside, max_bundle_bytes)
        importing = _Import(tx, taking, rules, into_owned=into_owned)
        with contextlib.closing(draft_lines(lines, rules.newest, tx.draw)) as drafted:
            for batch in drafted:
                importing.take(batch)
                progress(len(batch))
        return importing.finish(file_name)


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


class _Import:
    """An import under way. After a fault it goes on, to find the others as well."""

    def __init__(
        self, tx: Transaction, taking: "_BundleTaker", rules: Rules, *, into_owned: bool
    ) -> None:
        self._tx = tx
        self._taking = taking
        self._rules = rules
        self._into_owned = into_owned
        self._faults = ImportFaults()
        self._summary = ImportSummary()
        # What was done in each scope that belongs to somebody.
        self._owned: dict[str, ImportSummary] = {}

    def take(self, batch: list[Line]) -> None:
        widgets = list(self._look_into(batch))
        owned = find_owned_scopes(self._tx.connection, sorted({it.draft.scope for it in widgets}))
        if self._into_owned:
            for scope in owned:
                self._owned.setdefault(scope, ImportSummary())
        elif owned:
            for it in widgets:
                if it.draft.scope in owned:
                    self._faults.add_owned(it.line.number, it.draft.scope, owned[it.draft.scope])
            widgets = [it for it in widgets if it.draft.scope not in owned]
        self._save(widgets)

    def finish(self, file_name: str) -> ImportSummary:
        """Everything that was done, also for the audit log; or InvalidImport."""
        self._faults.check()
        self._taking.let_go()
        self._summary.bundles_stored = self._taking.stored
        record(
            self._tx, COMMAND_LINE, "import", file=file_name, **msgspec.to_builtins(self._summary)
        )
        for scope, done in self._owned.items():  # For its owners, who read only the log of theirs.
            if done.widgets_added or done.versions_added:
                record(
                    self._tx,
                    COMMAND_LINE,
                    "import",
                    scope,
                    file=file_name,
                    widgetsAdded=done.widgets_added,
                    versionsAdded=done.versions_added,
                )
        return self._summary

    def _look_into(self, batch: list[Line]) -> Iterator[_Widget]:
        for line in batch:
            if line.draft is not None:
                yield _Widget(line, line.draft, None)
            elif line.text.strip() and (found := self._decode(line)):
                self._summary.texts_cleaned += found.texts_cleaned
                picture = self._tx.draw(found.widget)
                yield _Widget(line, draft(found.widget, found.downloads, picture), found.widget)

    def _decode(self, line: Line) -> Decoded | None:
        try:
            return decode_line(line.text, self._taking.take, self._rules)
        except InvalidWidget as error:
            for fault in error.faults:
                self._faults.add(line.number, fault)
            return None

    def _save(self, widgets: list[_Widget]) -> None:
        # The same widget may stand in several lines: each is then held against the one before.
        while widgets:
            first: dict[tuple[str, str], _Widget] = {}
            again = []
            for it in widgets:
                if it.key in first:
                    again.append(it)
                else:
                    first[it.key] = it
            known = find_widgets(self._tx.connection, list(first))
            self._add([it for key, it in first.items() if key not in known])
            for key, old in known.items():
                self._merge(old, first[key])
            widgets = again

    def _add(self, new: list[_Widget]) -> None:
        add_drafts(self._tx, [it.draft for it in new])
        for it in new:
            if it.decoded:  # What was not decoded here refers to no files of ours.
                self._taking.keep(it.decoded.versions)
            self._summary.official_added += it.draft.is_official
            self._count(it.draft.scope, len(it.draft.versions), widgets=1)

    def _merge(self, old: StoredWidget, it: _Widget) -> None:
        """Add the versions that the catalog does not have yet."""
        new = it.decoded
        if new is None:
            found = self._decode(it.line)
            if found is None:
                return
            new = found.widget
        added = self._find_added(old.widget, new, it.line.number)
        merged = old.widget
        if added:
            merged = old.widget.with_versions([*old.widget.versions, *added])
            if merged.versions[0] in added:
                # The newest version sets the widget's own text.
                merged = msgspec.structs.replace(
                    merged,
                    display_name=new.display_name,
                    description=new.description,
                    icon=new.icon,
                )
            replace_widget(self._tx, old, merged)
            self._count(it.draft.scope, len(added))
        self._taking.keep(merged.versions)

    def _find_added(self, old: Widget, new: Widget, line: int) -> Sequence[Version]:
        known = {version.identity: version for version in old.versions}
        added: list[Version] = []
        for version in new.versions:
            before = known.get(version.identity)
            if before is None:
                added.append(version)
            elif before.sha256_hash == version.sha256_hash:
                self._summary.versions_skipped += 1
            else:
                self._faults.add(
                    line,
                    f"sha256Hash: {new.scope}/{new.name} {version.version} is already "
                    f"published with another hash ({before.sha256_hash}); "
                    "a published version never changes.",
                )
        return added

    def _count(self, scope: str, versions: int, *, widgets: int = 0) -> None:
        for summary in (self._summary, self._owned.get(scope)):
            if summary is not None:
                summary.widgets_added += widgets
                summary.versions_added += versions


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
        except (OSError, RuntimeError, ValueError):  # Too long, links in a loop, a NUL.
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

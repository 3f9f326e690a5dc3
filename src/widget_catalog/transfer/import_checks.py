"""Checks an import against the catalog, counts what it will do, and collects its errors."""

from bisect import insort
from collections.abc import Callable, Collection, Sequence

import msgspec

from ..catalog.model.events import CatalogImported
from ..catalog.store.drafts import Draft
from ..catalog.store.events import append
from ..catalog.store.revocations import list_revoked_bytes
from ..catalog.store.scopes import find_owned_scopes
from ..catalog.store.widgets import Key, find_hashes
from ..core.actors import COMMAND_LINE
from ..core.db.engine import Snapshot, Transaction
from ..core.errors import InvalidImport
from .import_bundles import FileImporter

# Limits: reported errors, listed lines of owned scopes, and characters of an error.
_MAX_ERRORS = 20
_MAX_LINES = 5
_MAX_CHARACTERS = 300
# For at most this many lines with other errors, the owner of the scope is looked up.
_MAX_NOTED = 1000
_SCOPES_PER_QUERY = 500

_OWNERS = {"personal": "an account", "organization": "an organization"}

Numbered = tuple[int, Draft]
"""A draft and the line that it was made of."""


class ImportSummary(msgspec.Struct, rename="camel"):
    """The result of an import."""

    widgets_added: int = 0
    versions_added: int = 0
    versions_skipped: int = 0
    bundles_stored: int = 0
    official_added: int = 0
    texts_cleaned: int = 0


class ImportErrors:
    """Errors of an import file: the first ones, and how many more there are."""

    def __init__(self) -> None:
        self._errors: list[tuple[int, str]] = []
        self._count = 0
        # The lines that add to owned scopes, and the kind of owner. All lines are one error.
        self._owned: dict[tuple[str, str], list[int]] = {}
        self.noted: list[tuple[int, str]] = []
        """Lines with an error and the scopes they name, which may belong to somebody besides."""

    def __bool__(self) -> bool:
        return bool(self._errors or self._owned)

    def note_scope(self, line: int, scope: str) -> None:
        if len(self.noted) < _MAX_NOTED:
            self.noted.append((line, scope))

    def add(self, line: int, sentence: str) -> None:
        """The errors of the first lines are reported, in whatever order they are found."""
        self._count += 1
        if len(self._errors) < _MAX_ERRORS or line < self._errors[-1][0]:
            insort(self._errors, (line, _printable(sentence)), key=lambda it: it[0])
            del self._errors[_MAX_ERRORS:]

    def add_owned(self, line: int, scope: str, kind: str) -> None:
        insort(self._owned.setdefault((scope, kind), []), line)

    def check(self) -> None:
        """Raises InvalidImport if there is any error."""
        owned = [_owned_error(*it) for it in list(self._owned.items())[:_MAX_ERRORS]]
        shown = sorted([*self._errors, *owned], key=lambda it: it[0])[:_MAX_ERRORS]
        if shown:
            more = self._count + len(self._owned) - len(shown)
            raise InvalidImport([f"Line {line}: {error}" for line, error in shown], more)


def _owned_error(owner: tuple[str, str], lines: list[int]) -> tuple[int, str]:
    scope, kind = owner
    first, *others = lines[:_MAX_LINES]
    also = ""
    if others:
        named = f"line{'s' if len(others) > 1 else ''} {', '.join(map(str, others))}"
        unnamed = len(lines) - 1 - len(others)
        also = f" (also in {named}{f' and {unnamed:,} more' if unnamed else ''})"
    belongs = f"scope: {scope} belongs to {_OWNERS[kind]}{also}."
    return first, f"{belongs} Give --into-owned to add to it."


def _printable(text: str) -> str:
    """Shortened, without terminal escapes: it may quote the file."""
    if len(text) > _MAX_CHARACTERS:
        text = f"{text[:_MAX_CHARACTERS]}…"
    return "".join(it if it.isprintable() else ascii(it)[1:-1] for it in text)


class ImportChecks:
    """Compares lines with the catalog, and counts. Continues after an error, to find the others.

    `is_repeated` returns whether a widget is in several batches that are checked before any of
    them is written.
    """

    def __init__(
        self,
        errors: ImportErrors,
        importer: FileImporter,
        *,
        into_owned: bool,
        is_repeated: Callable[[Key], bool] = lambda _key: False,
    ) -> None:
        self.summary = ImportSummary()
        self._errors = errors
        self._importer = importer
        self._into_owned = into_owned
        self._is_repeated = is_repeated
        self._revoked_bytes: dict[str, str] | None = None
        self._scopes: set[str] = set()
        # Scopes with an owner, and the changes in each.
        self._owned: dict[str, ImportSummary] = {}
        # The versions of repeated widgets after the previous lines.
        self._ahead: dict[Key, dict[str, str]] = {}

    def decide(
        self, connection: Snapshot, lines: Sequence[Numbered]
    ) -> tuple[list[Draft], list[Draft]]:
        """The drafts of new widgets, and those with new versions of existing ones."""
        if self._revoked_bytes is None:
            self._revoked_bytes = list_revoked_bytes(connection)
        owned = self._note_scopes(connection, {draft.scope for _, draft in lines})
        keys = {draft.key for _, draft in lines}
        known = find_hashes(connection, sorted(keys))
        for key in self._ahead.keys() & keys:
            known[key] = known.get(key, {}) | self._ahead[key]
        are_once = len(keys) == len(lines)
        new, more = [], []
        for number, draft in lines:
            if draft.scope in owned and not self._into_owned:
                self._errors.add_owned(number, draft.scope, owned[draft.scope])
                continue
            key = draft.key
            is_new, is_repeated = key not in known, self._is_repeated(key)
            if is_new and are_once and not is_repeated:
                # The usual case: there is nothing to compare with.
                added: Collection[str] = draft.numbers
            else:
                added = self._compare(number, draft, known.setdefault(key, {}))
            if self._revoked_bytes:
                self._refuse_revoked(number, draft, added, self._revoked_bytes)
            if is_repeated:
                self._ahead[key] = known[key]
            if added and self._importer.has_any:
                self._importer.keep(it for it in draft.files if it.version in added)
            if is_new:
                self.summary.official_added += draft.is_official
                new.append(draft)
            elif added:
                more.append(draft)
            if is_new or added:
                self._count(draft.scope, len(added), widgets=int(is_new))
        return new, more

    def check_noted(self, connection: Snapshot) -> None:
        """For lines with other errors, report if they add to an owned scope as well."""
        if self._into_owned:
            return
        owned = _find_owned(connection, {scope for _, scope in self._errors.noted})
        for line, scope in self._errors.noted:
            if scope in owned:
                self._errors.add_owned(line, scope, owned[scope])

    def still_hold(self, connection: Snapshot, changed_scopes: set[str]) -> bool:
        """Whether the results would be the same if only these scopes have changed."""
        owned = _find_owned(connection, self._scopes)
        return (
            not changed_scopes & self._scopes
            and owned.keys() == self._owned.keys()
            and list_revoked_bytes(connection) == self._revoked_bytes
        )

    def finish(self, tx: Transaction, file_name: str, texts_cleaned: int) -> None:
        """Complete the summary, and write it to the audit log."""
        self.summary.texts_cleaned = texts_cleaned
        self.summary.bundles_stored = self._importer.count_stored(tx.connection)
        done = msgspec.structs.asdict(self.summary)
        append(tx, COMMAND_LINE, CatalogImported(file=file_name, **done))
        # For its owners, who can read only the log of their scope.
        for scope, its in self._owned.items():
            if its.widgets_added or its.versions_added:
                imported = CatalogImported(
                    scope=scope,
                    file=file_name,
                    widgets_added=its.widgets_added,
                    versions_added=its.versions_added,
                )
                append(tx, COMMAND_LINE, imported)

    def _note_scopes(self, connection: Snapshot, scopes: set[str]) -> dict[str, str]:
        self._scopes |= scopes
        owned = _find_owned(connection, scopes)
        for scope in owned:
            self._owned.setdefault(scope, ImportSummary())
        return owned

    def _compare(self, line: int, draft: Draft, known: dict[str, str]) -> set[str]:
        """The numbers of the missing versions; they are added to `known`."""
        added = set()
        for identity, number, sha256_hash in draft.hashes:
            before = known.get(identity)
            if before is None:
                known[identity] = sha256_hash
                added.add(number)
            elif before == sha256_hash:
                self.summary.versions_skipped += 1
            else:
                self._errors.add(
                    line,
                    f"sha256Hash: {draft.scope}/{draft.name} {number} is already "
                    f"published with another hash ({before}); "
                    "a published version never changes.",
                )
        return added

    def _refuse_revoked(
        self, line: int, draft: Draft, added: Collection[str], reasons: dict[str, str]
    ) -> None:
        """Bytes that were revoked everywhere come in only as a version that is revoked, too."""
        revoked = {number for number, _ in draft.revoked}
        for _, number, sha256_hash in draft.hashes:
            reason = reasons.get(sha256_hash)
            if reason is not None and number in added and number not in revoked:
                self._errors.add(
                    line,
                    f"sha256Hash: the bytes of {draft.scope}/{draft.name} {number} are revoked "
                    f"in this catalog: {reason}",
                )

    def _count(self, scope: str, versions: int, *, widgets: int) -> None:
        for summary in (self.summary, self._owned.get(scope)):
            if summary is not None:
                summary.widgets_added += widgets
                summary.versions_added += versions


def _find_owned(connection: Snapshot, scopes: set[str]) -> dict[str, str]:
    names = sorted(scopes)
    owned: dict[str, str] = {}
    for start in range(0, len(names), _SCOPES_PER_QUERY):
        owned |= find_owned_scopes(connection, names[start : start + _SCOPES_PER_QUERY])
    return owned

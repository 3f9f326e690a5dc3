"""`widget publish --all` and `validate --all`: every widget of a repository, and a summary."""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from .console import counted, mode, plain, say, show_error, show_table, shows_json, warn
from .errors import ExitCode, ToolError, invalid_widget
from .planning import AlreadyPublished, Plan, plan_document
from .widget_folder import MANIFEST, LocalWidget, named

DECLINED = "declined"
_DIFFERS = "already-published-differs"
_FAILED = "failed"
# After one of these, the other widgets would fail in the same way.
_OF_ALL = (ExitCode.NOT_SIGNED_IN, ExitCode.UNREACHABLE, ExitCode.TOO_OLD, ExitCode.LIMITED)
_WORDS = {
    "valid": "valid",
    "published": "published",
    "checked": "would be published",
    "already-published": "unchanged",
    _DIFFERS: "skipped: this version is published already",
    DECLINED: "declined",
    _FAILED: "failed",
    "not-tried": "not tried",
}


class Outcome(NamedTuple):
    """What became of one widget."""

    plan: Plan
    status: str
    response: dict[str, Any]


class Prepared(Protocol):
    @property
    def local(self) -> LocalWidget: ...


PreparedT = TypeVar("PreparedT", bound=Prepared)
ReadT = TypeVar("ReadT")


class _Row(msgspec.Struct):
    folder: Path
    widget: str = ""
    version: str = ""
    status: str = "not-tried"
    details: dict[str, Any] = {}
    exit_code: int = ExitCode.DONE

    def fail(self, error: ToolError) -> None:
        self.status, self.exit_code = _FAILED, error.exit_code
        self.details = {"error": error.sentence, "hint": error.hint, "details": error.details}


def find_widgets(root: Path) -> list[Path]:
    """The folders with a manifest at or below this one, by name.

    Not searched: the folders inside a widget's, hidden ones, `node_modules`, symbolic links.
    """
    if not root.is_dir():
        raise invalid_widget(f"{root} is not a folder.", "Pass the folder with the widgets.")
    found = []
    for folder, below, files in os.walk(root):
        if MANIFEST in files:
            found.append(Path(folder))
            below.clear()
        below[:] = sorted(it for it in below if not it.startswith(".") and it != "node_modules")
    return found


def publish_all(
    root: Path,
    read: Callable[[Path], PreparedT],
    publish_one: Callable[[PreparedT], Outcome],
) -> int:
    """Publish those whose version is not published yet; returns the exit code.

    An error of one widget does not affect the others.
    """
    rows = _find_rows(root)
    for row, prepared in _read_all(rows, read, lambda it: it.local):
        try:
            outcome = publish_one(prepared)
        except AlreadyPublished as error:
            row.status = _DIFFERS
            warn(f"{row.folder}: {error.sentence} To publish the changes, increase the version.")
        except ToolError as error:
            row.fail(error)
            _show_problem(row, error)
            if error.exit_code in _OF_ALL:
                break
        else:
            row.status, row.widget = outcome.status, str(outcome.plan.key)
            row.details = plan_document(*outcome)
    _show_summary(rows)
    return _exit_code(rows)


def validate_all(root: Path, read: Callable[[Path], LocalWidget]) -> int:
    """Check every widget; returns the exit code."""
    rows = _find_rows(root)
    for row, local in _read_all(rows, read, lambda it: it):
        row.status, row.details = "valid", {"warnings": list(local.warnings)}
        for warning in local.warnings:
            warn(f"{row.folder}: {warning}")
    _show_summary(rows)
    return _exit_code(rows)


def _find_rows(root: Path) -> list[_Row]:
    rows = [_Row(it) for it in find_widgets(root)]
    if not rows:
        hint = f"Pass a folder with widgets: each has a {MANIFEST}."
        raise invalid_widget(f"There is no {MANIFEST} in or below {named(root)}.", hint)
    return rows


def _read_all(
    rows: list[_Row], read: Callable[[Path], ReadT], local_of: Callable[[ReadT], LocalWidget]
) -> list[tuple[_Row, ReadT]]:
    """Those that are valid; the others have failed, and their errors are shown."""
    first: dict[tuple[str, str], Path] = {}
    valid = []
    for row in rows:
        try:
            found = read(row.folder)
            manifest = local_of(found).manifest
            row.widget, row.version = str(manifest.name), manifest.version.text
            other = first.setdefault((str(manifest.scope), row.widget), row.folder)
            if other != row.folder:
                sentence = f"{other} and {row.folder} are the same widget, {row.widget}."
                raise invalid_widget(sentence, f"Change the name in one {MANIFEST}.")
        except ToolError as error:
            row.fail(error)
            _show_problem(row, error)
        else:
            valid.append((row, found))
    return valid


def _show_problem(row: _Row, error: ToolError) -> None:
    if not mode.is_json:
        say.print(f"[bold]{plain(row.folder)}[/]")
        show_error(error)


def _show_summary(rows: list[_Row]) -> None:
    documents = [
        {
            **row.details,
            "folder": str(row.folder),
            "name": row.details.get("name", row.widget),
            "version": row.version,
            "status": row.status,
            "exitCode": int(row.exit_code),
        }
        for row in rows
    ]
    if shows_json({"widgets": documents, "exitCode": int(_exit_code(rows))}):
        return
    headings = ("folder", "widget", "version", "result")
    show_table(headings, [(it.folder, it.widget, it.version, _WORDS[it.status]) for it in rows])
    numbers = Counter(_WORDS[it.status].partition(":")[0] for it in rows)
    parts = ", ".join(f"{number:,} {word}" for word, number in numbers.most_common())
    say.print(f"{counted(len(rows), 'widget')}: {parts}.")


def _exit_code(rows: list[_Row]) -> int:
    """That of the failures if they agree, otherwise 1."""
    codes = {it.exit_code for it in rows if it.status == _FAILED}
    if any(it.status == DECLINED for it in rows):
        codes.add(ExitCode.FAILED)
    if not codes:
        return ExitCode.DONE
    return codes.pop() if len(codes) == 1 else ExitCode.FAILED

"""Output: results on standard output, everything else on standard error.

External text goes through `plain` before it is printed. `say` and `out` escape control characters
even where that was forgotten.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table

from .errors import ExitCode, Lines, ToolError, wrong_usage

# Control characters (the 8-bit ones too), and marks that hide or reorder the text around them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
# In the log of a CI, a line that begins so is a command: to set a variable, or to show an error.
_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#\[)")
# Of our own lines, and in tables.
_LAYOUT = "\n\t"


class _Output(Console):
    """Escapes the control characters of everything but its own colors and cursor movements."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield (
                segment
                if segment.control
                else Segment(_UNSAFE.sub(_escape_in_layout, segment.text), segment.style)
            )


say = _Output(stderr=True, highlight=False, soft_wrap=True, emoji=False)
out = _Output(highlight=False, soft_wrap=True, emoji=False)


class _Mode:
    """Whether to print JSON. Set once, by --json."""

    is_json = False


mode = _Mode()


def escaped(text: object) -> str:
    """External text for one line: control characters, and what a CI would take for a command, as
    `\\n`, `\\x1b` and so on."""
    return _COMMAND.sub(_escape_command, _UNSAFE.sub(_escape, str(text)))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _escape_in_layout(found: re.Match[str]) -> str:
    return found[0] if found[0] in _LAYOUT else _escape(found)


def _escape_command(found: re.Match[str]) -> str:
    return f"{found[1] or ''}\\x{ord(found[0][-1]):x}"


def plain(text: object) -> str:
    """A text whose control characters and markup are escaped, for `say` and `out`."""
    return escape(escaped(text))


def plain_lines(text: str) -> list[str]:
    """External text that may have several lines, such as release notes."""
    return [plain(line.replace("\t", "    ")) for line in re.split(r"\r?\n", text)]


def _lines_of(message: str) -> list[str]:
    """A message of an error: in one line, unless we have written several."""
    parts = message.parts if isinstance(message, Lines) else (message,)
    return [plain(it) for it in parts]


def show_json(document: object) -> None:
    """Print the document of --json. ASCII only, so that it works with every encoding, and without
    what a CI would take for a command: every line begins with a quote or a bracket.
    """
    text = json.dumps(document, indent=2).replace("##[", "\\u0023#[")
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def shows_json(document: object) -> bool:
    """Print the document if --json was given; returns whether it was."""
    if mode.is_json:
        show_json(document)
    return mode.is_json


def show_done(sentence: str, **about: object) -> None:
    """The result of a command that only changes something."""
    if not shows_json({"success": True, **about}):
        say.print(plain(sentence))


def show_table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print aligned columns; in a pipe, tab-separated rows without truncation."""
    if not rows:
        return  # No headings for an empty table.
    if not out.is_terminal:
        for row in rows:
            sys.stdout.write("\t".join(map(escaped, row)) + "\n")
        sys.stdout.flush()  # Before what follows on standard error, as in the log of a CI.
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for at, heading in enumerate(headings):
        # Only the last column is wrapped.
        table.add_column(heading, no_wrap=at < len(headings) - 1, overflow="fold")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else plain(cell) for cell in row))
    out.print(table, soft_wrap=False)


def warn(sentence: str) -> None:
    say.print(f"[yellow]Note:[/] {plain(sentence)}")


def show_details(details: Sequence[str]) -> None:
    """Print the messages of a list on standard error; each may have several lines."""
    for detail in details:
        first, *more = _lines_of(detail)
        say.print(f"  - {first}")
        for line in more:
            say.print(f"      {line}")


def show_error(error: ToolError) -> None:
    """Print an error on standard error; with --json also as a document on standard output."""
    say.print(f"[red]Error:[/] {plain(error.sentence)}")
    show_details(error.details)
    for line in _lines_of(error.hint) if error.hint else ():
        say.print(f"       {line}")
    show_explanations(error.explanations)
    if mode.is_json:
        document = {"error": error.sentence, "hint": error.hint, "exitCode": int(error.exit_code)}
        lists = {"details": error.details, "explanations": error.explanations}
        show_json(document | {key: value for key, value in lists.items() if value})


def show_explanations(explanations: Sequence[str]) -> None:
    """Print them after a message, on standard error."""
    for text in explanations:
        say.print()
        for line in plain_lines(text):
            say.print(f"  {line}" if line else "")


def is_person() -> bool:
    """Whether a terminal is attached, to ask a person."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def require_person(hint: str = "Or pass --yes to skip the question.") -> None:
    """Raise unless a terminal is attached."""
    if not is_person():
        raise wrong_usage("This command asks for input: run it in a terminal.", hint)


def ask(question: str, *, is_agreed: bool) -> bool:
    """Ask for confirmation, unless `is_agreed` (--yes)."""
    if is_agreed:
        return True
    require_person()
    # Not typer.confirm: it prints a space to standard output.
    while True:
        say.print(f"{plain(question)} \\[y/N] ", end="")
        response = sys.stdin.readline().strip().lower()
        if response in ("y", "yes"):
            return True
        if response in ("", "n", "no"):
            return False


def require_agreement(question: str, is_agreed: bool) -> None:
    """End the command unless the person agrees."""
    if not ask(question, is_agreed=is_agreed):
        say.print("Nothing was changed.")
        raise typer.Exit(ExitCode.FAILED)


def ask_line(question: str) -> str:
    require_person(hint="")
    say.print(plain(question), end="")
    return sys.stdin.readline().strip()


def ask_secret(question: str) -> str:
    """Read a secret without echo."""
    require_person(hint="")
    from getpass import getpass

    return getpass(f"{escaped(question)}: ", stream=sys.stderr)


def counted(number: int, thing: str) -> str:
    """`1 widget`, `2 widgets`, `20,000 widgets`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def sized(number_bytes: int) -> str:
    """`812 bytes`, `4.2 KiB`, `1.3 MiB`."""
    if number_bytes < 1024:
        return counted(number_bytes, "byte")
    if number_bytes < 1024 * 1024:
        return f"{number_bytes / 1024:.1f} KiB"
    return f"{number_bytes / 1024 / 1024:.1f} MiB"

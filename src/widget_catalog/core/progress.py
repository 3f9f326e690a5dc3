"""Progress bars: commands show them, only at a terminal; actions advance them.

rich is imported on use, because actions need the interface alone.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import FolderUnusable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

Advance = Callable[[int], None]
Bar = Callable[[str, int], contextlib.AbstractContextManager[Advance]]
"""Opens a progress bar: what is done, and how many steps it takes."""

_GZIP = b"\x1f\x8b"


def no_bar(_what: str, _total: int) -> contextlib.AbstractContextManager[Advance]:
    return contextlib.nullcontext(lambda _: None)


def _open_bar(console: "Console", what: str, amount: "ProgressColumn") -> "Progress":
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), amount, TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@contextlib.contextmanager
def counting(console: "Console", what: str, total: int) -> Iterator[Advance]:
    """A bar over a known number of items."""
    from rich.progress import MofNCompleteColumn

    with _open_bar(console, what, MofNCompleteColumn()) as bar:
        task = bar.add_task(what, total=total)
        yield lambda some: bar.advance(task, some)


@contextlib.contextmanager
def reading_lines(
    console: "Console", file: Path | None
) -> Iterator[tuple[Iterator[bytes], Advance]]:
    """The lines of a file (None: standard input), with a bar over its bytes."""
    from rich.progress import TextColumn

    try:
        source = sys.stdin.buffer if file is None else file.open("rb")
        size = None if file is None else file.stat().st_size
    except OSError as error:
        raise FolderUnusable(f"{file} cannot be read: {error.strerror}.") from None
    amount = TextColumn("{task.fields[lines]:,} widgets")
    with source, _open_bar(console, "Importing", amount) as bar:
        task = bar.add_task("Importing", total=size, lines=0)
        seen_bytes = 0
        seen_lines = 0

        def lines() -> Iterator[bytes]:
            nonlocal seen_bytes
            for line in source:
                if not seen_bytes and line.startswith(_GZIP):
                    what = file or "Standard input"
                    raise FolderUnusable(f"{what} is compressed with gzip. Decompress it first.")
                seen_bytes += len(line)
                yield line

        def advance(some: int) -> None:
            nonlocal seen_lines
            seen_lines += some
            bar.update(task, completed=seen_bytes, lines=seen_lines)

        yield lines(), advance

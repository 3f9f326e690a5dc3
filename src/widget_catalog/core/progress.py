"""Progress bars, shown only at a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .errors import FolderUnusable

Advance = Callable[[int], None]

_GZIP = b"\x1f\x8b"


@contextlib.contextmanager
def counting(console: Console, what: str, total: int) -> Iterator[Advance]:
    """A bar over a known number of items."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(what, total=total)
        yield lambda some: bar.advance(task, some)


@contextlib.contextmanager
def reading_lines(console: Console, file: Path | None) -> Iterator[tuple[Iterator[bytes], Advance]]:
    """The lines of a file (None: standard input), with a bar over its bytes."""
    try:
        source = sys.stdin.buffer if file is None else file.open("rb")
        size = None if file is None else file.stat().st_size
    except OSError as error:
        raise FolderUnusable(f"{file} cannot be read: {error.strerror}.") from None
    columns = (TextColumn("Importing"), BarColumn(), TextColumn("{task.fields[lines]:,} widgets"),
               TimeRemainingColumn())  # fmt: skip
    with (
        source,
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
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

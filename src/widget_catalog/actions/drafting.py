"""Drafting: lines of an import made ready to be written, by helpers beside it if there are many.

To decode, check and render a widget takes longer than to write it. There is one writer, but
this much of the work can be done in other processes: `python -m` this module is a helper.
"""

import codecs
import contextlib
import gc
import marshal
import os
import pkgutil
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from itertools import islice
from queue import SimpleQueue
from typing import IO, Any, NamedTuple, NoReturn, TypeAlias, cast

from ..bundles.contract import Kind
from ..domain.clock import from_ms, to_ms
from ..domain.errors import InvalidWidget
from ..store.rows import Draft, Draw, draft
from .ndjson import Rules, decode_line

_BATCH_LINES = 500
_BATCH_BYTES = 4 << 20
# So many batches are not worth a helper.
_BATCHES_ALONE = 4
# With more, they would wait for the writer.
_MOST_HELPERS = 4

_Batch: TypeAlias = list[tuple[int, bytes]]
# Drafts as plain tuples; None where there is more to a line than it can tell by itself.
_Drafts: TypeAlias = list[tuple[Any, ...] | None]

_LENGTH = struct.Struct("<Q")


class Line(NamedTuple):
    """A line of the file. Without a draft, the importer must look into it itself."""

    number: int
    text: bytes
    draft: Draft | None


class _NamesAFile(Exception):
    """Its files must be taken in first: that belongs to the importer's transaction."""


class _Recipe(NamedTuple):
    """How drafts are made: by which rules, and what is drawn of a widget."""

    rules: Rules
    draw: Draw


def draft_lines(
    lines: Iterable[bytes], newest: datetime, draw: Draw
) -> Generator[list[Line], None, None]:
    """All lines, some hundred at a time, or fewer if they are long, in their order.

    A line with a fault, even one that could be cleaned, has no draft.
    """
    batches = _batches(enumerate(_without_mark(lines), start=1))
    recipe = _Recipe(Rules(newest), draw)
    for batch in islice(batches, _BATCHES_ALONE):
        yield _lines(batch, _draft_all([text for _, text in batch], recipe))
    for batch in batches:
        yield from _draft_beside(batch, batches, recipe)


def _batches(lines: Iterable[tuple[int, bytes]]) -> Iterator[_Batch]:
    batch: _Batch = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line[1])
        if len(batch) == _BATCH_LINES or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _without_mark(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Some editors begin a file with a byte order mark, which is no part of its text."""
    rest = iter(lines)
    for first in rest:
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from rest


def _draft_beside(first: _Batch, rest: Iterator[_Batch], recipe: _Recipe) -> Iterator[list[Line]]:
    with contextlib.ExitStack() as stack:
        # One core is for the writer.
        count = max(1, min(_MOST_HELPERS, _cores() - 1))
        pool = ThreadPoolExecutor(count)
        stack.callback(pool.shutdown, cancel_futures=True)
        free: SimpleQueue[_Helper | None] = SimpleQueue()
        for _ in range(count):
            try:
                started = _Helper(recipe)
            except OSError:  # No further process is allowed here.
                free.put(None)
            else:
                stack.callback(started.end)
                free.put(started)

        def ask(texts: list[bytes]) -> _Drafts:
            helper = free.get()
            try:
                if helper is not None:
                    return helper.ask(texts)
            except (OSError, EOFError):
                pass  # It was ended by somebody: then without it.
            finally:
                free.put(helper)
            return _draft_all(texts, recipe)

        under_way: deque[tuple[_Batch, Future[_Drafts]]] = deque()
        batch: _Batch | None = first
        while batch or under_way:
            if batch:
                under_way.append((batch, pool.submit(ask, [text for _, text in batch])))
                batch = next(rest, None)
            if len(under_way) > 2 * count or not batch:
                done, drafts = under_way.popleft()
                yield _lines(done, drafts.result())


def _cores() -> int:
    """Those that this process may use, where the system tells."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


class _Helper:
    """A process that makes drafts. It ends when nobody is there to ask it."""

    def __init__(self, recipe: _Recipe) -> None:
        draw = f"{recipe.draw.__module__}:{recipe.draw.__qualname__}"
        newest = str(to_ms(recipe.rules.newest))
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", __name__, newest, draw],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for its parent to hear.
        )
        self._questions = cast(IO[bytes], self._process.stdin)
        self._answers = cast(IO[bytes], self._process.stdout)

    def ask(self, texts: list[bytes]) -> _Drafts:
        _send(self._questions, texts)
        drafts: _Drafts = _receive(self._answers)
        return drafts

    def end(self) -> None:
        with contextlib.suppress(BrokenPipeError), self._process:
            self._process.kill()


def _help(recipe: _Recipe) -> None:
    """What a helper does as long as it lives."""
    gc.disable()  # Widgets hold no cycles: to look for some takes a seventh of the time.
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            _send(sys.stdout.buffer, _draft_all(_receive(sys.stdin.buffer), recipe))


def _send(pipe: IO[bytes], values: Any) -> None:
    # Marshalled, as both sides are the same Python: to pickle takes twice as long.
    message = marshal.dumps(values)
    pipe.write(_LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return marshal.loads(pipe.read(*_LENGTH.unpack(head)))  # noqa: S302


def _draft_all(texts: list[bytes], recipe: _Recipe) -> _Drafts:
    return [_draft(text, recipe) for text in texts]


def _draft(text: bytes, recipe: _Recipe) -> tuple[Any, ...] | None:
    try:
        widget, downloads, _ = decode_line(text, _take_nothing, recipe.rules)
    except (_NamesAFile, InvalidWidget):
        return None
    return tuple(draft(widget, downloads, tuple(recipe.draw(widget))))


def _take_nothing(_name: str, _kind: Kind) -> NoReturn:
    raise _NamesAFile


def _lines(batch: _Batch, drafts: _Drafts) -> list[Line]:
    return [
        Line(number, text, None if made is None else Draft(*made))
        for (number, text), made in zip(batch, drafts, strict=True)
    ]


if __name__ == "__main__":
    _help(_Recipe(Rules(from_ms(int(sys.argv[1]))), pkgutil.resolve_name(sys.argv[2])))

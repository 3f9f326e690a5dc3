"""Drafting: prepares lines of an import for writing, in other processes if there are many.

Decoding, checking and rendering a widget takes longer than writing it. There is one writer, but
this part of the work can be done in parallel.
"""

import codecs
import pkgutil
from collections.abc import Generator, Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple, NoReturn, TypeAlias

from ..catalog.store.drafts import Draft, draft
from ..catalog.store.rows import Prepare
from ..core.clock import from_ms, to_ms
from ..core.errors import InvalidWidget
from ..core.files.contract import Kind
from ..core.jobs.process_pool import map_batches, name_of
from .ndjson import Decoded, Rules, decode_line

_BATCH_LINES = 500
_BATCH_BYTES = 4 << 20
# With fewer batches, starting another process does not pay off.
_BATCHES_ALONE = 4
# Lines that go through each step together. If each line went through all steps by itself, the CPU
# would have to load the code of every step again for every line, which takes a fifth longer.
_LINES_A_STEP = 100

_Batch: TypeAlias = list[tuple[int, bytes]]
# Drafts as plain tuples; None if a line cannot be drafted on its own.
_Drafts: TypeAlias = list[tuple[Any, ...] | None]


class Line(NamedTuple):
    """A line of the file. Without a draft, the importer must process it itself."""

    number: int
    text: bytes
    draft: Draft | None


class _NamesAFile(Exception):
    """Its files must be stored first, which belongs to the importer's transaction."""


def draft_lines(
    lines: Iterable[bytes], newest: datetime, prepare: Prepare
) -> Generator[list[Line], None, None]:
    """All lines in order, some hundred at a time, or fewer if they are long. A line with an error,
    even one that could be cleaned, has no draft.
    """
    batches = _batches(enumerate(_without_mark(lines), start=1))
    settings = (to_ms(newest), name_of(prepare))
    for batch, drafts in map_batches(draft_batch, batches, *settings, alone=_BATCHES_ALONE):
        yield [
            Line(number, text, None if made is None else Draft(*made))
            for (number, text), made in zip(batch, drafts, strict=True)
        ]


def draft_batch(batch: _Batch, newest_ms: int, prepare_name: str) -> _Drafts:
    """Drafts of these lines; `prepare_name` names the function that prepares a
    widget's records.
    """
    rules, prepare = Rules(from_ms(newest_ms)), pkgutil.resolve_name(prepare_name)
    drafts: _Drafts = []
    for start in range(0, len(batch), _LINES_A_STEP):
        drafts += _draft_some(batch[start : start + _LINES_A_STEP], rules, prepare)
    return drafts


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
    """Removes the byte order mark that some editors write."""
    rest = iter(lines)
    for first in rest:
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from rest


def _draft_some(lines: _Batch, rules: Rules, prepare: Prepare) -> _Drafts:
    decoded = [_decode(text, rules) for _, text in lines]
    records = [b"" if it is None else prepare(it.widget) for it in decoded]
    return [
        None if line is None else tuple(draft(line.widget, line.downloads, prepared))
        for line, prepared in zip(decoded, records, strict=True)
    ]


def _decode(text: bytes, rules: Rules) -> Decoded | None:
    try:
        return decode_line(text, _import_nothing, rules)
    except (_NamesAFile, InvalidWidget):
        return None


def _import_nothing(_name: str, _kind: Kind, _makes_thumbnail: bool) -> NoReturn:
    raise _NamesAFile

"""Prepared records of the widgets saved in a transaction, kept until they are applied.

Those of a large import do not fit into memory. If the catalog was empty before, they go into a copy
of it that is built meanwhile, otherwise into an anonymous temporary file.
"""

import contextlib
import marshal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from sqlalchemy.engine import Connection

Row = tuple[Any, ...]

_MAX_BYTES = 16 << 20


class PreparedBatch(NamedTuple):
    """Numbers of widgets and their records, valid when the feed had reached `latest_seq`."""

    latest_seq: int
    records: list[tuple[int, bytes | Row]]


class NewCopy(Protocol):
    """A copy built from all widgets of a catalog, while they are saved."""

    def add(self, batch: PreparedBatch) -> None:
        """Widgets are added in the order of their numbers; one may be repeated later."""

    def complete(self, connection: Connection) -> None:
        """Everything was added, and the transaction on this connection is about to be committed."""

    def use(self) -> None:
        """Committed, and the next writer has not started: readers use this copy from now on."""

    def close(self) -> None:
        """Remove it unless it is in use by then."""


class PreparedRecords:
    """In the order of the feed. If there is a `copy`, all of them are in it, and none here."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._kept: list[PreparedBatch] = []
        self._size = 0
        self._file: IO[bytes] | None = None
        self.copy: NewCopy | None = None

    def add(self, latest_seq: int, records: Sequence[tuple[int, bytes | Row]]) -> None:
        batch = PreparedBatch(latest_seq, list(records))
        if self.copy is not None:
            self.copy.add(batch)
        elif self._file is not None:
            marshal.dump(tuple(batch), self._file)
        else:
            self._kept.append(batch)
            self._size += sum(len(it) for _, it in batch.records)

    @property
    def are_too_many(self) -> bool:
        """Whether they must be moved out of memory."""
        return self._size > _MAX_BYTES

    def move_out(self, copy: NewCopy | None) -> None:
        """Into this copy, or otherwise into a file; further ones are added there."""
        self.copy, kept = copy, self._kept
        self._kept, self._size = [], 0
        if copy is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        for batch in kept:
            self.add(*batch)

    def __iter__(self) -> Iterator[PreparedBatch]:
        if self._file is None:
            yield from self._kept
            return
        self._file.seek(0)
        while True:
            try:
                yield PreparedBatch(*marshal.load(self._file))  # noqa: S302
            except EOFError:
                return

    def close(self) -> None:
        self._kept.clear()
        if self._file is not None:
            with contextlib.suppress(OSError):  # The disk is full: the rest cannot be written.
                self._file.close()
        if self.copy is not None:
            self.copy.close()

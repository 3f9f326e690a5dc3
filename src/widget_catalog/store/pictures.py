"""Rendered documents of the widgets saved in a transaction, kept until they are applied.

Those of a large import do not fit into memory: they go into an anonymous temporary file.
"""

import marshal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from .rows import Row

_MOST_BYTES = 16 << 20


class PictureBatch(NamedTuple):
    """Numbers of widgets and their rendered documents, valid when the feed had reached
    `latest_seq`.
    """

    latest_seq: int
    pictures: list[tuple[int, bytes | Row]]


class Pictures:
    """In the order of the feed."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._kept: list[PictureBatch] = []
        self._size = 0
        self._file: IO[bytes] | None = None

    def add(self, latest_seq: int, pictures: Sequence[tuple[int, bytes | Row]]) -> None:
        batch = PictureBatch(latest_seq, list(pictures))
        if self._file is not None:
            _write(self._file, batch)
            return
        self._kept.append(batch)
        self._size += sum(len(it) for _, it in batch.pictures)
        if self._size > _MOST_BYTES:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
            for it in self._kept:
                _write(self._file, it)
            self._kept.clear()

    def __iter__(self) -> Iterator[PictureBatch]:
        if self._file is None:
            yield from self._kept
            return
        self._file.seek(0)
        while True:
            try:
                yield PictureBatch(*marshal.load(self._file))  # noqa: S302
            except EOFError:
                return

    def close(self) -> None:
        self._kept.clear()
        if self._file is not None:
            self._file.close()


def _write(file: IO[bytes], batch: PictureBatch) -> None:
    marshal.dump(tuple(batch), file)

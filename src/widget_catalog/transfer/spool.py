"""Spool: the drafts of a file, until all of them are known to be valid.

It is an anonymous temporary file: nothing is left of it when the process ends.
"""

import contextlib
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import xxhash

from ..catalog.store.staging import pack, unpack
from ..catalog.store.widgets import Key
from ..core.errors import StoreUnavailable
from .import_checks import Numbered


class Spool:
    def __init__(self, folder: Path | None) -> None:
        with _faults_named():
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._lengths: list[int] = []
        self._numbers: list[bytes] = []
        # 64 bits per widget, so that a million of them take little memory.
        self._hashes = array("Q")
        self._repeated: frozenset[int] | None = None
        self.size_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):  # Data that was not written is not needed.
            self._file.close()

    def __len__(self) -> int:
        """The number of batches."""
        return len(self._lengths)

    def add(self, lines: Sequence[Numbered]) -> None:
        if not lines:
            return
        packed = pack([draft for _, draft in lines])
        with _faults_named():
            self._file.write(packed)
        self.size_bytes += len(packed)
        self._lengths.append(len(packed))
        self._numbers.append(msgspec.msgpack.encode([number for number, _ in lines]))
        self._hashes.extend(_hash(draft.key) for _, draft in lines)

    def __iter__(self) -> Iterator[list[Numbered]]:
        """All batches, in order."""
        with _faults_named():
            self._file.seek(0)
            for length, numbers in zip(self._lengths, self._numbers, strict=True):
                drafts = unpack(self._file.read(length))
                of = msgspec.msgpack.decode(numbers, type=list[int])
                yield list(zip(of, drafts, strict=True))

    def is_repeated(self, key: Key) -> bool:
        """Whether this widget is in more than one line. Call this after all lines are added."""
        if self._repeated is None:
            # Takes 0.2 s to load; commands that import nothing should not pay for it.
            import numpy as np

            hashes = np.sort(np.frombuffer(self._hashes, np.uint64))
            self._repeated = frozenset(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        return bool(self._repeated) and _hash(key) in self._repeated


def _hash(key: Key) -> int:
    return xxhash.xxh3_64_intdigest("/".join(key).encode())


@contextlib.contextmanager
def _faults_named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"There is no room to stage the import ({error.strerror}). Nothing was imported."
        ) from None

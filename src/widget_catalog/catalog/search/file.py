"""The search index as a file, mapped by every worker, so that a start need not read all texts.

It is built from the replica and can be deleted at any time. It records the change it was built at;
later changes are applied to the index as usual.

    python -m widget_catalog.catalog.search.file REPLICA FILE MIN_WIDGETS

builds it, in a separate process, for a worker that is serving.
"""

import contextlib
import mmap
import os
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import msgspec
import numpy as np

from ...core.db.file_lock import file_lock
from ...core.errors import StoreUnavailable
from ..replica.reader import ReplicaReader
from ..replica.records import FORMAT as DOCUMENTS_FORMAT
from .parts import IndexParts, build_parts

# Incremented whenever the parts of the index change.
FORMAT = 8
# Below this, the index is built in a moment, and there is no file.
MIN_WIDGETS = 20_000
# Up to this many changes are applied to a mapped index; more cause a rebuild.
_MAX_BEHIND = 2_000
# Up to this many are applied by a worker while requests wait.
_FEW_BEHIND = 200
_ALIGNED = 64
# Building the index of a million widgets takes less than a minute; on a slow machine, a few.
_TIMEOUT_S = 600.0


class Opened(NamedTuple):
    """The parts of an index and the number of the last change in them."""

    seq: int
    parts: IndexParts


class IndexHead(msgspec.Struct):
    """The header of the file. `arrays` are the types and lengths of the arrays that follow."""

    made_for: str
    made_from: str
    made_at: int
    arrays: list[tuple[str, int]]


def open_index(
    reader: ReplicaReader,
    path: Path,
    most_behind: int = _MAX_BEHIND,
    least: int = MIN_WIDGETS,
    timeout_s: float = _TIMEOUT_S,
) -> Opened:
    """From the file if it is recent enough; otherwise built, and written to the file for the next
    time.

    Raises StoreUnavailable if another process holds the lock for longer than building takes.
    """
    with reader.snapshot():
        newest = reader.latest_seq()
        if reader.highest_id() < least:
            return Opened(newest, build_parts(reader))
        # A process that arrives during a build waits, and uses the result.
        with _locked(path.with_suffix(".lock"), timeout_s):
            opened = _load(reader, path)
            if opened is None or newest - opened.seq > most_behind:
                opened = Opened(newest, build_parts(reader))
                # On a full disk the index is served from memory, and rebuilt next time.
                with contextlib.suppress(OSError):
                    _save(reader, path, opened)
                    opened = _load(reader, path) or opened
    return opened


def load_index(reader: ReplicaReader, path: Path, most_behind: int = _FEW_BEHIND) -> Opened | None:
    """From the file, if there are only few changes since."""
    with reader.snapshot():
        opened = _load(reader, path)
        return opened if opened and reader.latest_seq() - opened.seq <= most_behind else None


def keep_index(
    replica: Path, path: Path, most_behind: int = _FEW_BEHIND, least: int = MIN_WIDGETS
) -> None:
    """Make sure that the file is recent enough, so that nobody has to wait for it later."""
    with contextlib.closing(ReplicaReader(replica)) as reader:
        if reader.highest_id() >= least:
            open_index(reader, path, most_behind, least)


def check_index(replica: Path, path: Path) -> None:
    """Raises StoreUnavailable if no index can be built. A large one is written to the file."""
    with contextlib.closing(ReplicaReader(replica)) as reader:
        if reader.highest_id() >= MIN_WIDGETS:
            open_index(reader, path)
        else:
            with reader.snapshot():
                reader.check_index_rows()


def read_head(file: IO[bytes]) -> IndexHead | None:
    """The header, if it was written by this release."""
    try:
        head = msgspec.json.decode(file.readline(), type=IndexHead)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return head if head.made_for == _made_for() else None


def _load(reader: ReplicaReader, path: Path) -> Opened | None:
    """The content of the file, if it was built from exactly this replica by this release."""
    try:
        with path.open("rb") as file:
            head, at = read_head(file), file.tell()
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    # Another replica, such as of a restored database, may have the same number with other changes.
    if head is None or head.made_from != reader.identity:
        return None
    if head.made_at > reader.latest_seq():  # Built from changes that this replica does not have.
        return None
    arrays = []
    for kind, length in head.arrays:
        at += -at % _ALIGNED
        try:
            arrays.append(np.frombuffer(mapped, np.dtype(kind), length, at))
        except ValueError:  # The file is truncated.
            return None
        at += arrays[-1].nbytes
    return Opened(head.made_at, IndexParts.from_flat(arrays))


def _save(reader: ReplicaReader, path: Path, made: Opened) -> None:
    arrays = [np.ascontiguousarray(it) for it in made.parts.flat()]
    shapes = [(it.dtype.str, len(it)) for it in arrays]
    head = IndexHead(_made_for(), reader.identity, made.seq, shapes)
    partial = path.with_suffix(".part")
    try:
        with partial.open("wb") as file:
            file.write(msgspec.json.encode(head) + b"\n")
            for array in arrays:
                file.write(bytes(-file.tell() % _ALIGNED))
                file.write(array.data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _made_for() -> str:
    """Everything that the index of a replica depends on."""
    return f"{FORMAT} {DOCUMENTS_FORMAT} {unicodedata.unidata_version} {sys.byteorder}"


@contextlib.contextmanager
def _locked(path: Path, timeout_s: float) -> Iterator[None]:
    with file_lock(path, timeout_s, "building the search index") as holder:
        if holder is not None:
            raise StoreUnavailable(
                f"The search index cannot be built: {holder} for {timeout_s:g} seconds "
                f"({path}). If that process does not end by itself, end it."
            )
        yield


if __name__ == "__main__":
    _replica, _file, _least = sys.argv[1:]
    keep_index(Path(_replica), Path(_file), most_behind=0, least=int(_least))

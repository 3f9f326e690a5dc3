"""The read models of a backup, so that the first start need not rebuild them, which takes minutes.

None is ahead of its database. The search index is copied first, then the replica that it was built
from, then the database: each contains everything that the previous ones know, because a replica
only contains committed changes. `Replica.apply` adds what is missing at startup. So a copy made
for an earlier snapshot can be reused, if only few changes have been made since.
"""

import contextlib
from pathlib import Path
from typing import IO, Any, NamedTuple

import zstandard

from ..catalog.replica.copying import ReplicaFacts, copied_replica
from ..catalog.replica.records import FORMAT
from ..catalog.search.file import IndexHead, read_head
from ..core.errors import BackupFailed, StoreUnavailable
from ..core.progress import Bar
from .archive import HashedFile
from .layout import (
    PARTIAL,
    REPLICA,
    Manifest,
    PackedKind,
    ReplicaManifest,
    hash_in_name,
    hash_of,
    packed_path,
    sync,
)

# Smaller replicas are rendered in a second or two.
MIN_WIDGETS = 5_000
# A start applies this many changes within a second.
_MAX_BEHIND = 1_000
_CHUNK_BYTES = 1 << 20
_LEVEL = 1


class ReplicaSource(NamedTuple):
    """The replica's folder, and the file of the search index."""

    folder: Path
    index_file: Path
    least_widgets: int = MIN_WIDGETS


class ReplicaPool:
    """Only one process at a time writes to it."""

    def __init__(self, folder: Path, source: ReplicaSource, bar: Bar) -> None:
        self._folder = folder
        self._source = source
        self._bar = bar

    def add(self, last: ReplicaManifest | None, *, is_thorough: bool) -> ReplicaManifest | None:
        """Copy the replica, unless the `last` copy can be reused. None: there is none to copy.

        Call this before the database is copied. Raises StoreUnavailable if it cannot be read.
        """
        (self._folder / REPLICA).mkdir(exist_ok=True)
        with contextlib.ExitStack() as stack:
            index = _opened_index(self._source.index_file)
            if index is not None:
                stack.enter_context(index.file)
            copy = stack.enter_context(copied_replica(self._source.folder))
            if copy is None:
                raise StoreUnavailable("The read model cannot be read.")
            facts, content = copy
            if facts.widgets < self._source.least_widgets or facts.format != FORMAT:
                return None
            if index is not None and index.head.made_from != facts.id:
                index = None
            index_seq = None if index is None else index.head.made_at
            if last is not None and self._will_do(last, facts, index_seq, is_thorough=is_thorough):
                return last
            size_mb = facts.size_bytes // _CHUNK_BYTES
            return ReplicaManifest(
                file=self._pack(content, "mdb", size_mb),
                id=facts.id,
                format=facts.format,
                applied=facts.applied,
                index_file=None if index is None else self._pack(index.file, "index", 0),
                index_seq=index_seq,
            )

    def keep_only(self, manifests: list[Manifest]) -> None:
        """Remove all others."""
        kept = {file for it in manifests if it.replica for file in it.replica.files}
        for path in (self._folder / REPLICA).glob("*.zst"):
            if f"{REPLICA}/{path.name}" not in kept:
                path.unlink()

    def _will_do(
        self, last: ReplicaManifest, now: ReplicaFacts, index_seq: int | None, *, is_thorough: bool
    ) -> bool:
        seq = 0 if now.applied is None else now.applied.seq
        if (last.id, last.format, last.index_seq) != (now.id, now.format, index_seq):
            return False
        return seq - last.seq <= _MAX_BEHIND and all(
            self._is_whole(it, is_thorough=is_thorough) for it in last.files
        )

    def _is_whole(self, file: str, *, is_thorough: bool) -> bool:
        path = self._folder / file
        return path.is_file() and (not is_thorough or hash_of(path) == hash_in_name(file))

    def _pack(self, content: IO[bytes], kind: PackedKind, size_mb: int) -> str:
        """It gets its name when its copy has been verified; returns its path in the backup."""
        draft = self._folder / REPLICA / f"{PARTIAL}{kind}"
        compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        try:
            with draft.open("wb") as file, self._bar("Copying the read model", size_mb) as advance:
                hashed = HashedFile(file)
                sink: Any = hashed  # File-like enough for this library.
                with compressor.stream_writer(sink, closefd=False) as packed:
                    while chunk := content.read(_CHUNK_BYTES):
                        packed.write(chunk)
                        advance(1)
            sync(draft)
            digest = hashed.digest().hex()
            if hash_of(draft) != digest:
                raise BackupFailed(f"{draft} is not what was written to it.")
            path = packed_path(digest, kind)
            draft.replace(self._folder / path)
        finally:
            draft.unlink(missing_ok=True)
        sync(draft.parent)
        return path


class _Index(NamedTuple):
    head: IndexHead
    file: IO[bytes]


def _opened_index(path: Path) -> _Index | None:
    """An open file stays the same: a new index replaces its name, not its content."""
    try:
        file = path.open("rb")
    except OSError:
        return None
    head = read_head(file)
    if head is None:
        file.close()
        return None
    file.seek(0)
    return _Index(head, file)

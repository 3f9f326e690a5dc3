"""LargeContent: a body that is too large to be copied or compressed on the event loop.

It stays in chunks. Compressed forms are created by a thread, once, and belong to the bulk, so that
a new count in front of it costs only its digits.
"""

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import xxhash

from .content import ENCODINGS, MAX_INLINE_BYTES, Content, Encoding
from .packing import Packed, pack

# A body up to this size is sent as a whole, and copied for every client, however slow. A larger
# one is kept in chunks of about the other size, and sent as it is read.
WHOLE_BYTES = 1 << 17
PIECE_BYTES = 1 << 18
_NICENESS = 10
# About ten milliseconds. If more is pending, bodies are sent uncompressed instead of waiting.
_MAX_PENDING_BYTES = 1 << 20
# Encodings that allow an uncompressed block.
_WITH_START: tuple[Encoding, ...] = ("zstd", "gzip")


class Packer:
    """One thread that compresses, with low priority: requests come first."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1, "packing", initializer=lower_priority)
        self._pending_bytes = 0

    @property
    def is_busy(self) -> bool:
        """Whether the next compression would have to wait."""
        return self._pending_bytes > _MAX_PENDING_BYTES

    def content(self, parts: Sequence[bytes]) -> "AnyContent":
        """The parts as one body, large or not."""
        size = sum(map(len, parts))
        if size <= MAX_INLINE_BYTES:
            return Content(b"".join(parts))
        pieces = (b"".join(parts),) if size <= WHOLE_BYTES else parts
        return LargeContent(Bulk(pieces, self))

    def pack(self, bulk: "Bulk", encoding: Encoding) -> "asyncio.Future[Packed]":
        self._pending_bytes += bulk.size
        loop = asyncio.get_running_loop()
        packing = loop.run_in_executor(self._threads, pack, bulk.pieces, encoding)
        packing.add_done_callback(lambda _: self._finish(bulk))
        return packing

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    def _finish(self, bulk: "Bulk") -> None:
        self._pending_bytes -= bulk.size


def lower_priority() -> None:
    """Lower the priority of this thread. Where that is not possible, it runs at normal priority."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


class Bulk:
    """The constant part of a body, and its compressed forms."""

    __slots__ = ("_keep", "_packed", "_packer", "_packing", "pieces", "size")

    def __init__(
        self,
        pieces: Sequence[bytes],
        packer: Packer,
        keep: Callable[["Bulk", int], bool] | None = None,
    ) -> None:
        """`keep` returns whether there is room for this many bytes more."""
        self.pieces = pieces
        self.size = sum(map(len, pieces))
        self._packer = packer
        self._keep = keep
        self._packed: dict[Encoding, Packed | None] = {}
        self._packing: dict[Encoding, asyncio.Future[Packed]] = {}

    def is_offered(self, encoding: Encoding) -> bool:
        """Whether compression need not wait, and the result can be cached."""
        if encoding in self._packed:
            return self._packed[encoding] is not None
        if encoding in self._packing:
            return True
        return not self._packer.is_busy and (self._keep is None or self._keep(self, 0))

    def ready(self, encoding: Encoding) -> Packed | None:
        return self._packed.get(encoding)

    async def packed(self, encoding: Encoding) -> Packed:
        found = self._packed.get(encoding)
        if found is not None:
            return found
        packing = self._packing.get(encoding)
        if packing is None:
            packing = self._packing[encoding] = self._packer.pack(self, encoding)
            packing.add_done_callback(lambda done: self._take(encoding, done))
        # Shielded: a client that disconnects must not cancel it for the others.
        return await asyncio.shield(packing)

    def _take(self, encoding: Encoding, packing: "asyncio.Future[Packed]") -> None:
        del self._packing[encoding]
        if packing.cancelled() or packing.exception():
            return
        packed = packing.result()
        # A small one is stored a second time, together with its head.
        size = packed.size if packed.size > WHOLE_BYTES else 2 * packed.size
        is_kept = self._keep is None or self._keep(self, size)
        self._packed[encoding] = packed if is_kept else None


class LargeContent:
    """A body in two parts: a short one that may change often, and the bulk."""

    __slots__ = ("__weakref__", "_bulk", "_start", "_whole", "encodings", "size", "tag")

    def __init__(self, bulk: Bulk, start: bytes = b"", tag: str | None = None) -> None:
        self._bulk = bulk
        self._start = start
        self.size = len(start) + bulk.size
        self.tag = tag or hash_of(bulk.pieces)
        self.encodings = _WITH_START if start else ENCODINGS
        self._whole: dict[Encoding | None, bytes] = {}

    @property
    def body(self) -> bytes:
        """A copy of the whole body, for callers that are not in a hurry."""
        return b"".join((self._start, *self._bulk.pieces))

    def is_offered(self, encoding: Encoding) -> bool:
        return self._bulk.is_offered(encoding)

    def whole(self, encoding: Encoding | None) -> bytes | None:
        """The body as sent, if it is ready and small enough to be sent as a whole."""
        found = self._whole.get(encoding)
        if found is None:
            packed = None if encoding is None else self._bulk.ready(encoding)
            if encoding is not None and packed is None:
                return None
            if (self._bulk.size if packed is None else packed.size) > WHOLE_BYTES:
                return None
            parts = [it for it in self._joined(packed) if it]
            found = self._whole[encoding] = parts[0] if len(parts) == 1 else b"".join(parts)
        return found

    def length(self, encoding: Encoding | None) -> int | None:
        """The length as sent; None if this encoding was not requested yet."""
        if encoding is None:
            return self.size
        packed = self._bulk.ready(encoding)
        return None if packed is None else packed.size + sum(map(len, packed.wrap(self._start)))

    async def pieces(self, encoding: Encoding | None) -> Sequence[bytes]:
        packed = None if encoding is None else await self._bulk.packed(encoding)
        return self._joined(packed)

    def _joined(self, packed: Packed | None) -> Sequence[bytes]:
        if packed is None:
            return (self._start, *self._bulk.pieces)
        before, after = packed.wrap(self._start)
        return (before, *packed.pieces, after)


AnyContent: TypeAlias = Content | LargeContent


def hash_of(pieces: Iterable[bytes]) -> str:
    """The hash of all chunks as one. Ten gigabytes per second: not worth a thread."""
    state = xxhash.xxh3_64()
    for piece in pieces:
        state.update(piece)
    return state.hexdigest()


def coalesced(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Chunks of a suitable size for compression and sending, from parts of any size."""
    some: list[bytes] = []
    size = 0
    for part in parts:
        some.append(part)
        size += len(part)
        if size >= PIECE_BYTES:
            yield b"".join(some)
            some, size = [], 0
    if some:
        yield b"".join(some)

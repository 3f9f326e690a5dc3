"""Content: a body with its ETag and its compressed forms.

A body that is too large to be copied or compressed on the event loop is a LargeContent: it stays in
chunks, and its compressed forms are created by a thread, once.
"""

import asyncio
import contextlib
import gzip
import os
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import brotli
import xxhash
import zstandard

from ..files.contract import Encoding

# In order of preference: best size for its time first.
ENCODINGS: tuple[Encoding, ...] = ("zstd", "br", "gzip")
# Larger documents are read and compressed by a thread, in chunks: reading and compressing this
# much takes about a millisecond at most, which is acceptable on the event loop.
MAX_INLINE_BYTES = 1 << 16
# Below this, compression does not pay off.
MIN_COMPRESSED_BYTES = 256
_FAST_FROM_BYTES = 3 << 13


class Content:
    """A response body. Each compressed form is created once, on first use."""

    __slots__ = ("_encoded", "body", "tag")

    def __init__(self, body: bytes, tag: str | None = None) -> None:
        self.body = body
        self.tag = tag or xxhash.xxh3_64_hexdigest(body)
        self._encoded: dict[Encoding, bytes] | None = None

    @property
    def size(self) -> int:
        return len(self.body)

    def encoded(self, encoding: Encoding) -> bytes:
        if self._encoded is None:
            self._encoded = {}
        found = self._encoded.get(encoding)
        if found is None:
            found = self._encoded[encoding] = _compress(self.body, encoding)
        return found


def _compress(body: bytes, encoding: Encoding) -> bytes:
    """Deterministic: the same bytes for the same body."""
    is_fast = len(body) > _FAST_FROM_BYTES
    if encoding == "zstd":
        return zstandard.ZstdCompressor(level=3).compress(body)
    if encoding == "br":
        return bytes(brotli.compress(body, quality=1 if is_fast else 4))
    return gzip.compress(body, compresslevel=1 if is_fast else 6, mtime=0)


# A body up to this size is sent as a whole, and copied for every client, however slow. A larger
# one is kept in chunks of about the other size, and sent as it is read.
WHOLE_BYTES = 1 << 17
PIECE_BYTES = 1 << 18
_NICENESS = 10
# About ten milliseconds. If more is pending, bodies are sent uncompressed instead of waiting.
_MAX_PENDING_BYTES = 1 << 20
# Larger bodies are compressed at the fastest level, because the first reader waits for it.
_FAST_IN_PIECES_FROM_BYTES = 1 << 20


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
        return LargeContent(pieces, self)

    def pack(
        self, content: "LargeContent", encoding: Encoding
    ) -> "asyncio.Future[Sequence[bytes]]":
        size = content.size
        self._pending_bytes += size
        loop = asyncio.get_running_loop()
        packing = loop.run_in_executor(self._threads, pack, content.pieces, size, encoding)

        def finish(_: object) -> None:
            self._pending_bytes -= size

        packing.add_done_callback(finish)
        return packing

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)


def lower_priority() -> None:
    """Lower the priority of this thread. Where that is not possible, it runs at normal priority."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


class LargeContent:
    """A body in chunks, and its compressed forms, each created on its first use."""

    __slots__ = (
        "__weakref__",
        "_keep",
        "_packed",
        "_packer",
        "_packing",
        "_whole",
        "encodings",
        "pieces",
        "size",
        "tag",
    )

    def __init__(
        self,
        pieces: Sequence[bytes],
        packer: Packer,
        keep: Callable[["LargeContent", int], bool] | None = None,
        tag: str | None = None,
        encodings: tuple[Encoding, ...] = ENCODINGS,
    ) -> None:
        """`keep` returns whether there is room for this many bytes more."""
        self.pieces = pieces
        self.size = sum(map(len, pieces))
        self.tag = tag or hash_of(pieces)
        self.encodings = encodings
        self._packer = packer
        self._keep = keep
        self._whole: bytes | None = None
        # None: there is no room for it.
        self._packed: dict[Encoding, Sequence[bytes] | None] = {}
        self._packing: dict[Encoding, asyncio.Future[Sequence[bytes]]] = {}

    @property
    def body(self) -> bytes:
        """A copy of the whole body, for callers that are not in a hurry."""
        return b"".join(self.pieces)

    @property
    def packed_bytes(self) -> int:
        """The size of the compressed forms that are kept."""
        return sum(len(piece) for it in self._packed.values() if it for piece in it)

    def is_offered(self, encoding: Encoding) -> bool:
        """Whether compression need not wait, and the result can be cached."""
        if encoding in self._packed:
            return self._packed[encoding] is not None
        if encoding in self._packing:
            return True
        return not self._packer.is_busy and (self._keep is None or self._keep(self, 0))

    def whole(self, encoding: Encoding | None) -> bytes | None:
        """The body as sent, if it is ready and small enough to be sent as a whole."""
        if encoding is None:
            if self._whole is None and self.size <= WHOLE_BYTES:
                self._whole = self.pieces[0] if len(self.pieces) == 1 else self.body
            return self._whole
        packed = self._packed.get(encoding)
        return packed[0] if packed and len(packed[0]) <= WHOLE_BYTES and len(packed) == 1 else None

    def length(self, encoding: Encoding | None) -> int | None:
        """The length as sent; None if this encoding was not requested yet."""
        if encoding is None:
            return self.size
        packed = self._packed.get(encoding)
        return None if packed is None else sum(map(len, packed))

    async def sent_pieces(self, encoding: Encoding | None) -> Sequence[bytes]:
        if encoding is None:
            return self.pieces
        found = self._packed.get(encoding)
        if found is not None:
            return found
        packing = self._packing.get(encoding)
        if packing is None:
            packing = self._packing[encoding] = self._packer.pack(self, encoding)
            packing.add_done_callback(lambda done: self._take(encoding, done))
        # Shielded: a client that disconnects must not cancel it for the others.
        return await asyncio.shield(packing)

    def _take(self, encoding: Encoding, packing: "asyncio.Future[Sequence[bytes]]") -> None:
        del self._packing[encoding]
        if packing.cancelled() or packing.exception():
            return
        packed = packing.result()
        is_kept = self._keep is None or self._keep(self, sum(map(len, packed)))
        self._packed[encoding] = packed if is_kept else None


AnyContent: TypeAlias = Content | LargeContent


def pack(pieces: Sequence[bytes], size: int, encoding: Encoding) -> Sequence[bytes]:
    """Compress chunks of this size together; call this in a thread. The compressors release the
    interpreter lock. A result that is sent as a whole is one chunk.
    """
    is_fast = size > _FAST_IN_PIECES_FROM_BYTES
    compress: Callable[[bytes], bytes]
    finish: Callable[[], bytes]
    match encoding:
        case "zstd":
            zstd = zstandard.ZstdCompressor(level=1 if is_fast else 3).compressobj(size=size)
            compress, finish = zstd.compress, zstd.flush
        case "gzip":
            deflate = zlib.compressobj(1 if is_fast else 6, wbits=zlib.MAX_WBITS | 16)
            compress, finish = deflate.compress, deflate.flush
        case "br":
            brotlied = brotli.Compressor(quality=1 if is_fast else 4)
            compress, finish = brotlied.process, brotlied.finish
    packed = [bytes(it) for it in (*map(compress, pieces), finish()) if it]
    return packed if sum(map(len, packed)) > WHOLE_BYTES else [b"".join(packed)]


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

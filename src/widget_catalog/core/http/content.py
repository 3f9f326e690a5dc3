"""Content: a body with its ETag and its compressed forms."""

import gzip
from typing import Literal

import brotli
import xxhash
import zstandard

Encoding = Literal["zstd", "br", "gzip"]

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

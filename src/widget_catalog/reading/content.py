"""Content: ready bytes, a tag that changes with them, and their compressed forms."""

import gzip
from typing import Literal

import brotli
import xxhash
import zstandard

Encoding = Literal["zstd", "br", "gzip"]

# Below this, compression saves nothing worth its header.
MIN_COMPRESSED_BYTES = 256


class Content:
    """A body as it goes out. Each compressed form is made once, when first asked for."""

    __slots__ = ("_encoded", "body", "tag")

    def __init__(self, body: bytes, tag: str | None = None) -> None:
        self.body = body
        self.tag = tag or xxhash.xxh3_64_hexdigest(body)
        self._encoded: dict[Encoding, bytes] = {}

    def encoded(self, encoding: Encoding) -> bytes:
        found = self._encoded.get(encoding)
        if found is None:
            found = self._encoded[encoding] = compress(self.body, encoding)
        return found


def compress(body: bytes, encoding: Encoding) -> bytes:
    """Levels that take well under a millisecond for 20 KB; the same bytes for the same body."""
    if encoding == "zstd":
        return zstandard.ZstdCompressor(level=3).compress(body)
    if encoding == "br":
        return bytes(brotli.compress(body, quality=5))
    return gzip.compress(body, compresslevel=6, mtime=0)

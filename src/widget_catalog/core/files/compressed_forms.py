"""The compressed forms of a file, which are stored beside it.

Nothing is recorded about them. One is intact if it decodes to bytes with the hash of its file,
which is what a client has to get.
"""

import hashlib
import os
import zlib
from pathlib import Path

import brotli
import zstandard

from .contract import STORED_ENCODINGS, Encoding

# Content codings allow windows of up to 8 MB; higher levels may use larger ones.
_ZSTD_LEVEL = 19
_WORTH_IT = 0.9
_NICENESS = 10
_ENCODING_OF: dict[str, Encoding] = {
    f".{suffix}": encoding for encoding, suffix in STORED_ENCODINGS.items()
}


def compress(content: bytes) -> list[bytes]:
    """The forms of this content, in the order of `STORED_ENCODINGS`; an empty one if it is hardly
    smaller. In a process of its own: it takes seconds per megabyte.
    """
    os.setpriority(os.PRIO_PROCESS, 0, _NICENESS)
    deflate = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    forms: list[bytes] = [
        brotli.compress(content, mode=brotli.MODE_TEXT, quality=11),
        zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress(content),
        deflate.compress(content) + deflate.flush(),
    ]
    return [it if len(it) < len(content) * _WORTH_IT else b"" for it in forms]


def encoding_of(path: Path) -> Encoding | None:
    """None if it is not the name of a compressed form."""
    return _ENCODING_OF.get(path.suffix)


def decodes_to(content: bytes, encoding: Encoding, sha256_hash: str, most_bytes: int) -> bool:
    """Whether this is a compressed form of the file with this hash, or an empty one. Never decodes
    more than `most_bytes`.
    """
    if not content:
        return True
    try:
        decoded = _decode(content, encoding, most_bytes)
    except (brotli.error, zlib.error, zstandard.ZstdError):
        return False
    return hashlib.sha256(decoded).hexdigest() == sha256_hash


def _decode(content: bytes, encoding: Encoding, most_bytes: int) -> bytes:
    """Nothing, if the content is incomplete, is followed by more, or decodes to more."""
    if encoding == "zstd":
        if not 0 < zstandard.frame_content_size(content) <= most_bytes:
            return b""
        return zstandard.ZstdDecompressor().decompress(content, allow_extra_data=False)
    # With room for another byte, so that the end of the content is read.
    if encoding == "gzip":
        inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        decoded = inflate.decompress(content, most_bytes + 1)
        return decoded if inflate.eof and not inflate.unused_data else b""
    brotlied = brotli.Decompressor()
    decoded = bytes(brotlied.process(content, output_buffer_limit=most_bytes + 1))
    return decoded if brotlied.is_finished() else b""

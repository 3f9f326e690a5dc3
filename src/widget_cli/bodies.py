"""Reads response bodies up to a size limit.

Bodies are decompressed here and not by httpx, which decompresses a whole chunk at once: a few
kilobytes from a malicious server can become gigabytes.
"""

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

_GZIP = 16 + zlib.MAX_WBITS


class TooLarge(Exception):
    """The body exceeds the limit."""


class UnknownEncoding(Exception):
    """The content encoding is unsupported, or the body does not match it."""


def read_body(answer: "httpx.Response", max_bytes: int) -> bytes:
    """The decompressed body. `max_bytes` limits both the compressed and the decompressed size."""
    encoding = answer.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise UnknownEncoding
    sent = _read(answer, max_bytes)
    return _unpacked(sent, max_bytes) if sent and encoding == "gzip" else sent


def _unpacked(packed: bytes, max_bytes: int) -> bytes:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        body = unpacker.decompress(packed, max_bytes + 1)
    except zlib.error:
        raise UnknownEncoding from None
    if len(body) > max_bytes:
        raise TooLarge
    if not unpacker.eof:
        raise UnknownEncoding
    return body


def _read(answer: "httpx.Response", max_bytes: int) -> bytes:
    body = bytearray()
    for piece in answer.iter_raw():
        body += piece
        if len(body) > max_bytes:
            raise TooLarge
    return bytes(body)

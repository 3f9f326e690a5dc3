"""Reads response bodies with a size limit.

Decompressed here and not by httpx, which decompresses a whole chunk at once: a few kilobytes from
a malicious server can become gigabytes.
"""

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

_GZIP = 16 + zlib.MAX_WBITS


class TooLarge(Exception):
    """There is more than was agreed."""


class UnknownEncoding(Exception):
    """It is packed in a way that was not asked for, or not as it says."""


def read_body(answer: "httpx.Response", max_bytes: int) -> bytes:
    """The body, unpacked. `max_bytes` holds for what comes in as well as for what comes out."""
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

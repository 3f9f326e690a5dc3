"""Checksums of rows and records. They detect damage, not forgery.

32 bits: damage goes undetected once in four billion cases.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import xxhash

_BITS = 0xFFFF_FFFF

_encode = msgspec.json.Encoder().encode
_hash = xxhash.xxh3_64_intdigest


def checksum(data: bytes | memoryview) -> int:
    return _hash(data) & _BITS


def row_checksum(values: Sequence[Any]) -> int:
    """Of numbers, texts, booleans and None: the same on SQLite and PostgreSQL."""
    return _hash(_encode(values)) & _BITS

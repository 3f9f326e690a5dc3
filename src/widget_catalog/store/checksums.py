"""Checksums: whether what is read is what was written. They find damage, not forgery.

32 bits: a damaged row is taken for a sound one once in four billion times.
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
    """Of numbers, texts, booleans and None: the same for a row of SQLite and of PostgreSQL."""
    return _hash(_encode(values)) & _BITS

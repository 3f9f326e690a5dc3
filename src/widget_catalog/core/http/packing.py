"""Compression of large bodies that allows a few leading bytes to change afterwards.

The bulk of a body is compressed once. What precedes it (a detail's fields up to its download
count) is added uncompressed, as a block of the same zstd frame or the same gzip member, so that
every client can read it. Brotli has no such block.
"""

import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import brotli
import zstandard

from .content import Encoding

# Larger bodies are compressed at the fastest level, because the first reader waits for it.
_FAST_FROM_BYTES = 1 << 20

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SIZE_OF_8_BYTES = b"\xc0"
_ZSTD_MAX_BLOCK = 1 << 16
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_DEFLATE_MAX_STORED = (1 << 16) - 1
_CRC_POLYNOMIAL = 0xEDB88320


class Packed(NamedTuple):
    """The compressed bulk, and how to prepend bytes to it."""

    pieces: Sequence[bytes]
    size: int
    wrap: Callable[[bytes], tuple[bytes, bytes]]
    """Gives what goes before the pieces and what goes after them."""


def pack(pieces: Sequence[bytes], encoding: Encoding) -> Packed:
    """Compress; call this in a thread. The compressors release the interpreter lock."""
    size = sum(map(len, pieces))
    is_fast = size > _FAST_FROM_BYTES
    match encoding:
        case "zstd":
            return _pack_zstd(pieces, size, level=1 if is_fast else 3)
        case "gzip":
            return _pack_gzip(pieces, size, level=1 if is_fast else 6)
        case "br":
            return _pack_brotli(pieces, quality=1 if is_fast else 4)


def _pack_zstd(pieces: Sequence[bytes], size: int, level: int) -> Packed:
    compressor = zstandard.ZstdCompressor(level=level, write_checksum=False).compressobj()
    packed = _driven(compressor.compress, pieces, compressor.flush)
    # A frame without a size or a dictionary: magic, descriptor, window, then the blocks.
    frame = packed[0]
    window, packed[0] = frame[5:6], frame[6:]

    def wrap(start: bytes) -> tuple[bytes, bytes]:
        total = struct.pack("<Q", len(start) + size)
        blocks = [
            # A raw block; its header is the size, shifted by three zero bits.
            struct.pack("<I", len(part) << 3)[:3] + part
            for part in _cut(start, _ZSTD_MAX_BLOCK)
        ]
        return b"".join((_ZSTD_MAGIC, _ZSTD_SIZE_OF_8_BYTES, window, total, *blocks)), b""

    return Packed(packed, _length(packed), wrap)


def _pack_gzip(pieces: Sequence[bytes], size: int, level: int) -> Packed:
    compressor = zlib.compressobj(level, wbits=-zlib.MAX_WBITS)
    checksum = 0

    def compress(piece: bytes) -> bytes:
        nonlocal checksum
        checksum = zlib.crc32(piece, checksum)
        return compressor.compress(piece)

    packed = _driven(compress, pieces, compressor.flush)
    shift = _crc_shift(size)

    def wrap(start: bytes) -> tuple[bytes, bytes]:
        blocks = [
            struct.pack("<BHH", 0, len(part), len(part) ^ 0xFFFF) + part
            for part in _cut(start, _DEFLATE_MAX_STORED)
        ]
        whole = _crc_times(shift, zlib.crc32(start)) ^ checksum
        end = struct.pack("<II", whole, (len(start) + size) & 0xFFFFFFFF)
        return b"".join((_GZIP_HEADER, *blocks)), end

    return Packed(packed, _length(packed), wrap)


def _pack_brotli(pieces: Sequence[bytes], quality: int) -> Packed:
    compressor = brotli.Compressor(quality=quality)
    packed = _driven(compressor.process, pieces, compressor.finish)

    def wrap(start: bytes) -> tuple[bytes, bytes]:
        if start:
            raise ValueError("Nothing can stand before what Brotli has compressed.")
        return b"", b""

    return Packed(packed, _length(packed), wrap)


def _driven(
    compress: Callable[[bytes], bytes], pieces: Iterable[bytes], finish: Callable[[], bytes]
) -> list[bytes]:
    packed = [*map(compress, pieces), finish()]
    return [bytes(it) for it in packed if it]


def _cut(data: bytes, most: int) -> Iterable[bytes]:
    return (data[at : at + most] for at in range(0, len(data), most))


def _length(pieces: Sequence[bytes]) -> int:
    return sum(map(len, pieces))


def _crc_shift(size: int) -> int:
    """The factor of a CRC-32 when this many bytes follow: x to the power of eight times their
    number.
    """
    result, power, exponent = 1 << 31, 1 << 30, 8 * size
    while exponent:
        if exponent & 1:
            result = _crc_times(power, result)
        power = _crc_times(power, power)
        exponent >>= 1
    return result


def _crc_times(one: int, other: int) -> int:
    """The product of two polynomials over GF(2), modulo the one of CRC-32; bits are reflected."""
    product = 0
    for bit in range(31, -1, -1):
        if one >> bit & 1:
            product ^= other
        other = other >> 1 ^ (_CRC_POLYNOMIAL if other & 1 else 0)
    return product

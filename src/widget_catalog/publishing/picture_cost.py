"""What it would cost to decode a picture, by its header: pixels, depth and passes.

Small files can describe work for seconds. What is refused here costs nobody a turn.
"""

import struct

from widget_contract.version_files import MAX_PICTURE_SIDE

from ..core.files.contract import Kind

_PIXELS = MAX_PICTURE_SIDE**2
# The largest picture with 32 bits per pixel. Interlacing takes about twice the time.
_MAX_PNG_BYTES = 4 * _PIXELS
_INTERLACED = 2
# The largest picture in 16 scans: programs write ten. Each goes over all pixels.
_MAX_SCANNED_PIXELS = 16 * _PIXELS
_SCAN = b"\xff\xda"
# Each of these may be decompressed to a megabyte; a picture has one.
_PROFILE, _MAX_PROFILES = b"iCCP", 4
_PNG_HEADER = struct.Struct(">8x4x4sIIBBxxB")
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_JPEG_SIZE = struct.Struct(">HH")
# Start of frame; the others of this range are tables.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset((0x01, *range(0xD0, 0xD9)))


def find_excess(content: bytes, kind: Kind) -> str | None:
    """Why it is not decoded, as a sentence without its subject. None also if the header is damaged,
    which decoding finds out.
    """
    if kind == "png":
        return _png_excess(content)
    return _jpeg_excess(content) if kind == "jpg" else None


def _png_excess(content: bytes) -> str | None:
    if content.count(_PROFILE) > _MAX_PROFILES:
        return "has several color profiles. Save it again with another program."
    if len(content) < _PNG_HEADER.size:
        return None
    chunk, width, height, depth, color, interlace = _PNG_HEADER.unpack_from(content)
    if chunk != b"IHDR" or max(width, height) > MAX_PICTURE_SIDE:
        return None
    bits = depth * _CHANNELS.get(color, 1)
    cost = width * height * bits // 8 * (_INTERLACED if interlace else 1)
    if cost <= _MAX_PNG_BYTES:
        return None
    how = ", interlaced" if interlace else ""
    return (
        f"takes too long to decode: {width:,} × {height:,} pixels of {bits} bits{how}. Save it "
        "with 8 bits per channel, without interlacing, or smaller."
    )


def _jpeg_excess(content: bytes) -> str | None:
    scans = content.count(_SCAN)
    width, height = _jpeg_size(content)
    if max(width, height) > MAX_PICTURE_SIDE or width * height * scans <= _MAX_SCANNED_PIXELS:
        return None
    return (
        f"takes too long to decode: {width:,} × {height:,} pixels in {scans:,} scans. Save it "
        "again without “progressive”, or smaller."
    )


def _jpeg_size(content: bytes) -> tuple[int, int]:
    """As large as possible if it is not found."""
    at, end = 2, len(content) - 9
    while at < end and content[at] == 0xFF:
        marker = content[at + 1]
        if marker in _FRAMES:
            height, width = _JPEG_SIZE.unpack_from(content, at + 5)
            return width, height
        if marker == 0xFF:
            at += 1
        elif marker in _WITHOUT_LENGTH:
            at += 2
        else:
            at += 2 + int.from_bytes(content[at + 2 : at + 4])
    return MAX_PICTURE_SIDE, MAX_PICTURE_SIDE

"""What it would cost to decode a picture, by its header: pixels, depth and passes.

Small files can describe work for seconds. What is refused here costs nobody a turn; the others wait
for one according to their cost.
"""

import re
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
# One further on would replace the first. A chunk's length begins with a zero.
_LATER_HEADER = re.compile(rb"\0.{3}IHDR", re.DOTALL)
_FIRST_CHUNK = 8
_PNG_HEADER = struct.Struct(">8x4x4sIIBBxxB")
# Measured for the largest picture in one pass, with 32 bits per pixel or fewer.
_LARGEST_S = 0.3
# A scan of a JPEG costs less than a pass: most of the work is done once.
_SCAN_PASSES = 1 / 8
# However many pixels a header says.
_MOST_S = 1
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


def expected_s(content: bytes, kind: Kind) -> float:
    """How long decoding takes, roughly; as a large picture if the header does not say."""
    match kind:
        case "png":
            width, height, bits, interlaced = _png_header(content)
            passes = max(1, bits / 32) * (_INTERLACED if interlaced else 1)
        case "jpg":
            width, height = _jpeg_size(content)
            passes = 1 + content.count(_SCAN) * _SCAN_PASSES
        case _:
            (width, height), passes = _webp_size(content), 1
    return min(_LARGEST_S * width * height * passes / _PIXELS, _MOST_S)


def _png_excess(content: bytes) -> str | None:
    if content.count(_PROFILE) > _MAX_PROFILES:
        return "has several color profiles. Save it again with another program."
    if _LATER_HEADER.search(content, _FIRST_CHUNK + 1):
        return "has a second header, or one in the wrong place. Save it again with another program."
    width, height, bits, interlaced = _png_header(content)
    cost = width * height * bits // 8 * (_INTERLACED if interlaced else 1)
    if max(width, height) > MAX_PICTURE_SIDE or cost <= _MAX_PNG_BYTES:
        return None
    how = ", interlaced" if interlaced else ""
    return (
        f"takes too long to decode: {width:,} × {height:,} pixels of {bits} bits{how}. Save it "
        "with 8 bits per channel, without interlacing, or smaller."
    )


def _png_header(content: bytes) -> tuple[int, int, int, bool]:
    """Width, height, bits per pixel, and whether it is interlaced; large if it is not found."""
    if len(content) >= _PNG_HEADER.size:
        chunk, width, height, depth, color, interlace = _PNG_HEADER.unpack_from(content)
        if chunk == b"IHDR":
            return width, height, depth * _CHANNELS.get(color, 1), bool(interlace)
    return MAX_PICTURE_SIDE, MAX_PICTURE_SIDE, 1, False


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


def _webp_size(content: bytes) -> tuple[int, int]:
    """As large as possible if it is not found."""
    start = int.from_bytes(content[20:30], "little")
    match content[12:16]:
        case b"VP8X":
            return (start >> 32 & 0xFFFFFF) + 1, (start >> 56) + 1
        case b"VP8L":
            return (start >> 8 & 0x3FFF) + 1, (start >> 22 & 0x3FFF) + 1
        case b"VP8 ":
            return start >> 48 & 0x3FFF, start >> 64 & 0x3FFF
    return MAX_PICTURE_SIDE, MAX_PICTURE_SIDE

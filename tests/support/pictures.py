"""Pictures in memory, for tests."""

import io
import struct
import zlib
from typing import Any

from PIL import Image


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    output = io.BytesIO()
    image.save(output, {"jpg": "JPEG"}.get(kind, kind.upper()), **options)
    return output.getvalue()


def a_picture(kind: str = "png", width: int = 800, height: int = 500, shade: int = 90) -> bytes:
    return encoded(Image.new("RGB", (width, height), (shade, 120, 200)), kind)


def an_animation(kind: str) -> bytes:
    first, *others = (Image.new("RGB", (40, 30), (it, 0, 0)) for it in (0, 100, 200))
    return encoded(first, kind, save_all=True, append_images=others)


def a_huge_png(
    side: int = 20_000,
    depth: int = 1,
    color: int = 0,
    channels: int = 1,
    *,
    interlaced: bool = False,
) -> bytes:
    """A small file: black, by default with one bit for a pixel. Pillow takes five times as long
    for it. Interlaced, it has too few rows, which nobody sees who reads the header alone.
    """
    rows = zlib.compress(bytes((1 + side * depth * channels // 8) * side), 1)
    header = struct.pack(">IIBBBBB", side, side, depth, color, 0, 0, interlaced)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )

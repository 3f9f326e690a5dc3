"""Pictures in memory, for tests."""

import io
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

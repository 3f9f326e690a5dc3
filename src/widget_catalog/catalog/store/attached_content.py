"""The content of READMEs and pictures: whether it is what its path says, and a README's text."""

import asyncio
import contextlib
import io
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from widget_contract.errors import CatalogError
from widget_contract.texts import clean_text
from widget_contract.version_files import (
    MAX_PICTURE_SIDE,
    MAX_README_BYTES,
    PICTURE_KINDS,
    README,
    THUMBNAIL_WIDTH,
)
from widget_contract.wire_running import PublishedFile

from ...core.errors import BundleRefused
from ...core.files.contract import Bundles, Kind
from ...core.files.verified_bundles import read_verified
from ...core.jobs.bounded_work import BoundedProcess
from ..model.tokens import readme_tokens

if TYPE_CHECKING:
    from PIL.Image import Image


_log = structlog.get_logger("widget_catalog.files")

_FORMATS = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP"}
# Several JPEG pictures in one file, of which all programs show the first.
_ALSO_JPEG = "MPO"
_TOO_LARGE = f"is too large: at most {MAX_PICTURE_SIDE:,} pixels a side are allowed."
_DAMAGED = "is damaged or incomplete, and cannot be shown."
_TOO_EXPENSIVE = "takes too much time or memory to decode. Save it again with another program."
_THUMBNAIL_QUALITY = 75
# WebP's slowest, 6, takes three to eight times as long for a few percent.
_THUMBNAIL_METHOD = 4
# A larger colour profile is left out of the thumbnail.
_MAX_PROFILE_BYTES = 8_192
_ORIENTATION = 0x0112
_TURNED = range(5, 9)


class Picture(NamedTuple):
    """Its size as shown, and its thumbnail, in WebP: empty if none was asked for."""

    width: int
    height: int
    thumbnail: bytes
    thumbnail_pixels: tuple[int, int]
    """Width and height."""


_lock = threading.Lock()


def inspect_picture(content: bytes, kind: Kind, *, makes_thumbnail: bool = True) -> Picture:
    """Decode a picture completely. Raises BundleRefused with a sentence about it if it is not a
    still picture of this kind, or too large; and Busy.

    For commands and operators. One picture at a time: those of authors take turns instead.
    """
    with _lock:
        found = _process.ask((content, kind, makes_thumbnail))
    return picture_of(found)


def picture_of(found: tuple[Any, ...] | str | None) -> Picture:
    """The result of `decode_picture`; None if it exceeded the limits. Raises BundleRefused."""
    if found is None:
        raise BundleRefused(_TOO_EXPENSIVE)
    if isinstance(found, str):
        raise BundleRefused(found)
    return Picture(*found)


def decode_picture(question: tuple[bytes, str, bool]) -> tuple[Any, ...] | str:
    """Runs in the process with limits: the fields of a Picture, or what is wrong."""
    from PIL import Image, UnidentifiedImageError

    content, kind, makes_thumbnail = question
    try:
        image = Image.open(io.BytesIO(content), formats=tuple(_FORMATS.values()))
    except UnidentifiedImageError:
        return f"is not a {_FORMATS[kind]} picture."
    except (Image.DecompressionBombError, MemoryError):
        return _TOO_LARGE
    except Exception:  # Whatever a decoder does with untrusted bytes.
        return f"is damaged, incomplete, or larger than {MAX_PICTURE_SIDE:,} pixels a side."
    found = _FORMATS["jpg"] if image.format == _ALSO_JPEG else image.format
    if found != _FORMATS[kind]:
        return f"is not a {_FORMATS[kind]} picture: its content is {found}."
    if max(image.size) > MAX_PICTURE_SIDE:
        return f"has {image.width:,} × {image.height:,} pixels and {_TOO_LARGE}"
    if getattr(image, "is_animated", False) and image.format != _ALSO_JPEG:
        return "is animated; only still pictures are allowed."
    try:
        image.load()
        return _measured(image, makes_thumbnail)
    except Exception:
        return _DAMAGED


def _measured(image: "Image", makes_thumbnail: bool) -> tuple[Any, ...]:
    width, height = image.size
    orientation = 1
    with contextlib.suppress(Exception):  # Metadata that no browser could read either.
        orientation = image.getexif().get(_ORIENTATION, 1)
    if orientation in _TURNED:
        width, height = height, width
    if not makes_thumbnail:
        return width, height, b"", (0, 0)
    thumbnail = _thumbnail(image, width, height, orientation)
    output = io.BytesIO()
    profile = image.info.get("icc_profile") or b""
    thumbnail.save(
        output,
        "WEBP",
        quality=_THUMBNAIL_QUALITY,
        method=_THUMBNAIL_METHOD,
        icc_profile=profile if len(profile) <= _MAX_PROFILE_BYTES else b"",
        exif=b"",
    )
    return width, height, output.getvalue(), thumbnail.size


def _thumbnail(image: "Image", width: int, height: int, orientation: int) -> "Image":
    """At most that wide; never enlarged."""
    from PIL import Image, ImageOps

    across = min(width, THUMBNAIL_WIDTH)
    down = max(1, round(height * across / width))
    size = (down, across) if orientation in _TURNED else (across, down)
    mode = "RGBA" if image.has_transparency_data else "RGB"
    # Palettes and 16 bits first: they cannot be resampled.
    plain = image if image.mode in ("L", "RGB", "RGBA") else image.convert(mode)
    small = plain.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    with contextlib.suppress(Exception):
        small.getexif()[_ORIENTATION] = orientation
        small = ImageOps.exif_transpose(small)
    return small.convert(mode)


_process: BoundedProcess[tuple[bytes, str, bool], tuple[Any, ...] | str] = BoundedProcess(
    decode_picture
)


def check_content(
    content: bytes, kind: Kind, inspect: Callable[[bytes, Kind], Picture] = inspect_picture
) -> Picture | None:
    """Pictures are inspected. Raises BundleRefused with what is wrong, as a sentence without its
    subject; and Busy.
    """
    if kind in PICTURE_KINDS:
        return inspect(content, kind)
    if kind == "md":
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise BundleRefused("is not text in UTF-8.") from None
        if "\0" in text:
            raise BundleRefused("contains NUL characters: it is not a text.")
    return None


def words_of(readme: bytes) -> str:
    """The words of a README that searches find."""
    return " ".join(readme_tokens(readme.decode("utf-8-sig", "replace")))


def stored_words(bundles: Bundles, sha256_hash: str, kind: Kind, size_bytes: int) -> str:
    """The words of a stored README that searches find; none of another file, or if it cannot be
    read now.
    """
    if kind != "md":
        return ""
    try:
        return words_of(
            read_verified(bundles, sha256_hash, kind, min(size_bytes, MAX_README_BYTES))
        )
    except (CatalogError, OSError) as error:
        _log.warning("A README cannot be searched.", sha256_hash=sha256_hash, error=str(error))
        return ""


async def read_readme(
    bundles: Bundles, files: Sequence[PublishedFile], declared: str | None
) -> tuple[str | None, bool]:
    """The README of a version, in Markdown: its file, or else what its manifest declares. And
    whether that is final: the file may be unavailable for a while.
    """
    file = next((it for it in files if it.path == README), None)
    if file is None:
        return declared, True
    size = min(file.size, MAX_README_BYTES)
    try:
        content = await asyncio.to_thread(read_verified, bundles, file.sha256_hash, "md", size)
    except (CatalogError, OSError) as error:
        _log.warning("A README cannot be read.", file=file.url, error=str(error))
        return declared, False
    return clean_text(content.decode("utf-8-sig", "replace").replace("\r\n", "\n")), True

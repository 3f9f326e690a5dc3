"""The content of READMEs and pictures: whether it is what its path says, and a README's text."""

import asyncio
from collections.abc import Sequence

import structlog

from widget_contract.errors import CatalogError
from widget_contract.texts import clean_text
from widget_contract.version_files import MAX_README_BYTES, PICTURE_KINDS, README
from widget_contract.wire_running import PublishedFile

from ..core.errors import BundleRefused
from ..core.files.contract import Bundles, Kind
from ..core.files.hashing import read_verified
from .pictures import Picture, inspect_picture

_log = structlog.get_logger("widget_catalog.files")


def check_content(content: bytes, kind: Kind) -> Picture | None:
    """Pictures are decoded. Raises BundleRefused with what is wrong, as a sentence without its
    subject; and Busy.
    """
    if kind in PICTURE_KINDS:
        return inspect_picture(content, kind)
    if kind == "md":
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise BundleRefused("is not text in UTF-8.") from None
        if "\0" in text:
            raise BundleRefused("contains NUL characters: it is not a text.")
    return None


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

"""The files of the preview, which the catalog and the authors' tool both serve.

`preview.js` runs a widget in the sandbox of the JavaScript client, with a host that pretends;
`panel.js` draws the controls around it. They find each other, and the files of the client, by
relative addresses, so they are served from one folder.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from ..frame import frame_headers

_TYPES = {"js": "text/javascript", "css": "text/css"}
FRAME = "frame.html"
_NAMES = (
    # Of the client.
    FRAME,
    "capabilities.js",
    "client.js",
    "defaults.js",
    "elements.js",
    "grants.js",
    "sandbox.js",
    "settings.js",
    "texts.js",
    "frame.js",
    "panel.js",
    "preview.css",
    "preview.js",
    "sample-host.js",
)


class PreviewFile(NamedTuple):
    """`headers` include the content type."""

    content: bytes
    headers: tuple[tuple[str, str], ...]


@cache
def preview_files() -> dict[str, PreviewFile]:
    folder = resources.files(__package__)
    return {name: preview_file(name, (folder / name).read_bytes()) for name in _NAMES}


def served_preview_files(address: str, *, is_apart: bool) -> dict[str, PreviewFile]:
    """Those of a catalog, with the sandbox's frame at this address, which may be relative to them.
    `is_apart`: on another site."""
    files = {name: it for name, it in preview_files().items() if name != FRAME}
    script = (
        f"export const FRAME = new URL({json.dumps(address)}, import.meta.url).href;\n"
        f"export const IS_APART = {json.dumps(is_apart)};\n"
    )
    return files | {"frame.js": preview_file("frame.js", script.encode())}


def preview_tag(files: Mapping[str, PreviewFile]) -> str:
    """Changes whenever any file or its headers change."""
    return hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]


def preview_file(name: str, content: bytes) -> PreviewFile:
    if name == FRAME:
        return PreviewFile(content, tuple(frame_headers(content.decode(), "'self'")))
    content_type = f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"
    headers = (("content-type", content_type), ("x-content-type-options", "nosniff"))
    return PreviewFile(content, headers)

"""The files of the preview, which the catalog and the authors' tool both serve.

`widget-frame.js` runs a widget in a frame with `frame.html`; `panel.js` draws the controls
around it. They find each other by relative addresses, so they are served from one folder. The form
for settings is that of the JavaScript client.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
}
NAMES = (
    "elements.js",
    "frame.html",
    "panel.js",
    "preview.css",
    "sample-context.js",
    "settings.js",
    "texts.js",
    "widget-frame.js",
)

# For the page that embeds the frame, in addition to its own rules: no other frames.
FRAME_SOURCES = "frame-src 'self'"


class PreviewFile(NamedTuple):
    """`headers` include the content type."""

    content: bytes
    headers: tuple[tuple[str, str], ...]


@cache
def preview_files() -> dict[str, PreviewFile]:
    folder = resources.files(__package__)
    return {name: preview_file(name, (folder / name).read_bytes()) for name in NAMES}


def preview_tag(files: Mapping[str, PreviewFile]) -> str:
    """Changes whenever any file or its headers change."""
    return hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]


def preview_file(name: str, content: bytes) -> PreviewFile:
    headers = [("content-type", _TYPES[name.rpartition(".")[2]])]
    headers.append(("x-content-type-options", "nosniff"))
    if name == "frame.html":
        headers += _sandbox(content.decode())
    return PreviewFile(content, tuple(headers))


def frame_ancestors(headers: tuple[tuple[str, str], ...], sources: str) -> list[tuple[str, str]]:
    """The headers of a file, where its policy names these as those that may frame it."""
    own = "frame-ancestors 'self'"
    return [(name, value.replace(own, f"frame-ancestors {sources}")) for name, value in headers]


def _sandbox(document: str) -> list[tuple[str, str]]:
    """An opaque origin, also for those who open the address itself; the one script that is in the
    document, and what it makes of bytes; nothing that would need the network."""
    script = document.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src 'sha256-{digest}' blob:; "
        "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; "
        "worker-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    )
    return [
        ("content-security-policy", policy),
        # A policy is about what is loaded. This one is about connections, such as those of hints.
        ("connection-allowlist", "()"),
        ("x-dns-prefetch-control", "off"),
        ("referrer-policy", "no-referrer"),
    ]

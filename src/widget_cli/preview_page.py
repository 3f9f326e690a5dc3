"""The page around the preview: its files in `dev/`, and their headers.

`widget dev` serves it, and so does the Vite plugin. It expects at `/state` what to show, at
`/changes` an event after every change, and at `/preview/` the files of the preview.
"""

from importlib import resources
from typing import NamedTuple

TYPES = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "json": "application/json",
}
PAGE = "page.html"
_NAMES = (PAGE, "dev.js", "dev.css", "shot.html", "shot.js", "shot.css")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    # Not the widget's own files.
    ", script-src *:*/dev.js *:*/shot.js *:*/preview/; frame-src *:*/preview/frame.html; "
    "style-src *:*/dev.css *:*/shot.css *:*/preview/"
)


class PageFile(NamedTuple):
    """`policy` is its Content-Security-Policy."""

    content: bytes
    content_type: str
    policy: str


def page_files() -> dict[str, PageFile]:
    folder = resources.files(__package__) / "dev"
    contents = {name: (folder / name).read_bytes() for name in _NAMES}
    return {name: PageFile(it, type_of(name), _POLICY) for name, it in contents.items()}


def type_of(name: str) -> str:
    return f"{TYPES[name.rpartition('.')[2]]}; charset=utf-8"

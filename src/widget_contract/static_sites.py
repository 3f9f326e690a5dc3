"""The files of a static site that its readers must know, besides those that are API responses."""

import re
from collections.abc import Iterator, Mapping

import msgspec

FORMAT = 1
ENTRY = "static.json"
"""The file that only static sites have."""
SUMS = "SHA256SUMS"
"""The SHA-256 of every other file, as `sha256sum --check` reads it. The last line is that of
`ENTRY`, so that a list that was cut off is recognised."""
_LINE = re.compile(rb"([0-9a-f]{64})  ([^\\\n]+)\n")


class Indexed(msgspec.Struct, array_like=True, frozen=True):
    """A widget in the index for searches."""

    scope: str
    name: str
    display_name: str
    description: str | None
    is_official: bool | None
    download_count: int
    # Of all versions; and names in other languages.
    keywords: tuple[str, ...] = ()
    # The addresses of its picture, for light and dark if they differ; those that begin with a slash
    # are below the site. None: it is at `/pictures/{scope}/{name}/{scheme}.svg`.
    pictures: tuple[str, ...] = ()


class Index(msgspec.Struct, frozen=True):
    """`api/v1/widgets/search.json`: all listed widgets, most downloaded first."""

    widgets: tuple[Indexed, ...]


class Entry(msgspec.Struct, frozen=True, rename="camel"):
    """`static.json`. `revision` is the number of the newest change that the site includes."""

    format: int
    base_url: str
    revision: int


def sums_of(files: Mapping[str, str]) -> Iterator[bytes]:
    """The lines of `SUMS` for these files and their hashes."""
    for path in sorted(files, key=lambda it: (it == ENTRY, it)):
        yield f"{files[path]}  {path}\n".encode()


def parse_sums(content: bytes) -> dict[str, str] | None:
    """The hashes by path; None if a line is malformed, or the last one is missing."""
    found: dict[str, str] = {}
    path = ""
    for line in content.splitlines(keepends=True):
        matched = _LINE.fullmatch(line)
        if matched is None:
            return None
        path = matched[2].decode(errors="replace")
        found[path] = matched[1].decode()
    return found if path == ENTRY else None

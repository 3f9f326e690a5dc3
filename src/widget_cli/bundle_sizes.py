"""What takes the room in a module, by package or file, according to its source map."""

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from .console import sized
from .documents import leads_out, read_file

MAX_READ_BYTES = 64 << 20
_MAX_PARTS = 8
_LINK = re.compile(rb"//[#@] sourceMappingURL=(\S+)\s*$")
_INLINE = re.compile(rb"data:application/json(?:;charset=[\w-]+)?;base64,(.+)")
_PACKAGE = re.compile(r".*(?:^|/)node_modules/((?:@[^/]+/)?[^/]+)", re.S)
_DIGITS = {
    ord(letter): number
    for number, letter in enumerate(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    )
}
_UNKNOWN = "(not in the source map, such as JSON)"


class Part(NamedTuple):
    name: str
    size_bytes: int


class _SourceMap(msgspec.Struct):
    mappings: str
    sources: list[str | None] = []
    source_root: str | None = msgspec.field(default=None, name="sourceRoot")


def find_parts(folder: Path, module: Path, content: bytes) -> list[Part]:
    """The parts of a module, largest first; none without a readable source map."""
    text = _find_map(folder, module, content)
    if text is None:
        return []
    try:
        found = msgspec.json.decode(text, type=_SourceMap)
        names = [_name_of(f"{found.source_root or ''}{it or ''}") for it in found.sources]
        sizes = Counter[str]()
        for source, size in _spans(content.decode().split("\n"), found.mappings):
            in_map = source is not None and 0 <= source < len(names)
            sizes[names[source] if source is not None and in_map else _UNKNOWN] += size
    except (msgspec.MsgspecError, UnicodeError, ValueError, KeyError):
        return []
    return [Part(name, size) for name, size in sizes.most_common()]


def show_parts(parts: list[Part]) -> list[str]:
    """The largest parts as lines of a table."""
    total = sum(it.size_bytes for it in parts) or 1
    shown, rest = parts[:_MAX_PARTS], parts[_MAX_PARTS:]
    if rest:
        others = "1 other" if len(rest) == 1 else f"{len(rest):,} others"
        shown = [*shown, Part(others, sum(it.size_bytes for it in rest))]
    sizes = [sized(it.size_bytes) for it in shown]
    widest = max(map(len, sizes), default=0)
    return [
        f"{size:>{widest}}  {part.size_bytes / total:>4.0%}  {part.name}"
        for size, part in zip(sizes, shown, strict=True)
    ]


def _find_map(folder: Path, module: Path, content: bytes) -> bytes | None:
    """Inside the module, in the file that it names, or next to it."""
    link = _LINK.search(content[-MAX_READ_BYTES:].rstrip().rpartition(b"\n")[2])
    try:
        if link and (inline := _INLINE.fullmatch(link[1])):
            return base64.b64decode(inline[1])
        named = link[1].decode() if link else f"{module.name}.map"
        path = module.parent / named
        if leads_out(folder, path):
            return None
        size, text = read_file(path, MAX_READ_BYTES)
        return text if size <= MAX_READ_BYTES else None
    except (OSError, UnicodeError, ValueError, binascii.Error):
        return None


def _name_of(source: str) -> str:
    if package := _PACKAGE.match(source):
        return package[1]
    return re.sub(r"^(?:[a-z]+://[^/]*/|\.{1,2}/)+", "", source) or _UNKNOWN


def _spans(lines: list[str], mappings: str) -> Iterator[tuple[int | None, int]]:
    """The number of the source of each piece of the text, and its size in bytes."""
    source = 0
    mapped = mappings.split(";")
    for number, line in enumerate(lines):
        column, segment_source = 0, None
        for segment in mapped[number].split(",") if number < len(mapped) else ():
            if not segment:
                continue
            fields = _decoded(segment)
            start = column + fields[0]
            yield segment_source, len(line[column:start].encode())
            column = start
            if len(fields) > 1:
                source += fields[1]
                segment_source = source
            else:
                segment_source = None
        yield segment_source, len(line[column:].encode()) + 1


def _decoded(segment: str) -> list[int]:
    """The base64 VLQ numbers of a segment."""
    numbers, value, shift = [], 0, 0
    for letter in segment.encode():
        digit = _DIGITS[letter]
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return numbers

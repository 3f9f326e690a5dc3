"""Files of a widget's folder, as they are read; README.md and CHANGELOG.md."""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from widget_contract.semver import SemVer
from widget_contract.version_files import (
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    MAX_README_BYTES,
    README,
    is_picture,
    path_conflicts,
)

from .console import sized


class SourceFile(msgspec.Struct, frozen=True):
    """A file that will be published."""

    path: Path
    content: bytes

    @property
    def size_bytes(self) -> int:
        return len(self.content)

    @property
    def sha256_hash(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def read_file(path: Path, max_bytes: int) -> tuple[int, bytes]:
    """The size of a file, and its content unless it exceeds `max_bytes`.

    Raises OSError if it is not a regular file: reading a pipe might block forever.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        content = file.read(found.st_size) if found.st_size <= max_bytes else b""
        return found.st_size, content


def _open_at_once(path: str, flags: int) -> int:
    """Open without blocking, in case it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def leads_out(folder: Path, path: Path) -> bool:
    """Whether a symbolic link points outside the folder."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


CHANGELOG = "CHANGELOG.md"
SCREENSHOTS = "screenshots"
_MAX_CHANGELOG_BYTES = 4 << 20
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")


class Document(NamedTuple):
    """A file that was looked for; if it cannot be used, `problem` says why."""

    file: SourceFile | None = None
    problem: str | None = None


def find_readme(folder: Path) -> Document:
    found = _find(folder, README, MAX_README_BYTES)
    if found.problem is None:
        return found
    return Document(problem=f"{found.problem} The widget is published without it.")


class Pictures(NamedTuple):
    """The pictures that can be published, by their path, and what is wrong with others."""

    files: dict[str, SourceFile] = {}  # noqa: RUF012
    problems: tuple[str, ...] = ()


def find_pictures(folder: Path) -> Pictures:
    """The pictures in the folder `screenshots`, by name; a light one precedes its dark one."""
    try:
        names = [it.name for it in (folder / SCREENSHOTS).iterdir() if it.is_file()]
    except OSError:
        return Pictures()
    files: dict[str, SourceFile] = {}
    problems: list[str] = []
    names.sort(key=lambda it: (it.replace("dark", "light"), "dark" in it, it))
    for path in (f"{SCREENSHOTS}/{it}" for it in names if not it.startswith(".")):
        if not is_picture(path):
            rule = "use letters, digits, - and _, and png, jpg or webp"
            problems.append(f"{path} is not published: its name is not one of a picture; {rule}.")
            continue
        found = _read(folder, folder / path, path, MAX_PICTURE_BYTES)
        if found.file is not None:
            files[path] = found.file
        elif found.problem is not None:
            problems.append(f"{found.problem} It is not published.")
    if len(files) > MAX_PICTURES:
        left_out = list(files)[MAX_PICTURES:]
        most = f"at most {MAX_PICTURES} pictures are published"
        problems.append(f"{', '.join(left_out)}: {most}, the first by name.")
        files = {path: files[path] for path in list(files)[:MAX_PICTURES]}
    return Pictures(files, (*problems, *path_conflicts(list(files))))


def find_release_notes(folder: Path, version: SemVer) -> Document:
    """The section of this version in CHANGELOG.md."""
    changelog = _find(folder, CHANGELOG, _MAX_CHANGELOG_BYTES)
    if changelog.file is None:
        return changelog
    section = section_of(changelog.file.content.decode(), version)
    content = None if section is None else SourceFile(changelog.file.path, section.encode())
    return Document(content)


def section_of(changelog: str, version: SemVer) -> str | None:
    """The text below the heading of a version, up to the next heading of its level; None if there
    is no such heading, or no text. Headings are written like `## 1.2.0` or `## [v1.2.0] - today`.
    """
    number = version.text.partition("+")[0]
    build = r"(?:\+[0-9A-Za-z.-]+)?"
    wanted = re.compile(rf"(?:\S+\s+)?\[?[vV]?{re.escape(number)}{build}(?![\w.+-])")
    lines = changelog.splitlines()
    start = level = None
    end = len(lines)
    for first, after, depth, title in _headings(lines):
        if start is not None and level is not None and depth <= level:
            end = first
            break
        if start is None and wanted.match(title):
            start, level = after, depth
    return None if start is None else "\n".join(lines[start:end]).strip() or None


def _headings(lines: list[str]) -> Iterator[tuple[int, int, int, str]]:
    """Every heading outside code: its first line, the line after it, its level and its text."""
    fence = ""
    for i, line in enumerate(lines):
        if fenced := _FENCE.match(line):
            mark = fenced[1]
            if not fence:
                fence = mark
            elif mark.startswith(fence):
                fence = ""
        elif fence:
            continue
        elif found := _HEADING.match(line):
            yield i, i + 1, len(found[1]), found[2]
        elif (
            line.strip()
            and i + 1 < len(lines)
            and (underline := _UNDERLINE.match(lines[i + 1]))
            and not (i and lines[i - 1].strip())
        ):
            yield i, i + 2, 1 if underline[1][0] == "=" else 2, line.strip()


def _find(folder: Path, name: str, max_bytes: int) -> Document:
    """The file with this name, in upper or lower case."""
    try:
        names = [it.name for it in folder.iterdir() if it.name.lower() == name.lower()]
    except OSError:
        return Document()
    if not names:
        return Document()
    path = folder / (name if name in names else min(names))
    found = _read(folder, path, path.name, max_bytes)
    if found.file is None:
        return found
    try:
        is_empty = not found.file.content.decode().strip()
    except UnicodeDecodeError:
        return Document(problem=f"{path.name} is not UTF-8 text.")
    return Document() if is_empty else found


def _read(folder: Path, path: Path, name: str, max_bytes: int) -> Document:
    if leads_out(folder, path):
        return Document(problem=f"{name} is a symbolic link to a file outside the folder.")
    try:
        size, content = read_file(path, max_bytes)
    except OSError as error:
        return Document(problem=f"{name} cannot be read: {error.strerror}.")
    if size > max_bytes:
        limit = f"the limit is {sized(max_bytes)}"
        return Document(problem=f"{name} is too large: {sized(size)}; {limit}.")
    return Document(SourceFile(path, content)) if content else Document()

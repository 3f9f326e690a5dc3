"""README.md and CHANGELOG.md in a widget's folder."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from widget_contract.declared_details import MAX_README_BYTES
from widget_contract.semver import SemVer

from .console import sized
from .source_files import SourceFile, leads_out, read_file

README, CHANGELOG = "README.md", "CHANGELOG.md"
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
    if leads_out(folder, path):
        return Document(problem=f"{path.name} is a symbolic link to a file outside the folder.")
    try:
        size, content = read_file(path, max_bytes)
        if size > max_bytes:
            limit = f"the limit is {sized(max_bytes)}"
            return Document(problem=f"{path.name} is too large: {sized(size)}; {limit}.")
        content.decode()
    except OSError as error:
        return Document(problem=f"{path.name} cannot be read: {error.strerror}.")
    except UnicodeDecodeError:
        return Document(problem=f"{path.name} is not UTF-8 text.")
    return Document(SourceFile(path, content)) if content.strip() else Document()

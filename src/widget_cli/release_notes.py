"""The release notes of a version: from --notes, from its section in CHANGELOG.md, or from the
manifest. They are asked for otherwise; those of the last version that had any are not published
again.
"""

import sys
from pathlib import Path
from typing import NamedTuple

from .console import ask_line, warn
from .documents import CHANGELOG, find_release_notes
from .errors import wrong_usage
from .manifest_text import with_value
from .responses import VersionEntry
from .widget_folder import MANIFEST, LocalWidget

OPTION = "--notes"


class ReleaseNotes(NamedTuple):
    """`source` is where they come from."""

    text: str
    source: str


def find_notes(local: LocalWidget, option: str | None) -> ReleaseNotes | None:
    """The notes that are written down for this version; `option` is the value of --notes."""
    if option is not None:
        return ReleaseNotes(_read(option), OPTION)
    section = find_release_notes(local.folder, local.manifest.version)
    if section.problem is not None:
        warn(section.problem)
    if section.file is not None:
        return ReleaseNotes(section.file.content.decode(), CHANGELOG)
    stated = local.manifest.release_notes
    return ReleaseNotes(stated, MANIFEST) if stated else None


def repeated_notes(notes: ReleaseNotes | None, last: VersionEntry | None) -> str | None:
    """A message if they were left in the manifest since `last`, the last version with notes."""
    if notes is None or notes.source != MANIFEST or last is None:
        return None
    if notes.text.strip() != (last.release_notes or "").strip():
        return None
    return (
        f"releaseNotes in {MANIFEST} are still those of {last.version}, so they are not published "
        f"again. Update them, write a section in {CHANGELOG}, or use {OPTION} FILE."
    )


def ask_notes(version: object) -> ReleaseNotes | None:
    text = ask_line(f"What is new in {version}? (one line; Enter for no release notes): ")
    return ReleaseNotes(text, "your input") if text else None


def with_notes(text: str, notes: ReleaseNotes | None) -> str:
    """The manifest with these notes, or without any."""
    if notes is None:
        return with_value(text, "releaseNotes", "") if '"releaseNotes"' in text else text
    return text if notes.source == MANIFEST else with_value(text, "releaseNotes", notes.text)


def _read(file: str) -> str:
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return content.decode().strip()
    except OSError as error:
        raise wrong_usage(
            f"{file} cannot be read: {error.strerror}.", "Pass a file with release notes."
        ) from None
    except UnicodeDecodeError:
        raise wrong_usage(f"{file} is not UTF-8 text.", "Save it as UTF-8.") from None

"""The files of the publish form: what the request announces about them, and where each is stored.

README and pictures are checked as soon as they are sent, so that errors are shown next to their
field; confirming checks them again, like those of every other client.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from widget_contract.version_files import (
    BUNDLE,
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    MAX_README_BYTES,
    README,
    STYLE,
    FileKind,
)

from ..catalog.store.attached_content import check_content
from ..core.errors import BundleRefused
from ..core.http.multipart_form import FormFile
from .picture_checks import Checked, SentPicture

PICTURES = "screenshots"
_PATHS = {"bundle": BUNDLE, "style": STYLE, "readme": README}
_HEAD_BYTES = 12
_MAX_STEM = 60
_MAX_SHOWN = 80


class SentFiles(NamedTuple):
    """The files by path; and the errors in README and pictures, by field. A picture with an error
    is not among the files.
    """

    files: dict[str, FormFile]
    errors: dict[str, tuple[str, ...]]

    @property
    def announced(self) -> dict[str, object]:
        """The keys about files in a publish request."""
        body: dict[str, object] = {}
        if (bundle := self.files.get(BUNDLE)) is not None:
            body |= {"bundleSize": bundle.size_bytes, "sha256Hash": bundle.sha256_hash}
        if (style := self.files.get(STYLE)) is not None:
            body |= {"cssSize": style.size_bytes, "cssSha256Hash": style.sha256_hash}
        attached = [
            {"path": path, "size": file.size_bytes, "sha256Hash": file.sha256_hash}
            for path, file in self.files.items()
            if path not in (BUNDLE, STYLE)
        ]
        return body | ({"files": attached} if attached else {})


def find_file(files: Sequence[FormFile], field: str) -> FormFile | None:
    """The first file of a field."""
    return next((it for it in files if it.field == field), None)


def list_sent_pictures(sent: Sequence[FormFile]) -> list[SentPicture]:
    """Those to check before the form is read: up to the first that is refused anyway."""
    pictures = [it for it in sent if it.field == PICTURES]
    found: list[SentPicture] = []
    for file in pictures if len(pictures) <= MAX_PICTURES else ():
        kind = _kind_of(file)
        if kind is None or file.size_bytes > MAX_PICTURE_BYTES:
            break
        found.append(SentPicture(file.sha256_hash, kind, partial(_content_of, file)))
    return found


def read_sent_files(sent: Sequence[FormFile], checked: Checked) -> SentFiles:
    """Only the first picture with content that is refused has an error. Raises Busy if a picture
    could not be checked just now.
    """
    found = SentFiles({}, {})
    for field, path in _PATHS.items():
        if (file := find_file(sent, field)) is not None:
            found.files[path] = file
    readme = found.files.get(README)
    # Its size is checked with the request.
    if readme is not None and readme.size_bytes <= MAX_README_BYTES:
        found.errors["readme"] = tuple(_content_errors(readme, "md", checked))
    _add_pictures(found, [it for it in sent if it.field == PICTURES], checked)
    return found


def _add_pictures(found: SentFiles, pictures: Sequence[FormFile], checked: Checked) -> None:
    if len(pictures) > MAX_PICTURES:
        sentence = f"You chose {len(pictures)} pictures; at most {MAX_PICTURES} are allowed."
        found.errors[PICTURES] = (sentence,)
        return
    errors: list[str] = []
    for file in pictures:
        kind = _kind_of(file)
        if file.size_bytes > MAX_PICTURE_BYTES:
            size = f"{file.size_bytes:,} bytes; at most {MAX_PICTURE_BYTES:,} are allowed."
            problems = [f"{_shown(file)} has {size}"]
        elif kind is None:
            problems = [f"{_shown(file)} is not a PNG, JPEG or WebP picture."]
        else:
            problems = [] if errors else list(_content_errors(file, kind, checked))
        if kind is not None and not problems:
            found.files[_new_path(file.name, kind, found.files)] = file
        errors += problems
    found.errors[PICTURES] = tuple(errors)


def _content_of(file: FormFile) -> bytes:
    content = file.content.read()
    file.content.seek(0)
    return content


def _content_errors(file: FormFile, kind: FileKind, checked: Checked) -> Iterator[str]:
    content = _content_of(file)
    try:
        check_content(content, kind, lambda _, kind: checked.find(file.sha256_hash, kind))
    except BundleRefused as error:
        yield f"{_shown(file)} {error.message}"


def _kind_of(file: FormFile) -> FileKind | None:
    """By its content: a name may have another ending, or none."""
    head = file.content.read(_HEAD_BYTES)
    file.content.seek(0)
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpg"
    return "webp" if head[:4] == b"RIFF" and head[8:] == b"WEBP" else None


def _new_path(name: str, kind: FileKind, taken: dict[str, FormFile]) -> str:
    """Similar to the file's name, and different from the other paths, also without their ending."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", name.rpartition(".")[0] or name).strip("-")
    stem = stem[:_MAX_STEM] or "screenshot"
    stems = {it.partition("/")[2].rpartition(".")[0].lower() for it in taken}
    unique, number = stem, 1
    while unique.lower() in stems:
        number += 1
        unique = f"{stem}-{number}"
    return f"{PICTURES}/{unique}.{kind}"


def _shown(file: FormFile) -> str:
    name = "".join(it if it.isprintable() else "\ufffd" for it in file.name)
    return name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"

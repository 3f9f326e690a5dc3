"""Parses forms with files (`multipart/form-data`) as they arrive, with limits on everything.

Received files are anonymous: they are gone when they are closed, or when the process ends.
"""

import contextlib
import hashlib
import io
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import urlencode

from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from ..errors import InvalidRequest, StoreUnavailable
from .errors import TooLarge

# Files whose content is kept.
MAX_FILES = 10
# More than a person chooses by mistake, so that the handler can say how many are allowed.
_MAX_PARTS = 100
# Of all fields that are not files: more than any of them may have, so that its form can say so.
_MAX_FIELDS_BYTES = 1 << 20


class FormFile(NamedTuple):
    """A file of a form; a field may have several. Content beyond the limits, of one file and of
    their number, is cut off: size and hash are those of the whole file. Reading one that could not
    be kept raises StoreUnavailable.
    """

    field: str
    name: str
    size_bytes: int
    sha256_hash: str
    content: BinaryIO


class MultipartForm(NamedTuple):
    """Fields by name; of duplicates, the first is used."""

    fields: dict[str, str]
    files: list[FormFile]

    @property
    def urlencoded(self) -> bytes:
        """The fields, encoded like a form without files."""
        return urlencode(self.fields).encode()

    def close(self) -> None:
        for file in self.files:
            file.content.close()


class _LostFile(io.BytesIO):
    """Could not be kept, for example because the disk is full. The rest of the form is received:
    it can be shown again with what was typed.
    """

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def write(self, _data: object, /) -> int:
        return 0

    def read(self, _size: int | None = -1, /) -> bytes:
        sentence = f"The files cannot be kept just now ({self._error.strerror}). Try again later."
        raise StoreUnavailable(sentence) from self._error

    def seek(self, _offset: int, _whence: int = 0, /) -> int:
        return len(self.read())


class _Part:
    """The part that is being received: a field if it has no file."""

    def __init__(self, name: str, file_name: str | None, content: BinaryIO | None) -> None:
        self.name = name
        self.file_name = file_name
        self.content = content
        self.text = bytearray()
        self.size_bytes = 0
        self.hash = hashlib.sha256()


class MultipartReader:
    """Parses a body chunk by chunk. Its methods may be called from any thread."""

    def __init__(self, boundary: str, folder: Path, max_file_bytes: int, max_bytes: int) -> None:
        """Files are stored in `folder`, up to `max_file_bytes` each; `max_bytes` is for the whole
        body.
        """
        self._folder = folder
        self._max_file_bytes = max_file_bytes
        self._max_bytes = self._left_bytes = max_bytes
        self._field_bytes = 0
        self._form = MultipartForm({}, [])
        self._part: _Part | None = None
        self._lock = threading.Lock()
        self._is_closed = False
        if not boundary:
            raise InvalidRequest("The form cannot be read: its Content-Type names no boundary.")
        try:
            self._parser = PushMultipartParser(boundary, max_segment_count=_MAX_PARTS)
        except MultipartError as error:
            raise _malformed(error) from None

    def write(self, chunk: bytes) -> None:
        with self._lock:
            self._left_bytes -= len(chunk)
            if self._left_bytes < 0:
                raise TooLarge(f"At most {self._max_bytes:,} bytes are taken with this form.")
            if self._is_closed or not chunk:
                return
            try:
                for event in self._parser.parse(chunk):
                    self._take(event)
            except MultipartError as error:
                raise _malformed(error) from None

    def finish(self) -> MultipartForm:
        """The parsed form. Raises InvalidRequest if it is incomplete."""
        with self._lock:
            try:
                self._parser.close()
            except MultipartError as error:
                raise _malformed(error) from None
            return self._form

    def give_up(self) -> None:
        with self._lock:
            self._is_closed = True
            self._form.close()
            if self._part is not None and self._part.content is not None:
                with contextlib.suppress(OSError):  # Closing writes what is buffered.
                    self._part.content.close()

    def _take(self, event: MultipartSegment | bytearray | bytes | None) -> None:
        if isinstance(event, MultipartSegment):
            content = None if event.filename is None else self._new_file()
            self._part = _Part(event.name or "", event.filename, content)
        elif event is None:
            self._end_part()
        elif self._part is not None:
            self._add(self._part, event)

    def _add(self, part: _Part, data: bytearray | bytes) -> None:
        is_kept = len(self._form.files) < MAX_FILES
        room = self._max_file_bytes - part.size_bytes if is_kept else 0
        part.size_bytes += len(data)
        if part.content is not None:
            part.hash.update(data)
            if room > 0:
                with _keeping(part):
                    part.content.write(data[:room])
            return
        self._field_bytes += len(data)
        if self._field_bytes > _MAX_FIELDS_BYTES:
            raise TooLarge(f"The fields of this form take at most {_MAX_FIELDS_BYTES:,} bytes.")
        part.text += data

    def _end_part(self) -> None:
        part, self._part = self._part, None
        if part is None:
            return
        if part.content is None:
            self._form.fields.setdefault(part.name, part.text.decode("utf-8", "replace"))
        elif not part.file_name and not part.size_bytes:
            part.content.close()  # Browsers send an empty file without a name if none was chosen.
        else:
            with _keeping(part):
                part.content.seek(0)
            file_name, sha256_hash = part.file_name or "", part.hash.hexdigest()
            self._form.files.append(
                FormFile(part.name, file_name, part.size_bytes, sha256_hash, part.content)
            )

    def _new_file(self) -> BinaryIO:
        if len(self._form.files) >= MAX_FILES:
            return io.BytesIO()
        try:
            return cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder))
        except OSError as error:
            return _LostFile(error)


@contextlib.contextmanager
def _keeping(part: _Part) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if part.content is not None:
            with contextlib.suppress(OSError):  # Closing writes the rest, too.
                part.content.close()
        part.content = _LostFile(error)
    except StoreUnavailable:
        pass  # Lost before.


def boundary_of(content_type: str) -> str | None:
    """The boundary of this body; None if it is not a multipart form."""
    kind, options = parse_options_header(content_type)
    if kind != "multipart/form-data":
        return None
    return str(options.get("boundary", ""))


def _malformed(error: MultipartError) -> InvalidRequest:
    return InvalidRequest(f"The form cannot be read: {error.args[0]}.")

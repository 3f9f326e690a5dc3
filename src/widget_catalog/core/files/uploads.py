"""Uploaded files that are not published yet, in one folder.

The holder of an upload URL may replace its file at any time; it is verified and copied when it is
published, and never served from here.
"""

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import BundleNotFound, BundleRefused, Conflict, StoreUnavailable
from .contract import Kind

_INCOMING = ".incoming-"
_CHUNK_BYTES = 1 << 20


class Upload:
    """A file that is being received. Its methods may be called from any thread.

    It is locked for the lifetime of this object or its process: the next receiver, and the
    cleanup, can see whether it is still being written.
    """

    def __init__(self, incoming: Path, target: Path, size_bytes: int, descriptor: int) -> None:
        self._incoming = incoming
        self._target = target
        self._size_bytes = size_bytes
        self._left_bytes = size_bytes
        self._descriptor: int | None = descriptor
        self._lock = threading.Lock()

    def write(self, chunk: bytes) -> None:
        """Raises BundleRefused if this exceeds the announced size."""
        with self._lock, _faults_named():
            if self._descriptor is None:
                return  # Aborted meanwhile.
            self._left_bytes -= len(chunk)
            if self._left_bytes < 0:
                raise BundleRefused(
                    f"More than the {self._size_bytes:,} bytes that were announced were sent."
                )
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]

    def finish(self) -> None:
        """Replace an earlier upload by this file, if it is complete."""
        with self._lock, _faults_named():
            size, left = self._size_bytes, self._left_bytes
            if left == size:
                raise BundleRefused(
                    f"The file is empty: nothing was sent; {size:,} bytes were announced."
                )
            if left:
                raise BundleRefused(f"{size - left:,} bytes were sent; {size:,} were announced.")
            self._incoming.replace(self._target)
            self._close()

    def give_up(self) -> None:
        """Remove what was received so far. Does nothing after `finish`."""
        with self._lock, _faults_named():
            if self._descriptor is not None:
                self._incoming.unlink(missing_ok=True)
                self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class LocalUploads:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, request_id: str, kind: Kind, _most_bytes: int) -> BinaryIO:
        """The last upload, which is not larger than announced. Raises BundleNotFound."""
        try:
            return self._path_of(request_id, kind).open("rb")
        except FileNotFoundError:
            raise BundleNotFound("This file was not uploaded.") from None

    def put(self, source: BinaryIO, request_id: str, kind: Kind) -> None:
        size_bytes = source.seek(0, os.SEEK_END)
        source.seek(0)
        upload = self.receive(request_id, kind, size_bytes)
        try:
            while chunk := source.read(_CHUNK_BYTES):
                upload.write(chunk)
            upload.finish()
        finally:
            upload.give_up()

    def receive(self, request_id: str, kind: Kind, size_bytes: int) -> Upload:
        """Start receiving a file of this size. Raises Conflict if it is being received already."""
        target = self._path_of(request_id, kind)
        incoming = target.with_name(f"{_INCOMING}{target.name}")
        with _faults_named():
            descriptor = _lock(incoming)
            if descriptor is None:
                raise Conflict(
                    "This file is being uploaded already. Wait until that upload has ended."
                )
            try:
                os.ftruncate(descriptor, 0)  # Discard what a killed receiver has left.
            except BaseException:
                os.close(descriptor)
                raise
        return Upload(incoming, target, size_bytes, descriptor)

    def remove(self, request_id: str) -> None:
        kinds: tuple[Kind, ...] = ("js", "css")
        for kind in kinds:
            self._path_of(request_id, kind).unlink(missing_ok=True)

    def remove_leftovers(self) -> int:
        """Remove partial uploads whose process has ended; returns how many."""
        removed = 0
        for path in self._folder.glob(f"{_INCOMING}*"):
            descriptor = _lock(path)
            if descriptor is not None:
                path.unlink(missing_ok=True)
                os.close(descriptor)
                removed += 1
        return removed

    def list_requests(self) -> set[str]:
        """The requests that have uploads."""
        return {path.stem for path in self._folder.glob("[!.]*.*")}

    def _path_of(self, request_id: str, kind: Kind) -> Path:
        return self._folder / f"{request_id}.{kind}"


def _lock(path: Path) -> int | None:
    """Open or create this file and lock it; None if another process holds the lock."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder of the lock may have renamed or removed the file since it was
            # opened.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


@contextlib.contextmanager
def _faults_named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"The upload cannot be kept just now ({error.strerror}). Try again later."
        ) from error

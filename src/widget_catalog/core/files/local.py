"""Bundles and uploads on local disk: `bundles/ab/cdef….js`, named by hash, read-only once written.

Other files are next to them, as `….css` or `….png`, and compressed forms, as `….js.br`. Withdrawn
files have the suffix `.revoked`.

The holder of an upload URL may replace its file at any time; it is verified and copied when it is
published, and never served from here.
"""

import contextlib
import errno
import fcntl
import io
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from ..data_folder import sync
from ..errors import BundleNotFound, BundleRefused, Conflict, FolderUnusable, StoreUnavailable
from ..tracing import part
from .contract import (
    KINDS,
    STORED_ENCODINGS,
    Encoding,
    Kind,
    Stored,
    file_name,
    upload_name,
)
from .hashing import hash_file, hash_stream

_INCOMING = ".incoming-"
# A copy that was only just created may be removed as a leftover; it is then made again.
_TRIES = 3
# What is derived does not take the last space on the disk.
_LEFT_FREE_BYTES = 256 << 20


class LocalBundles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
        """Copy to a temporary file, hash the copy, then link it under its hash if it is free.

        A reader never sees a partial bundle, and two writers of the same bytes do not conflict.
        """
        target = self.local_path(sha256_hash, kind)
        with part("store_file"), _errors_with_path(self._folder):
            with contextlib.suppress(BundleNotFound):
                if hash_file(target).sha256_hash == sha256_hash:
                    return False
                target.unlink(missing_ok=True)  # Damaged: replaced by the new copy.
            for _ in range(_TRIES - 1):
                with contextlib.suppress(FileNotFoundError):
                    return self._copy(source, target, sha256_hash)
            return self._copy(source, target, sha256_hash)

    def _copy(self, source: BinaryIO, target: Path, sha256_hash: str) -> bool:
        source.seek(0)
        descriptor, temporary = tempfile.mkstemp(prefix=_INCOMING, dir=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as copy:
                # While this lock is held, the copy is not considered a leftover.
                fcntl.flock(copy, fcntl.LOCK_EX)
                hashed = hash_stream(source, copy)
                copy.flush()
                os.fsync(copy.fileno())
                if hashed.sha256_hash != sha256_hash:
                    raise BundleRefused(f"These bytes have the SHA-256 {hashed.sha256_hash}.")
                os.fchmod(copy.fileno(), 0o444)
                # As late as possible: another process that removes a file also removes its empty
                # folder.
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(temporary, target)
                except FileExistsError:
                    return False
            sync(target.parent)
            # Always: a process that created the folder may have been killed before this point.
            sync(self._folder)
            return True
        finally:
            Path(temporary).unlink(missing_ok=True)

    def open(
        self, sha256_hash: str, kind: Kind = "js", start: int = 0, stop: int | None = None
    ) -> BinaryIO:
        path = self.local_path(sha256_hash, kind)
        try:
            try:
                file = path.open("rb")
            except FileNotFoundError:
                file = _withdrawn(path).open("rb")
        except FileNotFoundError:
            raise BundleNotFound(
                f"The stored bundle {path} is missing; doctor says whose it is."
            ) from None
        if stop is None:
            file.seek(start)
            return file
        return cast(BinaryIO, io.BufferedReader(_Part(file, start, stop)))

    def stat(self, sha256_hash: str, kind: Kind = "js") -> Stored | None:
        try:
            return _stored(self.local_path(sha256_hash, kind), sha256_hash, kind)
        except FileNotFoundError:
            return None

    def local_path(
        self, sha256_hash: str, kind: Kind = "js", encoding: Encoding | None = None
    ) -> Path:
        return self._folder / file_name(sha256_hash, kind, encoding)

    def put_encoded(self, content: bytes, sha256_hash: str, kind: Kind, encoding: Encoding) -> None:
        target = self.local_path(sha256_hash, kind, encoding)
        with _errors_with_path(self._folder):
            if shutil.disk_usage(self._folder).free < _LEFT_FREE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            descriptor, temporary = tempfile.mkstemp(prefix=_INCOMING, dir=self._folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())  # A power failure might leave an empty one otherwise.
                    os.fchmod(file.fileno(), 0o444)
                    # Without the folder of the file, that was removed meanwhile.
                    with contextlib.suppress(FileNotFoundError):
                        Path(temporary).replace(target)
            finally:
                Path(temporary).unlink(missing_ok=True)

    def open_encoded(self, sha256_hash: str, kind: Kind, encoding: Encoding, stop: int) -> BinaryIO:
        try:
            file = self.local_path(sha256_hash, kind, encoding).open("rb")
        except FileNotFoundError:
            raise BundleNotFound("There is no such compressed form.") from None
        return cast(BinaryIO, io.BufferedReader(_Part(file, 0, stop)))

    def has_encoded(self, sha256_hash: str, kind: Kind, encoding: Encoding) -> bool:
        return self.local_path(sha256_hash, kind, encoding).exists()

    def remove_encoded(self, sha256_hash: str, kind: Kind) -> None:
        for encoding in STORED_ENCODINGS:
            self.local_path(sha256_hash, kind, encoding).unlink(missing_ok=True)

    def remove(self, sha256_hash: str, kind: Kind = "js") -> None:
        path = self.local_path(sha256_hash, kind)
        path.unlink(missing_ok=True)
        self.remove_encoded(sha256_hash, kind)
        with contextlib.suppress(OSError):  # Not empty, or already removed.
            path.parent.rmdir()

    def withdraw(self, sha256_hash: str, kind: Kind = "js") -> None:
        path = self.local_path(sha256_hash, kind)
        with contextlib.suppress(FileNotFoundError):
            path.rename(_withdrawn(path))
            self.remove_encoded(sha256_hash, kind)
            sync(path.parent)

    def restore(self, sha256_hash: str, kind: Kind = "js") -> None:
        path = self.local_path(sha256_hash, kind)
        with contextlib.suppress(FileNotFoundError):
            _withdrawn(path).rename(path)
            sync(path.parent)

    def upload_target(
        self, _request_id: str, _path: str, _size_bytes: int, _sha256_hash: str
    ) -> None:
        """The service itself receives files for a local disk."""

    def check(self) -> None:
        if not os.access(self._folder, os.R_OK | os.X_OK):
            raise FolderUnusable("The folder of the bundles cannot be read.")

    def list_stored(self) -> Iterator[Stored]:
        for kind in KINDS:
            for path in sorted(self._folder.glob(f"??/*.{kind}")):
                with contextlib.suppress(FileNotFoundError):  # Removed concurrently.
                    yield _stored(path, path.parent.name + path.stem, kind)

    def list_leftovers(self) -> Iterator[Stored]:
        for path in sorted(self._folder.glob(f"{_INCOMING}*")):
            with contextlib.suppress(FileNotFoundError):
                yield _stored(path, None, "js")

    def remove_leftovers(self) -> None:
        for path in self._folder.glob(f"{_INCOMING}*"):
            # Already removed, being written to, or not removable: doctor reports what is left.
            with contextlib.suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()

    def quarantine(self, stored: Stored, folder: Path) -> None:
        """Its path below that folder is the same as below the data folder."""
        path = Path(stored.place)
        target = folder / path.relative_to(self._folder.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)
        if stored.sha256_hash is not None:
            self.remove_encoded(stored.sha256_hash, stored.kind)


class _Part(io.RawIOBase):
    """A part of a file as a stream."""

    def __init__(self, file: BinaryIO, start: int, stop: int) -> None:
        self._file = file
        self._left = max(0, stop - start)
        file.seek(start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        chunk = self._file.read(min(len(buffer), self._left))
        buffer[: len(chunk)] = chunk
        self._left -= len(chunk)
        return len(chunk)

    def close(self) -> None:
        self._file.close()
        super().close()


def _withdrawn(path: Path) -> Path:
    return path.with_name(f"{path.name}.revoked")


def _stored(path: Path, sha256_hash: str | None, kind: Kind) -> Stored:
    found = path.stat()
    return Stored(sha256_hash, kind, found.st_size, found.st_mtime, str(path))


@contextlib.contextmanager
def _errors_with_path(path: Path) -> Iterator[None]:
    """Adds the path to write errors such as a full disk, for the log."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


_CHUNK_BYTES = 1 << 20


class LocalUpload:
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
        with self._lock, _errors_named():
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
        with self._lock, _errors_named():
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
        with self._lock, _errors_named():
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

    def open(self, request_id: str, path: str, _most_bytes: int) -> BinaryIO:
        try:
            return self._path_of(request_id, path).open("rb")
        except FileNotFoundError:
            raise BundleNotFound("This file was not uploaded.") from None

    def put(self, source: BinaryIO, request_id: str, path: str) -> None:
        size_bytes = source.seek(0, os.SEEK_END)
        source.seek(0)
        upload = self.receive(request_id, path, size_bytes)
        try:
            while chunk := source.read(_CHUNK_BYTES):
                upload.write(chunk)
            upload.finish()
        finally:
            upload.give_up()

    def receive(self, request_id: str, path: str, size_bytes: int) -> LocalUpload:
        target = self._path_of(request_id, path)
        incoming = target.with_name(f"{_INCOMING}{target.name}")
        with _errors_named():
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
        return LocalUpload(incoming, target, size_bytes, descriptor)

    def remove(self, request_id: str) -> None:
        for path in self._folder.glob(f"{request_id}.*"):
            path.unlink(missing_ok=True)

    def remove_leftovers(self) -> int:
        removed = 0
        for path in self._folder.glob(f"{_INCOMING}*"):
            if (descriptor := _lock(path)) is not None:
                path.unlink(missing_ok=True)
                os.close(descriptor)
                removed += 1
        return removed

    def list_requests(self) -> set[str]:
        return {path.name.partition(".")[0] for path in self._folder.glob("[!.]*.*")}

    def _path_of(self, request_id: str, path: str) -> Path:
        return self._folder / upload_name(request_id, path)


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
def _errors_named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"The upload cannot be kept just now ({error.strerror}). Try again later."
        ) from error

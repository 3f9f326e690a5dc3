"""DataFolder: paths of the files in a data folder; their disk space, allocated in advance, and
synchronized. And the lock of the one service that uses the folder.

The kernel releases the lock when the process ends for any reason; the existence of the file means
nothing. It belongs to the parent process only: workers do not inherit it.
"""

import contextlib
import fcntl
import os
import sys
from pathlib import Path

import msgspec

from widget_contract.errors import CatalogError

from .errors import FolderUnusable


class DataFolder:
    """Backups need `catalog.db`, `bundles`, and separately `second-factor.key`; the rest is
    rebuilt. Rebuilding a large replica and index takes so long that backups include them as well.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = run = path / "run"
        self.database = path / "catalog.db"
        self.bundles = path / "bundles"
        self.bundle_cache = path / "bundle-cache"
        self.uploads = path / "uploads"
        self.second_factor_key = path / "second-factor.key"
        self.icons = path / "icons"
        self.revision = run / "revision"
        self.counts = run / "counts"
        self.replica = path / "replica"
        self.replica_lock = run / "replica.lock"
        self.search_index = run / "index"
        self.metrics = run / "metrics"
        self.service_lock = run / "service.lock"
        self.keys = run / "keys"
        self.damage = run / "damage"
        self.encoding_lock = run / "encoding.lock"
        self.encoded = run / "encoded"
        self.writer_lock = run / "writer.lock"
        self.node_status = run / "node"
        self.follower_lock = run / "follower.lock"


def allocate(descriptor: int, size: int) -> None:
    """Allocate disk space for this many bytes of a file, so that they can be mapped and written."""
    if sys.platform == "darwin":  # Not available there: a full disk is not handled.
        os.ftruncate(descriptor, max(size, os.fstat(descriptor).st_size))
    else:
        os.posix_fallocate(descriptor, 0, size)


def sync(path: Path) -> None:
    """Fsync a file; or a folder, which makes new files and folders in it durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class FolderInUse(CatalogError):
    """Another service is running on this data folder; `service` is None while it starts."""

    def __init__(self, message: str, service: "RunningService | None") -> None:
        super().__init__(message)
        self.service = service


class RunningService(msgspec.Struct):
    """What a running service records about itself."""

    pid: int
    address: str
    since: str


class ServiceLock:
    def __init__(self, folder: Path, file: Path) -> None:
        self._folder = folder
        self._file = file

    def check(self) -> None:
        """Raise FolderInUse if a service is running here. Changes nothing."""
        try:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return  # No service has run here; other errors are reported when the folder is opened.
        try:
            self._lock(descriptor)
        finally:
            os.close(descriptor)

    def acquire(self, address: str, since: str) -> None:
        """Hold the lock until this process ends, or raise FolderInUse."""
        try:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            sentence = f"The data folder {self._folder} cannot be used: {error.strerror}."
            raise FolderUnusable(sentence) from None
        self._lock(descriptor)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(RunningService(os.getpid(), address, since)), 0)
        # The descriptor is never closed, which would release the lock.

    def _lock(self, descriptor: int) -> None:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise self._in_use(descriptor) from None

    def _in_use(self, descriptor: int) -> FolderInUse:
        who, found = "Another service", None
        with contextlib.suppress(msgspec.DecodeError):  # It has only just started.
            found = msgspec.json.decode(os.pread(descriptor, 4096, 0), type=RunningService)
            who += f" (process {found.pid}, at {found.address}, since {found.since})"
        sentence = (
            f"{who} is already using the data folder {self._folder}. Stop it, or choose another "
        )
        return FolderInUse(f"{sentence}--data.", found)

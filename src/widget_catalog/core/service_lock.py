"""One service per data folder: a lock held while it runs, with its holder.

The kernel releases it when the process ends for any reason; the existence of the file means
nothing. It belongs to the parent process only: workers do not inherit it.
"""

import contextlib
import fcntl
import os
from pathlib import Path

import msgspec

from widget_contract.errors import CatalogError

from .errors import FolderUnusable


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

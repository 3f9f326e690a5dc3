"""Disks that can be filled and emptied under a running service.

A real one is a small tmpfs in a separate mount namespace of the service, which root and, on most
machines, everybody can create. If that is not allowed, the kernel's limit on file sizes is used
instead: it works everywhere, and looks the same to writers.
"""

import contextlib
import os
import resource
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from support.service import Service, free_port, running_service

_UNLIMITED = resource.RLIM_INFINITY
_DISK = "24m"
_WRITTEN = ("invitations", "downloads")


class Disk(Protocol):
    """A running service, and operations on its disk."""

    service: Service

    def fill(self) -> None:
        """From now on there is no room for another byte."""

    def make_room(self) -> None:
        """As much as before."""

    def copy_folder(self, target: Path) -> None:
        """A copy of the current data folder."""


class LimitedDisk:
    """No process of the service may write to any file beyond its first byte."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def fill(self) -> None:
        self._limit(0)

    def make_room(self) -> None:
        self._limit(_UNLIMITED)

    def copy_folder(self, target: Path) -> None:
        _copy(self.service.data, target)

    def _limit(self, most_bytes: int) -> None:
        for pid in self.service.worker_pids():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most_bytes, _UNLIMITED))


class RefusingDisk:
    """The database itself rejects the writes of a start and a count."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def fill(self) -> None:
        refuse_writes(self.service.data)

    def make_room(self) -> None:
        with contextlib.closing(sqlite3.connect(self.service.data / "catalog.db")) as database:
            for table in _WRITTEN:
                database.execute(f"DROP TRIGGER full_{table}")

    def copy_folder(self, target: Path) -> None:
        _copy(self.service.data, target)


def refuse_writes(data: Path) -> None:
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        for table in _WRITTEN:
            database.execute(
                f"CREATE TRIGGER full_{table} BEFORE INSERT ON {table} "
                "BEGIN SELECT raise(ABORT, 'database or disk is full'); END"
            )


class SmallDisk:
    """A tmpfs that only the service sees; we access it through /proc."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._root = Path(f"/proc/{service.process.pid}/root")

    @property
    def _filler(self) -> Path:
        return self._inside(self.service.data.parent) / "filler"

    def fill(self) -> None:
        with self._filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            for size in (1 << 16, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)):
                        pass

    def make_room(self) -> None:
        self._filler.unlink()

    def copy_folder(self, target: Path) -> None:
        _copy(self._inside(self.service.data), target)

    def _inside(self, path: Path) -> Path:
        return self._root / path.relative_to("/")


def _flags() -> tuple[str, ...]:
    """Enables everything that writes outside the database."""
    return ("--workers", "2", "--metrics-port", str(free_port()))


DiskKind = Callable[[Path, Path], contextlib.AbstractContextManager[Disk]]


@contextlib.contextmanager
def limited_disk(folder: Path, filled: Path) -> Iterator[Disk]:
    data = folder / "data"
    shutil.copytree(filled, data)
    with running_service(data, *_flags()) as service:
        yield LimitedDisk(service)


@contextlib.contextmanager
def small_disk(folder: Path, filled: Path) -> Iterator[Disk]:
    with _on_tmpfs(folder, filled, "true") as service:
        yield SmallDisk(service)


@contextlib.contextmanager
def refusing_disk(folder: Path, filled: Path) -> Iterator[Disk]:
    data = folder / "data"
    shutil.copytree(filled, data)
    refuse_writes(data)
    with running_service(data, *_flags()) as service:
        yield RefusingDisk(service)


@contextlib.contextmanager
def full_disk(folder: Path, filled: Path) -> Iterator[Disk]:
    """Full before the service starts, but not before the folder was first opened."""
    opened = '"$0" -m widget_catalog doctor --data {disk}/data >/dev/null'
    # Almost all: without any space, SQLite cannot even create its shared memory file.
    filled_up = "dd if=/dev/zero of={disk}/filler 2>/dev/null; truncate -s -36K {disk}/filler"
    with _on_tmpfs(folder, filled, f"{opened} && {filled_up}") as service:
        yield SmallDisk(service)


@contextlib.contextmanager
def _on_tmpfs(folder: Path, filled: Path, then: str) -> Iterator[Service]:
    disk = folder / "disk"
    disk.mkdir(parents=True)
    mounted = f"mount -t tmpfs -o size={_DISK} none '{disk}'"
    copied = f"cp -r --sparse=always '{filled}' '{disk}/data'"
    shell = f'{mounted} && {copied} && {{ {then.format(disk=disk)}; }} && exec "$0" "$@"'
    through = (*UNSHARE, "sh", "-c", shell)
    with running_service(disk / "data", *_flags(), through=through) as service:
        yield service


def possible_disks() -> list[DiskKind]:
    """The kinds that this machine allows; at least one."""
    return [limited_disk, small_disk] if may_mount() else [limited_disk]


def possible_full_disks() -> list[DiskKind]:
    """The kinds of disks that are full before the service starts."""
    return [refusing_disk, full_disk] if may_mount() else [refusing_disk]


# As root of a separate user namespace, so that root is not needed outside.
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")


def may_mount() -> bool:
    """Whether this machine allows private mounts."""
    if shutil.which("unshare") is None:
        return False
    attempt = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(attempt, capture_output=True, check=False).returncode == 0


def _copy(data: Path, target: Path) -> None:
    # The files in `run` are rebuilt, and are sparse, unlike a copy.
    shutil.copytree(data, target, ignore=shutil.ignore_patterns("run"))
    os.sync()

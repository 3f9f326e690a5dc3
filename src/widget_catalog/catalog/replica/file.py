"""ReplicaFile: the file that a node reads from, an LMDB environment, and its tables.

It is in a folder in which `current` names the file in use, so that a new one can be built next to
it and replace it atomically. Processes that have the old one open use it until they look.
"""

import contextlib
import ctypes
import os
import secrets
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import lmdb
import msgspec

from ...core.data_folder import allocate
from ...core.errors import StoreUnavailable
from .records import FORMAT, damaged
from .revision import opened_file
from .rows import FeedEntry

_CURRENT = "current"
_SUFFIX = ".mdb"
# Address space, not memory or disk.
_MAP_BYTES = 1 << 37
_MAX_READERS = 500
# The size of a slot in the reader table, and of the table's header.
_READER_BYTES, _READERS_HEAD_BYTES = 64, 4096
# Read transactions kept for reuse, which halves the cost of starting one.
_SPARE_TRANSACTIONS = 8
# How often a file is looked up again, if each is replaced before it is opened.
_MAX_REPLACED = 10
# LMDB 0.9, whose format has not changed for ten years.
_ENGINE = 0

_TABLES = "keys members scopes index_rows documents extras revocations changes state".split()
# Two have older names in the file.
_STORED_AS = {"index_rows": "listings", "extras": "beside"}
_STATE = b"state"


class ReplicaState(msgspec.Struct, frozen=True):
    """`applied` is the last change of the feed that is in the replica."""

    format: int = FORMAT
    applied: FeedEntry | None = None
    is_importing: bool = False

    @property
    def seq(self) -> int:
        return 0 if self.applied is None else self.applied.seq


_encode_state = msgspec.json.Encoder().encode
_decode_state = msgspec.json.Decoder(ReplicaState).decode


class ReplicaFile:
    """Opened once per process, however many threads read from it; not usable after a fork.

    `keys`      scope NUL name   the widget's number, and flags
    `members`   hash of a key or scope   empty: a key missing from `keys` must not be here
    `scopes`    scope            when it last changed, and how many widgets it has
    `index_rows` number          input of the search index
    `documents` number           the rendered widget
    `extras`    number, identity of a version   its details, the manifest it was published with
    `revocations` number         its revoked versions, if any
    `changes`   number of a change   the widget's number, the time, the key, the kind of event,
                                 the version: the newest ones
    `state`     one record
    """

    def __init__(self, path: Path, *, is_new: bool = False) -> None:
        """A new file is not durable before `sync`. Raises StoreUnavailable if an existing one is
        removed meanwhile, because it was replaced.
        """
        self.path = path
        self.id = path.stem
        self._users = 1
        with errors_named(), contextlib.ExitStack() as stack:
            existing = None if is_new else stack.enter_context(_opened_existing(path))
            _reserve_readers(path)
            self.environment = lmdb.open(
                str(path),
                map_size=_MAP_BYTES,
                subdir=False,
                create=is_new,
                sync=not is_new,
                max_dbs=len(_TABLES),
                max_readers=_MAX_READERS,
                max_spare_txns=_SPARE_TRANSACTIONS,
                mode=0o600,
                lib_version=_ENGINE,
            )
            try:
                if existing is not None and not os.fstat(existing.fileno()).st_nlink:
                    # LMDB has created another one, whatever its option `create` says.
                    path.unlink(missing_ok=True)
                    _reader_table(path).unlink(missing_ok=True)
                    raise _replaced()
                names = [_STORED_AS.get(it, it).encode() for it in _TABLES]
                opened = [self.environment.open_db(it, create=is_new) for it in names]
            except BaseException:
                self.environment.close()
                raise
        self.tables = opened
        self.keys, self.members, self.scopes, self.index_rows, *rest = opened
        self.documents, self.extras, self.revocations, self.changes, self._state = rest
        self.sealed = [it for it in opened if it not in (self.members, self._state)]

    def sync(self) -> None:
        with errors_named():
            self.environment.sync(True)

    def reading(self) -> "lmdb.Transaction[memoryview]":
        return self.environment.begin(buffers=True)

    @contextlib.contextmanager
    def writing(self) -> "Iterator[lmdb.Transaction[bytes]]":
        """An atomic write. The writer holds the replica's lock."""
        with errors_named(), self.environment.begin(write=True) as transaction:
            yield transaction

    def state(
        self, transaction: "lmdb.Transaction[bytes] | lmdb.Transaction[memoryview]"
    ) -> ReplicaState:
        found = transaction.get(_STATE, db=self._state)
        try:
            return ReplicaState() if found is None else _decode_state(found)
        except msgspec.MsgspecError:
            raise damaged("the state") from None

    def put_state(self, transaction: "lmdb.Transaction[bytes]", state: ReplicaState) -> None:
        transaction.put(_STATE, _encode_state(state), db=self._state)

    def close(self) -> None:
        with _lock:
            self._users -= 1
            if not self._users:
                _opened.pop((os.getpid(), self.path), None)
                self.environment.close()

    def share(self) -> "ReplicaFile":
        self._users += 1
        return self


_lock = threading.Lock()
# Also by process id: an environment inherited by a fork must not be used.
_opened: dict[tuple[int, Path], ReplicaFile] = {}


def open_current(folder: Path) -> ReplicaFile | None:
    """The current file; None if there is none. The caller closes it."""
    attempts = _MAX_REPLACED
    while (path := find_current(folder)) is not None:
        attempts -= 1
        try:
            return open_shared(path)
        except StoreUnavailable:
            # Not an error of the current file, if this one was replaced while it was opened.
            if not attempts or find_current(folder) == path:
                raise
    return None


def open_shared(path: Path) -> ReplicaFile:
    """LMDB opens a file once per process: all who use it at the same time share it."""
    with _lock:
        known = _opened.get((os.getpid(), path))
        if known is not None:
            return known.share()
        opened = _opened[os.getpid(), path] = ReplicaFile(path)
        return opened


def find_current(folder: Path) -> Path | None:
    """Its path. Costs a few system calls."""
    before = None
    for _ in range(_MAX_REPLACED):
        try:
            name = (folder / _CURRENT).read_text("ascii")
        except (OSError, ValueError):
            return None
        path = folder / name
        if "/" not in name and name.endswith(_SUFFIX) and path.is_file():
            return path
        if name == before:
            break
        before = name  # The file may have been replaced since the name was read.
    return None


def new_path(folder: Path) -> Path:
    """A path for a new file."""
    with errors_named():
        folder.mkdir(exist_ok=True, mode=0o700)
    return folder / f"{secrets.token_hex(6)}{_SUFFIX}"


def make_current(path: Path) -> None:
    """Make this the current file, and remove the others."""
    folder = path.parent
    with errors_named():
        draft = folder / f"{_CURRENT}.part"
        with draft.open("w", encoding="ascii") as file:
            file.write(path.name)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(folder / _CURRENT)
        _sync_names(folder)
    remove_others(folder)


def _sync_names(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_others(folder: Path) -> None:
    """Remove all files but the current one, unfinished ones included."""
    kept = find_current(folder)
    for path in folder.glob(f"*{_SUFFIX}*"):
        if kept is None or not path.name.startswith(kept.stem):
            with contextlib.suppress(OSError):
                path.unlink()


def discard(folder: Path) -> None:
    """Remove the replica; the next `apply` rebuilds it."""
    with errors_named():
        (folder / _CURRENT).unlink(missing_ok=True)


def _reserve_readers(path: Path) -> None:
    """LMDB maps the reader table and writes to it: on a full disk that would crash the process."""
    table = _reader_table(path)
    size = _READERS_HEAD_BYTES + _MAX_READERS * _READER_BYTES
    if not table.exists() or table.stat().st_size < size:
        with opened_file(table, 0o600) as descriptor:
            allocate(descriptor, size)


def _reader_table(path: Path) -> Path:
    return path.with_name(f"{path.name}-lock")


def _opened_existing(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise _replaced() from None


def _replaced() -> StoreUnavailable:
    return StoreUnavailable("The read model was replaced while it was opened. Try again.")


# Each page that was read counts as memory of the process until the system reclaims it. Unmapped
# pages stay in the page cache, and reading one again takes a microsecond more.
_MAX_MAPPED_BYTES = 64 << 20
_MADV_DONTNEED = 4


def release_memory(folder: Path, most_bytes: int = _MAX_MAPPED_BYTES) -> None:
    """After much traffic: unmap the replica, and return freed memory to the system.

    The allocator keeps what threads have freed. Returning it takes one or two milliseconds.
    """
    if release_mapped(folder, most_bytes):
        with contextlib.suppress(AttributeError):  # Only glibc has it.
            ctypes.CDLL(None).malloc_trim(0)


def release_mapped(folder: Path, most_bytes: int = _MAX_MAPPED_BYTES) -> bool:
    """Unmap the replica in this folder if more than this much of all files is mapped.

    This is transparent to readers: the mapping stays, and is read-only.
    """
    if sys.platform != "linux" or _mapped_bytes() <= most_bytes:
        return False
    madvise = ctypes.CDLL(None).madvise
    for start, size in _mappings(str(folder.resolve())):
        madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), _MADV_DONTNEED)
    return True


def _mapped_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(it.split()[1]) << 10 for it in lines if it.startswith("RssFile:"))


def _mappings(folder: str) -> list[tuple[int, int]]:
    """Address and size of the read-only mappings of files in this folder."""
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, *_, path = line.split(maxsplit=5)
        if rights == "r--s" and path.startswith(f"{folder}/"):
            start, end = (int(it, 16) for it in addresses.split("-"))
            found.append((start, end - start))
    return found


_PASSING = (lmdb.MapFullError, lmdb.ReadersFullError, lmdb.LockError)


def named(error: lmdb.Error) -> StoreUnavailable:
    """Converts an LMDB error to one of ours."""
    if type(error) in (lmdb.Error, lmdb.DiskError):
        # Of the operating system: LMDB's own errors have a class each. If the disk is full, LMDB
        # often reports an input/output error.
        return StoreUnavailable(
            f"The read model cannot be used just now ({error}). The disk may be full."
        )
    if isinstance(error, _PASSING):
        return StoreUnavailable(f"The read model cannot be used just now ({error}).")
    return damaged(f"something ({error})")


@contextlib.contextmanager
def errors_named() -> Iterator[None]:
    try:
        yield
    except lmdb.Error as error:
        raise named(error) from error
    except OSError as error:
        reason = error.strerror or error
        raise StoreUnavailable(f"The read model cannot be written ({reason}).") from error

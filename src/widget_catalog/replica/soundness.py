"""Whether a replica's file is sound, found out in a process apart.

LMDB believes its own pages: one that is damaged may end the process that reads it. So a start has
a child walk through all of them first, and so has a worker that follows one that died.
"""

import os
import warnings
from pathlib import Path

from ..domain.errors import DataDamaged, StoreUnavailable
from .documents import Documents, Reading
from .file import ReplicaFile, find_current
from .records import SCOPE, DocumentRecord, member_key, scope_checksum

_SOUND = 0
_DAMAGED = 1
_UNKNOWN = 2


def is_sound(folder: Path, *, is_thorough: bool = False) -> bool:
    """Also if there is none, or if that cannot be found out. `is_thorough` reads every document.

    To be asked before this process opens the replica.
    """
    if find_current(folder) is None:
        return True
    with warnings.catch_warnings():
        # Of threads that the child does not have: it needs none.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _walk_and_exit(folder, is_thorough=is_thorough)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) in (_SOUND, _UNKNOWN)


def _walk_and_exit(folder: Path, *, is_thorough: bool) -> None:
    code = _DAMAGED
    try:
        documents = Documents(folder)
        with documents.snapshot() as reading:
            _walk(documents.file, reading, is_thorough=is_thorough)
        documents.check_listings()
        code = _SOUND
    except (StoreUnavailable, OSError) as fault:
        if not isinstance(fault, DataDamaged):  # A full disk, say.
            code = _UNKNOWN
    finally:
        os._exit(code)


def _walk(file: ReplicaFile, reading: Reading, *, is_thorough: bool) -> None:
    for table in file.tables:
        count, last = 0, b""
        for key in reading.cursor(table).iternext(keys=True, values=False):
            if not last < (last := bytes(key)):
                raise ValueError(f"Two keys are in the wrong order: {last!r}.")
            count += 1
        if count != reading.stat(table)["entries"]:
            raise ValueError("There are keys missing.")
    _check_scopes(file, reading)
    if is_thorough:
        for record in reading.cursor(file.documents).iternext(keys=False, values=True):
            it = DocumentRecord(record)
            _ = it.styles, it.outline, it.entries


def are_scopes_sound(folder: Path) -> bool:
    documents = Documents(folder)
    try:
        with documents.snapshot() as reading:
            _check_scopes(documents.file, reading)
    except ValueError:
        return False
    finally:
        documents.close()
    return True


def _check_scopes(file: ReplicaFile, reading: Reading) -> None:
    """Raises ValueError if a scope does not have as many widgets as it says."""
    counts: dict[bytes, int] = {}
    for key in reading.cursor(file.keys).iternext(keys=True, values=False):
        scope = bytes(key).partition(b"\0")[0]
        counts[scope] = counts.get(scope, 0) + 1
    for key, value in reading.cursor(file.scopes):
        changed_at, count, written = SCOPE.unpack(value)
        scope = bytes(key)
        if counts.pop(scope, 0) != count or scope_checksum(scope, changed_at, count) != written:
            raise ValueError(f"The scope {scope!r} is damaged.")
        if reading.get(member_key(scope), db=file.members) is None:
            raise ValueError(f"The scope {scope!r} is lost.")
    if counts:
        raise ValueError("A scope is missing.")

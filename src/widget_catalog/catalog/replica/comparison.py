"""Compares the replica with one that is built anew from the store, and replaces it if they differ.

Readers use the old file meanwhile. Nothing is derived from damaged rows: if there are any, the old
file stays.
"""

from collections.abc import Callable
from contextlib import nullcontext

import msgspec

from ...core.db.engine import Store
from .file import ReplicaFile, errors_named
from .records import SCOPE, SEAL_BYTES, decode_index_row, member_key, number_key, read_key
from .replica import Replica

Progress = Callable[[int], None]


class Differences(msgspec.Struct):
    """Messages about damaged rows of the store and repaired documents; how many counts differed."""

    damaged: list[str] = msgspec.field(default_factory=list)
    mended: list[str] = msgspec.field(default_factory=list)
    counts: int = 0


def check_replica(
    store: Store, replica: Replica, progress: Progress = lambda _: None
) -> Differences:
    found = Differences()
    replica.apply(store)

    def differs(new: ReplicaFile, damage: list[str]) -> bool:
        found.damaged = damage
        if not damage:
            found.mended = _differences(_current(store, replica, new), new)
        return bool(found.mended)

    replica.rebuild(store, lambda _: nullcontext(progress), is_wanted=differs)
    found.counts = replica.stored_counts.mend(store)
    return found


def _current(store: Store, replica: Replica, new: ReplicaFile) -> ReplicaFile:
    """The current file, when it and the new one have the same changes. Under the lock."""
    file = replica.current()
    while True:
        replica.applier.apply(file, store)
        replica.applier.apply(new, store)
        with file.reading() as reading, new.reading() as its:
            if file.state(reading) == new.state(its):
                return file


def _differences(old: ReplicaFile, new: ReplicaFile) -> list[str]:
    """Which widgets differ, and other records that are wrong. The times of scopes are not compared:
    they depend on the order of changes if the clock was set back.
    """
    wrong: set[bytes] = set()
    found = []
    with errors_named(), old.reading() as before, new.reading() as after:
        for name in ("index_rows", "documents", "revocations", "extras"):
            mine, its = getattr(old, name), getattr(new, name)
            for key, record in after.cursor(its):
                if before.get(key, db=mine) != record:
                    wrong.add(bytes(key[:8]))
        for key, record in after.cursor(new.keys):
            is_known = before.get(member_key(bytes(key)), db=old.members) is not None
            if before.get(key, db=old.keys) != record or not is_known:
                wrong.add(number_key(read_key(key, record)[0]))
        for number in sorted(wrong):
            row = decode_index_row(number, after.get(number, b"", db=new.index_rows))
            is_missing = before.get(number, db=old.documents) is None
            how = "was missing" if is_missing else "differed from the database"
            found.append(f"the document of {row.scope}/{row.name} {how}.")
        extra = before.stat(old.documents)["entries"] - after.stat(new.documents)["entries"]
        if extra > 0:
            found.append(f"{extra} documents belonged to no widget, and were removed.")
        scopes = [
            {
                bytes(scope): SCOPE.unpack_from(record, SEAL_BYTES)[1]
                for scope, record in reading.cursor(file.scopes)
            }
            for reading, file in ((before, old), (after, new))
        ]
        if scopes[0] != scopes[1]:
            found.append("the table of scopes was damaged.")
    return found

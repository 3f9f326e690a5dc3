"""Compares the replica with the store, a slice at a time, and rebuilds it if it differs.

Nothing is blocked: slices are read in short snapshots, and the replica's lock is taken only to
re-check a difference. Nothing is derived from damaged rows.
"""

from collections.abc import Callable, Sequence

import msgspec

from ...core.db.engine import Store
from ...core.errors import DataDamaged
from ..store import feed, widgets
from ..store.rows import StoredWidget
from .documents import Reading
from .encoding import records_of
from .file import ReplicaFile, errors_named
from .integrity import are_scopes_intact
from .listings import decode_listing
from .mapped_memory import release_mapped
from .records import (
    KEY,
    LISTED,
    DocumentRecord,
    key_of,
    member_key,
    number_key,
    unseal,
    version_key,
)
from .rendering import render
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
    last_id = 0
    while True:
        with store.reading() as connection:
            some = widgets.read_slice(connection, last_id)
        if some is None:
            break
        last_id = some.last_id
        found.damaged += [it.sentence for it in some.damaged.values()]
        if wrong := _differences(replica.current(), some.intact):
            found.mended += _confirmed(store, replica, list(wrong))
        release_mapped(replica.path)
        progress(len(some.intact) + len(some.damaged))
    found.mended += _check_tables(store, replica)
    if found.mended:
        # If something is wrong, more may be: nothing is patched.
        replica.rebuild(store)
    found.counts = replica.stored_counts.mend(store)
    return found


def _differences(file: ReplicaFile, stored: Sequence[StoredWidget]) -> dict[int, str]:
    """Which of these widgets differ between the replica and the store, and how."""
    found = {}
    with errors_named(), file.reading() as reading:
        for it in stored:
            number, key = number_key(it.id), key_of(it.widget.scope, it.widget.name)
            listing = reading.get(number, db=file.listings)
            document = reading.get(number, db=file.documents)
            leads = reading.get(key, db=file.keys)
            if listing is None or document is None or leads is None:
                found[it.id] = "was missing"
                continue
            is_known = reading.get(member_key(key), db=file.members) is not None
            try:
                changed_at = decode_listing(bytes(listing)).changed_at
                right = records_of(it.id, changed_at, render(it.widget))
                leading = KEY.pack(it.id, LISTED if right.is_listed else 0)
                found_here = (bytes(listing), bytes(document), *_read_beside(file, reading, it))
                wanted = (right.listing, right.document, right.revocations, right.beside)
                if found_here != wanted or bytes(leads) != leading or not is_known:
                    DocumentRecord(document).verify()
                    found[it.id] = "differed from the database"
            except DataDamaged:
                found[it.id] = "was damaged"
    return found


def _read_beside(
    file: ReplicaFile, reading: Reading, stored: StoredWidget
) -> tuple[bytes, tuple[tuple[str, bytes], ...]]:
    """What is stored next to the document: revocations, and what its versions declare."""
    what = f"what is known of {stored.widget.scope}/{stored.widget.name}"
    sealed = reading.get(number_key(stored.id), db=file.revocations)
    beside = []
    for it in stored.widget.versions:
        found = reading.get(version_key(stored.id, it.identity), db=file.beside)
        if found is not None:
            beside.append((it.identity, unseal(found, what)))
    return b"" if sealed is None else unseal(sealed, what), tuple(beside)


def _confirmed(store: Store, replica: Replica, ids: Sequence[int]) -> list[str]:
    """Which of these really differ, compared with the state of the store that is applied."""
    with replica.locked():
        file = replica.current()
        while True:
            replica.apply_to(file, store)
            with store.reading() as connection:
                if feed.latest_seq(connection) == replica.applied_seq():
                    stored = {it.id: it for it in widgets.read_widgets(connection, ids).intact}
                    break
        wrong = _differences(file, list(stored.values()))
    names = {number: f"{it.widget.scope}/{it.widget.name}" for number, it in stored.items()}
    return [f"the document of {names[number]} {how}." for number, how in wrong.items()]


def _check_tables(store: Store, replica: Replica) -> list[str]:
    """Finds entries without a widget, and scopes that do not match their widgets."""
    with replica.locked():
        file = replica.current()
        replica.apply_to(file, store)
        with store.reading() as connection:
            count, newest = widgets.count_widgets(connection), feed.latest_seq(connection)
        if newest != replica.applied_seq():
            return []  # Another process is writing, so the reads are not consistent.
        with errors_named(), file.reading() as reading:
            entries = [reading.stat(it)["entries"] for it in (file.keys, file.documents)]
    if max(entries) > count:
        return [f"{max(entries) - count} documents belonged to no widget, and were removed."]
    return [] if are_scopes_intact(file) else ["the table of scopes was damaged."]

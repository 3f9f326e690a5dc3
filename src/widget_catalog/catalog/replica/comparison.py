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
from .file import ReplicaFile, faults_named
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
from .rendering import Document, render
from .replica import Replica
from .rows import Listing

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
    found.counts = replica.mend_counts(store)
    return found


def _differences(file: ReplicaFile, stored: Sequence[StoredWidget]) -> dict[int, str]:
    """Which of these widgets differ between the replica and the store, and how."""
    found = {}
    with faults_named(), file.reading() as reading:
        for it in stored:
            number, key = number_key(it.id), key_of(it.widget.scope, it.widget.name)
            listing = reading.get(number, db=file.listings)
            document = reading.get(number, db=file.documents)
            leads = reading.get(key, db=file.keys)
            if listing is None or document is None or leads is None:
                found[it.id] = "was missing"
                continue
            drawn = render(it.widget)
            is_known = reading.get(member_key(key), db=file.members) is not None
            try:
                listed = decode_listing(bytes(listing))
                beside = _read_beside(file, reading, it)
                found_document = DocumentRecord(document).to_document(listed, *beside)
                wrong = _wrong_fields(drawn, listed, found_document)
            except DataDamaged:
                found[it.id] = "was damaged"
                continue
            if bytes(leads) != KEY.pack(it.id, LISTED if drawn.is_listed else 0) or not is_known:
                wrong.append("name")
            if wrong:
                found[it.id] = f"differed in {', '.join(wrong)}"
    return found


def _read_beside(
    file: ReplicaFile, reading: Reading, stored: StoredWidget
) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """What is stored next to the document: revocations, and the manifests of its versions."""
    what = f"what is known of {stored.widget.scope}/{stored.widget.name}"
    sealed = reading.get(number_key(stored.id), db=file.revocations)
    manifests = []
    for it in stored.widget.versions:
        found = reading.get(version_key(stored.id, it.identity), db=file.manifests)
        if found is not None:
            manifests.append((it.identity, unseal(found, what).decode()))
    return b"" if sealed is None else unseal(sealed, what), tuple(manifests)


def _wrong_fields(drawn: Document, listing: Listing, stored: Document) -> list[str]:
    wrong = [
        name
        for name, right, found in zip(Document._fields, drawn, stored, strict=True)
        if right != found
    ]
    return wrong if listing.is_listed == drawn.is_listed else [*wrong, "is_listed"]


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
        with faults_named(), file.reading() as reading:
            entries = [reading.stat(it)["entries"] for it in (file.keys, file.documents)]
    if max(entries) > count:
        return [f"{max(entries) - count} documents belonged to no widget, and were removed."]
    return [] if are_scopes_intact(file) else ["the table of scopes was damaged."]

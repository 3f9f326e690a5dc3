"""The change feed for clients: pages of JSON, and server-sent events."""

from typing import NamedTuple

import msgspec

from widget_contract.wire_running import Change, Changes, ChangeType

from ...core.clock import from_ms, iso
from ..replica.reader import ReplicaReader, read_change
from ..replica.records import LISTED, damaged, key_of, number_key, read_key
from ..replica.rows import ChangeRow

# Kinds of events with another public name: clients handle them in the same way.
_TYPES: dict[str, ChangeType] = {
    "imported": "published",
    "redated": "published",
    "unrevoked": "unyanked",
}

_encode = msgspec.json.Encoder().encode


class ListedChange(NamedTuple):
    """`is_listed`: whether its widget is listed now."""

    change: ChangeRow
    is_listed: bool


class ChangePage(NamedTuple):
    """`newest` is the number of the newest change. `changes` is None if some of the requested ones
    are no longer retained.
    """

    newest: int
    changes: list[ListedChange] | None


def list_change_page(reader: ReplicaReader, after: int, limit: int) -> ChangePage:
    """At most `limit` changes after this one, oldest first."""
    file = reader.file
    with reader.snapshot() as reading, reading.cursor(file.changes) as cursor:
        newest = file.state(reading).seq
        rows: list[ListedChange] = []
        is_found = after < newest and cursor.set_range(number_key(after + 1))
        while is_found and len(rows) < limit:
            change = read_change(cursor.key(), cursor.value())
            if change is None:
                raise damaged("a change")
            if change.seq != after + len(rows) + 1:
                return ChangePage(newest, None)
            key = key_of(change.scope, change.name)
            leads = reading.get(key, db=file.keys)
            if leads is None:
                reader.require_unknown(reading, key, "a name")
            is_listed = leads is not None and bool(read_key(key, leads)[1] & LISTED)
            rows.append(ListedChange(change, is_listed))
            is_found = cursor.next()
        if 0 < len(rows) < limit and rows[-1].change.seq != newest:
            raise damaged("a change")
        return ChangePage(newest, rows if rows or after >= newest else None)


class EventPage(NamedTuple):
    """Changes as server-sent events, and the numbers of the first and the last one."""

    events: bytes
    first: int
    last: int


def type_of(kind: str) -> ChangeType:
    """The public name of an event of this kind."""
    return _TYPES.get(kind, kind)  # type: ignore[arg-type]


def shown_change(change: ListedChange) -> Change:
    """For a widget that is not listed, only its id is shown."""
    seq, _, scope, name, changed_at, kind, version = change.change
    shown = version if change.is_listed else None
    at = iso(from_ms(changed_at))
    return Change(seq, at, type_of(kind), f"{scope}/{name}", shown, change.is_listed)


def encode_changes(reader: ReplicaReader, after: int, limit: int) -> bytes | None:
    """The changes after this one as JSON; None if some are no longer retained."""
    newest, rows = list_change_page(reader, after, limit)
    if rows is None:
        return None
    changes = tuple(map(shown_change, rows))
    return _encode(Changes(changes, changes[-1].seq if changes else after, newest))


def encode_events(reader: ReplicaReader, after: int, limit: int) -> EventPage | None:
    """The changes after this number as server-sent events."""
    _, rows = list_change_page(reader, after, limit)
    if rows is None:
        return None
    changes = [shown_change(it) for it in rows]
    events = b"".join([b"id: %d\ndata: %b\n\n" % (it.seq, _encode(it)) for it in changes])
    return EventPage(events, after + 1, changes[-1].seq if changes else after)

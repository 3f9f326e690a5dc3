"""The change feed for clients: pages of JSON, and server-sent events."""

from typing import NamedTuple

import msgspec

from widget_contract.wire_running import Change, Changes, ChangeType

from ..core.clock import from_ms, iso
from .replica.changes import ListedChange, list_change_page
from .replica.documents import Documents

# Kinds of events with another public name: clients handle them in the same way.
_TYPES: dict[str, ChangeType] = {
    "imported": "published",
    "redated": "published",
    "unrevoked": "unyanked",
}

_encode = msgspec.json.Encoder().encode


class EventPage(NamedTuple):
    """Changes as server-sent events, and the numbers of the first and the last one."""

    events: bytes
    first: int
    last: int


class ChangeFeed:
    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def page(self, after: int, limit: int) -> bytes | None:
        """The changes after this one as JSON; None if some are no longer retained."""
        newest, rows = list_change_page(self._documents, after, limit)
        if rows is None:
            return None
        changes = tuple(map(shown_change, rows))
        return _encode(Changes(changes, changes[-1].seq if changes else after, newest))

    def events(self, after: int, limit: int) -> EventPage | None:
        _, rows = list_change_page(self._documents, after, limit)
        if rows is None:
            return None
        changes = [shown_change(it) for it in rows]
        events = b"".join([b"id: %d\ndata: %b\n\n" % (it.seq, _encode(it)) for it in changes])
        last = changes[-1].seq if changes else after
        return EventPage(events, after + 1, last)


def type_of(kind: str) -> ChangeType:
    """The public name of an event of this kind."""
    return _TYPES.get(kind, kind)  # type: ignore[arg-type]


def shown_change(it: ListedChange) -> Change:
    """For a widget that is not listed, only its id is shown."""
    seq, _, scope, name, changed_at, kind, version = it.change
    shown = version if it.is_listed else None
    at = iso(from_ms(changed_at))
    return Change(seq, at, type_of(kind), f"{scope}/{name}", shown, it.is_listed)

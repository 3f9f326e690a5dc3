"""Telling of an event, once: it becomes a line of the audit log and, if the public sees it, a row
of the change feed, in the transaction that makes it true."""

from collections.abc import Iterable

from ..domain.accounts import Actor, Stranger
from ..domain.events import Event, PublicEvent
from .audit import add_line
from .engine import Transaction
from .feed import add_changes


def append(tx: Transaction, by: Actor | Stranger, *events: Event) -> None:
    """Append events that the public does not see. Those it sees are appended by saving a widget."""
    for event in events:
        if isinstance(event, PublicEvent):
            raise TypeError(f"{event.kind} happens to a widget, which appends it when saved.")
        add_line(tx, by, event)


def append_public(tx: Transaction, by: Actor, events: Iterable[tuple[int, PublicEvent]]) -> int:
    """Append what happened to widgets, by their numbers; gives the feed's new end."""
    rows = []
    for number, event in events:
        rows.append((number, event.scope, event.kind, event.version))
        if event.action is not None:
            add_line(tx, by, event)
    return add_changes(tx, rows)

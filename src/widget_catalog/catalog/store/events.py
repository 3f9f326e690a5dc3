"""Records an event once: in the audit log and, if it is public, in the change feed, in the
transaction that performs it.
"""

from collections.abc import Iterable

from ...core import hooks
from ...core.actors import Actor, Stranger
from ...core.db.engine import Transaction
from ..events import Event, PublicEvent
from .audit import add_line
from .feed import add_changes


def append(tx: Transaction, by: Actor | Stranger, *events: Event) -> None:
    """Append non-public events, after the hooks of rooms that act on them. Public ones are appended
    by saving a widget.
    """
    for event in events:
        if isinstance(event, PublicEvent):
            raise TypeError(f"{event.kind} happens to a widget, which appends it when saved.")
        hooks.call(tx, by, event)
        if event.action is not None:
            add_line(tx, by, event)


def append_public(tx: Transaction, by: Actor, events: Iterable[tuple[int, PublicEvent]]) -> int:
    """Append events of widgets, by their numbers; returns the new end of the feed."""
    rows = []
    for number, event in events:
        rows.append((number, event.scope, event.kind, event.version))
        if event.action is not None:
            add_line(tx, by, event)
    return add_changes(tx, rows)

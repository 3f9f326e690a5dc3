"""Records an event once: in the audit log and, if it is public, in the change feed, in the
transaction that performs it. And what only rooms above know: mirrors, open reports.
"""

from collections.abc import Iterable

from sqlalchemy.engine import Connection

from ...core import hooks
from ...core.actors import Actor, Anonymous
from ...core.db.engine import Store, Transaction
from ...core.errors import IsMirror
from ...core.hooks import extension_point
from ..model.events import Event, PublicEvent
from .audit import add_line
from .feed import add_changes


def append(tx: Transaction, by: Actor | Anonymous, *events: Event) -> None:
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


@extension_point
def find_upstream(_connection: Connection) -> str | None:
    """The address of the catalog that this one copies."""
    return None


@extension_point
def describe_copying(_store: Store) -> str | None:
    """How far this catalog has copied the other one."""
    return None


def require_changeable(tx: Transaction) -> None:
    """Raises IsMirror, unless mirroring itself changes widgets."""
    if not tx.is_mirroring:
        require_no_mirror(tx.connection)


def require_no_mirror(connection: Connection) -> None:
    url = find_upstream(connection)
    if url is not None:
        raise IsMirror(
            f"This catalog is a mirror of {url}: widgets cannot be published or changed "
            "here. Do it there, and it will be shown here, too."
        )


@extension_point
def count_open_reports(_connection: Connection) -> int | None:
    """Reports from visitors that nobody has decided about; None without moderation."""
    return None

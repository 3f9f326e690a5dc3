"""State of a mirror: its upstream, its progress, its audit entries, and its end."""

from collections.abc import Mapping
from typing import NamedTuple

from ..catalog.events import CatalogMirrored, MirroringBegun, MirroringEnded
from ..catalog.store.events import append
from ..catalog.store.scopes import all_owned_scopes
from ..catalog.store.widgets import count_widgets
from ..core.actors import COMMAND_LINE
from ..core.clock import from_ms, iso
from ..core.db.engine import Store, Transaction
from ..core.errors import MirrorRefused
from .store import Mirror, count_tasks, find_mirror, remove_mirror

_SHOWN = 5


class Status(NamedTuple):
    mirror: Mirror
    tasks: int
    """Widgets that are still to be compared with those of the other catalog."""

    def describe(self) -> str:
        mirror, at = self.mirror, self.mirror.checked_at
        if mirror.seq is None or at is None:
            state = "its first copy is not complete"
        else:
            state = f"last checked at {iso(from_ms(at))}, up to change {mirror.seq}"
        left = "1 widget is" if self.tasks == 1 else f"{self.tasks:,} widgets are"
        waiting = f"; {left} still to be copied" if self.tasks else ""
        return f"A mirror of {mirror.url}: {state}{waiting}."


def find_source(store: Store) -> Mirror | None:
    with store.reading() as connection:
        return find_mirror(connection)


def find_status(store: Store) -> Status | None:
    with store.reading() as connection:
        mirror = find_mirror(connection)
        return None if mirror is None else Status(mirror, count_tasks(connection))


def end_mirroring(store: Store) -> Mirror | None:
    """Make it an ordinary catalog, with everything that was copied."""
    with store.publishing() as tx:
        mirror = find_mirror(tx.connection)
        remove_mirror(tx)
        if mirror is not None:
            append(tx, COMMAND_LINE, MirroringEnded(url=mirror.url))
    return mirror


def require_empty(tx: Transaction) -> None:
    """Raises MirrorRefused if something would be mixed with the copy: widgets, or owned scopes."""
    widgets, owned = count_widgets(tx.connection), all_owned_scopes(tx.connection)
    if widgets:
        whose = f"{widgets:,} widgets"
    elif owned:
        shown = ", ".join(sorted(owned)[:_SHOWN]) + (", …" if len(owned) > _SHOWN else "")
        whose = f"accounts or organizations ({shown})"
    else:
        return
    raise MirrorRefused(
        f"This catalog has {whose} of its own. A mirror needs an empty or new data folder."
    )


def record_begun(store: Store, url: str) -> None:
    with store.writing() as tx:
        append(tx, COMMAND_LINE, MirroringBegun(url=url))


def record_round(store: Store, url: str, changed: Mapping[str, int]) -> None:
    """In the audit log; in that of each owned scope, too. `changed`: how many widgets, by scope."""
    total = sum(changed.values())
    if not total:
        return
    with store.writing() as tx:
        append(tx, COMMAND_LINE, CatalogMirrored(url=url, widgets_changed=total))
        for scope in sorted(all_owned_scopes(tx.connection)):
            if count := changed.get(scope):
                event = CatalogMirrored(scope=scope, url=url, widgets_changed=count)
                append(tx, COMMAND_LINE, event)


def describe_status(store: Store) -> str | None:
    status = find_status(store)
    return None if status is None else status.describe()

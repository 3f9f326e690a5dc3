"""Whose mirror a catalog is, how far it has come, and ending that."""

from typing import NamedTuple

from ...domain.clock import from_ms, iso
from ...store.engine import Store
from ...store.mirrors import Mirror, count_tasks, find_mirror, remove_mirror


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
        waiting = f"; {self.tasks:,} widgets are still to be copied" if self.tasks else ""
        return f"A mirror of {mirror.url}: {state}{waiting}."


def find_source(store: Store) -> Mirror | None:
    with store.reading() as connection:
        return find_mirror(connection)


def find_status(store: Store) -> Status | None:
    with store.reading() as connection:
        mirror = find_mirror(connection)
        return None if mirror is None else Status(mirror, count_tasks(connection))


def end_mirroring(store: Store) -> Mirror | None:
    """An ordinary catalog from now on, with all that was copied."""
    with store.publishing() as tx:
        mirror = find_mirror(tx.connection)
        remove_mirror(tx)
    return mirror

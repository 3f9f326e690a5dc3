"""Reads a page of the newest changes, for clients that follow the catalog."""

from typing import NamedTuple

from .documents import Documents, read_change
from .records import KEY, LISTED, key_of, number_key
from .rows import ChangeRow


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


def list_change_page(documents: Documents, after: int, limit: int) -> ChangePage:
    """At most `limit` changes after this one, oldest first."""
    file = documents.file
    with documents.snapshot() as reading, reading.cursor(file.changes) as cursor:
        newest = file.state(reading).seq
        rows: list[ListedChange] = []
        is_found = after < newest and cursor.set_range(number_key(after + 1))
        while is_found and len(rows) < limit:
            change = read_change(cursor.key(), cursor.value())
            if change is None or change.seq != after + len(rows) + 1:
                return ChangePage(newest, None)
            leads = reading.get(key_of(change.scope, change.name), db=file.keys)
            is_listed = leads is not None and bool(KEY.unpack(leads)[1] & LISTED)
            rows.append(ListedChange(change, is_listed))
            is_found = cursor.next()
        return ChangePage(newest, rows if rows or after >= newest else None)

"""What operators add to public pages: their brand, legal pages and collections of widgets. Rooms
above store it, if they are installed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy.engine import Connection

from ...core.db.engine import Store, Transaction
from ...core.hooks import extension_point
from ...core.http.branding import Brand


class LegalPage(NamedTuple):
    """`text` is Markdown."""

    slug: str
    title: str
    text: str


class Collection(NamedTuple):
    """`widgets` are `scope/name`, in order; some may not be listed. `text` is Markdown."""

    slug: str
    title: str
    text: str
    widgets: tuple[str, ...]
    is_featured: bool


@extension_point
def find_brand(_connection: Connection) -> Brand:
    return Brand()


@extension_point
def find_legal_page(_connection: Connection, _slug: str) -> LegalPage | None:
    return None


@extension_point
def list_collections(_connection: Connection) -> Sequence[Collection]:
    """All of them, in the operator's order."""
    return ()


@extension_point
def add_collections(_tx: Transaction, _collections: Sequence[Collection]) -> None:
    """Add collections to a catalog that has none, such as the examples of `serve --demo`."""


def read_brand(store: Store) -> Brand:
    with store.reading() as connection:
        return find_brand(connection)


def read_legal_page(store: Store, slug: str) -> LegalPage | None:
    with store.reading() as connection:
        return find_legal_page(connection, slug)


def read_collections(store: Store) -> tuple[Collection, ...]:
    with store.reading() as connection:
        return tuple(list_collections(connection))

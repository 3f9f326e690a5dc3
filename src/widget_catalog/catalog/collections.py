"""Collections of widgets as pages show them. A room above stores them, if it is installed."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy.engine import Connection

from ..core.db.engine import Store, Transaction
from ..core.hooks import extension_point


class Collection(NamedTuple):
    """`widgets` are `scope/name`, in order; some may not be listed. `text` is Markdown."""

    slug: str
    title: str
    text: str
    widgets: tuple[str, ...]
    is_featured: bool


@extension_point
def list_collections(_connection: Connection) -> Sequence[Collection]:
    """All of them, in the operator's order."""
    return ()


@extension_point
def add_collections(_tx: Transaction, _collections: Sequence[Collection]) -> None:
    """Add collections to a catalog that has none, such as the examples of `serve --demo`."""


def read_collections(store: Store) -> tuple[Collection, ...]:
    with store.reading() as connection:
        return tuple(list_collections(connection))

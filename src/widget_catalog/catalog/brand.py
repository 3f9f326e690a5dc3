"""The operator's brand as pages show it. A room above stores it, if it is installed."""

from typing import NamedTuple

from sqlalchemy.engine import Connection

from ..core.db.engine import Store
from ..core.hooks import extension_point
from ..core.http.branding import Brand


class LegalPage(NamedTuple):
    """`text` is Markdown."""

    slug: str
    title: str
    text: str


@extension_point
def find_brand(_connection: Connection) -> Brand:
    return Brand()


@extension_point
def find_legal_page(_connection: Connection, _slug: str) -> LegalPage | None:
    return None


def read_brand(store: Store) -> Brand:
    with store.reading() as connection:
        return find_brand(connection)


def read_legal_page(store: Store, slug: str) -> LegalPage | None:
    with store.reading() as connection:
        return find_legal_page(connection, slug)

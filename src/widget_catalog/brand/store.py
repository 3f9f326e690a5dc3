"""The brand in the store: one row of JSON; a row for each legal page."""

from functools import lru_cache
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
from markupsafe import Markup
from sqlalchemy import BigInteger, Column, Table, Text
from sqlalchemy.engine import Connection

from ..core import clock
from ..core.db import rows
from ..core.db.engine import Store
from ..core.db.schema import Name, metadata
from ..core.db.transaction import Transaction
from ..core.http.branding import Brand, Logo
from ..pages.markdown import render_line
from .colors import legible_accent

brand = Table(
    "brand",
    metadata,
    Column("part", Name, primary_key=True),
    Column("content", Text, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
)
legal_pages = Table(
    "legal_pages",
    metadata,
    Column("slug", Name, primary_key=True),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
)

_SHOWN, _DRAFT = "shown", "draft"


class LegalPage(NamedTuple):
    """`text` is Markdown."""

    slug: str
    title: str
    text: str


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The brand as the operator enters it. New fields need a default: older rows lack them."""

    name: str = ""
    accent_light: str = ""
    accent_dark: str = ""
    links: tuple[tuple[str, str], ...] = ()
    announcement: str = ""
    contact: str = ""
    until: str = ""
    """The last day of the announcement, in UTC, as `2026-11-17`; empty: it stays."""
    logo: Logo | None = None

    @property
    def shown(self) -> Brand:
        """Today, without legal pages. Without a color for the dark theme, one is made."""
        light, dark = self.accent_light, self.accent_dark
        is_over = self.until and self.until < f"{clock.now():%Y-%m-%d}"
        return Brand(
            self.name,
            self.logo,
            (light, dark or legible_accent(light, 1)) if light else None,
            self.links,
            announcement=Markup() if is_over else _line(self.announcement),
            contact=self.contact,
        )


_decode = msgspec.json.Decoder(Settings).decode
_decode_logo = msgspec.json.Decoder(Logo).decode


def find_settings(connection: Connection) -> Settings:
    found = _find(connection, _SHOWN)
    return Settings() if found is None else _decode(found)


def find_draft(connection: Connection) -> Logo | None:
    found = _find(connection, _DRAFT)
    return None if found is None else _decode_logo(found)


def save_settings(tx: Transaction, new: Settings) -> None:
    """A logo that is not part of it is not a draft any more."""
    _save(tx, _SHOWN, msgspec.json.encode(new))
    rows.delete(tx, brand, part=_DRAFT)


def save_draft(tx: Transaction, logo: Logo) -> None:
    _save(tx, _DRAFT, msgspec.json.encode(logo))


def find_shown(connection: Connection) -> Brand:
    pages = tuple((f"/legal/{slug}", title) for slug, title in list_pages(connection))
    return find_settings(connection).shown._replace(pages=pages)


def read_brand(store: Store) -> Brand:
    with store.reading() as connection:
        return find_shown(connection)


def read_page(store: Store, slug: str) -> LegalPage | None:
    with store.reading() as connection:
        return find_page(connection, slug)


def list_pages(connection: Connection) -> tuple[tuple[str, str], ...]:
    """Slug and title, in the order in which they were created."""
    columns = legal_pages.c.slug, legal_pages.c.title
    query = sa.select(*columns).order_by(legal_pages.c.created_at, legal_pages.c.slug)
    return tuple((slug, title) for slug, title in connection.execute(query))


def find_page(connection: Connection, slug: str) -> LegalPage | None:
    columns = [legal_pages.c[it] for it in LegalPage._fields]
    row = connection.execute(sa.select(*columns).where(legal_pages.c.slug == slug)).first()
    return None if row is None else LegalPage(*row)


def save_page(tx: Transaction, page: LegalPage) -> None:
    values = page._asdict() | {"changed_at": tx.at_ms}
    if not rows.update(tx, legal_pages, values, slug=page.slug):
        rows.insert(tx, legal_pages, values | {"created_at": tx.at_ms})


def remove_page(tx: Transaction, slug: str) -> None:
    rows.delete(tx, legal_pages, slug=slug)


def _find(connection: Connection, part: str) -> str | None:
    query = sa.select(brand.c.content).where(brand.c.part == part)
    return connection.execute(query).scalar_one_or_none()


def _save(tx: Transaction, part: str, content: bytes) -> None:
    values = {"content": content.decode(), "changed_at": tx.at_ms}
    if not rows.update(tx, brand, values, part=part):
        rows.insert(tx, brand, values | {"part": part})


@lru_cache(maxsize=8)
def _line(text: str) -> Markup:
    return Markup(render_line(text))  # noqa: S704  Sanitized.

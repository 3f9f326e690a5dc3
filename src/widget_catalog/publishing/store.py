"""Publish requests, from the request to its confirmation or expiry; and recent publishes, for
quotas.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, Table, Text
from sqlalchemy.engine import Connection

from widget_contract.version_files import BUNDLE, STYLE, AnnouncedFile, is_thumbnail, kind_of

from ..core.db.bulk import insert_rows
from ..core.db.engine import Transaction
from ..core.db.schema import Name, Number, metadata
from ..core.files.contract import FileKey

# Requested versions that are not published yet, or were published recently.
publish_requests = Table(
    "publish_requests",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("scope", Name, nullable=False),
    Column("name", Name, nullable=False),
    Column("version", Text, nullable=False),
    Column("bundle_size", BigInteger, nullable=False),
    Column("sha256_hash", Text, nullable=False),
    Column("css_size", BigInteger),
    Column("css_sha256_hash", Text),
    Column("manifest", Text, nullable=False),
    Column("beside", Text, nullable=False),  # What the request contains besides the manifest.
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False, index=True),
    Column("confirmed_at", BigInteger),
)

# The READMEs and pictures of requests, and the thumbnails that confirming them has made.
requested_files = Table(
    "requested_files",
    metadata,
    Column("request_id", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("sha256_hash", Text, nullable=False),
)

# Versions published during the last day, for quotas.
publications = Table(
    "publications",
    metadata,
    Column("id", Number, primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("published_at", BigInteger, nullable=False, index=True),
    Column("size_bytes", BigInteger, nullable=False),
    Column("is_new_widget", Boolean, nullable=False),
)


LIFETIME_MS = 3_600_000
"""Of a request, and of its upload URLs."""


class FileSpec(NamedTuple):
    """A file to be uploaded, as announced."""

    size_bytes: int
    sha256_hash: str


class PublishRequest(NamedTuple):
    id: str
    account_id: int
    scope: str
    name: str
    version: str
    bundle_size: int
    sha256_hash: str
    css_size: int | None
    css_sha256_hash: str | None
    manifest: str
    beside: str
    created_at: int
    expires_at: int
    confirmed_at: int | None
    attached: tuple[AnnouncedFile, ...] = ()
    """README and pictures."""

    @property
    def files(self) -> dict[str, FileSpec]:
        """All files by path."""
        files = {BUNDLE: FileSpec(self.bundle_size, self.sha256_hash)}
        if self.css_size is not None and self.css_sha256_hash is not None:
            files[STYLE] = FileSpec(self.css_size, self.css_sha256_hash)
        return files | {it.path: FileSpec(*it[1:]) for it in self.attached}


class Publication(NamedTuple):
    """One published version, without its name."""

    published_at: int
    size_bytes: int
    is_new_widget: bool


def add_request(tx: Transaction, request: PublishRequest) -> None:
    row = {key: it for key, it in request._asdict().items() if key != "attached"}
    tx.connection.execute(sa.insert(publish_requests).values(row))
    add_requested_files(tx, request.id, request.attached)


def add_requested_files(tx: Transaction, id_: str, files: Sequence[AnnouncedFile]) -> None:
    """Files of a request in their order. One with the same path is replaced."""
    table = requested_files.c
    for place, (path, size_bytes, sha256_hash) in enumerate(files):
        is_it = (table.request_id == id_) & (table.path == path)
        tx.connection.execute(sa.delete(requested_files).where(is_it))
        insert_rows(tx.connection, requested_files, [(id_, path, place, size_bytes, sha256_hash)])


def find_request(connection: Connection, id_: str) -> PublishRequest | None:
    if not id_.isalnum():  # External input, which a database may reject.
        return None
    query = sa.select(publish_requests).where(publish_requests.c.id == id_)
    row = connection.execute(query).first()
    return _request(connection, row) if row is not None else None


def _request(connection: Connection, row: Sequence[Any]) -> PublishRequest:
    table = requested_files.c
    columns = (table.path, table.size_bytes, table.sha256_hash)
    query = sa.select(*columns).where(table.request_id == row[0]).order_by(table.position)
    files = [AnnouncedFile(*it) for it in connection.execute(query)]
    attached = tuple(it for it in files if not is_thumbnail(it.path))
    return PublishRequest(*row)._replace(attached=attached)


def confirm_request(tx: Transaction, id_: str) -> None:
    done = sa.update(publish_requests).where(publish_requests.c.id == id_)
    tx.connection.execute(done.values(confirmed_at=tx.at_ms))


def list_ends_of_open(connection: Connection, account_id: int, now_ms: int) -> list[int]:
    """When the open requests of an account end, the first one first."""
    table = publish_requests.c
    query = sa.select(table.expires_at).where(
        table.account_id == account_id, table.confirmed_at.is_(None), table.expires_at > now_ms
    )
    return list(connection.execute(query.order_by(table.expires_at)).scalars())


def list_unconfirmed(connection: Connection, account_id: int, since_ms: int) -> list[int]:
    """When the account made its requests after this time that are not confirmed, ended ones
    included; oldest first.
    """
    table = publish_requests.c
    query = sa.select(table.created_at).where(
        table.account_id == account_id, table.confirmed_at.is_(None), table.created_at > since_ms
    )
    return list(connection.execute(query.order_by(table.created_at)).scalars())


def end_open_request(tx: Transaction, account_id: int, scope: str, name: str, version: str) -> bool:
    """End the oldest open request of an account for this version; returns whether there was
    one.
    """
    table = publish_requests.c
    query = sa.select(table.id).where(
        table.account_id == account_id,
        table.scope == scope,
        table.name == name,
        table.version == version,
        table.confirmed_at.is_(None),
        table.expires_at > tx.at_ms,
    )
    id_ = tx.connection.execute(query.order_by(table.created_at, table.id).limit(1)).scalar()
    if id_ is None:
        return False
    end_request(tx, id_)
    return True


def end_request(tx: Transaction, id_: str) -> None:
    """Expire it now. The row stays as long as an upload URL of an object store is valid, to be
    counted, but without its texts.
    """
    ended = sa.update(publish_requests).where(publish_requests.c.id == id_)
    tx.connection.execute(ended.values(expires_at=tx.at_ms, manifest="", beside=""))


def list_requests(connection: Connection) -> list[PublishRequest]:
    rows = connection.execute(sa.select(publish_requests)).all()
    return [_request(connection, row) for row in rows]


def list_request_ids(connection: Connection) -> set[str]:
    return set(connection.execute(sa.select(publish_requests.c.id)).scalars())


def list_awaited_files(connection: Connection) -> set[FileKey]:
    """The files of all requests."""
    return _files(connection, sa.true())


class EndedRequests(NamedTuple):
    """`files` are those of requests that were not confirmed: a confirmation that was killed may
    have stored them.
    """

    ids: list[str]
    files: set[FileKey]


def list_ended(connection: Connection, now_ms: int, most: int) -> EndedRequests:
    """Some of the requests that have ended, and whose upload URLs have expired."""
    table = publish_requests.c
    query = (
        sa.select(table.id)
        .where(table.expires_at <= now_ms, table.created_at <= now_ms - LIFETIME_MS)
        .order_by(table.expires_at)
        .limit(most)
    )
    ids = list(connection.execute(query).scalars())
    return EndedRequests(
        ids, _files(connection, table.id.in_(ids) & table.confirmed_at.is_(None)) if ids else set()
    )


def remove_requests(tx: Transaction, ids: Sequence[str]) -> None:
    tx.connection.execute(sa.delete(requested_files).where(requested_files.c.request_id.in_(ids)))
    tx.connection.execute(sa.delete(publish_requests).where(publish_requests.c.id.in_(ids)))


def add_publication(
    tx: Transaction, account_id: int, size_bytes: int, *, is_new_widget: bool
) -> None:
    row = Publication(tx.at_ms, size_bytes, is_new_widget)._asdict() | {"account_id": account_id}
    tx.connection.execute(sa.insert(publications).values(row))


def list_publications(
    connection: Connection, account_id: int, since: int, now_ms: int
) -> list[Publication]:
    """Those of an account after an instant, oldest first.

    One dated after `now_ms` is ignored: the clock was ahead when it was published.
    """
    table = publications.c
    query = (
        sa.select(*(table[it] for it in Publication._fields))
        .where(table.account_id == account_id)
        .where(table.published_at > since, table.published_at <= now_ms)
        .order_by(table.published_at, table.id)
    )
    return [Publication(*row) for row in connection.execute(query)]


def remove_publications(tx: Transaction, until: int) -> None:
    """Remove those that no quota needs any more, of all accounts."""
    tx.connection.execute(sa.delete(publications).where(publications.c.published_at <= until))


def _files(connection: Connection, which: sa.ColumnElement[bool]) -> set[FileKey]:
    columns = publish_requests.c.sha256_hash, publish_requests.c.css_sha256_hash
    files: set[FileKey] = set()
    for js, css in connection.execute(sa.select(*columns).where(which)):
        files.add((js, "js"))
        if css is not None:
            files.add((css, "css"))
    attached = (requested_files.c.sha256_hash, requested_files.c.path)
    requests = sa.select(publish_requests.c.id).where(which)
    query = sa.select(*attached).where(requested_files.c.request_id.in_(requests))
    files |= {(sha256_hash, kind_of(path)) for sha256_hash, path in connection.execute(query)}
    return files

"""A staged import: its widgets, packed, until they are written.

There is one at a time: to stage or write it, hold `importing`. Until it is accepted it has no
effect. From then on it is part of the source of truth, and will be written: by the import itself,
or after a crash by the next process that finds it.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import sqlalchemy as sa
import zstandard
from sqlalchemy import BigInteger, Column, LargeBinary, Table, Text
from sqlalchemy.engine import Connection

from ...core import release
from ...core.db.bulk import insert_rows
from ...core.db.engine import Store, Transaction
from ...core.db.file_lock import file_lock
from ...core.db.schema import Name, Number, metadata
from ...core.db.table_locks import import_lock
from ...core.errors import DataDamaged
from .drafts import Draft
from .rows import StoredFile

# The import in progress, if any. Once it is accepted it is always completed, if necessary by
# another process.
imports = Table(
    "imports",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),
    Column("file_name", Text, nullable=False),
    Column("release", Text, nullable=False),  # The release that rendered its documents.
    Column("accepted_at", BigInteger),
)

# The batches still to be written, with some hundred widgets each, compressed.
staged_batches = Table(
    "staged_batches",
    metadata,
    Column("number", Number, primary_key=True, autoincrement=False),
    Column("drafts", LargeBinary, nullable=False),
)

# Which widgets are in which batch.
staged_widgets = Table(
    "staged_widgets",
    metadata,
    Column("scope", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("batch", Number, primary_key=True, autoincrement=False, index=True),
)

_THE_ONE = 1
# Batches removed per transaction, to keep it short.
_REMOVED_AT_ONCE = 50

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Draft]).decode


class StagedImport(NamedTuple):
    """`release` is the release that rendered its documents."""

    file_name: str
    release: str
    accepted_at: int | None

    @property
    def is_accepted(self) -> bool:
        return self.accepted_at is not None


class Batch(NamedTuple):
    number: int
    drafts: list[Draft]


@contextlib.contextmanager
def importing(store: Store, timeout_s: float = 0) -> Iterator[str | None]:
    """Hold the import lock; yields who holds it, if another import is still running."""
    if store.engine.dialect.name == "postgresql":
        with import_lock(store.engine, timeout_s) as is_held:
            yield None if is_held else "another process holds the import lock"
        return
    if store.run_folder is None:
        yield None
        return
    with file_lock(store.run_folder / "import.lock", timeout_s, store.program) as other:
        yield other


def pack(drafts: Sequence[Draft]) -> bytes:
    """Drafts as bytes that any release on any machine can read: about a fifth of their size."""
    return zstandard.ZstdCompressor(level=1).compress(_encode(drafts))


def unpack(packed: bytes) -> list[Draft]:
    """Raises DataDamaged."""
    try:
        drafts = _decode(zstandard.ZstdDecompressor().decompress(packed))
        return [it.with_every_column() for it in drafts]
    except (zstandard.ZstdError, msgspec.MsgspecError) as error:
        raise DataDamaged(
            "Widgets of an unfinished import are damaged. Restore the database from a backup."
        ) from error


def find_import(connection: Connection) -> StagedImport | None:
    columns = (imports.c.file_name, imports.c.release, imports.c.accepted_at)
    row = connection.execute(sa.select(*columns)).first()
    return None if row is None else StagedImport(*row)


def begin_import(tx: Transaction, file_name: str) -> None:
    row = {"id": _THE_ONE, "file_name": file_name, "release": release.VERSION}
    tx.connection.execute(sa.insert(imports).values(row))


def add_batch(tx: Transaction, number: int, drafts: Sequence[Draft]) -> None:
    insert_rows(tx.connection, staged_batches, [(number, pack(drafts))])
    # Several lines may be about the same widget.
    keys = sorted({it.key for it in drafts})
    insert_rows(tx.connection, staged_widgets, [(*key, number) for key in keys])


def accept_import(tx: Transaction) -> None:
    """Once this transaction is committed, the import is final."""
    tx.connection.execute(sa.update(imports).values(accepted_at=tx.at_ms))
    tx.wake_nodes()


def next_batch(tx: Transaction) -> Batch | None:
    """The first batch that is not written yet."""
    query = sa.select(staged_batches).order_by(staged_batches.c.number).limit(1)
    row = tx.connection.execute(query).first()
    return None if row is None else Batch(row.number, _as_of_now(tx, unpack(row.drafts)))


def remove_batch(tx: Transaction, number: int) -> None:
    tx.connection.execute(sa.delete(staged_widgets).where(staged_widgets.c.batch == number))
    tx.connection.execute(sa.delete(staged_batches).where(staged_batches.c.number == number))


def remove_some_batches(tx: Transaction) -> bool:
    """Remove some batches; returns whether there are more."""
    query = sa.select(staged_batches.c.number).limit(_REMOVED_AT_ONCE)
    numbers = tx.connection.execute(query).scalars().all()
    for number in numbers:
        remove_batch(tx, number)
    return len(numbers) == _REMOVED_AT_ONCE


def end_import(tx: Transaction) -> None:
    """The import is complete."""
    tx.connection.execute(sa.delete(imports))
    tx.mark_public()


def list_staged(tx: Transaction, scope: str, name: str) -> list[Draft]:
    """Pending changes of the accepted import to this widget, in the order of its lines."""
    staged = find_import(tx.connection)
    if staged is None or not staged.is_accepted:
        return []
    query = (
        sa.select(staged_batches.c.drafts)
        .join(staged_widgets, staged_widgets.c.batch == staged_batches.c.number)
        .where(staged_widgets.c.scope == scope, staged_widgets.c.name == name)
        .order_by(staged_batches.c.number)
    )
    packed = tx.connection.execute(query).scalars().all()
    found = [it for some in packed for it in unpack(some) if it.key == (scope, name)]
    return _as_of_now(tx, found)


def is_scope_staged(connection: Connection, scope: str) -> bool:
    """Whether the accepted import will still add a widget to this scope."""
    query = sa.select(staged_widgets.c.batch).where(staged_widgets.c.scope == scope, _is_accepted())
    return connection.execute(query.limit(1)).first() is not None


def list_staged_files(connection: Connection) -> Iterator[StoredFile]:
    """The files of versions that the accepted import will still add."""
    query = sa.select(staged_batches.c.drafts).where(_is_accepted())
    # For this statement: the options of a connection would apply to all later ones, too.
    for row in connection.execute(query, execution_options={"yield_per": 1}):
        for draft in unpack(row.drafts):
            yield from draft.files


def _is_accepted() -> sa.ColumnElement[bool]:
    return sa.exists().where(imports.c.accepted_at.is_not(None))


def _as_of_now(tx: Transaction, drafts: list[Draft]) -> list[Draft]:
    """With documents in this release's format."""
    staged = find_import(tx.connection)
    if not drafts or staged is None or staged.release == release.VERSION:
        return drafts
    return [it._replace(prepared=tx.prepare(it.to_widget())) for it in drafts]

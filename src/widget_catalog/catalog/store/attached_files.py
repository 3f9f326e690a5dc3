"""READMEs and pictures of versions: their rows, and which of the stored files versions need."""

from collections.abc import Collection, Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from widget_contract.version_files import kind_of

from ...core.db.bulk import insert_rows
from ...core.db.damage import row_checksum
from ...core.db.engine import Transaction
from ...core.files.contract import FileKey
from ..widgets import Version
from .rows import Row, StoredFile, attached_rows
from .tables import revocations, version_files, versions, widgets

# SQLite allows at most 32,766 parameters per statement.
_HASHES_PER_QUERY = 500

_IS_REVOKED = (version_files.c.widget_id == revocations.c.widget_id) & (
    version_files.c.identity == revocations.c.identity
)


def add_attached(tx: Transaction, rows: Sequence[Row]) -> None:
    """Rows of `attached_rows`, after the number of the widget."""
    insert_rows(tx.connection, version_files, [(*row, row_checksum(row)) for row in rows])


def save_attached(tx: Transaction, widget_id: int, version: Version) -> None:
    """Store the files of a version, and no others."""
    table = version_files.c
    is_it = (table.widget_id == widget_id) & (table.identity == version.identity)
    tx.connection.execute(sa.delete(version_files).where(is_it))
    add_attached(tx, [(widget_id, *row) for row in attached_rows(version)])


def list_attached(connection: Connection, *, only_revoked: bool = False) -> Iterator[StoredFile]:
    """The files of all versions, or of revoked ones."""
    files = version_files.c
    query = (
        sa.select(widgets.c.scope, widgets.c.name, versions.c.version)
        .add_columns(files.path, files.sha256_hash, files.size_bytes)
        .join_from(version_files, widgets, widgets.c.id == files.widget_id)
        .join(
            versions,
            (versions.c.widget_id == files.widget_id) & (versions.c.identity == files.identity),
        )
    )
    if only_revoked:
        query = query.join(revocations, _IS_REVOKED)
    for row in connection.execute(query, execution_options={"yield_per": 1000}):
        scope, name, version, path, sha256_hash, size_bytes = row
        yield StoredFile(scope, name, version, kind_of(path), sha256_hash, size_bytes)


def find_attached(
    connection: Connection, files: Collection[FileKey], *, only_served: bool = False
) -> set[FileKey]:
    """Which of these files versions have; or those of versions that are not revoked."""
    found: set[FileKey] = set()
    hashes = sorted({sha256_hash for sha256_hash, _ in files})
    for start in range(0, len(hashes), _HASHES_PER_QUERY):
        some = version_files.c.sha256_hash.in_(hashes[start : start + _HASHES_PER_QUERY])
        query = sa.select(version_files.c.sha256_hash, version_files.c.path).where(some)
        if only_served:
            query = query.join_from(version_files, revocations, _IS_REVOKED, isouter=True)
            query = query.where(revocations.c.widget_id.is_(None))
        found |= {(sha256_hash, kind_of(path)) for sha256_hash, path in connection.execute(query)}
    return found & set(files)

"""SQLite's integrity check: errors in tables, or only in pages that belong to none.

PostgreSQL checks its own files.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy.engine import Connection

from ..errors import StoreUnavailable
from .damage import is_damage
from .opened_file import connect
from .schema import metadata
from .tables import load_tables

# Earlier releases kept their read model in the database.
_FORMER_TABLES = ("listings", "documents", "read_model")

_Rows = list[Any]


class FileFaults(NamedTuple):
    """`elsewhere` are errors outside the tables of this release."""

    truth: list[str]
    elsewhere: list[str]


NO_FAULTS = FileFaults([], [])


def check_file(path: Path) -> FileFaults:
    """Check the structure of the file, before anything relies on it.

    Raises StoreUnavailable if the file cannot be opened or locked.
    """
    try:
        with contextlib.closing(connect(path)) as db:
            return _check(lambda pragma: db.execute(pragma).fetchall(), "quick_check")
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return FileFaults([f"database: {error}."], [])
        raise StoreUnavailable(f"The database cannot be read just now ({error}).") from None


def check_integrity(connection: Connection) -> FileFaults:
    """The same, and whether indexes match their tables, and foreign keys are valid."""
    if connection.dialect.name != "sqlite":
        return NO_FAULTS
    found = _check(lambda it: list(connection.exec_driver_sql(it)), "integrity_check")
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    dangling = [f"database: a row of {row[0]} refers to nothing." for row in broken]
    return FileFaults(found.truth + dangling[:20], found.elsewhere)


def _check(ask: Callable[[str], _Rows], pragma: str) -> FileFaults:
    faults = list(_faults(ask(f"PRAGMA {pragma}(20)")))
    if not faults:
        return NO_FAULTS
    tables = {row[0] for row in ask("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    load_tables()
    truth: list[str] = []
    for table in sorted({*metadata.tables, "alembic_version"} & tables):
        truth += _faults(ask(f"PRAGMA {pragma}('{table}')"))
    return FileFaults(truth[:20], []) if truth else FileFaults([], faults)


def _faults(rows: _Rows) -> Iterator[str]:
    """A row may have several lines, and one that only says which database it is about."""
    lines = (line for row in rows if row[0] != "ok" for line in str(row[0]).splitlines())
    return (f"database: {line}" for line in lines if line and not line.startswith("***"))


def discard_other_pages(path: Path) -> None:
    """Remove pages that belong to no table of this release, however damaged they are.

    The file is rewritten without those pages. Other writers wait meanwhile.
    """
    with contextlib.closing(connect(path, isolation_level=None, timeout=10)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("BEGIN IMMEDIATE")
        marks = ", ".join("?" * len(_FORMER_TABLES))
        db.execute(f"DELETE FROM sqlite_schema WHERE tbl_name IN ({marks})", _FORMER_TABLES)  # noqa: S608
        version = db.execute("PRAGMA schema_version").fetchone()[0]
        # Makes other connections read the schema again.
        db.execute(f"PRAGMA schema_version = {version + 1}")
        db.execute("COMMIT")
        db.execute("PRAGMA writable_schema = RESET")
        db.execute("VACUUM")

"""Damage: how it is detected, and the alarm that stays until doctor finds the database intact.

SQLite's integrity check finds errors in tables, or only in pages that belong to none; PostgreSQL
checks its own files. Checksums of rows and records detect damage, not forgery: with 32 bits it goes
undetected once in four billion cases.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import structlog
import xxhash
from sqlalchemy.engine import Connection

from ..errors import DataDamaged, StoreUnavailable
from .schema import metadata
from .sqlite import connect
from .tables import load_tables

_LOGGED_EVERY_S = 60

_log = structlog.get_logger("widget_catalog.damage")


def is_damage(error: BaseException) -> bool:
    """Whether an error means that stored data is damaged: retrying does not help."""
    if isinstance(error, DataDamaged) or type(error) is sqlite3.DatabaseError:
        return True
    # Text that is not UTF-8 is detected by the driver, so the error has no SQLite error code.
    return isinstance(error, sqlite3.OperationalError) and not hasattr(error, "sqlite_errorcode")


@contextlib.contextmanager
def any_text(connection: Connection) -> Iterator[None]:
    """Allow reading text that is not valid UTF-8 because of damage."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        yield
        return
    before = driver.text_factory
    driver.text_factory = lambda raw: raw.decode(errors="replace")
    try:
        yield
    finally:
        driver.text_factory = before


class DamageAlarm:
    """A file: every worker, the metrics and doctor know about damage found by one worker, or by a
    command.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._logged_at = float("-inf")

    def report(self, error: BaseException) -> bool:
        """Whether this is damage; if so, raise the alarm."""
        if not is_damage(error):
            return False
        sentence = str(error)
        now = time.monotonic()
        if now - self._logged_at >= _LOGGED_EVERY_S:  # Not logged for every request that fails.
            self._logged_at = now
            _log.error("The database is damaged. Run doctor.", error=sentence)
        self.raise_for(sentence)
        return True

    def raise_for(self, sentence: str) -> None:
        """Raise the alarm, and log nothing: a command prints it."""
        # On a full disk, the damage is only logged.
        with contextlib.suppress(OSError), self._file.open("x", encoding="utf-8") as file:
            file.write(sentence)

    def current(self) -> str | None:
        """The first problem found, while the alarm is on."""
        try:
            return self._file.read_text(encoding="utf-8", errors="replace") or "It is damaged."
        except OSError:
            return None

    def clear(self) -> None:
        self._file.unlink(missing_ok=True)


_BITS = 0xFFFF_FFFF

_encode = msgspec.json.Encoder().encode
_hash = xxhash.xxh3_64_intdigest


def row_checksum(values: Sequence[Any]) -> int:
    """Of numbers, texts, booleans and None: the same on SQLite and PostgreSQL."""
    return _hash(_encode(values)) & _BITS


_Rows = list[Any]


class FileErrors(NamedTuple):
    """`elsewhere` are errors outside the tables of this release."""

    truth: list[str]
    elsewhere: list[str]


NO_ERRORS = FileErrors([], [])


def check_file(path: Path) -> FileErrors:
    """Check the structure of the file, before anything relies on it.

    Raises StoreUnavailable if the file cannot be opened or locked.
    """
    try:
        with contextlib.closing(connect(path)) as db:
            return _check(lambda pragma: db.execute(pragma).fetchall(), "quick_check")
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return FileErrors([f"database: {error}."], [])
        raise StoreUnavailable(f"The database cannot be read just now ({error}).") from None


def check_integrity(connection: Connection) -> FileErrors:
    """Errors in the tables of an open database, indexes that do not match them, and foreign keys
    that refer to nothing.
    """
    if connection.dialect.name != "sqlite":
        return NO_ERRORS
    found = _check(lambda it: list(connection.exec_driver_sql(it)), "integrity_check")
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    dangling = [f"database: a row of {row[0]} refers to nothing." for row in broken]
    return FileErrors(found.truth + dangling[:20], found.elsewhere)


def _check(ask: Callable[[str], _Rows], pragma: str) -> FileErrors:
    errors = list(_errors(ask(f"PRAGMA {pragma}(20)")))
    if not errors:
        return NO_ERRORS
    tables = {row[0] for row in ask("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    load_tables()
    truth: list[str] = []
    for table in sorted({*metadata.tables, "alembic_version"} & tables):
        truth += _errors(ask(f"PRAGMA {pragma}('{table}')"))
    return FileErrors(truth[:20], []) if truth else FileErrors([], errors)


def _errors(rows: _Rows) -> Iterator[str]:
    """A row may have several lines, and one that only says which database it is about."""
    lines = (line for row in rows if row[0] != "ok" for line in str(row[0]).splitlines())
    return (f"database: {line}" for line in lines if line and not line.startswith("***"))


def discard_other_pages(path: Path) -> None:
    """Rewrite the file without pages that belong to no table. Other writers wait meanwhile."""
    with contextlib.closing(connect(path, isolation_level=None, timeout=10)) as db:
        db.execute("VACUUM")

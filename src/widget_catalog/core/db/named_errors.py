"""Errors of databases and disks, as errors of ours."""

import contextlib
import sqlite3
from collections.abc import Iterator

import sqlalchemy as sa

from ..errors import (
    DatabaseDown,
    DatabaseReadOnly,
    DataDamaged,
    InvalidRequest,
    StoreUnavailable,
    WriterBusy,
)
from .damage import is_damage
from .file_lock import BUSY
from .postgresql import is_read_only
from .table_locks import is_waiting_over


@contextlib.contextmanager
def errors_named() -> Iterator[None]:
    """Convert database and disk errors to errors of ours."""
    try:
        yield
    except sa.exc.DataError:
        # For example, PostgreSQL accepts no NUL in text: the request is at fault, not the
        # database.
        raise InvalidRequest("This has characters or numbers that cannot be looked for.") from None
    except sa.exc.DBAPIError as error:
        # The driver's error, because SQLAlchemy's includes the statement.
        problem = error.orig or error
        raise _named(problem) from problem
    except sa.exc.TimeoutError as error:
        raise DatabaseDown from error
    except (sqlite3.Error, OSError) as error:
        raise _named(error) from error


def _named(error: BaseException) -> StoreUnavailable:
    reason = (isinstance(error, OSError) and error.strerror) or str(error).strip()
    if is_damage(error):
        return DataDamaged(
            f"The catalog's database is damaged ({reason}). Run doctor: it repairs what can be "
            "rebuilt, and says if a backup must be restored."
        )
    if is_waiting_over(error):
        return WriterBusy(BUSY)
    if is_read_only(error):
        return DatabaseReadOnly()
    if not isinstance(error, sqlite3.Error | OSError):
        return DatabaseDown()
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
        return StoreUnavailable(
            "The catalog cannot be changed just now: another program has locked its database. "
            "Nothing was changed; try again soon."
        )
    return StoreUnavailable(
        f"The catalog's database cannot be used just now ({reason}). Try again later."
    )

"""Damage: how it is detected, and the alarm that stays until doctor finds the database intact."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import structlog
from sqlalchemy.engine import Connection

from ..errors import DataDamaged

_LOGGED_EVERY_S = 60

_log = structlog.get_logger("widget_catalog.damage")


def is_damage(fault: BaseException) -> bool:
    """Whether an error means that stored data is damaged: retrying does not help."""
    if isinstance(fault, DataDamaged) or type(fault) is sqlite3.DatabaseError:
        return True
    # Text that is not UTF-8 is detected by the driver, so the error has no SQLite error code.
    return isinstance(fault, sqlite3.OperationalError) and not hasattr(fault, "sqlite_errorcode")


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
    """A file, so that every worker, the metrics and doctor know about damage found by
    one worker.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._logged_at = float("-inf")

    def report(self, fault: BaseException) -> bool:
        """Whether this is damage; if so, raise the alarm."""
        if not is_damage(fault):
            return False
        sentence = str(fault)
        now = time.monotonic()
        if now - self._logged_at >= _LOGGED_EVERY_S:  # Not logged for every request that fails.
            self._logged_at = now
            _log.error("The database is damaged. Run doctor.", fault=sentence)
        # On a full disk, the damage is only logged.
        with contextlib.suppress(OSError), self._file.open("x", encoding="utf-8") as file:
            file.write(sentence)
        return True

    def current(self) -> str | None:
        """The first problem found, while the alarm is on."""
        try:
            return self._file.read_text(encoding="utf-8", errors="replace") or "It is damaged."
        except OSError:
            return None

    def clear(self) -> None:
        self._file.unlink(missing_ok=True)

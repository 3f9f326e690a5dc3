"""NodeStatus: what the processes of a node know about the database they share with other nodes.

A small file that all of them map. The follower writes it; the others answer health checks and
metrics from it, and do not wait for a database that is known to be down.
"""

import mmap
import time
from pathlib import Path
from typing import Final

from ...core.data_folder import allocate
from ...core.errors import DatabaseDown, DatabaseReadOnly, OlderRelease
from .revision import opened_file

# After this long without a response, the database is considered down.
_SILENT_MS = 5_000
# The follower checks twice per second that it responds.
_USUAL_MS = 1_500
_ANSWERED_AT, _IS_UP, _NEWEST, _APPLIED, _BEHIND_SINCE = range(5)
_COUNTED, _IS_NEWER, _LOST_AT, _PROGRESS_AT = range(5, 9)
_OTHERS_APPLIED, _COUNTED_AT, _NOTIFIED = range(9, 12)
_BYTES = 8 * 12
# Applying some thousand changes at once takes seconds.
_PROGRESS_MS = 10_000
# Values of _IS_UP.
_DOWN, _UP, _READ_ONLY = range(3)


class NodeStatus:
    has_others: Final = True

    def __init__(self, path: Path) -> None:
        with opened_file(path) as descriptor:
            allocate(descriptor, _BYTES)
            self._words = memoryview(mmap.mmap(descriptor, _BYTES)).cast("Q")

    # Called by the follower

    def database_responded(self, newest_seq: int, *, is_newer: bool = False) -> None:
        """`is_newer`: a newer release than this one has migrated it."""
        self._words[_IS_NEWER] = int(is_newer)
        self._words[_NEWEST] = newest_seq
        self._note_lag()
        self._words[_ANSWERED_AT] = _now_ms()
        self._words[_IS_UP] = _UP

    def database_is_there(self) -> None:
        """It has responded, and said nothing new."""
        self._words[_ANSWERED_AT] = _now_ms()

    def note_notification(self) -> None:
        """Of something other than counts."""
        self._words[_NOTIFIED] += 1

    def database_failed(self) -> None:
        self._words[_IS_UP] = _DOWN
        if self.silent_s:  # It will not respond on other connections, either.
            self._words[_LOST_AT] = _now_ms()

    def database_became_read_only(self) -> None:
        self._words[_IS_UP] = _READ_ONLY
        self._words[_LOST_AT] = _now_ms()

    def applied(self, seq: int) -> None:
        if self._words[_APPLIED] != max(0, seq):
            self._words[_PROGRESS_AT] = _now_ms()
        self._words[_APPLIED] = max(0, seq)
        self._note_lag()

    def others_applied(self, seq: int) -> None:
        """The newest change that another node is known to have applied."""
        self._words[_OTHERS_APPLIED] = seq

    def _note_lag(self) -> None:
        if self.lag_changes == 0:
            self._words[_BEHIND_SINCE] = 0
        elif self._words[_BEHIND_SINCE] == 0:
            self._words[_BEHIND_SINCE] = _now_ms()

    # Called by other code

    @property
    def newest_seq(self) -> int:
        """The end of the feed, as far as known."""
        return self._words[_NEWEST]

    @property
    def notifications(self) -> int:
        """Differs if something was changed since, by any node."""
        return self._words[_NOTIFIED]

    @property
    def counted_at(self) -> int:
        """Differs if something was counted here since."""
        return self._words[_COUNTED_AT]

    def note_counted(self) -> None:
        self._words[_COUNTED_AT] = time.monotonic_ns()

    def is_database_up(self) -> bool:
        return self._words[_IS_UP] == _UP and not self.is_silent()

    def is_silent(self) -> bool:
        """Whether the database has not responded for longer than usual."""
        return self._silent_ms() >= _SILENT_MS

    @property
    def silent_s(self) -> float:
        """How long it has not responded; 0 in normal operation."""
        silent_ms = self._silent_ms()
        return silent_ms / 1000 if silent_ms > _USUAL_MS else 0.0

    def check_database(self) -> None:
        """Whether it responds, from memory: a query would make all callers wait."""
        if self.is_read_only:
            raise DatabaseReadOnly
        if not self.is_database_up():
            raise DatabaseDown

    def check_release(self) -> None:
        """Raises OlderRelease if a newer release has migrated the database, and may expect other
        data.
        """
        if self.is_newer:
            raise OlderRelease

    @property
    def is_read_only(self) -> bool:
        """Whether it responds but accepts no writes: it is a standby, or was made one."""
        return self._words[_IS_UP] == _READ_ONLY

    @property
    def is_newer(self) -> bool:
        """Whether a newer release has migrated the database."""
        return self._words[_IS_NEWER] == 1

    @property
    def lag_changes(self) -> int:
        """How many known changes are not applied yet."""
        return max(0, self._words[_NEWEST] - self._words[_APPLIED])

    @property
    def applied_seq(self) -> int:
        return self._words[_APPLIED]

    def is_catching_up(self) -> bool:
        """Whether it applies changes, and no other node is less than half as far behind: it would
        not help to send requests there instead.
        """
        is_progressing = _now_ms() - self._words[_PROGRESS_AT] < _PROGRESS_MS
        others_lag = max(0, self._words[_NEWEST] - self._words[_OTHERS_APPLIED])
        return is_progressing and others_lag * 2 >= self.lag_changes

    @property
    def lag_s(self) -> float:
        """How long there have been such changes, or how long the database has not responded."""
        since = self._words[_BEHIND_SINCE]
        behind_ms = _now_ms() - since if since else 0
        return max(behind_ms / 1000, self.silent_s)

    def lost_at_s(self) -> float:
        """Connections opened before this time of the monotonic clock lead to a server that does
        not respond, or accepts no writes.
        """
        lost_ms = self._words[_LOST_AT]
        # The clock restarts when the machine boots; the file may be older.
        return lost_ms / 1000 if lost_ms <= _now_ms() else 0.0

    def find_delay(self) -> str | None:
        """Why known changes are not shown. Changes in a database that is down are unknown."""
        is_behind = self.is_database_up() and self.lag_changes
        return "Changes of other nodes are not applied yet." if is_behind else None

    def _silent_ms(self) -> int:
        return _now_ms() - self._words[_ANSWERED_AT]

    # The first transaction whose counts may not have been read: see catalog/store/downloads.py.

    @property
    def counted(self) -> int:
        return self._words[_COUNTED]

    @counted.setter
    def counted(self, transaction: int) -> None:
        self._words[_COUNTED] = transaction


def _now_ms() -> int:
    """By a clock that all processes of this machine share."""
    return time.monotonic_ns() // 1_000_000

"""What clients requested and what was acknowledged: the basis of the verdict."""

import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

# This many are kept for the report; all are counted.
_SHOWN = 10
_REMEMBERED = 30


@dataclass
class Release:
    """A version that a client tried to publish."""

    key: str
    version: str
    sha256_hash: str
    is_acknowledged: bool = False
    is_yank_attempted: bool = False
    is_yank_acknowledged: bool = False


@dataclass
class ImportedFile:
    """A file of widgets. `is_acknowledged`: the command succeeded, so all of it must be there."""

    keys: list[str]
    is_acknowledged: bool = False


@dataclass
class Ledger:
    """Written by many threads; each widget is written by only one of them."""

    releases: list[Release] = field(default_factory=list)
    imports: list[ImportedFile] = field(default_factory=list)
    counts_attempted: Counter[str] = field(default_factory=Counter)
    counts_acknowledged: Counter[str] = field(default_factory=Counter)
    # How often each error and each response occurred.
    figures: Counter[str] = field(default_factory=Counter)
    longest_wait_s: float = 0.0
    longest_start_s: float = 0.0
    # The time from each return of the database to the next count.
    recoveries_s: list[float] = field(default_factory=list)
    # Results of restarts under load, as sentences.
    restarts: list[str] = field(default_factory=list)
    violations: Counter[str] = field(default_factory=Counter)
    # The last faults, slow reads and failed requests, each with its time.
    _journal: deque[str] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    # The same as it was at the first violation.
    before_violation: list[str] = field(default_factory=list)
    _began_s: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._lock:
            yield

    def note(self, what: str, times: int = 1) -> None:
        with self._lock:
            self.figures[what] += times

    def log(self, what: str) -> None:
        """An event that helps to understand a violation."""
        with self._lock:
            self._journal.append(f"{time.monotonic() - self._began_s:9.3f} s  {what}")

    def violated(self, rule: str) -> None:
        """Something happened that must never happen."""
        with self._lock:
            self.before_violation = self.before_violation or list(self._journal)
            self.violations[rule] += 1

    def waited(self, seconds: float) -> None:
        with self._lock:
            self.longest_wait_s = max(self.longest_wait_s, seconds)

    def releases_of(self, key: str) -> list[Release]:
        """In the order of the attempts."""
        return [it for it in self.releases if it.key == key]

    def show_violations(self) -> list[str]:
        shown = [f"{rule} ({times:,} times)" for rule, times in self.violations.most_common(_SHOWN)]
        more = len(self.violations) - len(shown)
        return [*shown, f"and {more:,} more"] if more > 0 else shown

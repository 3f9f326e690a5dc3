"""Due: what is to be done, and when: after an interval, or because it was called for."""

import time
from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Due(Generic[T]):
    """Several threads may call for a task; each task is done by one."""

    def __init__(self, every_s: Mapping[T, float]) -> None:
        """All tasks, with the time after which each is due again. At first all of them are."""
        self._every_s = every_s
        self._done_at = dict.fromkeys(every_s, float("-inf"))
        self._called_for: set[T] = set()

    def call_for(self, *tasks: T) -> None:
        """They are due at once."""
        self._called_for.update(tasks)

    def is_due(self, task: T) -> bool:
        return task in self._called_for or self.since_s(task) >= self._every_s[task]

    def done(self, task: T) -> None:
        """It is not due until its interval has passed, or it is called for again."""
        self._called_for.discard(task)
        self._done_at[task] = time.monotonic()

    def take(self, task: T) -> bool:
        """Whether it is due; the caller then does it. What is called for meanwhile is due again."""
        is_due = self.is_due(task)
        if is_due:
            self.done(task)
        return is_due

    def since_s(self, task: T) -> float:
        """How long ago it was done; infinite if it never was."""
        return time.monotonic() - self._done_at[task]

    def wait_s(self, task: T) -> float:
        """How long until its interval has passed."""
        return max(0.0, self._every_s[task] - self.since_s(task))

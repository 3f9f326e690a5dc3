"""WorkerStatus: what the processes of a service know of each other, in shared memory."""

import mmap
import os
import signal

# Exit codes of a process that reads a damaged mapped file.
_MEMORY_ERRORS = (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)


class WorkerStatus:
    """Status of the parent and its workers, in shared memory.

    Must be created before the workers are forked.
    """

    _DEAD = (1 << 64) - 1

    def __init__(self, workers: int) -> None:
        self.workers = workers
        # One word per worker: 0 during the first start, its process id when ready, or _DEAD. Then
        # the number of workers that died, how many of these of a memory error, and whether the
        # service is about to stop.
        self._words = memoryview(mmap.mmap(-1, 8 * (workers + 3))).cast("Q")

    def set_ready(self, index: int) -> None:
        self._words[index] = os.getpid()

    def set_dead(self, index: int, exit_code: int | None) -> None:
        self._words[index] = self._DEAD
        self._words[self.workers] += 1
        if exit_code in _MEMORY_ERRORS:
            self._words[self.workers + 1] += 1

    def is_ready(self, index: int, pid: int | None) -> bool:
        return self._words[index] == pid

    @property
    def is_any_ready(self) -> bool:
        return any(word not in (0, self._DEAD) for word in self._words[: self.workers])

    @property
    def missing(self) -> int:
        """How many workers have died and are not replaced yet."""
        return sum(word == self._DEAD for word in self._words[: self.workers])

    @property
    def deaths(self) -> int:
        return self._words[self.workers]

    @property
    def memory_errors(self) -> int:
        return self._words[self.workers + 1]

    @property
    def is_stopping(self) -> bool:
        """Whether the service is about to stop, and still responds."""
        return self._words[self.workers + 2] == 1

    def set_stopping(self) -> None:
        self._words[self.workers + 2] = 1

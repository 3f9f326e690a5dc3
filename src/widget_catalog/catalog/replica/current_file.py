"""CurrentFile: the replica's file that this process has open, and whether readers see its state.

Readers notice a new state by the revision word, which is different for every state of every file.
"""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import xxhash

from ...core.data_folder import DataFolder
from ...core.db.file_lock import file_lock
from ...core.errors import DataDamaged, StoreUnavailable
from .file import ReplicaFile, ReplicaState, open_current
from .revision import Revision

# How long a writer waits for others that apply; its changes may be applied by then.
_TIMEOUT_S = 5.0


class CurrentFile:
    def __init__(self, folder: DataFolder, revision: Revision, program: str = "") -> None:
        self._folder = folder.replica
        self._lock_file = folder.replica_lock
        self._revision = revision
        self._program = program
        self._opened: ReplicaFile | None = None
        self._mutex = threading.Lock()
        # A value of the revision word, and the number of the corresponding change.
        self._shown = (0, -1)

    @contextlib.contextmanager
    def locked(self, timeout_s: float | None = None, path: Path | None = None) -> Iterator[None]:
        """Hold the replica's write lock, or another one of it."""
        file = path or self._lock_file
        with file_lock(file, timeout_s or _TIMEOUT_S, self._program) as holder:
            if holder is not None:
                raise StoreUnavailable(f"The read model cannot be changed just now: {holder}.")
            yield

    def find(self) -> ReplicaFile | None:
        """None if there is none that can be opened. It stays usable if it is removed while open."""
        with self._mutex:
            try:
                found = open_current(self._folder)
            except DataDamaged:
                found = None
            if found is not None:
                if self._opened is not None:
                    self._opened.close()
                self._opened = found
            return self._opened

    def find_state(self) -> tuple[ReplicaFile, ReplicaState] | None:
        """The file and its state; None if there is none, or it is damaged."""
        if (file := self.find()) is None:
            return None
        try:
            with file.reading() as reading:
                return file, file.state(reading)
        except DataDamaged:
            return None

    def seq(self) -> int:
        """The number of the last change in the file; -1 if there is no file."""
        if (file := self.find()) is None:
            return -1
        with file.reading() as reading:
            return file.state(reading).seq

    def shown_seq(self) -> int:
        """The last change of the state that the revision word stands for; -1 if that state is not
        the stored one. Reads no file while the word stays the same.
        """
        word = self._revision.current()
        if self._shown[0] != word:
            if (file := self.find()) is None:
                return -1
            with file.reading() as reading:
                state = file.state(reading)
            if _word(file, state) != word:
                return -1
            self._shown = (word, state.seq)
        return self._shown[1]

    def is_shown(self, file: ReplicaFile, state: ReplicaState) -> bool:
        return self._revision.current() == _word(file, state)

    def show(self, file: ReplicaFile) -> None:
        """Notify readers. If a process is killed before this, the next one does it."""
        with file.reading() as reading:
            self._revision.show(_word(file, file.state(reading)))

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None


def _word(file: ReplicaFile, state: ReplicaState) -> int:
    """The value of the revision word for this state; different for every state."""
    return xxhash.xxh3_64_intdigest(f"{file.id} {state.seq} {state.is_importing}".encode())

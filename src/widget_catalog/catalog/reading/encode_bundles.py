"""BundleEncoder: compresses stored modules and style sheets in the background.

The change feed tells what is new, whether it was published, imported or mirrored; one worker of all
nodes follows it at a time. Besides, each worker compresses what is requested and is missing or
damaged. Nothing depends on it: until a file is compressed, it is sent as it is.
"""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator

import structlog

from ...core.data_folder import DataFolder
from ...core.db.engine import Store
from ...core.db.leadership import Leadership
from ...core.errors import BundleNotFound
from ...core.files.compressed_forms import compress, decodes_to
from ...core.files.contract import STORED_ENCODINGS, Bundles, Encoding, FileKey, Kind, is_encodable
from ...core.files.verified_bundles import read_verified
from ...core.jobs.bounded_work import BoundedProcess
from ..store.feed import list_changes
from ..store.files import list_files_of

_log = structlog.get_logger("widget_catalog.bundles")

_JOB = "encoding"
_LOOK_EVERY_S = 1.0
_AFTER_FAILURE_S = 30.0
_LOGGED_EVERY_S = 600.0
_CLOSE_S = 2.0
# Changes that are looked at together; after a restart, the last ones are looked at again.
_BATCH = 100
# Of the largest files it takes half a minute.
_MAX_CPU_S = 120.0
_MAX_ASKED = 1_000
# The one that takes longest is stored last, so that there are others if it is there.
_LAST: Encoding = "br"


class BundleEncoder:
    def __init__(
        self,
        store: Store,
        bundles: Bundles,
        folder: DataFolder,
        applied_seq: Callable[[], int],
    ) -> None:
        """`applied_seq` is the newest change, and costs nothing."""
        self._store = store
        self._bundles = bundles
        self._folder = folder
        self._applied_seq = applied_seq
        self._process = BoundedProcess(compress, _MAX_CPU_S)
        self._asked: dict[FileKey, int] = {}
        self._too_expensive: set[FileKey] = set()
        self._logged_at = float("-inf")
        self._woken = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="encoding", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._woken.set()
        self._process.close()
        self._thread.join(_CLOSE_S)

    def ask(self, sha256_hash: str, kind: Kind, size_bytes: int) -> None:
        """Compress this file soon, because a form of it is missing. Does not wait."""
        if len(self._asked) < _MAX_ASKED:
            self._asked[sha256_hash, kind] = size_bytes
            self._woken.set()

    def _run(self) -> None:
        leadership = Leadership(self._folder.encoding_lock, self._store.engine, _JOB)
        try:
            while not self._ended.is_set():
                self._woken.wait(_LOOK_EVERY_S)
                self._woken.clear()
                try:
                    self._encode_asked()
                    self._follow(leadership)
                except Exception as error:
                    self._note_failure(error)
                    self._ended.wait(_AFTER_FAILURE_S)
        finally:
            leadership.close()

    def _note_failure(self, error: Exception) -> None:
        now = time.monotonic()
        if now - self._logged_at >= _LOGGED_EVERY_S and not self._ended.is_set():
            self._logged_at = now
            sentence = " ".join(str(error).split())
            _log.warning("Bundles cannot be compressed just now.", error=sentence)

    def _encode_asked(self) -> None:
        while self._asked and not self._ended.is_set():
            key = next(iter(self._asked))
            try:
                self._encode(key, self._asked[key], trusts_stored=False)
            finally:
                del self._asked[key]

    def _follow(self, leadership: Leadership) -> None:
        """Compress what has changed since the last time. Nothing is asked of the database if
        nothing has.
        """
        seq = self._read_position()
        while seq < self._applied_seq() and leadership.is_held():
            began = time.monotonic()
            with self._store.reading() as connection:
                changed = list_changes(connection, seq, _BATCH)
                files = list_files_of(connection, changed)
            if not changed:
                return
            self._pause(began)
            for key, size_bytes in files.items():
                if self._ended.is_set() or not leadership.is_held():
                    return
                began = time.monotonic()
                self._encode(key, size_bytes, trusts_stored=True)
                self._encode_asked()
                self._pause(began)
            seq = changed[-1].seq
            self._folder.encoded.write_text(str(seq))

    def _pause(self, began: float) -> None:
        """As long as the work took: a large import leaves half of the time to others."""
        self._ended.wait(time.monotonic() - began)

    def _read_position(self) -> int:
        """The last change whose files are compressed; 0 if the database was replaced."""
        try:
            seq = int(self._folder.encoded.read_text())
        except (FileNotFoundError, ValueError):
            return 0
        return seq if seq <= self._applied_seq() else 0

    def _encode(self, key: FileKey, size_bytes: int, *, trusts_stored: bool) -> None:
        """Without `trusts_stored`, existing forms are read, and replaced if one is damaged."""
        if not is_encodable(key[1], size_bytes) or key in self._too_expensive:
            return
        if trusts_stored and self._bundles.has_encoded(*key, _LAST):
            return
        with self._turn():
            if self._ended.is_set() or self._bundles.stat(*key) is None:
                return  # Withdrawn, or removed.
            if all(self._is_intact(key, size_bytes, it) for it in STORED_ENCODINGS):
                return
            try:
                content = read_verified(self._bundles, *key, size_bytes)
            except BundleNotFound:
                return
            forms = self._process.ask(content)
            if self._ended.is_set():
                return
            if forms is None:
                self._too_expensive.add(key)
                return
            for encoding, form in reversed(list(zip(STORED_ENCODINGS, forms, strict=True))):
                self._bundles.put_encoded(form, *key, encoding)
            if self._bundles.stat(*key) is None:  # Withdrawn meanwhile.
                self._bundles.remove_encoded(*key)

    def _is_intact(self, key: FileKey, size_bytes: int, encoding: Encoding) -> bool:
        try:
            with self._bundles.open_encoded(*key, encoding, size_bytes) as stored:
                return decodes_to(stored.read(), encoding, key[0], size_bytes)
        except BundleNotFound:
            return False

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """The workers of a node compress one file at a time."""
        descriptor = os.open(self._folder.encoded, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

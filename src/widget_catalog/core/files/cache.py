"""BundleCache: an LRU cache of an object store's bundles on this node's disk, bounded by bytes.
Each worker checks the bound after adding a hundredth of it, so it may be exceeded by that much, and
by what was used in the last seconds.

All workers of a node share it. Cached bundles are served without the store, also while it is down.
"""

import contextlib
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import BinaryIO

import structlog

from widget_contract.errors import CatalogError

from ..errors import BundleNotFound, BundlesDown, StoreUnavailable
from .contract import Bundles, Encoding, Kind, file_name
from .hashing import hash_stream

_log = structlog.get_logger("widget_catalog.bundles")

_INCOMING = ".incoming-"
# Accuracy of the time a file was last used; updating it costs a write.
_USED_WITHIN_S = 5.0
# Files used since then are not evicted: somebody may be about to open one.
_IN_USE_S = 10.0
# No fetch takes this long.
_ABANDONED_S = 3600
# Share of the limit that is kept when files are evicted.
_KEPT = 0.9
_CHECKED_EVERY_S = 5.0
_RETRY_S = 1.0


class BundleCache:
    def __init__(self, bundles: Bundles, folder: Path, most_bytes: int) -> None:
        self._bundles = bundles
        self._folder = folder
        self._most_bytes = most_bytes
        # Scanning takes a second per 20,000 files, so it is not done after every fetch.
        self._step_bytes = most_bytes // 100
        self._added_bytes = self._step_bytes

    def local_path(
        self, sha256_hash: str, kind: Kind = "js", encoding: Encoding | None = None
    ) -> Path:
        """The file may be missing, or incomplete after a power failure. It has just been used."""
        path = self._folder / file_name(sha256_hash, kind, encoding)
        with contextlib.suppress(OSError):
            found = path.stat()
            if time.time() - found.st_atime > _USED_WITHIN_S:
                # The time of the last change stays: it is part of what identifies the file.
                os.utime(path, ns=(time.time_ns(), found.st_mtime_ns))
        return path

    def fetch(
        self, sha256_hash: str, kind: Kind, size_bytes: int, encoding: Encoding | None = None
    ) -> None:
        """Fetch it to disk, never more than its size. Raises BundleNotFound, StoreUnavailable."""
        target = self._folder / file_name(sha256_hash, kind, encoding)
        try:
            if encoding is None:
                content = self._bundles.open(sha256_hash, kind, 0, size_bytes)
            else:
                content = self._bundles.open_encoded(sha256_hash, kind, encoding, size_bytes)
            with content:
                self._keep(content, target, sha256_hash if encoding is None else None)
        except OSError as error:
            reason = error.strerror or error
            raise StoreUnavailable(f"The bundle cache cannot be written ({reason}).") from error

    def _keep(self, content: BinaryIO, target: Path, sha256_hash: str | None) -> None:
        """`sha256_hash` is that of the content, if it is known."""
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=_INCOMING, dir=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as copy:
                found = hash_stream(content, copy)
            if sha256_hash is not None and found.sha256_hash != sha256_hash:
                where = target.relative_to(self._folder)
                sentence = f"bundles/{where} is damaged in the object store."
                _log.error(sentence)
                raise BundleNotFound(sentence)
            Path(temporary).replace(target)
        finally:
            Path(temporary).unlink(missing_ok=True)
        self._added_bytes += found.size_bytes
        if self._added_bytes >= self._step_bytes:
            self._added_bytes = 0
            self._make_room()

    def _make_room(self) -> None:
        """Evict the least recently used files, and remove leftovers of killed fetches."""
        for path in self._folder.glob(f"{_INCOMING}*"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED_S:
                    path.unlink()
        found = []
        for path in self._folder.glob("*/*"):
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((status.st_atime, status.st_size, path))
        total = sum(size for _, size, _ in found)
        if total <= self._most_bytes:
            return
        for used, size, path in sorted(found):
            if total <= self._most_bytes * _KEPT or time.time() - used < _IN_USE_S:
                return
            path.unlink(missing_ok=True)
            total -= size


class StoreWatch:
    """Whether the object store responds: asked regularly in a thread, so no request waits."""

    def __init__(self, bundles: Bundles) -> None:
        self._bundles = bundles
        self._error: CatalogError | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._run, name="bundles", daemon=True).start()

    @property
    def is_failing(self) -> bool:
        return self._error is not None

    def check(self) -> None:
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        while True:
            try:
                self._bundles.check()
                if self._error is not None:
                    _log.info("The object store answers again.")
                self._error = None
            except CatalogError as error:
                if self._error is None:
                    _log.error(
                        "The object store does not answer. Reads go on, and bundles in the cache.",
                        error=" ".join(str(error.__cause__ or error).split()),
                    )
                self._error = error
            except Exception:
                _log.exception("The bundle store cannot be asked.")
                self._error = BundlesDown()
            if self._ended.wait(_RETRY_S if self.is_failing else _CHECKED_EVERY_S):
                return

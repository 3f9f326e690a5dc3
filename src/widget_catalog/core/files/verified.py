"""Hash and size of files; and work on many in parallel, because each takes several slow requests to
an object store.

VerifiedFiles: which files on disk this process has hashed, so that damaged ones are not served.

A disk may return other bytes than were written, with the same size and time. So a file is hashed
when it is first used; later uses compare only inode, size and time with those of then.

Nothing is recorded about compressed forms of files. One is intact if it decodes to bytes with the
hash of its file, which is what a client has to get.
"""

import contextlib
import hashlib
import os
import stat
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

import brotli
import structlog
import zstandard

from ..errors import BundleNotFound, BundleRefused
from .contract import (
    MAX_ENCODED_BYTES,
    STORED_ENCODINGS,
    Bundles,
    Encoding,
    Kind,
    LocalFiles,
)

# Content codings allow windows of up to 8 MB; higher levels may use larger ones.
_ZSTD_LEVEL = 19
_WORTH_IT = 0.9
_NICENESS = 10
_ENCODING_OF: dict[str, Encoding] = {
    f".{suffix}": encoding for encoding, suffix in STORED_ENCODINGS.items()
}


def compress(content: bytes) -> list[bytes]:
    """The forms of this content, in the order of `STORED_ENCODINGS`; an empty one if it is hardly
    smaller. In a process of its own: it takes seconds per megabyte.
    """
    os.setpriority(os.PRIO_PROCESS, 0, _NICENESS)
    deflate = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    forms: list[bytes] = [
        brotli.compress(content, mode=brotli.MODE_TEXT, quality=11),
        zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress(content),
        deflate.compress(content) + deflate.flush(),
    ]
    return [it if len(it) < len(content) * _WORTH_IT else b"" for it in forms]


def encoding_of(path: Path) -> Encoding | None:
    """None if it is not the name of a compressed form."""
    return _ENCODING_OF.get(path.suffix)


def decodes_to(content: bytes, encoding: Encoding, sha256_hash: str, most_bytes: int) -> bool:
    """Whether this is a compressed form of the file with this hash, or an empty one. Never decodes
    more than `most_bytes`.
    """
    if not content:
        return True
    try:
        decoded = _decode(content, encoding, most_bytes)
    except (brotli.error, zlib.error, zstandard.ZstdError):
        return False
    return hashlib.sha256(decoded).hexdigest() == sha256_hash


def _decode(content: bytes, encoding: Encoding, most_bytes: int) -> bytes:
    """Nothing, if the content is incomplete, is followed by more, or decodes to more."""
    if encoding == "zstd":
        if not 0 < zstandard.frame_content_size(content) <= most_bytes:
            return b""
        return zstandard.ZstdDecompressor().decompress(content, allow_extra_data=False)
    # With room for another byte, so that the end of the content is read.
    if encoding == "gzip":
        inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        decoded = inflate.decompress(content, most_bytes + 1)
        return decoded if inflate.eof and not inflate.unused_data else b""
    brotlied = brotli.Decompressor()
    decoded = bytes(brotlied.process(content, output_buffer_limit=most_bytes + 1))
    return decoded if brotlied.is_finished() else b""


_log = structlog.get_logger("widget_catalog.bundles")

_ASIDE = ".damaged"
# About 200 bytes each. If there are more, everything is forgotten.
_MOST_KNOWN = 50_000


class VerifiedFiles:
    """Of one process; used by several threads."""

    def __init__(self) -> None:
        # By inode and time, which is faster than by path: the right hash, and whether it has it.
        self._known: dict[tuple[int, int], tuple[str, bool]] = {}
        # The hashes that intact compressed forms decode to, by inode, time and size.
        self._encoded: dict[tuple[int, int, int], str] = {}

    def find(self, path: Path, sha256_hash: str, size_bytes: int) -> bool | None:
        """Whether the file is intact; None if `verify` has to find out. Costs a system call."""
        try:
            found = path.stat()
        except OSError:
            return False
        if found.st_size != size_bytes or not stat.S_ISREG(found.st_mode):
            return False
        known = self._known.get((found.st_ino, found.st_mtime_ns))
        return known[1] if known is not None and known[0] == sha256_hash else None

    def verify(self, path: Path, sha256_hash: str) -> bool:
        """Read the file, and remember the result."""
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                is_intact = hash_stream(file).sha256_hash == sha256_hash
        except OSError:
            return False
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[found.st_ino, found.st_mtime_ns] = sha256_hash, is_intact
        return is_intact

    def find_encoded(self, path: Path, sha256_hash: str) -> int | None:
        """The size of an intact compressed form, 0 of an empty one; None if there is none that
        `verify_encoded` has read. Costs a system call.
        """
        try:
            found = path.stat()
        except OSError:
            return None
        key = (found.st_ino, found.st_mtime_ns, found.st_size)
        is_intact = not found.st_size or self._encoded.get(key) == sha256_hash
        return found.st_size if is_intact else None

    def verify_encoded(
        self, path: Path, encoding: Encoding, sha256_hash: str, most_bytes: int
    ) -> int | None:
        """Read and decode it, and remember it if it is intact. Its size, or None."""
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                content = file.read() if found.st_size < most_bytes else b"too large"
        except OSError:
            return None
        if not decodes_to(content, encoding, sha256_hash, most_bytes):
            return None
        if len(self._encoded) >= _MOST_KNOWN:
            self._encoded.clear()
        self._encoded[found.st_ino, found.st_mtime_ns, found.st_size] = sha256_hash
        return found.st_size

    def verify_named(self, path: Path) -> bool:
        """The same for a file or a compressed form with the name that it is stored by."""
        sha256_hash = path.parent.name + path.name.partition(".")[0]
        encoding = encoding_of(path)
        if encoding is None:
            return self.verify(path, sha256_hash)
        return self.verify_encoded(path, encoding, sha256_hash, MAX_ENCODED_BYTES) is not None


def remove_damaged(path: Path) -> bool:
    """Remove a file that can be had again. False if another process has removed or replaced it."""
    with contextlib.suppress(FileNotFoundError):
        read = path.stat()
        if not VerifiedFiles().verify_named(path):
            found = path.stat()
            if (found.st_ino, found.st_mtime_ns) == (read.st_ino, read.st_mtime_ns):
                path.unlink()
                return True
    return False


def set_aside(path: Path) -> bool:
    """Rename a damaged file, so that no process serves it. False if it is intact when it is read
    again: the error was not on disk.
    """
    if VerifiedFiles().verify_named(path):
        return False
    try:
        path.rename(path.with_name(f"{path.name}{_ASIDE}"))
    except OSError as error:
        _log.error("A damaged bundle cannot be set aside.", file=str(path), error=str(error))
    return True


_CHUNK_BYTES = 1 << 20


class Hashed(NamedTuple):
    sha256_hash: str
    size_bytes: int


def hash_stream(source: BinaryIO, copy: BinaryIO | None = None) -> Hashed:
    """Hash and size of the rest of a stream; `copy` receives the same bytes."""
    digest, size_bytes = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK_BYTES):
        digest.update(chunk)
        size_bytes += len(chunk)
        if copy is not None:
            copy.write(chunk)
    return Hashed(digest.hexdigest(), size_bytes)


def read_verified(bundles: Bundles, sha256_hash: str, kind: Kind, size_bytes: int) -> bytes:
    """A stored file of this size. Whatever is stored there, no more than that is read, and only
    bytes with this hash are returned. Raises BundleNotFound.
    """
    with bundles.open(sha256_hash, kind, 0, size_bytes) as stored:
        content = stored.read()
    if hashlib.sha256(content).hexdigest() != sha256_hash:
        note_damaged(bundles, sha256_hash, kind)
        raise BundleNotFound(f"The stored bundle {sha256_hash} is damaged; run doctor.")
    return content


def copy_verified(
    bundles: Bundles, sha256_hash: str, kind: Kind, size_bytes: int, copy: BinaryIO
) -> None:
    """The same for a file of any size. If it raises, `copy` must be discarded."""
    with bundles.open(sha256_hash, kind, 0, size_bytes) as stored:
        if hash_stream(stored, copy).sha256_hash != sha256_hash:
            note_damaged(bundles, sha256_hash, kind)
            raise BundleNotFound(
                f"The stored bundle {sha256_hash}.{kind} is damaged; doctor says whose it is."
            )


def note_damaged(bundles: Bundles, sha256_hash: str, kind: Kind) -> None:
    """Change the time of a damaged file, so that processes that have found it intact read it again
    before they serve it.
    """
    if isinstance(bundles, LocalFiles):
        with contextlib.suppress(OSError):
            os.utime(bundles.local_path(sha256_hash, kind))


def is_intact(bundles: Bundles, sha256_hash: str, kind: Kind, size_bytes: int) -> bool:
    """Whether a file of this size is stored, undamaged."""
    found = bundles.stat(sha256_hash, kind)
    if found is None or found.size_bytes != size_bytes:
        return False
    try:
        with bundles.open(sha256_hash, kind, 0, size_bytes) as stored:
            return hash_stream(stored).sha256_hash == sha256_hash
    except BundleNotFound:
        return False


def hash_file(path: Path) -> Hashed:
    try:
        with path.open("rb") as file:
            return hash_stream(file)
    except FileNotFoundError:
        raise BundleNotFound(f"There is no file {path}.") from None
    except OSError as error:
        raise BundleRefused(f"{path} cannot be read ({error.strerror}).") from None


_THREADS = 8
# A slow item delays the results behind it, which are kept until then.
_MAX_AHEAD = 8 * _THREADS

T = TypeVar("T")
R = TypeVar("R")


def map_parallel(work: Callable[[T], R], items: Iterable[T]) -> Generator[R, None, None]:
    """The results, in the order of the items. After an error or Ctrl-C, pending work is
    cancelled.

    Items are taken as they are needed: `ThreadPoolExecutor.map` would queue all of them first.
    """
    threads = ThreadPoolExecutor(_THREADS)
    try:
        started: deque[Future[R]] = deque()
        for item in items:
            started.append(threads.submit(work, item))
            if len(started) >= _MAX_AHEAD:
                yield started.popleft().result()
        while started:
            yield started.popleft().result()
    finally:
        threads.shutdown(cancel_futures=True)

"""Hash and size of a file; and work on many of them in parallel, because each takes several slow
requests to an object store.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from ..errors import BundleNotFound, BundleRefused
from .contract import Bundles, Kind

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
        raise BundleNotFound(f"The stored bundle {sha256_hash} is damaged; run doctor.")
    return content


def copy_verified(
    bundles: Bundles, sha256_hash: str, kind: Kind, size_bytes: int, copy: BinaryIO
) -> None:
    """The same for a file of any size. If it raises, `copy` must be discarded."""
    with bundles.open(sha256_hash, kind, 0, size_bytes) as stored:
        if hash_stream(stored, copy).sha256_hash != sha256_hash:
            raise BundleNotFound(
                f"The stored bundle {sha256_hash}.{kind} is damaged; doctor says whose it is."
            )


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

"""Reads stored bundles, wherever they are kept, and returns only bytes with the right hash."""

import contextlib
import hashlib
import os
from typing import BinaryIO

from ..errors import BundleNotFound
from .contract import Bundles, Kind, LocalFiles
from .hashing import hash_stream


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
    """Copy a stored file of any size. If it raises, because the hash is another one, `copy` must be
    discarded.
    """
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

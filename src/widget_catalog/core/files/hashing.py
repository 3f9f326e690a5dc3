"""Hash and size of streams and files."""

import hashlib
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ..errors import BundleNotFound, BundleRefused

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


def hash_file(path: Path) -> Hashed:
    try:
        with path.open("rb") as file:
            return hash_stream(file)
    except FileNotFoundError:
        raise BundleNotFound(f"There is no file {path}.") from None
    except OSError as error:
        raise BundleRefused(f"{path} cannot be read ({error.strerror}).") from None

"""Bundles on local disk: `bundles/ab/cdef….js`, named by hash, read-only once written.

Style sheets lie beside them, as `….css`.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..domain.errors import BundleNotFound, BundleRefused, FolderUnusable
from .store import Kind

_CHUNK_BYTES = 1 << 20


class LocalBundles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put_file(self, source: Path, sha256_hash: str, kind: Kind = "js") -> bool:
        """Copy into a hidden file, hash what was copied, then give it its name if it is free.

        A reader never sees half a bundle, and two writers of the same bytes do not disturb
        each other.
        """
        with _faults_with_path(self._folder):
            return self._put(source, self.path_of(sha256_hash, kind), sha256_hash)

    def _put(self, source: Path, target: Path, sha256_hash: str) -> bool:
        if target.exists():
            if hash_file(target)[0] == sha256_hash:
                return False
            target.unlink()  # Damaged: what comes now is what it should be.
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=".incoming-", dir=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as copy, source.open("rb") as original:
                digest = hashlib.sha256()
                while chunk := original.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    copy.write(chunk)
                copy.flush()
                os.fsync(copy.fileno())
            if digest.hexdigest() != sha256_hash:
                raise BundleRefused(f"{source.name} changed while it was read.")
            Path(temporary).chmod(0o444)
            with contextlib.suppress(FileExistsError):
                os.link(temporary, target)
                sync_folder(target.parent)
                # Always: whoever made the folder may have been killed before this.
                sync_folder(self._folder)
                return True
            return False
        finally:
            Path(temporary).unlink(missing_ok=True)

    def path_of(self, sha256_hash: str, kind: Kind = "js") -> Path:
        return self._folder / sha256_hash[:2] / f"{sha256_hash[2:]}.{kind}"

    def remove(self, sha256_hash: str, kind: Kind = "js") -> None:
        self.path_of(sha256_hash, kind).unlink(missing_ok=True)

    def check(self) -> None:
        if not os.access(self._folder, os.R_OK | os.X_OK):
            raise FolderUnusable("The folder of the bundles cannot be read.")

    def list_files(self) -> Iterator[Path]:
        """Every bundle and style sheet there is."""
        for kind in ("js", "css"):
            yield from sorted(self._folder.glob(f"??/*.{kind}"))

    def list_leftovers(self) -> Iterator[Path]:
        """Files that an interrupted write left behind."""
        yield from sorted(self._folder.glob(".incoming-*"))


@contextlib.contextmanager
def _faults_with_path(path: Path) -> Iterator[None]:
    """What a full disk raises on writing does not say where; the log should."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def hash_file(path: Path) -> tuple[str, int]:
    """A file's SHA-256 and its size in bytes."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return digest.hexdigest(), file.tell()
    except FileNotFoundError:
        raise BundleNotFound(f"There is no file {path}.") from None
    except OSError as error:
        raise BundleRefused(f"{path} cannot be read ({error.strerror}).") from None


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable: files and folders that were made in it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

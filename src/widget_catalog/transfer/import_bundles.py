"""Stores the bundle files of an import immediately, without any lock.

Nothing refers to them until the import is accepted. New files that are not referred to in the end
are removed.
"""

import hashlib
import io
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from widget_contract.errors import CatalogError
from widget_contract.version_files import max_bytes_of

from ..catalog.store.attached_content import Picture, check_content, inspect_picture, words_of
from ..catalog.store.files import are_present, find_referred_to, remove_unused
from ..catalog.store.rows import StoredFile
from ..core.db.engine import Snapshot, Store
from ..core.errors import BundleNotFound, BundleRefused, StoreUnavailable
from ..core.files.contract import Bundles, FileKey, Kind
from ..core.files.hashing import hash_file
from ..core.jobs.parallel import map_parallel
from .ndjson import ImportedBundle

WantedFile = tuple[str, Kind, bool]
"""The name of a file, its kind, and whether to make a thumbnail of it."""


class FileImporter:
    """Stores files next to the imported one, by name, and tracks which are new."""

    def __init__(self, store: Store, bundles: Bundles, base_folder: Path, max_bytes: int) -> None:
        self.store = store
        self.bundles = bundles
        self._base_folder = base_folder.resolve()
        self._max_bytes = max_bytes
        self._ahead: dict[WantedFile, ImportedBundle | CatalogError] = {}
        self._added: set[FileKey] = set()
        self._new: set[FileKey] = set()
        self._kept: set[FileKey] = set()

    def add(self, name: str, kind: Kind, makes_thumbnail: bool = False) -> ImportedBundle:
        """Store the file with this name. Raises BundleNotFound, BundleRefused."""
        wanted = (name, kind, makes_thumbnail)
        stored = self._ahead.get(wanted) or self._try(*wanted)
        if isinstance(stored, CatalogError):
            raise stored
        return stored

    def add_ahead(self, files: Iterable[WantedFile]) -> None:
        """Store files that are likely to be added next, in parallel: each takes several slow
        requests to an object store.
        """
        self._ahead = dict(map_parallel(lambda it: (it, self._try(*it)), dict.fromkeys(files)))

    @property
    def has_any(self) -> bool:
        return bool(self._added)

    def keep(self, files: Iterable[StoredFile]) -> None:
        """Versions that will be added refer to these files."""
        self._kept |= {it.key for it in files}

    def count_stored(self, connection: Snapshot) -> int:
        """How many new files stay: kept, or previously missing from an existing version."""
        self._kept |= find_referred_to(connection, self._new - self._kept)
        return len(self._new & self._kept)

    def check_present(self, connection: Snapshot) -> None:
        """Raise if a file was removed meanwhile, as `doctor --clean` does with unused ones."""
        if not are_present(connection, self.bundles, self._added & self._kept):
            raise StoreUnavailable("A stored bundle was removed during the import. Import again.")

    def remove_new(self) -> None:
        """Remove new files, unless something refers to them now."""
        remove_unused(self.store, self.bundles, self._new)

    def remove_unused(self) -> None:
        """Remove new files that no version needs after the import: existing ones keep their
        URLs.
        """
        self._new -= self._kept
        self.remove_new()

    def _put(self, content: BinaryIO, sha256_hash: str, kind: Kind) -> None:
        if self.bundles.put(content, sha256_hash, kind):
            self._new.add((sha256_hash, kind))

    def _put_attached(
        self,
        name: str,
        content: bytes,
        sha256_hash: str,
        kind: Kind,
        makes_thumbnail: bool = False,
    ) -> Picture | None:
        """Store a file that must be what its kind says. Raises BundleRefused."""
        try:
            inspect = partial(inspect_picture, makes_thumbnail=makes_thumbnail)
            picture = check_content(content, kind, inspect)
        except BundleRefused as error:
            raise BundleRefused(f"{name} {error.message}") from None
        self._put(io.BytesIO(content), sha256_hash, kind)
        return picture

    def _record(self, bundle: ImportedBundle, kind: Kind) -> ImportedBundle:
        """A version refers to this file, which must stay."""
        self._added.add((bundle.sha256_hash, kind))
        return bundle

    def _try(self, name: str, kind: Kind, makes_thumbnail: bool) -> ImportedBundle | CatalogError:
        try:
            return self._store(name, kind, makes_thumbnail)
        except (BundleNotFound, BundleRefused) as error:
            return error

    def _store(self, name: str, kind: Kind, makes_thumbnail: bool) -> ImportedBundle:
        try:
            path = (self._base_folder / name).resolve()
            is_something_else = path.exists() and not path.is_file()
        # A path that is too long, a symlink loop, a NUL.
        except (OSError, RuntimeError, ValueError):
            raise BundleRefused(f"{name[:200]} leads to no file.") from None
        if not path.is_relative_to(self._base_folder):
            raise BundleRefused(f"{name} is not in the folder of the file that names it.")
        if is_something_else:  # Opening a pipe could block forever.
            raise BundleRefused(f"{name} is not a file.")
        sha256_hash, size_bytes = hash_file(path)
        most = max_bytes_of(kind, self._max_bytes)
        if size_bytes > most:
            raise BundleRefused(f"{name} has {size_bytes} bytes; at most {most} are allowed.")
        imported = ImportedBundle(sha256_hash, size_bytes)
        if kind in ("js", "css"):
            with path.open("rb") as file:
                self._put(file, sha256_hash, kind)
        else:
            content = path.read_bytes()
            picture = self._put_attached(name, content, sha256_hash, kind, makes_thumbnail)
            if picture is None:
                imported = imported._replace(words=words_of(content))
            else:
                imported = imported._replace(pixels=(picture.width, picture.height))
                if makes_thumbnail:
                    imported = imported._replace(thumbnail=self._put_thumbnail(picture))
        return self._record(imported, kind)

    def _put_thumbnail(self, picture: Picture) -> ImportedBundle:
        content = picture.thumbnail
        made = ImportedBundle(
            hashlib.sha256(content).hexdigest(), len(content), picture.thumbnail_pixels
        )
        self._put(io.BytesIO(content), made.sha256_hash, "webp")
        return self._record(made, "webp")

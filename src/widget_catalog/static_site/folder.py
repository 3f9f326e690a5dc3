"""The folder of a static site: files are replaced atomically, and only if they change."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ..core.errors import FolderUnusable

MARK = ".widget-catalog-site"
_PARTIAL = ".part"


class SiteFolder:
    """Tracks the files written, so that obsolete ones can be removed at the end. A reader sees the
    old file or the new one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: set[str] = {MARK}
        self._made: set[Path] = set()
        self.files = 0
        self.changed = 0

    def begin(self) -> None:
        """Create the folder. Raises FolderUnusable if it contains anything that is not ours."""
        with self._writable():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._folder.chmod(0o755)
            if not (self._folder / MARK).exists():
                if any(self._folder.iterdir()):
                    raise FolderUnusable(
                        f"{self._folder} is not empty, and is no site of ours. Choose another."
                    )
                (self._folder / MARK).touch()

    def put(self, path: str, content: bytes) -> None:
        target = self._target(path)
        with self._writable():
            if not target.exists() or target.read_bytes() != content:
                with self._replacing(target) as file:
                    file.write(content)

    def put_bundle(self, path: str, source: BinaryIO) -> None:
        target = self._target(path)
        with self._writable(), self._replacing(target) as file:
            shutil.copyfileobj(source, file)

    def has(self, path: str, size_bytes: int) -> bool:
        """Whether this bundle exists, and keep it. Bundles are immutable, so one of the same size
        is the same.
        """
        target = self._target(path)
        return target.exists() and target.stat().st_size == size_bytes

    def finish(self) -> int:
        """Remove files that were not written this time; returns how many."""
        removed = 0
        with self._writable():
            for folder, _, names in os.walk(self._folder, topdown=False):
                for name in names:
                    path = Path(folder, name)
                    if path.relative_to(self._folder).as_posix() not in self._kept:
                        path.unlink()
                        removed += 1
                if Path(folder) != self._folder:
                    with contextlib.suppress(OSError):  # The folder is not empty.
                        Path(folder).rmdir()
        return removed

    def _target(self, path: str) -> Path:
        target = self._folder / path
        if ".." in Path(path).parts or target.is_symlink():
            raise FolderUnusable(f"{target} cannot be a file of the site.")
        if path not in self._kept:
            self._kept.add(path)
            self.files += 1
        return target

    @contextlib.contextmanager
    def _replacing(self, target: Path) -> Iterator[BinaryIO]:
        self._make(target.parent)
        partial = target.with_name(target.name + _PARTIAL)
        with partial.open("wb") as file:
            os.fchmod(file.fileno(), 0o644)  # The web server must be able to read it.
            yield file
        partial.replace(target)
        self.changed += 1

    def _make(self, folder: Path) -> None:
        if folder not in self._made and folder != self._folder:
            self._make(folder.parent)
            if not folder.is_dir():
                folder.mkdir()
                folder.chmod(0o755)
            self._made.add(folder)

    @contextlib.contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = error.filename or self._folder
            raise FolderUnusable(f"{place} cannot be written: {error.strerror}.") from None

"""Uploads on their way: files that were sent and are not published, one folder of them.

Whatever lies here may be replaced at any time by whoever holds the upload's address; it is
checked and copied when it is published, and nobody is ever served from here.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import AsyncIterable, Iterator
from pathlib import Path

from ..domain.errors import BundleRefused, StoreUnavailable
from .store import Kind

_LEFTOVER_S = 3_600


class LocalUploads:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path_of(self, request_id: str, kind: Kind) -> Path:
        return self._folder / f"{request_id}.{kind}"

    async def receive(
        self, request_id: str, kind: Kind, chunks: AsyncIterable[bytes], size_bytes: int
    ) -> None:
        """Take a file of just this size in; in place of one that came before it, or not at all."""
        with _faults_named():
            descriptor, temporary = tempfile.mkstemp(prefix=".incoming-", dir=self._folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    left = size_bytes
                    async for chunk in chunks:
                        left -= len(chunk)
                        if left < 0:
                            raise BundleRefused(
                                f"More than the {size_bytes:,} bytes that were announced were sent."
                            )
                        # Into the page cache: some 20 µs, not worth a thread.
                        file.write(chunk)
                if left == size_bytes:
                    raise BundleRefused(
                        f"The file is empty: nothing was sent; {size_bytes:,} bytes were announced."
                    )
                if left:
                    raise BundleRefused(
                        f"{size_bytes - left:,} bytes were sent; {size_bytes:,} were announced."
                    )
                Path(temporary).replace(self.path_of(request_id, kind))
            finally:
                Path(temporary).unlink(missing_ok=True)

    def remove(self, request_id: str) -> None:
        for kind in ("js", "css"):
            (self._folder / f"{request_id}.{kind}").unlink(missing_ok=True)

    def remove_leftovers(self) -> None:
        """Remove what was being received when its process ended: nothing takes that long."""
        for path in self._folder.glob(".incoming-*"):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > _LEFTOVER_S:
                    path.unlink()

    def list_requests(self) -> set[str]:
        """The requests that something was uploaded for."""
        return {path.stem for path in self._folder.glob("[!.]*.*")}


@contextlib.contextmanager
def _faults_named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"The upload cannot be kept just now ({error.strerror}). Try again later."
        ) from error

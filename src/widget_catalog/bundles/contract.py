"""The contract of a place that keeps bundles. Bytes are addressed by their SHA-256.

`tests/bundles/test_contract.py` holds every such place against it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Protocol

Kind = Literal["js", "css"]
"""A module, or the style sheet beside it."""


class Stored(NamedTuple):
    """A file that is kept; without a hash it is what an interrupted write has left behind."""

    sha256_hash: str | None
    kind: Kind
    size_bytes: int
    stored_at: float
    """In seconds since 1970, by the clock of whatever keeps it."""
    place: str
    """Where it is, for a person: a path, or an address."""


class Bundles(Protocol):
    """Write-once: what is under a hash has that hash, and is never replaced.

    Nothing here takes a lock of the store. Bytes are put first, then a transaction refers to
    them. Remove them only inside `Store.publishing`; inside it, too, `stat` shows whether those
    to refer to are still there.
    """

    def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
        """Keep these bytes for good; False if they were here already.

        `source` can be sought. BundleRefused, if it has another hash; then nothing is kept.
        """

    def open(
        self, sha256_hash: str, kind: Kind = "js", start: int = 0, stop: int | None = None
    ) -> BinaryIO:
        """The bytes from `start` up to `stop`, as a stream, withdrawn or not. Raises
        BundleNotFound."""

    def stat(self, sha256_hash: str, kind: Kind = "js") -> Stored | None:
        """None if it is not here, or withdrawn."""

    def remove(self, sha256_hash: str, kind: Kind = "js") -> None:
        """Take back bytes that no version refers to. Does nothing if they are not here."""

    def withdraw(self, sha256_hash: str, kind: Kind = "js") -> None:
        """Keep these bytes apart, where nobody is served from. Does nothing if they are not here
        or withdrawn already. In `Store.publishing`, as with `remove`."""

    def restore(self, sha256_hash: str, kind: Kind = "js") -> None:
        """Take `withdraw` back."""

    def upload_target(
        self, upload_id: str, kind: Kind, size_bytes: int, sha256_hash: str
    ) -> str | None:
        """An address at which this place itself takes a file that is to be published, for a
        while; None if the service has to take it (`uploads.py`)."""

    def check(self) -> None:
        """Raises FolderUnusable or BundlesDown if bundles cannot be read just now."""

    def list_stored(self) -> Iterator[Stored]:
        """Everything that is kept, modules first."""

    def list_leftovers(self) -> Iterator[Stored]:
        """What writes have left behind that were interrupted."""

    def remove_leftovers(self) -> None:
        """Remove those. Writes that are under way are not disturbed."""

    def set_aside(self, stored: Stored, folder: Path) -> None:
        """Move a file out of the way, into a folder of this machine."""


class LocalFiles(Protocol):
    """What a place can do besides if its bundles are files of this machine, which the server
    sends without reading them."""

    def local_path(self, sha256_hash: str, kind: Kind = "js") -> Path:
        """The file may be missing or damaged."""


Fetch = Callable[[str, Kind], None]
"""Has a bundle, by hash and kind, where `local_path` says. Raises BundleNotFound, BundlesDown."""


class Upload(Protocol):
    """A file that is being received. Its methods may be called by any thread."""

    def write(self, chunk: bytes) -> None:
        """BundleRefused, if this is more than was announced."""

    def finish(self) -> None:
        """Put the file in place of one that came before it, if it is complete."""

    def give_up(self) -> None:
        """Remove what has come so far. Does nothing after `finish`."""


class Uploads(Protocol):
    """Files that were sent and are not published. A sender may replace its file at any time,
    so it is checked and copied when it is published."""

    def open(self, request_id: str, kind: Kind) -> BinaryIO:
        """What was uploaded last. Raises BundleNotFound."""

    def put(self, source: BinaryIO, request_id: str, kind: Kind) -> None:
        """Keep a file that has come to the service in another way than to an upload's address.
        `source` can be sought."""

    def receive(self, request_id: str, kind: Kind, size_bytes: int) -> Upload:
        """Begin to receive a file of this size. Conflict, if it is being received already;
        NotFound, if the place of the bundles itself takes it."""

    def remove(self, request_id: str) -> None:
        """Remove all that was uploaded for a request."""

    def remove_leftovers(self) -> int:
        """Remove what nobody receives any more, because its process ended. How many there were."""

    def list_requests(self) -> set[str]:
        """The requests that something was uploaded for."""

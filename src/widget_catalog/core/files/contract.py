"""The interface of bundle storage. Files are addressed by their SHA-256.

`tests/core/files/test_contract.py` checks every implementation.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Protocol, runtime_checkable

from widget_contract.version_files import FILE_KINDS, FileKind

Kind = FileKind
"""A module, or another file of a version."""
KINDS = FILE_KINDS
FileKey = tuple[str, Kind]
"""The hash of a stored file, and its kind."""
Encoding = Literal["br", "zstd", "gzip"]
"""A content coding of HTTP."""
STORED_ENCODINGS: dict[Encoding, str] = {"br": "br", "zstd": "zst", "gzip": "gz"}
"""Those of compressed forms, smallest first, with the suffixes of their files."""
ENCODED_KINDS: frozenset[Kind] = frozenset(("js", "css"))
# Less fits into one packet, and more takes minutes.
_MIN_ENCODED_BYTES, MAX_ENCODED_BYTES = 1 << 10, 8 << 20


def is_encodable(kind: Kind, size_bytes: int) -> bool:
    """Whether a file has compressed forms, sooner or later."""
    return kind in ENCODED_KINDS and _MIN_ENCODED_BYTES <= size_bytes <= MAX_ENCODED_BYTES


def file_name(sha256_hash: str, kind: Kind, encoding: Encoding | None = None) -> str:
    """Its name in every storage: `ab/cdef….js`, or `ab/cdef….js.br`."""
    name = f"{sha256_hash[:2]}/{sha256_hash[2:]}.{kind}"
    return name if encoding is None else f"{name}.{STORED_ENCODINGS[encoding]}"


class Stored(NamedTuple):
    """A stored file; without a hash it is a leftover of an interrupted write."""

    sha256_hash: str | None
    kind: Kind
    size_bytes: int
    stored_at: float
    """In seconds since 1970, by the clock of whatever keeps it."""
    place: str
    """Where it is, for a person: a path, or an address."""


class Bundles(Protocol):
    """Write-once: a file stored under a hash has that hash, and is never replaced.

    Nothing here acquires a lock of the store. Files are stored first, then a transaction refers to
    them, if they still exist: see `are_present` in `catalog/store/files.py`. Only
    `remove_unused` there removes them.
    """

    def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
        """Store these bytes permanently; False if they exist already. `source` is seekable.

        Raises BundleRefused if the hash differs; then nothing is stored.
        """

    def open(
        self, sha256_hash: str, kind: Kind = "js", start: int = 0, stop: int | None = None
    ) -> BinaryIO:
        """The bytes from `start` up to `stop`, as a stream, withdrawn or not. Raises
        BundleNotFound."""

    def stat(self, sha256_hash: str, kind: Kind = "js") -> Stored | None:
        """None if it does not exist, or was withdrawn."""

    def remove(self, sha256_hash: str, kind: Kind = "js") -> None:
        """Remove a file that no version refers to, and its compressed forms. Does nothing if it
        does not exist.
        """

    def remove_encoded(self, sha256_hash: str, kind: Kind) -> None:
        """Remove the compressed forms of a file, and not the file."""

    def withdraw(self, sha256_hash: str, kind: Kind = "js") -> None:
        """Move a file out of the served folder, and remove its compressed forms. Does nothing if
        it does not exist or was withdrawn already. In `Store.publishing`, so that no version begins
        to need it.
        """

    def restore(self, sha256_hash: str, kind: Kind = "js") -> None:
        """Undo `withdraw`."""

    def put_encoded(self, content: bytes, sha256_hash: str, kind: Kind, encoding: Encoding) -> None:
        """Store a compressed form of a stored file, instead of an earlier one. It is derived: not
        listed, nor copied elsewhere. An empty one says that compressing does not pay off.
        """

    def open_encoded(self, sha256_hash: str, kind: Kind, encoding: Encoding, stop: int) -> BinaryIO:
        """At most the first `stop` bytes, which may be damaged. Raises BundleNotFound."""

    def has_encoded(self, sha256_hash: str, kind: Kind, encoding: Encoding) -> bool: ...

    def upload_target(
        self, request_id: str, path: str, size_bytes: int, sha256_hash: str
    ) -> str | None:
        """A presigned URL at which the storage accepts a file; None: the service receives it."""

    def check(self) -> None:
        """Raises FolderUnusable or BundlesDown if bundles cannot be read just now."""

    def list_stored(self) -> Iterator[Stored]:
        """All stored files, modules first."""

    def list_leftovers(self) -> Iterator[Stored]:
        """Leftovers of interrupted writes."""

    def remove_leftovers(self) -> None:
        """Remove those. Writes in progress are not affected."""

    def quarantine(self, stored: Stored, folder: Path) -> None:
        """Move a file out of the way, into a folder of this machine."""


@runtime_checkable
class LocalFiles(Protocol):
    """What bundles offer that are files on this machine: the server sends them without reading."""

    def local_path(
        self, sha256_hash: str, kind: Kind = "js", encoding: Encoding | None = None
    ) -> Path:
        """The file, or a compressed form of it, may be missing or damaged."""


def upload_name(request_id: str, path: str) -> str:
    """The name of an upload, which has no folder: `….js` for `index.js`, `….screenshots.a.png`. A
    request's id contains no dot.
    """
    return f"{request_id}.{path.removeprefix('index.').replace('/', '.')}"


class Fetch(Protocol):
    def __call__(
        self, sha256_hash: str, kind: Kind, size_bytes: int, encoding: Encoding | None = None
    ) -> None:
        """Have a file, or a compressed form, where `local_path` says. A file is verified. Raises
        BundleNotFound, StoreUnavailable.
        """


class Upload(Protocol):
    """A file that is being received. Its methods may be called by any thread."""

    def write(self, chunk: bytes) -> None:
        """Raises BundleRefused if this exceeds the announced size."""

    def finish(self) -> None:
        """Replace an earlier upload by this file, if it is complete."""

    def give_up(self) -> None:
        """Remove what was received so far. Does nothing after `finish`."""


class Uploads(Protocol):
    """Uploaded files that are not published yet, by request and path in the version. A client may
    replace its file at any time, so it is verified and copied when it is published.
    """

    def open(self, request_id: str, path: str, most_bytes: int) -> BinaryIO:
        """The last upload; of a larger file in an object store, only so many bytes. Raises
        BundleNotFound.
        """

    def put(self, source: BinaryIO, request_id: str, path: str) -> None:
        """Store a file that reached the service in another way than through an upload URL.
        `source` is seekable.
        """

    def receive(self, request_id: str, path: str, size_bytes: int) -> Upload:
        """Start receiving a file of this size. Raises Conflict if it is being received already,
        and NotFound if the storage itself receives uploads.
        """

    def remove(self, request_id: str) -> None:
        """Remove all uploads of a request."""

    def remove_leftovers(self) -> int:
        """Remove partial uploads whose process has ended; returns how many."""

    def list_requests(self) -> set[str]:
        """The requests that have uploads."""

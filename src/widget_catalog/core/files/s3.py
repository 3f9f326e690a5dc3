"""Bundles and uploads in an S3-compatible store.

`bundles/ab/cdef….js`, as on disk. Uploads are under `uploads/`, with presigned URLs; they are
never served.
"""

import base64
import contextlib
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn, cast

from ..errors import BundleNotFound, BundleRefused, NotFound
from .contract import (
    ENCODED_KINDS,
    KINDS,
    STORED_ENCODINGS,
    Encoding,
    Kind,
    Stored,
    file_name,
    upload_name,
)
from .hashing import hash_stream
from .s3_client import Bucket, FoundObject
from .verified_bundles import is_intact

_BUNDLES, _WITHDRAWN, _UPLOADS = "bundles/", "withdrawn/", "uploads/"


class S3Bundles:
    """Write-once: with a conditional put where the store supports it. In any case the hash is
    looked up first, and only bytes with that hash are sent.
    """

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
        is_there = self.stat(sha256_hash, kind) is not None
        source.seek(0)
        hashed = hash_stream(source)
        if hashed.sha256_hash != sha256_hash:
            if is_there:
                return False
            raise BundleRefused(f"These bytes have the SHA-256 {hashed.sha256_hash}.")
        if is_there and is_intact(self, sha256_hash, kind, hashed.size_bytes):
            return False
        # A damaged object is replaced.
        key, digest = _key(sha256_hash, kind), _base64(sha256_hash)
        return self._bucket.put(key, source, digest, replaces=is_there)

    def open(
        self, sha256_hash: str, kind: Kind = "js", start: int = 0, stop: int | None = None
    ) -> BinaryIO:
        if stop is not None and stop <= start:
            return io.BytesIO()
        try:
            return self._bucket.read(_key(sha256_hash, kind), start, stop)
        except BundleNotFound:
            pass
        with contextlib.suppress(BundleNotFound):
            return self._bucket.read(_key(sha256_hash, kind, _WITHDRAWN), start, stop)
        place = self._bucket.address(_key(sha256_hash, kind))
        raise BundleNotFound(f"The stored bundle {place} is missing; doctor says whose it is.")

    def stat(self, sha256_hash: str, kind: Kind = "js") -> Stored | None:
        found = self._bucket.find(_key(sha256_hash, kind))
        return None if found is None else self._stored(found)

    def put_encoded(self, content: bytes, sha256_hash: str, kind: Kind, encoding: Encoding) -> None:
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        key = _key(sha256_hash, kind, encoding=encoding)
        self._bucket.put(key, io.BytesIO(content), digest, replaces=True)

    def open_encoded(self, sha256_hash: str, kind: Kind, encoding: Encoding, stop: int) -> BinaryIO:
        return self._bucket.read(_key(sha256_hash, kind, encoding=encoding), 0, stop)

    def has_encoded(self, sha256_hash: str, kind: Kind, encoding: Encoding) -> bool:
        return self._bucket.find(_key(sha256_hash, kind, encoding=encoding)) is not None

    def remove_encoded(self, sha256_hash: str, kind: Kind) -> None:
        if kind in ENCODED_KINDS:
            for encoding in STORED_ENCODINGS:
                self._bucket.remove(_key(sha256_hash, kind, encoding=encoding))

    def remove(self, sha256_hash: str, kind: Kind = "js") -> None:
        self._bucket.remove(_key(sha256_hash, kind))
        self.remove_encoded(sha256_hash, kind)

    def withdraw(self, sha256_hash: str, kind: Kind = "js") -> None:
        with contextlib.suppress(BundleNotFound):
            self._bucket.rename(_key(sha256_hash, kind), _key(sha256_hash, kind, _WITHDRAWN))
            self.remove_encoded(sha256_hash, kind)

    def restore(self, sha256_hash: str, kind: Kind = "js") -> None:
        with contextlib.suppress(BundleNotFound):
            self._bucket.rename(_key(sha256_hash, kind, _WITHDRAWN), _key(sha256_hash, kind))

    def upload_target(self, request_id: str, path: str, size_bytes: int, sha256_hash: str) -> str:
        key = _UPLOADS + upload_name(request_id, path)
        return self._bucket.sign_put(key, size_bytes, _base64(sha256_hash))

    def check(self) -> None:
        self._bucket.check_readable()

    def list_stored(self) -> Iterator[Stored]:
        others = []
        for found in self._bucket.list(_BUNDLES):
            kind = found.key.rpartition(".")[2]
            if kind == "js":
                yield self._stored(found)
            elif kind in KINDS:
                others.append(self._stored(found))
        yield from others

    def list_leftovers(self) -> Iterator[Stored]:
        """None: objects are written atomically."""
        yield from ()

    def remove_leftovers(self) -> None:
        pass

    def quarantine(self, stored: Stored, folder: Path) -> None:
        if stored.sha256_hash is None:
            return
        key = _key(stored.sha256_hash, stored.kind)
        target = folder / key
        target.parent.mkdir(parents=True, exist_ok=True)
        with self._bucket.read(key) as content, target.open("wb") as copy:
            hash_stream(content, copy)
        self.remove(stored.sha256_hash, stored.kind)

    def _stored(self, found: FoundObject) -> Stored:
        folder, _, name = found.key[len(_BUNDLES) :].partition("/")
        stem, _, kind = name.rpartition(".")
        place = self._bucket.address(found.key)
        return Stored(folder + stem, cast(Kind, kind), *found[1:], place)


class S3Uploads:
    """Uploads in the store that are not published yet."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def open(self, request_id: str, path: str, most_bytes: int) -> BinaryIO:
        try:
            return self._bucket.read(_UPLOADS + upload_name(request_id, path), 0, most_bytes)
        except BundleNotFound:
            raise BundleNotFound("This file was not uploaded.") from None

    def put(self, source: BinaryIO, request_id: str, path: str) -> None:
        source.seek(0)
        digest = _base64(hash_stream(source).sha256_hash)
        self._bucket.put(_UPLOADS + upload_name(request_id, path), source, digest)

    def receive(self, _request_id: str, _path: str, _size_bytes: int) -> NoReturn:
        raise NotFound("Files are uploaded to the bundle store itself. Request an address there.")

    def remove(self, request_id: str) -> None:
        for found in list(self._bucket.list(f"{_UPLOADS}{request_id}.")):
            self._bucket.remove(found.key)

    def remove_leftovers(self) -> int:
        return 0

    def list_requests(self) -> set[str]:
        found = self._bucket.list(_UPLOADS)
        return {it.key[len(_UPLOADS) :].partition(".")[0] for it in found}


def _base64(sha256_hash: str) -> str:
    return base64.b64encode(bytes.fromhex(sha256_hash)).decode()


def _key(
    sha256_hash: str, kind: Kind, folder: str = _BUNDLES, encoding: Encoding | None = None
) -> str:
    return folder + file_name(sha256_hash, kind, encoding)

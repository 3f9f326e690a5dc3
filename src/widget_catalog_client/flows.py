"""The client's logic as sans-I/O generators, which yield I/O requests and receive the results.

`Catalog` and `AsyncCatalog` perform the I/O; all decisions are made here.
"""

import hashlib
import random
import time
import zlib
from collections.abc import Generator, Mapping
from typing import Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

from widget_contract.wire import VersionEntry
from widget_contract.wire_running import Change, PublishedFile

from .calls import Call, Request, Response, error_of, file_request
from .errors import CatalogUnavailable, FeedExpired, IntegrityError, Revoked, UnexpectedAnswer

T = TypeVar("T")

_FIRST_WAIT_S = 0.5
# The longest accepted Retry-After.
_LONGEST_WAIT_S = 30.0
_GZIP = 16 + zlib.MAX_WBITS
_ERROR_BYTES = 1 << 20
# Timeout of a download, plus the time that a slow connection needs.
_FILE_WITHIN_S = 60.0
_SLOWEST_BYTES_PER_S = 20_000


class Fetch(NamedTuple):
    """Send the request and pass the response to the receiver. The result is its response."""

    request: Request
    into: "VerifiedFile | None" = None


class Pause(NamedTuple):
    seconds: float


class Listen(NamedTuple):
    """Open a stream. The result is an Answer: with an empty body if it is open."""

    request: Request
    idle_s: float


class Read(NamedTuple):
    """The next bytes of the stream; none if it has ended or was cut."""


class Emit(NamedTuple):
    """Hand a change to the caller who watches."""

    change: Change


Step: TypeAlias = Fetch | Pause | Listen | Read | Emit
Flow: TypeAlias = Generator[Step, Any, T]


class Receiver:
    """Collects a response in chunks and decompresses it, up to a limit."""

    def __init__(self, step: Fetch, status: int, headers: Mapping[str, str]) -> None:
        self._request = step.request
        self._status = status
        self._headers = headers
        self._until = time.monotonic() + step.request.within_s
        self._file = step.into if status == 200 else None
        self._body = bytearray()
        self._taken = 0
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity", "gzip"):
            raise UnexpectedAnswer(f"{step.request.url} is packed with {encoding[:40]!r}.")
        self._unpacker = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        self._most = step.request.max_bytes if status == 200 else _ERROR_BYTES

    def take(self, piece: bytes) -> None:
        if time.monotonic() > self._until:
            raise CatalogUnavailable(
                f"{self._request.url} was still sending after {self._request.within_s:.0f} s."
            )
        unpacked = self._unpacked(piece)
        self._taken += len(unpacked)
        if self._file is not None:
            self._file.take(unpacked)
            return
        if self._taken > self._most:
            raise UnexpectedAnswer(f"{self._request.url} sends more than {self._most} bytes.")
        self._body += unpacked

    def response(self) -> Response:
        if self._unpacker is not None and self._taken and not self._unpacker.eof:
            raise CatalogUnavailable(f"{self._request.url} was cut off.")
        return Response(self._status, self._headers, bytes(self._body))

    def _unpacked(self, piece: bytes) -> bytes:
        if self._unpacker is None:
            return piece
        try:
            return self._unpacker.decompress(piece, self._most + 1 - self._taken)
        except zlib.error:
            raise UnexpectedAnswer(f"{self._request.url} is not packed as it says.") from None


class VerifiedFile:
    """Writes a file in chunks, and verifies its size and hash."""

    def __init__(self, file: VersionEntry | PublishedFile, to: BinaryIO) -> None:
        if isinstance(file, VersionEntry):
            self.url, self.size_bytes = file.bundle_url, file.bundle_size
        else:
            self.url, self.size_bytes = file.url, file.size
        self._expected = file.sha256_hash
        self._to = to
        self._start = to.tell()
        self.restart()

    def restart(self) -> None:
        """Discard the bytes of a failed attempt."""
        self._to.seek(self._start)
        self._to.truncate()
        self._taken = 0
        self._hash = hashlib.sha256()

    def take(self, piece: bytes) -> None:
        self._taken += len(piece)
        if self._taken > self.size_bytes:
            raise IntegrityError(f"{self.url} has more than the {self.size_bytes} bytes stated.")
        self._hash.update(piece)
        self._to.write(piece)

    def check(self) -> None:
        if self._taken != self.size_bytes:
            raise IntegrityError(
                f"{self.url} has {self._taken} bytes; the catalog states {self.size_bytes}."
            )
        if self._hash.hexdigest() != self._expected:
            raise IntegrityError(
                f"{self.url} has the SHA-256 {self._hash.hexdigest()}; the catalog states "
                f"{self._expected}."
            )


def fetched(call: Call[T], retries: int) -> Flow[T]:
    """The response to a call, with retries if the catalog asks for it or does not respond: all
    calls of this client are read-only."""
    for attempt in range(retries + 1):
        try:
            response: Response = yield Fetch(call.request)
            if response.status != 200:
                raise error_of(response, call.request.url)
            return call.read(response)
        except CatalogUnavailable as error:
            wait_s = _wait_s(error, attempt)
            if attempt == retries or wait_s > _LONGEST_WAIT_S:
                raise
        yield Pause(wait_s)
    raise AssertionError  # The last attempt has returned or raised.


def downloaded(file: VersionEntry | PublishedFile, to: BinaryIO, retries: int) -> Flow[None]:
    """A published file, verified. If this fails, `to` is empty."""
    into = VerifiedFile(file, to)
    within_s = _FILE_WITHIN_S + into.size_bytes / _SLOWEST_BYTES_PER_S
    request = file_request(into.url, into.size_bytes, within_s)
    try:
        for attempt in range(retries + 1):
            try:
                into.restart()
                response: Response = yield Fetch(request, into)
                if response.status != 200:
                    raise error_of(response, into.url)
                into.check()
                return
            except CatalogUnavailable as error:
                wait_s = _wait_s(error, attempt)
                if attempt == retries or wait_s > _LONGEST_WAIT_S:
                    raise
            except FeedExpired as error:  # What 410 means elsewhere.
                raise Revoked(error.message) from None
            yield Pause(wait_s)
    except BaseException:
        into.restart()
        raise


def _wait_s(error: CatalogUnavailable, attempt: int) -> float:
    if error.retry_after is not None:
        return error.retry_after
    # Jitter, so that clients do not reconnect at the same moment after an outage.
    return _FIRST_WAIT_S * 2.0**attempt * random.SystemRandom().uniform(0.75, 1.25)

"""The client's logic as sans-I/O generators, which yield I/O requests and receive the results.

`Catalog` and `AsyncCatalog` perform the I/O; all decisions are made here.
"""

import hashlib
import random
import time
import zlib
from collections.abc import Generator, Mapping
from typing import Any, BinaryIO, NamedTuple, TypeAlias, TypeVar

import msgspec

from widget_contract.wire import VersionEntry
from widget_contract.wire_running import Change, Changes, PublishedFile

from .calls import (
    Call,
    Calls,
    CatalogUnavailable,
    FeedExpired,
    IntegrityError,
    Request,
    Response,
    Revoked,
    UnexpectedAnswer,
    error_of,
    file_request,
)

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
    """The response to a call, with retries if the catalog asks for it or does not respond.
    Counting is not repeated, because a count without a response may have been counted."""
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


_PAGE = 1000
# A catalog sends a comment every 15 seconds.
_IDLE_S = 45.0
_MAX_PENDING_BYTES = 1 << 20
# Number of polls before a stream that was rejected, or sent nothing, is tried again.
_POLLS = 20
_FAR = 10**17
# A node may lag behind others, so its response must be repeated this often to be accepted.
MAX_BEHIND, BEHIND_S = 5, 1.0

_decode = msgspec.json.Decoder(Change).decode


class WatchOptions(NamedTuple):
    poll_s: float = 15.0
    streams: bool = True
    """False: only ask, every `poll_s` seconds."""


class EventParser:
    """Parses chunks of a stream into the data of server-sent events."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []
        self._data_bytes = 0

    def feed(self, piece: bytes) -> list[bytes]:
        *lines, rest = piece.split(b"\n")
        events = []
        for end in lines:
            line = bytes(self._line + end).removesuffix(b"\r")
            self._line.clear()
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
                self._data_bytes += len(line)
            elif not line and self._data:
                events.append(b"\n".join(self._data))
                self._data, self._data_bytes = [], 0
        self._line += rest
        if len(self._line) + self._data_bytes > _MAX_PENDING_BYTES:
            raise UnexpectedAnswer("The catalog sends an event without an end.")
        return events


class _Position:
    def __init__(self, since: int) -> None:
        self.since = since


def watched(calls: Calls, since: int | None, options: WatchOptions) -> Flow[None]:
    """Emits every change after `since`, in order, exactly once; without `since`, new changes.

    Keeps trying while the catalog cannot be reached. Raises FeedExpired if the changes after the
    last one seen are no longer available.
    """
    if since is None:
        page = yield from fetched(calls.changes(_FAR, 1), retries=2)
        since = page.newest
    at = _Position(since)
    polls_left = 0
    failures = 0
    while True:
        try:
            yield from _catch_up(calls, at)
            failures = 0
            if not options.streams or polls_left:
                polls_left -= 1
                yield Pause(options.poll_s)
            elif not (yield from _follow_stream(calls, at)):
                polls_left = _POLLS
            else:
                yield Pause(_FIRST_WAIT_S)
        except CatalogUnavailable as error:
            wait_s = error.retry_after or 2.0**failures
            failures = min(failures + 1, 5)
            yield Pause(min(wait_s, _LONGEST_WAIT_S))


def _catch_up(calls: Calls, at: _Position) -> Flow[None]:
    """Emit missed changes. This precedes every stream: it also detects a catalog that was restored
    from an old backup, where a stream would stay silent."""
    times_behind = 0
    while True:
        page: Changes = yield from fetched(calls.changes(at.since, _PAGE), retries=0)
        if page.newest < at.since and times_behind < MAX_BEHIND:
            times_behind += 1
            yield Pause(BEHIND_S)
            continue
        if page.newest < at.since:
            raise FeedExpired(
                f"The newest change of {calls.url} is {page.newest}, and {at.since} was seen "
                "before: it is not the same catalog any more. Read everything again."
            )
        before = at.since
        for change in page.changes:
            yield from _emit(change, at)
        if page.next >= page.newest or at.since == before:
            return


def _follow_stream(calls: Calls, at: _Position) -> Flow[bool]:
    """Follow the stream until it ends; returns whether it sent anything."""
    response: Response = yield Listen(calls.events(at.since), _IDLE_S)
    if response.status != 200:
        error = error_of(response, calls.url)
        if isinstance(error, CatalogUnavailable):
            return False
        raise error
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        return False
    parser = EventParser()
    has_sent = False
    while piece := (yield Read()):
        has_sent = True
        for data in parser.feed(piece):
            try:
                change = _decode(data)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise UnexpectedAnswer(f"{calls.url} sends what is no change: {error}") from None
            yield from _emit(change, at)
    return has_sent


def _emit(change: Change, at: _Position) -> Flow[None]:
    if change.seq > at.since:
        at.since = change.seq
        yield Emit(change)

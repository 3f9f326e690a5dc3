"""Follows the changes of a catalog, with an event stream or by polling."""

from typing import NamedTuple

import msgspec

from widget_contract.wire_running import Change, Changes

from .calls import Calls, Response, error_of
from .errors import CatalogUnavailable, FeedExpired, UnexpectedAnswer
from .flows import Emit, Flow, Listen, Pause, Read, fetched

_PAGE = 1000
# A catalog sends a comment every 15 seconds.
_IDLE_S = 45.0
_MAX_PENDING_BYTES = 1 << 20
# Number of polls before a stream that was rejected, or sent nothing, is tried again.
_POLLS = 20
_LONGEST_WAIT_S = 30.0
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
        self._pending = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        *lines, self._pending = (self._pending + piece).replace(b"\r\n", b"\n").split(b"\n")
        if len(self._pending) + sum(map(len, self._data)) > _MAX_PENDING_BYTES:
            raise UnexpectedAnswer("The catalog sends an event without an end.")
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                events.append(b"\n".join(self._data))
                self._data = []
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
        for change in page.changes:
            yield from _emit(change, at)
        if page.next >= page.newest or not page.changes:
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

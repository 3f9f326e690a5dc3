"""Event streams: the clients that listen to changes at one worker.

While there are listeners, one task polls the revision word, reads new changes once, and gives the
same bytes to all. A listener that does not read falls behind and is disconnected: it reconnects
with `Last-Event-ID`, and receives what it missed.
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncIterator

from ...core.errors import StoreUnavailable
from ..reading.catalog import CatalogReader
from ..reading.changes import EventPage

# Of one client address: a tenth of what a worker has, so that one does not take them all.
MAX_PER_CLIENT = 100
_LOOK_EVERY_S = 0.1
COMMENT_EVERY_S = 15.0
_COMMENT = b": still here\n\n"
# The reconnection delay of clients, in milliseconds, and where the stream begins: a client that
# loses it before the first change resumes there. It is no event, because it has no data.
_GREETING = b"retry: 2000\nid: %d\n: follow the changes of this catalog\n\n"
_AT_ONCE = 500
# Limit of chunks queued for a slow client.
_MAX_WAITING = 200


class EventStream:
    """One stream. Chunks are queued in it until the binding requests the next."""

    def __init__(self, streams: "EventStreams", after: int, client: str | None) -> None:
        self._streams = streams
        self.client = client
        self._after = after
        self._waiting: deque[bytes] = deque([_GREETING % after])
        self._woken = asyncio.Event()
        self._is_following = False
        self.is_ended = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while not self.is_ended or self._waiting:
                if self._waiting:
                    yield self._waiting.popleft()
                elif not self._is_following:
                    self._catch_up()
                else:
                    self._woken.clear()
                    await self._woken.wait()
        finally:
            self.end()

    def _catch_up(self) -> None:
        """Read earlier changes; from the newest change on, the shared task takes over."""
        try:
            page = self._streams.read(self._after)
        except StoreUnavailable:
            page = None
        if page is None:
            self.end()
        elif page.last == self._after:
            self._is_following = True
        else:
            self._after = page.last
            self._waiting.append(page.events)

    def push(self, page: EventPage) -> None:
        """Queue a new change. A listener that is still catching up will read it later."""
        if not self._is_following or page.last <= self._after:
            return
        if page.first == self._after + 1:
            self._after = page.last
            self._put(page.events)
        else:
            self._is_following = False
            self._woken.set()

    def comment(self) -> None:
        if self._is_following:
            self._put(_COMMENT)

    def _put(self, piece: bytes) -> None:
        if len(self._waiting) >= _MAX_WAITING:
            self.end()
        else:
            self._waiting.append(piece)
            self._woken.set()

    def end(self) -> None:
        """No more chunks; queued ones are still sent."""
        self.is_ended = True
        self._streams.leave(self)
        self._woken.set()


class EventStreams:
    """`client` is the key by which a limit counts a client; None is not counted."""

    def __init__(self, catalog: CatalogReader, max_listeners: int) -> None:
        self._catalog = catalog
        self._max_listeners = max_listeners
        self._listeners: set[EventStream] = set()
        self._by_client: Counter[str] = Counter()
        self._seq = 0
        self._following: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def count(self) -> int:
        return len(self._listeners)

    @property
    def is_full(self) -> bool:
        return self._is_closed or len(self._listeners) >= self._max_listeners

    def has_enough(self, client: str | None) -> bool:
        """Whether a client has reached its limit."""
        return client is not None and self._by_client[client] >= MAX_PER_CLIENT

    def listen(self, after: int, client: str | None = None) -> EventStream:
        """Everything after this change. The caller has checked the limit."""
        listener = EventStream(self, after, client)
        self._listeners.add(listener)
        if client is not None:
            self._by_client[client] += 1
        if self._following is None or self._following.done():
            self._seq = self._catalog.revision
            self._following = asyncio.get_running_loop().create_task(self._follow())
        return listener

    def leave(self, listener: EventStream) -> None:
        if listener not in self._listeners:
            return
        self._listeners.discard(listener)
        client = listener.client
        if client is not None:
            self._by_client[client] -= 1
            if not self._by_client[client]:
                del self._by_client[client]

    def read(self, after: int) -> EventPage | None:
        return self._catalog.change_events(after, _AT_ONCE)

    def close(self) -> None:
        """End all streams; clients reconnect to another worker."""
        self._is_closed = True
        for listener in list(self._listeners):
            listener.end()

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        comment_at = loop.time() + COMMENT_EVERY_S
        while self._listeners:
            await asyncio.sleep(_LOOK_EVERY_S)
            with contextlib.suppress(StoreUnavailable):  # The next request gets the same error.
                while self._catalog.revision > self._seq:
                    self._push_changes()
                    await asyncio.sleep(0)
            if loop.time() >= comment_at:
                comment_at = loop.time() + COMMENT_EVERY_S
                for listener in list(self._listeners):
                    listener.comment()

    def _push_changes(self) -> None:
        page = self.read(self._seq)
        if page is None:
            # More changes than are retained: clients must start again.
            self._seq = self._catalog.revision
            for listener in list(self._listeners):
                listener.end()
            return
        self._seq = page.last
        for listener in list(self._listeners):
            listener.push(page)

"""Responses of `resolve`: bounded in memory, and cached until the catalog changes."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import chain

import msgspec

from ...core.errors import Busy, InvalidRequest
from ...core.http.content import WHOLE_BYTES, AnyContent, Packer
from ..replica.cache import ByteBoundedCache, CacheRoom
from .resolving import Resolve, Resolver, TimeSlice

_OVERHEAD_BYTES = 1_000

# Per worker: clients that do not read their responses cannot use more.
_MAX_BYTES = 32 << 20
# Shorter parts are joined; longer ones are not copied.
_SHORT_BYTES = 1 << 14
# Usual responses are smaller: many of them may be made at once.
_LARGE_BYTES = 2 << 20
_WAIT_S = 5


class BoundedResponses:
    """Response bodies made for one client, with a total bound until they are read."""

    def __init__(self, packer: Packer) -> None:
        self._packer = packer
        self._bytes = 0

    def content(self, parts: Sequence[bytes]) -> AnyContent:
        """The parts as one body. A long part that occurs several times is stored once, and counts
        once. Raises Busy, or InvalidRequest if it will never fit.
        """
        if sum(map(len, parts)) <= WHOLE_BYTES:
            return self._packer.content(parts)
        pieces = list(_joined(parts))
        size = sum(len(it) for it in {id(it): it for it in pieces}.values())
        _check_size(size)
        self._take(size)
        content = self._packer.content(pieces)
        # Released when it is sent, or the client has disconnected.
        weakref.finalize(content, self._release, size)
        return content

    @contextmanager
    def making(self) -> Iterator[Callable[[int], None]]:
        """Call what this returns with the size of each part that is made: those of a large body
        count before it is complete. Raises Busy, or InvalidRequest if it will never fit.
        """
        total = taken = 0

        def add(size: int) -> None:
            nonlocal total, taken
            total += size
            _check_size(total)
            if total > _LARGE_BYTES:
                self._take(total - taken)
                taken = total

        try:
            yield add
        finally:
            self._release(taken)

    def _take(self, size: int) -> None:
        if self._bytes + size > _MAX_BYTES:
            raise Busy(
                "Many large answers are being sent just now. Try again soon, or ask for fewer "
                "widgets at a time.",
                _WAIT_S,
            )
        self._bytes += size

    def _release(self, size: int) -> None:
        self._bytes -= size


def _check_size(size: int) -> None:
    """With 503, clients would repeat in vain what never fits."""
    if size > _MAX_BYTES:
        most = f"{_MAX_BYTES >> 20} MB"
        raise InvalidRequest(
            f"widgets: the response is larger than {most}; ask for fewer at a time."
        )


def _joined(parts: Sequence[bytes]) -> Iterator[bytes]:
    short: list[bytes] = []
    for part in parts:
        if len(part) < _SHORT_BYTES:
            short.append(part)
            continue
        if short:
            yield b"".join(short)
            short.clear()
        yield part
    if short:
        yield b"".join(short)


class ResolveResponses:
    """Complete responses: all viewers of a dashboard send the same request."""

    def __init__(
        self, resolver: Resolver, bounded: BoundedResponses, max_bytes: int, room: CacheRoom
    ) -> None:
        self._resolver = resolver
        self._bounded = bounded
        # One that is not repeated would only take the room of its results.
        self._kept: ByteBoundedCache[bytes, AnyContent] = ByteBoundedCache(
            max_bytes, room=room, only_repeated=True
        )
        self._revision = -1

    def find(self, body: bytes, revision: int) -> AnyContent | None:
        """The cached response to a request with exactly this body."""
        if revision != self._revision:
            self._kept.clear()
            self._revision = revision
        return self._kept.items.get(body)

    async def make(self, asked: Resolve, body: bytes, revision: int, now: datetime) -> AnyContent:
        """The response to this request, as of this number of the feed."""
        with self._bounded.making() as note:
            results = await self._resolver.results(asked, now, TimeSlice(), note)
        sdk = msgspec.json.encode(asked.sdk.text)
        head = b'{"sdk":%b,"revision":%d,"results":[' % (sdk, revision)
        parts = chain.from_iterable((b",", it) for it in results)
        next(parts, None)  # No comma before the first.
        content = self._bounded.content([head, *parts, b"]}"])
        # Not cached if it depends on the current time, or is already outdated.
        is_lasting = not asked.min_age_days and revision == self._revision
        if is_lasting and content.size <= WHOLE_BYTES:
            # Including one compressed form, which most clients request.
            size_bytes = len(body) + content.size * 5 // 4 + _OVERHEAD_BYTES
            self._kept.offer(body, content, size_bytes)
        return content

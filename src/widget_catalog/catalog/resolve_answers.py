"""ResolveAnswers: complete responses of `resolve`, cached until the catalog changes.

All viewers of a dashboard send the same request.
"""

from datetime import datetime
from itertools import chain

import msgspec

from ..core.http.content import WHOLE_BYTES, AnyContent
from .replica.cache import ByteBoundedCache, CacheRoom
from .resolving import Resolve, Resolver, TimeSlice
from .unshared import UnsharedAnswers

_OVERHEAD_BYTES = 1_000


class ResolveAnswers:
    def __init__(
        self, resolver: Resolver, unshared: UnsharedAnswers, max_bytes: int, room: CacheRoom
    ) -> None:
        self._resolver = resolver
        self._unshared = unshared
        self._answers: ByteBoundedCache[bytes, AnyContent] = ByteBoundedCache(max_bytes, room=room)
        self._revision = -1

    def find(self, body: bytes, revision: int) -> AnyContent | None:
        """The cached response to a request with exactly this body."""
        if revision != self._revision:
            self._answers.clear()
            self._revision = revision
        return self._answers.items.get(body)

    async def make(self, asked: Resolve, body: bytes, revision: int, now: datetime) -> AnyContent:
        """The response to this request, as of this number of the feed."""
        results = await self._resolver.results(asked, now, TimeSlice())
        sdk = msgspec.json.encode(asked.sdk.text)
        head = b'{"sdk":%b,"revision":%d,"results":[' % (sdk, revision)
        separated = [b"" if number == 0 else b"," for number in range(len(results))]
        parts = chain.from_iterable(zip(separated, results, strict=True))
        content = self._unshared.content([head, *parts, b"]}"])
        # Not cached if it depends on the current time, or is already outdated.
        is_lasting = not asked.min_age_days and revision == self._revision
        if is_lasting and content.size <= WHOLE_BYTES:
            # Including one compressed form, which most clients request.
            size_bytes = len(body) + content.size * 5 // 4 + _OVERHEAD_BYTES
            self._answers.offer(body, content, size_bytes)
        return content

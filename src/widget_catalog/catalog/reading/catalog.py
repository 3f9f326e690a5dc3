"""CatalogReader: serves the public API with prepared bytes from this machine's read model.

Every call checks the shared revision word; if it has changed, entries named by the feed are
dropped from the caches and, at the next search, updated in the index.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from widget_contract.names import is_name, is_widget_key

from ...core import clock
from ...core.clock import Clock, iso
from ...core.http.content import AnyContent, Content, LargeContent, Packer
from ...core.tracing import part
from ..model.card_picture import Card, CardResults
from ..model.events import Revoked, Unrevoked
from ..model.query import Query, SearchRequest
from ..replica.cache import ByteBoundedCache, CacheByWidget, CacheRoom
from ..replica.reader import ReplicaReader
from ..replica.rendering import RevokedVersion
from ..replica.revision import Counts, Revision
from ..search.follower import IndexFollower, IndexSource
from ..search.index import SearchIndex
from .changes import EventPage, encode_changes, encode_events
from .details import (
    Detail,
    LargeDetail,
    RegistryContent,
    RegistryLoader,
    read_small,
    registry_parts,
)
from .resolve_responses import BoundedResponses, ResolveResponses
from .resolving import Resolve, Resolver
from .revocations import RevocationCache
from .search_pages import SearchPages
from .stored_files import StoredFiles
from .version_details import VersionDetails, VersionExtras

# Memory of an object besides its bytes.
_OVERHEAD_BYTES = 600
_MANY_CHANGES = 10_000
# Finding a term takes a millisecond or two in a large catalog.
_FEW_TERMS = 3
_REVOKING = frozenset({Revoked.kind, Unrevoked.kind})


class CatalogReader:
    """One worker's view of the catalog."""

    def __init__(
        self,
        reader: ReplicaReader,
        revision: Revision,
        counts: Counts,
        cdn_url: str,
        cache_bytes: int,
        now: Clock = clock.now,
        index_source: IndexSource | None = None,
        index_wait_s: float | None = None,
    ) -> None:
        """`index_wait_s`: how long a search waits for a new index, before it uses the old one."""
        self.reader = reader
        self._revision = revision
        self._counts = counts
        self._slots = counts.slots
        self._cdn_url = cdn_url
        self._now = now
        share = cache_bytes // 16
        room = CacheRoom(cache_bytes + 3 * share)
        self.packer = Packer()
        self._details: ByteBoundedCache[str, Detail] = ByteBoundedCache(5 * share, room=room)
        self._pages = SearchPages(reader, counts, self.packer, cdn_url, 5 * share, room)
        self._registries = ByteBoundedCache[str, RegistryContent](share, room=room)
        self._loader = RegistryLoader(reader, self.packer, cdn_url, 5 * share, room)
        self.files = StoredFiles(reader)
        self._revocations = RevocationCache(reader)
        self._versions = VersionDetails(
            reader, self._revocations, self.packer, cdn_url, share, room
        )
        self._results: CacheByWidget[bytes] = CacheByWidget(share, room)
        resolver = Resolver(reader, self._revocations, cdn_url, self._results)
        bounded = BoundedResponses(self.packer)
        self._resolved = ResolveResponses(resolver, bounded, share, room)
        self._stats: Content | None = None
        self._stats_at = (-1, -1)
        self._follower = IndexFollower(reader, counts, index_source)
        self._index_wait_s = index_wait_s
        self._seen = self._follower.seq
        self._identity = reader.identity
        # The value of the revision word up to which everything was read; None at first.
        self._looked_at: int | None = None

    @property
    def cache_misses(self) -> dict[str, int]:
        """How many responses had to be rendered, by route."""
        return {
            "detail": self._details.misses,
            "search": self._pages.misses,
            "registry": self._registries.misses,
        }

    def detail(self, key: str) -> AnyContent | None:
        """The detail of the listed widget with this `scope/name`."""
        detail = self._find(key)
        if detail is None or not detail.is_listed:
            return None
        count = self._slots[detail.id]
        if count != detail.count:
            detail.show(count)
        return detail.content

    def version(self, key: str) -> AnyContent | None:
        """Everything about the version with this `scope/name/version`, of a listed widget."""
        self._follow()
        return self._versions.content(key, self._slots)

    def find_extras(self, widget: str, version: str) -> VersionExtras | None:
        """What pages show of a version besides its entry, if its widget is listed."""
        self._follow()
        return self._versions.find_extras(widget, version) if is_widget_key(widget) else None

    def find_resolved(self, body: bytes) -> AnyContent | None:
        """The cached response of `resolve` to a request with exactly this body."""
        self._follow()
        return self._resolved.find(body, self._seen)

    async def resolve(self, asked: Resolve, body: bytes) -> AnyContent:
        """What to do about each of these widgets. `body` is the body of the request."""
        self._follow()
        return await self._resolved.make(asked, body, self._seen, self._now())

    def find_id(self, key: str) -> int | None:
        """The number of the widget with this `scope/name`, listed or not."""
        detail = self._find(key)
        return None if detail is None else detail.id

    def search_page(self, asked: SearchRequest) -> AnyContent:
        """A page of results."""
        found: AnyContent = self._search(asked)
        return found

    def card_page(self, asked: SearchRequest) -> CardResults:
        """A page of results as cards; `asked` is one that `is_for_pages`."""
        found: CardResults = self._search(asked)
        return found

    def _search(self, asked: SearchRequest) -> Any:
        if not self.is_behind:
            return self._pages.content(self._follower.index, asked, is_kept=True)
        index = self._current_index()
        return self._pages.content(index, asked, is_kept=not self._follower.is_behind)

    def has_many_new_terms(self, query: Query) -> bool:
        """Whether finding its terms takes so long that it has to `look_up` them."""
        return query.text.count(" ") >= _FEW_TERMS and (
            len(self.index.list_new_terms(query)) > _FEW_TERMS
        )

    async def look_up(self, query: Query) -> None:
        """Find the terms of a query one after the other, each in a step of its own: other requests
        need not wait for all of them. The search that follows has them.
        """
        for term in self.index.list_new_terms(query):
            is_found = self.index.look_up(term, is_ranked=query.is_ranked)
            await asyncio.sleep(0)
            if not is_found and not query.is_ranked:
                return  # A search ends here.

    def find_listed(self, key: str) -> int | None:
        """The number of the listed widget with this `scope/name`."""
        detail = self._find(key)
        return detail.id if detail is not None and detail.is_listed else None

    def cards(self, ids: Sequence[int]) -> tuple[Card, ...]:
        """These listed widgets, as pages show them."""
        return self._pages.cards(ids)

    @property
    def index(self) -> SearchIndex:
        """With all changes."""
        self._follow()
        return self._current_index()

    @property
    def revision(self) -> int:
        """The number of the newest change: it changes with everything except counts. Almost free if
        there is nothing new.
        """
        self._follow()
        return self._seen

    def registry(self, scope: str) -> RegistryContent | None:
        """All listed widgets of a scope; None if there is no such scope.

        Also None if it is large and not cached: use `load_registry`.
        """
        self._follow()
        registry = self._registries.items.get(scope) or self._loader.find(scope)
        if registry is None:
            if not is_name(scope):
                return None
            with self.reader.snapshot():
                if self.reader.is_registry_large(scope):
                    return None
                changed_at = self.reader.find_scope_change(scope)
                if changed_at is None:
                    return None
                parts = registry_parts(self.reader, scope, changed_at, self._cdn_url)
                registry = RegistryContent(self.packer.content(list(parts)), changed_at)
            self._registries.put(scope, registry, registry.content.size * 3 // 2)
        return registry

    async def load_registry(self, scope: str) -> RegistryContent | None:
        """The registry of a scope, however large; read in a thread if `registry` has none."""
        registry = self.registry(scope)
        if registry is None and is_name(scope):
            return await self._loader.load(scope)
        return registry

    def find_revocation(self, scope: str, name: str, version: str) -> RevokedVersion | None:
        self._follow()
        return self._revocations.find(scope, name, version)

    def list_revoked(self, scope: str, name: str) -> Mapping[str, str]:
        """The revoked versions of this widget, each with the reason."""
        self._follow()
        return self._revocations.reasons_of(scope, name)

    def revocations(self) -> AnyContent:
        self._follow()
        return self._revocations.content(self._seen)

    def changes(self, after: int, limit: int) -> AnyContent | None:
        """The changes after this one; None if not all of them are retained."""
        self._follow()
        page = encode_changes(self.reader, after, limit)
        return None if page is None else self.packer.content([page])

    def change_events(self, after: int, limit: int) -> EventPage | None:
        """The changes after this number as server-sent events."""
        return encode_events(self.reader, after, limit)

    def stats(self) -> AnyContent:
        self._follow()
        at = (self._seen, self._counts.revision())
        content = self._stats if at == self._stats_at else None
        if content is None:
            totals = self._current_index().totals()._asdict()
            content = Content(msgspec.json.encode({**totals, "generatedAt": iso(self._now())}))
            if not self._follower.is_behind:
                self._stats, self._stats_at = content, at
        return content

    def check(self) -> None:
        """Raises StoreUnavailable if the read model cannot be read."""
        self.reader.check()

    @property
    def is_behind(self) -> bool:
        """Whether the index lacks some changes."""
        if self._revision.current() != self._looked_at:
            self._follow()
        return self._follower.is_behind

    async def catch_up(self) -> None:
        """Wait while the index is rebuilt because thousands of widgets have changed at once, but no
        longer than `index_wait_s`.
        """
        if self.is_behind:
            with part("index"), suppress(TimeoutError):
                await asyncio.wait_for(self._follower.catch_up(), self._index_wait_s)

    def close(self) -> None:
        self._follower.close()
        self._loader.close()
        self.packer.close()
        self.reader.close()

    def _find(self, key: str) -> Detail | None:
        if self._revision.current() != self._looked_at:
            self._follow()
        return self._details.items.get(key) or self._read(key)

    def _read(self, key: str) -> Detail | None:
        if not is_widget_key(key):
            return None
        with self.reader.snapshot() as reading:
            record = self.reader.find(reading, key)
            if record is None:
                return None
            count = self._slots[record.id]
            if record.is_large:
                keep = partial(self._keep, key)
                large = LargeDetail(record, self._cdn_url, count, self.packer, keep)
                self._details.offer(key, large, large.size)
                return large
            detail = read_small(record, self._cdn_url, count)
        # Including one compressed form, about a quarter of the size, which most clients request.
        self._details.offer(key, detail, detail.content.size * 5 // 4 + _OVERHEAD_BYTES)
        return detail

    def _keep(self, key: str, content: LargeContent, more_bytes: int) -> bool:
        """Whether a compressed form of a large detail may be cached as well."""
        kept = self._details.items.get(key)
        return (
            kept is not None
            and kept.content is content
            and self._details.grow(key, kept, more_bytes)
        )

    def _follow(self) -> None:
        """Invalidate what the feed says has changed."""
        looked_at = self._revision.current()
        if looked_at != self._looked_at:
            self.reader.reopen_if_replaced()
            self._read_feed()
            self._looked_at = looked_at

    def _read_feed(self) -> None:
        with self.reader.snapshot():
            newest, identity = self.reader.latest_seq(), self.reader.identity
            is_known = identity == self._identity and newest - self._seen <= _MANY_CHANGES
            changes = self.reader.list_changes(self._seen) if is_known else None
        self._identity = identity
        if changes is None:
            # Dropping everything is cheaper than finding out what can be kept.
            self._follower.note_many(self._seen)
            self._seen = newest
            for cache in (self._pages, self._registries, self._details, self._loader):
                cache.clear()
            for other in (self.files, self._revocations, self._versions, self._results):
                other.clear()
            return
        self._follower.note(changes)
        for seq, widget_id, scope, name, _, kind, _ in changes:
            self._seen = seq
            if kind in _REVOKING:
                self._revocations.clear()
            key = f"{scope}/{name}"
            self._pages.forget(widget_id)
            self._registries.drop(scope)
            self._loader.drop(scope)
            for of_widget in (self._details, self._versions, self._results):
                of_widget.drop(key)
        self._seen = max(self._seen, newest)

    def _current_index(self) -> SearchIndex:
        if self._follower.is_behind:
            # In one snapshot, so that the index knows every widget that the reads find.
            with self.reader.snapshot():
                self._read_feed()
                self._follower.follow()
        return self._follower.index

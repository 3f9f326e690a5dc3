"""Catalog: what answers the public. Every answer is ready bytes from this machine's read model.

Before each answer the shared revision word is looked at; if it moved, what is new in the
feed is dropped from the caches and, at the next search, taken into the index.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from widget_contract.names import is_name
from widget_contract.semver import SemVer

from ..domain import clock
from ..domain.clock import Clock, iso
from ..domain.widgets import runs_on
from .cache import ByteBoundedCache
from .content import Content
from .details import Detail, LargeDetail, SmallDetail, UnloadedDetail
from .document_rows import SummaryRow
from .documents import Documents
from .index_follower import IndexFollower, IndexSource
from .large_content import AnyContent, Packer
from .loading import Loader, Registry, read_detail, read_registry, registry_pieces
from .rendering import Outline, is_stored_here, with_cdn
from .revision import Counts, Revision
from .search import Query, SearchIndex


class _Summary:
    """A search result around its count, and its versions that fit the SDKs asked for so far."""

    __slots__ = ("before", "compatible", "latest", "place")

    def __init__(self, row: SummaryRow, cdn_url: str) -> None:
        self.place = row.place
        self.latest = with_cdn(row.latest, cdn_url) or b"null"
        self.before = row.head + b',"downloadCount":'
        self.compatible: dict[SemVer, bytes] = {}


class _Bundle(msgspec.Struct, rename="camel"):
    bundle_url: str
    bundle_size: int
    sha256_hash: str


class BundleRef(NamedTuple):
    sha256_hash: str
    size_bytes: int


# What an object costs in memory beside its bytes.
_OVERHEAD_BYTES = 600
_REMEMBERED_SDKS = 8
_MANY_CHANGES = 10_000

_decode_bundle = msgspec.json.Decoder(_Bundle).decode
_decode_styles = msgspec.json.Decoder(dict[str, tuple[int, str]]).decode
_decode_outline = msgspec.json.Decoder(list[Outline]).decode


class Catalog:
    """One worker's view of the catalog."""

    def __init__(
        self,
        documents: Documents,
        revision: Revision,
        counts: Counts,
        cdn_url: str,
        cache_bytes: int,
        now: Clock = clock.now,
        index_source: IndexSource | None = None,
    ) -> None:
        self._documents = documents
        self._revision = revision
        self._counts = counts
        self._slots = counts.slots
        self._cdn_url = cdn_url
        self._now = now
        share = cache_bytes // 8
        self.packer = Packer()
        self._details: ByteBoundedCache[str, Detail] = ByteBoundedCache(3 * share)
        self._summaries: ByteBoundedCache[int, _Summary] = ByteBoundedCache(share)
        self._registries: ByteBoundedCache[str, Registry] = ByteBoundedCache(share // 2)
        self._answers: ByteBoundedCache[object, AnyContent] = ByteBoundedCache(share)
        self._loader = Loader(documents, self.packer, max_bytes=cache_bytes * 5 // 16)
        self._bundles: ByteBoundedCache[tuple[str, str, str], BundleRef] = ByteBoundedCache(1 << 20)
        self._answers_at = (-1, -1)
        self._follower = IndexFollower(documents, counts, index_source)
        self._seen = self._follower.seq

    def detail(self, key: str) -> AnyContent | None:
        """The detail of the listed widget with this `scope/name`.

        None also where it is large: `load_detail` has it.
        """
        detail = self._find(key)
        if detail is None or not detail.is_listed:
            return None
        count = self._slots[detail.id]
        if count != detail.count:
            detail.show(count)
        return detail.content

    async def load_detail(self, key: str) -> AnyContent | None:
        """The same, however large."""
        detail = self._find(key)
        if detail is None or not detail.is_listed or detail.content is not None:
            return self.detail(key)
        scope, _, name = key.partition("/")
        read = partial(read_detail, scope, name, self._cdn_url)
        loaded = await self._loader.load(key, read)
        if not isinstance(loaded, LargeDetail):
            return None
        count = self._slots[loaded.id]
        if count != loaded.count:
            loaded.show(count)
        return loaded.content

    def find_id(self, key: str) -> int | None:
        """The number of the widget with this `scope/name`, listed or not."""
        detail = self._find(key)
        return None if detail is None else detail.id

    def search(self, query: Query, sdk: SemVer | None, page: str, limit: int) -> AnyContent:
        """A page of results. `page` is decimal digits, however many."""
        asked = (query, sdk and str(sdk), page, limit)
        content = self._remembered().get(asked)
        if content is None:
            content = self._search(query, sdk, page, limit)
            # An order that lags is asked for again, until it has caught up.
            if self._follower.index.is_in_order and not self._follower.is_behind:
                size = content.size * 3 // 2 + 4 * len(query.text) + len(page)
                self._answers.put(asked, content, size + _OVERHEAD_BYTES)
        return content

    def registry(self, scope: str) -> Registry | None:
        """All listed widgets of a scope; None if there is no such scope.

        None also where it is large and not in memory: `load_registry` has it.
        """
        self._follow()
        registry = self._registries.items.get(scope) or self._loader.find_registry(scope)
        if registry is None:
            with self._documents.snapshot():
                if self._documents.is_registry_large(scope):
                    return None
                changed_at = self._documents.find_scope_change(scope)
                if changed_at is None:
                    return None
                pieces = registry_pieces(self._documents, scope, changed_at, self._cdn_url)
                registry = Registry(self.packer.content(list(pieces)), changed_at)
            self._registries.put(scope, registry, registry.content.size * 3 // 2)
        return registry

    async def load_registry(self, scope: str) -> Registry | None:
        """The same, however large."""
        registry = self.registry(scope)
        if registry is not None:
            return registry
        loaded = await self._loader.load(scope, partial(read_registry, scope, self._cdn_url))
        return loaded if isinstance(loaded, Registry) else None

    def find_bundle(self, scope: str, name: str, version: str) -> BundleRef | None:
        """The bundle of this version, if it is stored here; its widget may be unlisted."""
        key = (scope, name, version)
        found = self._bundles.items.get(key)
        if found is None and is_name(scope) and is_name(name):
            found = self._find_bundle(*key)
            if found is not None:
                self._bundles.put(key, found, 500)
        return found

    def _find_bundle(self, scope: str, name: str, version: str) -> BundleRef | None:
        with self._documents.snapshot():
            outlined = self._documents.find_outline(scope, name)
            if outlined is None:
                return None
            widget_id, outline = outlined
            for it in _decode_outline(outline):
                if it.version == version:
                    bundle = _decode_bundle(self._documents.read_entries(widget_id, it.place))
                    if is_stored_here(bundle.bundle_url):
                        return BundleRef(bundle.sha256_hash, bundle.bundle_size)
        return None

    def find_style(self, scope: str, name: str, version: str) -> BundleRef | None:
        """The style sheet of this version, if it has one."""
        if not (is_name(scope) and is_name(name)):
            return None
        styles = self._documents.find_styles(scope, name)
        found = _decode_styles(styles).get(version) if styles else None
        return None if found is None else BundleRef(found[1], found[0])

    def stats(self) -> AnyContent:
        content = self._remembered().get("stats")
        if content is None:
            totals = self._current_index().totals()
            body = msgspec.json.encode(
                {
                    "widgets": totals.widgets,
                    "versions": totals.versions,
                    "scopes": totals.scopes,
                    "downloads": totals.downloads,
                    "generatedAt": iso(self._now()),
                }
            )
            content = Content(body)
            if not self._follower.is_behind:
                self._answers.put("stats", content, 1000)
        return content

    def check(self) -> None:
        """Raises sqlite3.Error if the read model cannot be read."""
        self._documents.check()

    async def catch_up(self) -> None:
        """Wait while the index is built anew: where thousands of widgets have changed at once."""
        self._follow()
        await self._follower.catch_up()

    def close(self) -> None:
        self._follower.close()
        self._loader.close()
        self.packer.close()
        self._documents.close()

    def _find(self, key: str) -> Detail | None:
        if self._revision.current() > self._seen:
            self._follow()
        detail = self._details.items.get(key)
        if detail is None:
            scope, _, name = key.partition("/")
            if not (is_name(scope) and is_name(name)):
                return None
            row = self._documents.find_detail(scope, name)
            if row is not None and row.entries is not None:
                entries = with_cdn(row.entries, self._cdn_url)
                detail = SmallDetail(row, entries, self._slots[row.id])
                # Compressed forms come on top: most clients ask for the same one, a fourth of it.
                self._details.put(key, detail, len(entries) + 2 * _OVERHEAD_BYTES)
            elif row is not None:
                detail = UnloadedDetail(row)
                self._details.put(key, detail, _OVERHEAD_BYTES)
        return detail

    def _remembered(self) -> dict[object, AnyContent]:
        """Whole answers, as long as neither the catalog nor any count has changed."""
        self._follow()
        at = (self._seen, self._counts.revision())
        if at != self._answers_at:
            self._answers.clear()
            self._answers_at = at
        return self._answers.items

    def _follow(self) -> None:
        """Forget what the feed says has changed."""
        if self._revision.current() > self._seen:
            self._read_feed()

    def _read_feed(self) -> None:
        newest = self._documents.latest_seq()
        if newest - self._seen > _MANY_CHANGES:
            # To forget everything takes less than to read what can be kept.
            self._follower.note_many(self._seen)
            self._seen = newest
            for cache in (self._summaries, self._registries, self._details, self._loader):
                cache.clear()
            return
        changes = self._documents.list_changes(self._seen)
        self._follower.note(changes)
        for seq, widget_id, scope, name, _ in changes:
            self._seen = seq
            self._summaries.drop(widget_id)
            self._registries.drop(scope)
            self._details.drop(f"{scope}/{name}")
            self._loader.drop(scope)
            self._loader.drop(f"{scope}/{name}")
        self._seen = max(self._seen, newest)

    def _current_index(self) -> SearchIndex:
        if self._follower.is_behind:
            # In one snapshot, so that the index knows every widget that its reads come across.
            with self._documents.snapshot():
                self._read_feed()
                self._follower.follow()
        return self._follower.index

    def _search(self, query: Query, sdk: SemVer | None, page: str, limit: int) -> AnyContent:
        # No catalog is so large that a page of eighteen digits is not past its end.
        offset = (int(page) - 1) * limit if len(page) <= 18 else 1 << 62
        ids, total = self._current_index().find(query, offset, limit)
        summaries = self._summaries_of(ids)
        fitting = [] if sdk is None else self._compatible(ids, summaries, sdk)
        slots = self._slots
        # Joined once, at the end: formatting each result would cost three times as much.
        parts = [b'{"widgets":[']
        for position, (widget_id, it) in enumerate(zip(ids, summaries, strict=True)):
            parts += (it.before, b'%d,"latestVersion":' % slots[widget_id], it.latest)
            if fitting:
                parts += (b',"latestCompatibleVersion":', fitting[position])
            parts.append(b"},")
        end = b'],"total":%d,"page":%b,"limit":%d}' % (total, page.encode(), limit)
        if ids:
            parts[-1] = b"}"
        parts.append(end)
        return self.packer.content(parts)

    def _summaries_of(self, ids: Sequence[int]) -> list[_Summary]:
        cached = self._summaries.items
        missing = [widget_id for widget_id in ids if widget_id not in cached]
        if not missing:
            return [cached[widget_id] for widget_id in ids]
        found = {widget_id: cached[widget_id] for widget_id in ids if widget_id in cached}
        for row in self._documents.list_summaries(missing):
            summary = found[row.id] = _Summary(row, self._cdn_url)
            size = len(summary.before) + len(summary.latest) + _OVERHEAD_BYTES
            self._summaries.put(row.id, summary, size)
        return [found[widget_id] for widget_id in ids]

    def _compatible(
        self, ids: Sequence[int], summaries: Sequence[_Summary], sdk: SemVer
    ) -> list[bytes]:
        """The newest version of each that fits, as JSON."""
        new = [
            (id_, it) for id_, it in zip(ids, summaries, strict=True) if sdk not in it.compatible
        ]
        if not new:
            return [it.compatible[sdk] for it in summaries]
        with self._documents.snapshot():
            outlines = self._documents.list_outlines([widget_id for widget_id, _ in new])
            found = {
                widget_id: self._find_compatible(widget_id, it, outlines[widget_id], sdk)
                for widget_id, it in new
            }
        # Remembered, for few SDKs are asked for often.
        for widget_id, it in new:
            entry = found[widget_id]
            if len(it.compatible) < _REMEMBERED_SDKS and (
                entry is it.latest or self._summaries.grow(widget_id, it, len(entry))
            ):
                it.compatible[sdk] = entry
        return [
            found[widget_id] if widget_id in found else it.compatible[sdk]
            for widget_id, it in zip(ids, summaries, strict=True)
        ]

    def _find_compatible(
        self, widget_id: int, summary: _Summary, outline: bytes, sdk: SemVer
    ) -> bytes:
        for it in _decode_outline(outline):
            if runs_on(sdk, sdk_version=it.sdk_version, is_yanked=it.is_yanked):
                if it.place == summary.place:
                    return summary.latest  # Nearly always.
                entry = with_cdn(self._documents.read_entries(widget_id, it.place), self._cdn_url)
                # It need not be in memory twice.
                return summary.latest if entry == summary.latest else entry
        return b"null"

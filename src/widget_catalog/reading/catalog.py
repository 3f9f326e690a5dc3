"""Catalog: what answers the public. Every answer is ready bytes from this machine's read model.

Before each answer the shared revision word is looked at; if it moved, what is new in the
feed is dropped from the caches and, at the next search, taken into the index.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import xxhash

from ..domain import clock
from ..domain.clock import Clock, from_ms, iso
from ..domain.names import is_name
from ..domain.semver import SemVer
from ..domain.widgets import runs_on
from .cache import ByteBoundedCache
from .content import Content
from .documents import DetailRow, Documents
from .index_follower import IndexFollower, IndexSource
from .rendering import is_stored_here, with_cdn
from .revision import Counts, Revision
from .search import Query, SearchIndex


class _Detail:
    """A detail document. The count stands at `start:stop` of the content last shown."""

    __slots__ = ("content", "count", "id", "is_listed", "start", "stop", "tag")

    def __init__(self, row: DetailRow, cdn_url: str, count: int) -> None:
        # Here alone it is never null: the fields of a detail keep their types.
        head = row.head.removesuffix(b"null") + b"false" if row.head.endswith(b"null") else row.head
        before = b'{"widget":' + head + b',"downloadCount":'
        after = b',"createdAt":"%b"},"versions":%b,"latestVersion":%b}' % (
            row.created_at.encode(),
            with_cdn(row.entries, cdn_url),
            _json_text(row.latest_version),
        )
        self.id = row.id
        self.is_listed = row.is_listed
        self.tag = xxhash.xxh3_64_hexdigest(before + after)
        self.start = self.stop = len(before)
        self.content = Content(before + after, "-")
        self.show(count)

    def show(self, count: int) -> None:
        body = self.content.body
        digits = b"%d" % count
        self.content = Content(
            body[: self.start] + digits + body[self.stop :], f"{self.tag}-{count:x}"
        )
        self.stop = self.start + len(digits)
        self.count = count


class _Summary:
    """A search result around its count, and its versions that fit the SDKs asked for so far."""

    __slots__ = ("after", "before", "compatible")

    def __init__(self, head: bytes, latest: bytes) -> None:
        self.before = head + b',"downloadCount":'
        self.after = b',"latestVersion":' + latest
        self.compatible: dict[SemVer, bytes] = {}


class _Candidate(msgspec.Struct, rename="camel"):
    """What decides whether a version is compatible."""

    yanked: bool
    sdk_version: str


class _Bundle(msgspec.Struct, rename="camel"):
    version: str
    bundle_url: str
    bundle_size: int
    sha256_hash: str


class BundleRef(NamedTuple):
    sha256_hash: str
    size_bytes: int


class Registry(NamedTuple):
    content: Content
    changed_at: int


# What an object costs in memory beside its bytes.
_OVERHEAD_BYTES = 600
_REMEMBERED_SDKS = 8
_MANY_CHANGES = 10_000

_decode_entries = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_bundles = msgspec.json.Decoder(list[_Bundle]).decode
_decode_styles = msgspec.json.Decoder(dict[str, tuple[int, str]]).decode
_decode_candidates = msgspec.json.Decoder(list[_Candidate]).decode


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
        self._details: ByteBoundedCache[str, _Detail] = ByteBoundedCache(4 * share)
        self._summaries: ByteBoundedCache[int, _Summary] = ByteBoundedCache(share)
        self._registries: ByteBoundedCache[str, Registry] = ByteBoundedCache(share)
        self._answers: ByteBoundedCache[object, Content] = ByteBoundedCache(2 * share)
        self._bundles: ByteBoundedCache[tuple[str, str, str], BundleRef] = ByteBoundedCache(1 << 20)
        self._answers_at = (-1, -1)
        self._follower = IndexFollower(documents, counts, index_source)
        self._seen = self._follower.seq

    def detail(self, key: str) -> Content | None:
        """The detail of the listed widget with this `scope/name`."""
        detail = self._find(key)
        if detail is None or not detail.is_listed:
            return None
        count = self._slots[detail.id]
        if count != detail.count:
            detail.show(count)
        return detail.content

    def find_id(self, key: str) -> int | None:
        """The number of the widget with this `scope/name`, listed or not."""
        detail = self._find(key)
        return None if detail is None else detail.id

    def search(self, query: Query, sdk: SemVer | None, page: str, limit: int) -> Content:
        """A page of results. `page` is decimal digits, however many."""
        asked = (query, sdk and str(sdk), page, limit)
        content = self._remembered().get(asked)
        if content is None:
            content = Content(self._search(query, sdk, page, limit))
            # An order that lags is asked for again, until it has caught up.
            if self._follower.index.is_in_order and not self._follower.is_behind:
                size = len(content.body) * 3 // 2 + 4 * len(query.text) + len(page)
                self._answers.put(asked, content, size + _OVERHEAD_BYTES)
        return content

    def registry(self, scope: str) -> Registry | None:
        """All listed widgets of a scope; None if there is no such scope."""
        self._follow()
        registry = self._registries.items.get(scope)
        if registry is None:
            changed_at = self._documents.find_scope_change(scope)
            if changed_at is None:
                return None
            registry = Registry(Content(self._registry(scope, changed_at)), changed_at)
            self._registries.put(scope, registry, len(registry.content.body) * 3 // 2)
        return registry

    def find_bundle(self, scope: str, name: str, version: str) -> BundleRef | None:
        """The bundle of this version, if it is stored here; its widget may be unlisted."""
        key = (scope, name, version)
        found = self._bundles.items.get(key)
        if found is None and is_name(scope) and is_name(name):
            row = self._documents.find_detail(scope, name)
            entries = _decode_bundles(row.entries) if row is not None else []
            found = next(
                (
                    BundleRef(entry.sha256_hash, entry.bundle_size)
                    for entry in entries
                    if entry.version == version and is_stored_here(entry.bundle_url)
                ),
                None,
            )
            if found is not None:
                self._bundles.put(key, found, 500)
        return found

    def find_style(self, scope: str, name: str, version: str) -> BundleRef | None:
        """The style sheet of this version, if it has one."""
        if not (is_name(scope) and is_name(name)):
            return None
        styles = self._documents.find_styles(scope, name)
        found = _decode_styles(styles).get(version) if styles else None
        return None if found is None else BundleRef(found[1], found[0])

    def stats(self) -> Content:
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
        self._documents.close()

    def _find(self, key: str) -> _Detail | None:
        if self._revision.current() > self._seen:
            self._follow()
        detail = self._details.items.get(key)
        if detail is None:
            scope, _, name = key.partition("/")
            if not (is_name(scope) and is_name(name)):
                return None
            row = self._documents.find_detail(scope, name)
            if row is not None:
                detail = _Detail(row, self._cdn_url, self._slots[row.id])
                # Compressed forms come on top: most clients ask for the same one, a fourth of it.
                self._details.put(key, detail, len(detail.content.body) + _OVERHEAD_BYTES)
        return detail

    def _remembered(self) -> dict[object, Content]:
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
            self._seen = newest
            self._follower.is_outdated = True
            for cache in (self._summaries, self._registries, self._details):
                cache.clear()
            return
        for seq, widget_id, scope, name in self._documents.list_changes(self._seen):
            self._seen = seq
            self._follower.changed.add(widget_id)
            self._summaries.drop(widget_id)
            self._registries.drop(scope)
            self._details.drop(f"{scope}/{name}")
        self._seen = max(self._seen, newest)

    def _current_index(self) -> SearchIndex:
        if self._follower.is_behind:
            # In one snapshot, so that the index knows every widget that its reads come across.
            with self._documents.snapshot():
                self._read_feed()
                self._follower.follow()
        return self._follower.index

    def _search(self, query: Query, sdk: SemVer | None, page: str, limit: int) -> bytes:
        # No catalog is so large that a page of eighteen digits is not past its end.
        offset = (int(page) - 1) * limit if len(page) <= 18 else 1 << 62
        ids, total = self._current_index().find(query, offset, limit)
        summaries = self._summaries_of(ids)
        slots = self._slots
        if sdk is None:
            results = [
                b"%b%d%b}" % (it.before, slots[i], it.after)
                for i, it in zip(ids, summaries, strict=True)
            ]
        else:
            results = [
                b'%b%d%b,"latestCompatibleVersion":%b}'
                % (it.before, slots[i], it.after, self._compatible(i, it, sdk))
                for i, it in zip(ids, summaries, strict=True)
            ]
        return b'{"widgets":[%b],"total":%d,"page":%b,"limit":%d}' % (
            b",".join(results),
            total,
            page.encode(),
            limit,
        )

    def _summaries_of(self, ids: Sequence[int]) -> list[_Summary]:
        cached = self._summaries.items
        missing = [widget_id for widget_id in ids if widget_id not in cached]
        if not missing:
            return [cached[widget_id] for widget_id in ids]
        found = {widget_id: cached[widget_id] for widget_id in ids if widget_id in cached}
        for row in self._documents.list_summaries(missing):
            latest = with_cdn(row.latest, self._cdn_url) or b"null"
            summary = found[row.id] = _Summary(row.head, latest)
            self._summaries.put(row.id, summary, len(row.head) + len(latest) + _OVERHEAD_BYTES)
        return [found[widget_id] for widget_id in ids]

    def _compatible(self, widget_id: int, summary: _Summary, sdk: SemVer) -> bytes:
        """The newest version that fits, as JSON; remembered, for few SDKs are asked for often."""
        entry = summary.compatible.get(sdk)
        if entry is None:
            entry = self._find_compatible(widget_id, sdk)
            if len(summary.compatible) < _REMEMBERED_SDKS:
                summary.compatible[sdk] = entry
        return entry

    def _find_compatible(self, widget_id: int, sdk: SemVer) -> bytes:
        entries = self._documents.find_entries(widget_id)
        for i, candidate in enumerate(_decode_candidates(entries)):
            if runs_on(sdk, sdk_version=candidate.sdk_version, is_yanked=candidate.yanked):
                return with_cdn(bytes(_decode_entries(entries)[i]), self._cdn_url)
        return b"null"

    def _registry(self, scope: str, changed_at: int) -> bytes:
        widgets = [
            b'%b,"latestVersion":%b,"versions":%b}'
            % (head, _json_text(latest), with_cdn(entries, self._cdn_url))
            for head, latest, entries in self._documents.list_registry(scope)
        ]
        return b'{"version":1,"scope":%b,"generatedAt":%b,"baseUrl":%b,"widgets":[%b]}' % (
            _json_text(scope),
            _json_text(iso(from_ms(changed_at))),
            _json_text(self._cdn_url + "/"),
            b",".join(widgets),
        )


def _json_text(text: str | None) -> bytes:
    return msgspec.json.encode(text)

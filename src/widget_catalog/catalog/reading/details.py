"""Cached details: documents with their download counts, which change all the time; and registries,
large ones of which are read by a thread.
"""

import asyncio
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, TypeAlias

import msgspec

from ...core.clock import from_ms, iso
from ...core.files.contract import Encoding
from ...core.http.content import (
    WHOLE_BYTES,
    AnyContent,
    Content,
    LargeContent,
    Packer,
    coalesced,
    hash_of,
)
from ..replica.cache import ByteBoundedCache, CacheRoom
from ..replica.reader import ReplicaReader
from ..replica.records import Bytes, DocumentRecord, full_hash
from ..replica.rendering import with_cdn

# A large detail is compressed again after every count.
_FAST_ENCODINGS: tuple[Encoding, ...] = ("zstd", "gzip")

_OVERHEAD_BYTES = 2000

_json_text = msgspec.json.Encoder().encode


class SmallDetail:
    """The count is at `start:stop` of the last content."""

    __slots__ = ("content", "count", "id", "is_listed", "start", "stop", "tag")

    def __init__(
        self,
        widget_id: int,
        before: Bytes,
        rest: Bytes,
        tag: int,
        count: int,
        *,
        is_listed: bool = True,
    ) -> None:
        """The parts before and after the count, and the hash of both."""
        digits = b"%d" % count
        self.id = widget_id
        self.is_listed = is_listed
        self.tag = f"{tag:016x}"
        self.count = count
        self.start = len(before)
        self.stop = self.start + len(digits)
        self.content = Content(b"".join((before, digits, rest)), f"{self.tag}-{count:x}")

    def show(self, count: int) -> None:
        body, digits = self.content.body, b"%d" % count
        body = body[: self.start] + digits + body[self.stop :]
        self.content = Content(body, f"{self.tag}-{count:x}")
        self.stop = self.start + len(digits)
        self.count = count


def read_small(record: DocumentRecord, cdn_url: str, count: int) -> SmallDetail:
    before, rest = record.text
    tag = record.hash
    if record.is_marked:
        rest = with_cdn(bytes(rest), cdn_url)
        tag = full_hash(b"".join((before, rest)))
    return SmallDetail(record.id, before, rest, tag, count, is_listed=record.is_listed)


class LargeDetail:
    """Every count has its own content, which is compressed by a thread; they share the part after
    the count.
    """

    def __init__(
        self,
        record: DocumentRecord,
        cdn_url: str,
        count: int,
        packer: Packer,
        keep: Callable[[LargeContent, int], bool],
    ) -> None:
        before, rest = record.text
        self.id = record.id
        self.is_listed = record.is_listed
        self._before = bytes(before)
        self._rest = with_cdn(bytes(rest), cdn_url)
        self._tag = hash_of((self._before, self._rest))
        self._packer = packer
        self._keep = keep
        self._show(count)

    @property
    def size(self) -> int:
        """In memory. One that is sent as a whole is stored a second time, together with its
        count.
        """
        size = self.content.size
        return size + (size if size <= WHOLE_BYTES else 0) + _OVERHEAD_BYTES

    def show(self, count: int) -> None:
        # The compressed forms of the last content are dropped with it.
        self._keep(self.content, -self.content.packed_bytes)
        self._show(count)

    def _show(self, count: int) -> None:
        pieces = (b"%b%d" % (self._before, count), self._rest)
        tag = f"{self._tag}-{count:x}"
        self.content = LargeContent(pieces, self._packer, self._keep, tag, _FAST_ENCODINGS)
        self.count = count


Detail: TypeAlias = SmallDetail | LargeDetail


class RegistryContent(NamedTuple):
    content: AnyContent
    changed_at: int


_InUse: TypeAlias = tuple[Callable[[], LargeContent | None], int]
_NOTHING: _InUse = (lambda: None, 0)


class RegistryLoader:
    """Reads registries that are too large for the event loop, in a thread, and caches them.
    Concurrent requests share one read.
    """

    def __init__(
        self, reader: ReplicaReader, packer: Packer, cdn_url: str, max_bytes: int, room: CacheRoom
    ) -> None:
        self._path = reader.path
        self._packer = packer
        self._cdn_url = cdn_url
        # One thread, so that its connection is never used concurrently.
        self._threads = ThreadPoolExecutor(1, "loading")
        self._reader: ReplicaReader | None = None
        self._loading: dict[str, asyncio.Future[RegistryContent | None]] = {}
        # A large registry and its compressed form may use the whole cache.
        self._kept: ByteBoundedCache[str, RegistryContent] = ByteBoundedCache(
            max_bytes, max_item_bytes=max_bytes, room=room
        )
        # Those that may no longer be cached, but are still being sent: all requests share one copy.
        self._in_use: dict[str, _InUse] = {}

    def find(self, scope: str) -> RegistryContent | None:
        """A cached registry, or one that is still being sent."""
        if (kept := self._kept.items.get(scope)) is not None:
            return kept
        content, changed_at = self._in_use.get(scope, _NOTHING)
        if (shared := content()) is not None:
            return RegistryContent(shared, changed_at)
        self._in_use.pop(scope, None)
        return None

    async def load(self, scope: str) -> RegistryContent | None:
        """None if there is no such scope."""
        loading = self._loading.get(scope)
        if loading is None:
            loop = asyncio.get_running_loop()
            loading = loop.run_in_executor(self._threads, self._read, scope)
            self._loading[scope] = loading
            loading.add_done_callback(partial(self._take, scope))
        # Shielded: a client that disconnects must not cancel it for the others.
        return await asyncio.shield(loading)

    def drop(self, scope: str) -> None:
        """It has changed: invalidate what is cached or being read."""
        self._kept.drop(scope)
        self._in_use.pop(scope, None)
        self._loading.pop(scope, None)

    def clear(self) -> None:
        self._kept.clear()
        self._in_use.clear()
        self._loading.clear()

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        if self._reader is not None:
            self._reader.close()

    def _read(self, scope: str) -> RegistryContent | None:
        """In the thread."""
        if self._reader is None:
            self._reader = ReplicaReader(self._path)
        self._reader.reopen_if_replaced()
        with self._reader.snapshot():
            changed_at = self._reader.find_scope_change(scope)
            if changed_at is None:
                return None
            parts = registry_parts(self._reader, scope, changed_at, self._cdn_url)
            content = LargeContent(list(coalesced(parts)), self._packer, partial(self._keep, scope))
            return RegistryContent(content, changed_at)

    def _take(self, scope: str, loading: "asyncio.Future[RegistryContent | None]") -> None:
        failed = loading.cancelled() or loading.exception() is not None
        if self._loading.get(scope) is not loading:
            return  # It has changed while being read.
        del self._loading[scope]
        if not failed and (loaded := loading.result()) is not None:
            content = loaded.content
            self._kept.put(scope, loaded, content.size + _OVERHEAD_BYTES)
            if isinstance(content, LargeContent):
                self._in_use[scope] = (weakref.ref(content), loaded.changed_at)

    def _keep(self, scope: str, content: LargeContent, more_bytes: int) -> bool:
        """Whether a compressed form may be cached as well."""
        kept = self._kept.items.get(scope)
        return (
            kept is not None
            and kept.content is content
            and self._kept.grow(scope, kept, more_bytes)
        )


def registry_parts(
    reader: ReplicaReader, scope: str, changed_at: int, cdn_url: str
) -> Iterator[bytes]:
    """All listed widgets of a scope. Inside a snapshot."""
    yield b'{"version":1,"scope":%b,"generatedAt":%b,"baseUrl":%b,"widgets":[' % (
        _json_text(scope),
        _json_text(iso(from_ms(changed_at))),
        _json_text(cdn_url + "/"),
    )
    comma = b""
    for record in reader.stream_registry(scope):
        head, latest = record.head, record.latest_version
        yield b'%b%b,"latestVersion":%b,"versions":' % (comma, head, latest)
        yield with_cdn(record.entries, cdn_url)
        yield b"}"
        comma = b","
    yield b"]}"

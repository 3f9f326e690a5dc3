"""Cached details: documents with their download counts, which change all the time; and the loader
of large ones and of registries.
"""

import asyncio
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, TypeAlias

import msgspec

from ..core.clock import from_ms, iso
from ..core.files.contract import Encoding
from ..core.http.content import (
    PIECE_BYTES,
    WHOLE_BYTES,
    AnyContent,
    Content,
    LargeContent,
    Packer,
    coalesced,
    hash_of,
)
from .replica.cache import ByteBoundedCache, CacheRoom
from .replica.documents import Documents, Reading
from .replica.records import DocumentRecord, full_hash
from .replica.rendering import CDN_MARK, with_cdn

# A large detail is compressed again after every count.
_FAST_ENCODINGS: tuple[Encoding, ...] = ("zstd", "gzip")

_OVERHEAD_BYTES = 2000

_json_text = msgspec.json.Encoder().encode


class SmallDetail:
    """The count is at `start:stop` of the last content."""

    __slots__ = ("content", "count", "id", "is_listed", "start", "stop", "tag")

    def __init__(self, record: DocumentRecord, cdn_url: str, count: int) -> None:
        before, rest = record.text
        tag = record.hash
        if record.is_marked:
            rest = with_cdn(bytes(rest), cdn_url)
            tag = full_hash(b"".join((before, rest)))
        digits = b"%d" % count
        self.id = record.id
        self.is_listed = record.is_listed
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


class LargeDetail:
    """Every count has its own content; they share the chunks after the count."""

    def __init__(
        self,
        record: DocumentRecord,
        before: bytes,
        rest: Sequence[bytes],
        packer: Packer,
        keep: Callable[[LargeContent, int], bool],
    ) -> None:
        self.id = record.id
        self.is_listed = record.is_listed
        self._before = before
        self._rest = rest
        self._tag = hash_of((before, *rest))
        self._packer = packer
        self._keep = keep
        self._show(0)

    def show(self, count: int) -> None:
        # The compressed forms of the last content are dropped with it.
        self._keep(self.content, -self.content.packed_bytes)
        self._show(count)

    def _show(self, count: int) -> None:
        pieces = (b"%b%d" % (self._before, count), *self._rest)
        tag = f"{self._tag}-{count:x}"
        self.content = LargeContent(pieces, self._packer, self._keep, tag, _FAST_ENCODINGS)
        self.count = count


class UnloadedDetail(NamedTuple):
    """Metadata of a large document, which must be loaded first."""

    id: int
    is_listed: bool
    content: None = None


Detail: TypeAlias = SmallDetail | UnloadedDetail


class Registry(NamedTuple):
    content: AnyContent
    changed_at: int


Loaded: TypeAlias = LargeDetail | Registry
_InUse: TypeAlias = tuple[Callable[[], LargeContent | None], int]
_NOTHING: _InUse = (lambda: None, 0)

Keep: TypeAlias = Callable[[LargeContent, int], bool]
Read: TypeAlias = Callable[[Documents, Reading, Packer, Keep], Loaded | None]


class Loader:
    """Reads what is too large for the event loop, in a thread, and caches it. The keys are
    `scope/name` for a detail, and a scope for its registry.

    The thread reads in chunks of about 0.3 ms, so that it never holds the interpreter for long,
    and concurrent requests share one read.
    """

    def __init__(
        self, documents: Documents, packer: Packer, max_bytes: int, room: CacheRoom
    ) -> None:
        self._path = documents.path
        self._packer = packer
        # One thread, so that its connection is never used concurrently.
        self._threads = ThreadPoolExecutor(1, "loading")
        self._documents: Documents | None = None
        self._loading: dict[str, asyncio.Future[Loaded | None]] = {}
        # A large registry and its compressed form may use the whole cache.
        self._kept: ByteBoundedCache[str, Loaded] = ByteBoundedCache(
            max_bytes, max_item_bytes=max_bytes, room=room
        )
        # Registries that may no longer be cached, but are still being sent: all requests share one
        # copy.
        self._in_use: dict[str, _InUse] = {}

    def find_registry(self, scope: str) -> Registry | None:
        """A cached registry, or one that is still being sent."""
        kept = self._kept.items.get(scope)
        if isinstance(kept, Registry):
            return kept
        content, changed_at = self._in_use.get(scope, _NOTHING)
        if (shared := content()) is not None:
            return Registry(shared, changed_at)
        self._in_use.pop(scope, None)
        return None

    async def load(self, key: str, read: Read) -> Loaded | None:
        """Return what is cached under a key, or read it. None: it does not exist."""
        if (kept := self._kept.items.get(key)) is not None:
            return kept
        loading = self._loading.get(key)
        if loading is None:
            loop = asyncio.get_running_loop()
            loading = loop.run_in_executor(self._threads, self._read, key, read)
            self._loading[key] = loading
            loading.add_done_callback(partial(self._take, key))
        # Shielded: a client that disconnects must not cancel it for the others.
        return await asyncio.shield(loading)

    def drop(self, key: str) -> None:
        """It has changed: invalidate what is cached or being read."""
        self._kept.drop(key)
        self._in_use.pop(key, None)
        self._loading.pop(key, None)

    def clear(self) -> None:
        self._kept.clear()
        self._in_use.clear()
        self._loading.clear()

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        if self._documents is not None:
            self._documents.close()

    def _read(self, key: str, read: Read) -> Loaded | None:
        """In the thread."""
        if self._documents is None:
            self._documents = Documents(self._path)
        self._documents.reopen_if_replaced()
        with self._documents.snapshot() as reading:
            return read(self._documents, reading, self._packer, partial(self._keep, key))

    def _take(self, key: str, loading: "asyncio.Future[Loaded | None]") -> None:
        failed = loading.cancelled() or loading.exception() is not None
        if self._loading.get(key) is not loading:
            return  # It has changed while being read.
        del self._loading[key]
        if not failed and (loaded := loading.result()) is not None:
            size = loaded.content.size
            # One that is sent as a whole is stored a second time, together with its count.
            size += size if size <= WHOLE_BYTES else 0
            self._kept.put(key, loaded, size + _OVERHEAD_BYTES)
            if isinstance(loaded, Registry) and isinstance(loaded.content, LargeContent):
                self._in_use[key] = (weakref.ref(loaded.content), loaded.changed_at)

    def _keep(self, key: str, content: LargeContent, more_bytes: int) -> bool:
        """Whether a compressed form may be cached as well."""
        kept = self._kept.items.get(key)
        return (
            kept is not None and kept.content is content and self._kept.grow(key, kept, more_bytes)
        )


def read_detail(
    key: str, cdn_url: str, documents: Documents, reading: Reading, packer: Packer, keep: Keep
) -> LargeDetail | None:
    record = documents.find(reading, key)
    if record is None or not record.is_listed:
        return None
    before, between, after = record.around
    entries = with_cdn_in_pieces(record.stream_entries(PIECE_BYTES), cdn_url)
    rest = list(coalesced((between, *entries, after)))
    return LargeDetail(record, before, rest, packer, keep)


def read_registry(
    scope: str, cdn_url: str, documents: Documents, _: Reading, packer: Packer, keep: Keep
) -> Registry | None:
    changed_at = documents.find_scope_change(scope)
    if changed_at is None:
        return None
    pieces = list(coalesced(registry_pieces(documents, scope, changed_at, cdn_url)))
    return Registry(LargeContent(pieces, packer, keep), changed_at)


def registry_pieces(
    documents: Documents, scope: str, changed_at: int, cdn_url: str
) -> Iterator[bytes]:
    """All listed widgets of a scope. Inside a snapshot."""
    yield b'{"version":1,"scope":%b,"generatedAt":%b,"baseUrl":%b,"widgets":[' % (
        _json_text(scope),
        _json_text(iso(from_ms(changed_at))),
        _json_text(cdn_url + "/"),
    )
    comma = b""
    for record in documents.stream_registry(scope):
        head, latest = record.head, record.latest_version
        yield b'%b%b,"latestVersion":%b,"versions":' % (comma, head, latest)
        if record.is_large:
            yield from with_cdn_in_pieces(record.stream_entries(PIECE_BYTES), cdn_url)
        else:
            yield with_cdn(record.entries, cdn_url)
        yield b"}"
        comma = b","
    yield b"]}"


def with_cdn_in_pieces(pieces: Iterable[bytes], cdn_url: str) -> Iterator[bytes]:
    """Fill in the CDN URL, also where its marker is split between two chunks."""
    held = b""
    for piece in pieces:
        piece = held + piece
        # The marker starts with its only quote: if its end is missing, the last quote starts it.
        at = piece.rfind(b'"', 1 - len(CDN_MARK))
        held = b"" if at < 0 else piece[at:]
        yield with_cdn(piece[: len(piece) - len(held)], cdn_url)
    yield held

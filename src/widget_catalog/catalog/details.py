"""Cached details: documents with their download counts, which change all the time."""

from collections.abc import Callable, Sequence
from typing import Protocol

from ..core.http.content import AnyContent, Content, Encoding, LargeContent, Packer, hash_of
from .replica.records import DocumentRecord, full_hash
from .replica.rendering import with_cdn

# A large detail is compressed again after every count.
_FAST_ENCODINGS: tuple[Encoding, ...] = ("zstd", "gzip")


class Detail(Protocol):
    """`content` shows the last count; None: the document must be loaded first."""

    @property
    def id(self) -> int: ...
    @property
    def is_listed(self) -> bool: ...
    @property
    def count(self) -> int: ...
    @property
    def content(self) -> AnyContent | None: ...

    def show(self, count: int) -> None: ...


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
        body = self.content.body
        digits = b"%d" % count
        self.content = Content(
            body[: self.start] + digits + body[self.stop :], f"{self.tag}-{count:x}"
        )
        self.stop = self.start + len(digits)
        self.count = count


class LargeDetail:
    """Every count has its own content; they share the chunks after the count."""

    __slots__ = ("_before", "_keep", "_packer", "_rest", "_tag", "content", "count", "id",
                 "is_listed")  # fmt: skip

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


class UnloadedDetail:
    """Metadata of a large document that has not been read yet."""

    __slots__ = ("id", "is_listed")

    content = None
    count = -1

    def __init__(self, record: DocumentRecord) -> None:
        self.id = record.id
        self.is_listed = record.is_listed

    def show(self, count: int) -> None:
        pass

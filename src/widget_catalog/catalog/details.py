"""Cached details: documents with their download counts, which change all the time."""

from typing import Protocol

from ..core.http.content import Content
from ..core.http.large_content import AnyContent, Bulk, LargeContent
from .replica.records import DocumentRecord, full_hash
from .replica.rendering import with_cdn


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
    """The bulk starts after the count, and is shared by the contents of all counts."""

    __slots__ = ("_before", "_bulk", "_tag", "content", "count", "id", "is_listed")

    def __init__(self, record: DocumentRecord, bulk: Bulk, before: bytes, tag: str) -> None:
        self.id = record.id
        self.is_listed = record.is_listed
        self._before = before
        self._bulk = bulk
        self._tag = tag
        self.show(0)

    def show(self, count: int) -> None:
        start = b"%b%d" % (self._before, count)
        self.content = LargeContent(self._bulk, start, f"{self._tag}-{count:x}")
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

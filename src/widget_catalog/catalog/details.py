"""Details in memory: documents around their download counts, which change all the time."""

from collections.abc import Sequence
from typing import Protocol

import msgspec
import xxhash

from ..replica.rows import DetailRow
from .content import Content
from .large_content import AnyContent, Bulk, LargeContent


class Detail(Protocol):
    """`content` shows the count last asked for; None: the document must be loaded first."""

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
    """The count stands at `start:stop` of the content last shown."""

    __slots__ = ("content", "count", "id", "is_listed", "start", "stop", "tag")

    def __init__(self, row: DetailRow, entries: bytes, count: int) -> None:
        before, between, after = around(row)
        rest = b"".join((between, entries, after))
        hashing = xxhash.xxh3_64(before)
        hashing.update(rest)
        self.id = row.id
        self.is_listed = row.is_listed
        self.tag = hashing.hexdigest()
        self.count = count
        self.start = len(before)
        body = b"%b%d%b" % (before, count, rest)
        self.stop = len(body) - len(rest)
        self.content = Content(body, f"{self.tag}-{count:x}")

    def show(self, count: int) -> None:
        body = self.content.body
        digits = b"%d" % count
        self.content = Content(
            body[: self.start] + digits + body[self.stop :], f"{self.tag}-{count:x}"
        )
        self.stop = self.start + len(digits)
        self.count = count


class LargeDetail:
    """The bulk begins after the count, and is shared by the contents for all counts."""

    __slots__ = ("_before", "_bulk", "_tag", "content", "count", "id", "is_listed")

    def __init__(self, row: DetailRow, bulk: Bulk, before: bytes, tag: str) -> None:
        self.id = row.id
        self.is_listed = row.is_listed
        self._before = before
        self._bulk = bulk
        self._tag = tag
        self.show(0)

    def show(self, count: int) -> None:
        start = b"%b%d" % (self._before, count)
        self.content = LargeContent(self._bulk, start, f"{self._tag}-{count:x}")
        self.count = count


class UnloadedDetail:
    """What is known of a large document that nobody has read yet."""

    __slots__ = ("id", "is_listed")

    content = None
    count = -1

    def __init__(self, row: DetailRow) -> None:
        self.id = row.id
        self.is_listed = row.is_listed

    def show(self, count: int) -> None:
        pass


def around(row: DetailRow) -> Sequence[bytes]:
    """A detail without its count and entries: what stands before, between and after the two."""
    # Here alone it is never null: the fields of a detail keep their types.
    head = row.head.removesuffix(b"null") + b"false" if row.head.endswith(b"null") else row.head
    return (
        b'{"widget":' + head + b',"downloadCount":',
        b',"createdAt":"%b"},"versions":' % row.created_at.encode(),
        b',"latestVersion":%b}' % json_text(row.latest_version),
    )


def json_text(text: str | None) -> bytes:
    return msgspec.json.encode(text)

"""The small request and response values that the server bindings and the API share."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from ...catalog.content import Encoding
from ...catalog.large_content import LargeContent

Headers = list[tuple[str, str]]

NOSNIFF = ("x-content-type-options", "nosniff")
CORS = ("access-control-allow-origin", "*")


class HeaderLookup(Protocol):
    """Names are in lower case. `get` knows the first line of a name, `items` all of them."""

    def get(self, key: str, /) -> str | None: ...

    def items(self) -> Iterable[tuple[str, str]]: ...


class Request(Protocol):
    """What an answer may depend on. The path is decoded; the query is as it came.

    The names are RSGI's, so that its scope is a request as it stands: copying its fields
    would cost a fourth of the rate, as each is made when it is first looked at.
    """

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def query_string(self) -> str: ...
    @property
    def headers(self) -> HeaderLookup: ...
    @property
    def client(self) -> str: ...


class PlainRequest(NamedTuple):
    """A request put together by hand: by the ASGI binding, and by tests."""

    method: str
    path: str
    query_string: str = ""
    headers: HeaderLookup = MappingProxyType({})
    client: str = ""


class Body(Protocol):
    """The bytes that come with a request, read where they are wanted. RSGI's protocol is one."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...


class SentBody:
    """A body that is there as a whole."""

    def __init__(self, body: bytes = b"") -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._body:
            yield self._body


class FileBody(NamedTuple):
    """A part of a file, sent by the server without loading it. `stop` is exclusive."""

    path: Path
    start: int
    stop: int
    is_whole: bool


class LargeBody(NamedTuple):
    """A large content, compressed and sent piece by piece by the binding."""

    content: LargeContent
    encoding: Encoding | None

    @property
    def length(self) -> int | None:
        """None: not known before it is compressed."""
        return self.content.length(self.encoding)

    async def pieces(self) -> Sequence[bytes]:
        return await self.content.pieces(self.encoding)


class EventBody(NamedTuple):
    """Pieces that are sent as they come, without an end. `end` is to be called when the client
    has gone; the pieces end then."""

    pieces: AsyncIterable[bytes]
    end: Callable[[], None]


class StreamBody(NamedTuple):
    """Pieces of a body whose length nobody knows before its end. The next one is asked for when
    those before it have left."""

    pieces: AsyncIterable[bytes]


class Response(NamedTuple):
    """`body` None: there is none, and the headers say what there would be (HEAD, 304)."""

    status: int
    headers: Headers
    body: bytes | FileBody | LargeBody | EventBody | StreamBody | None


Answer = Callable[[Request, Body], Awaitable[Response]]


class Worker(NamedTuple):
    """What a server binding drives: a way to answer, and a way to end well. `drain` is called
    before, when other workers take over: what would not end by itself is ended."""

    answer: Answer
    close: Callable[[], None]
    drain: Callable[[], None] = lambda: None


class WorkerCounts(Protocol):
    """How the workers are, as the parent knows."""

    @property
    def workers(self) -> int: ...
    @property
    def missing(self) -> int: ...
    @property
    def deaths(self) -> int: ...
    @property
    def memory_faults(self) -> int:
        """How many of them ended by a signal such as SIGSEGV."""

"""Request and response values shared by the server bindings and the API."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from ..files.contract import Encoding
from .content import LargeContent

Headers = list[tuple[str, str]]

NOSNIFF = ("x-content-type-options", "nosniff")
CORS = ("access-control-allow-origin", "*")


class HeaderLookup(Protocol):
    """Names are in lower case. `get` returns the first line of a name, `items` all of them."""

    def get(self, key: str, /) -> str | None: ...

    def __contains__(self, key: object, /) -> bool: ...

    def items(self) -> Iterable[tuple[str, str]]: ...


class Request(Protocol):
    """The parts of a request that a response may depend on. The path is decoded, the query is not.

    The names are those of RSGI, so that its scope can be used as a request directly: copying its
    fields, which are created on first access, would reduce the throughput by a fourth.
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
    """A request that did not come over the network, such as that of a static site."""

    method: str
    path: str
    query_string: str = ""
    headers: HeaderLookup = MappingProxyType({})
    client: str = ""


class Body(Protocol):
    """The body of a request, read on demand. RSGI's protocol implements it."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...


class SentBody:
    """A body that is already complete."""

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
    """A large content, compressed and sent in chunks by the binding."""

    content: LargeContent
    encoding: Encoding | None

    @property
    def length(self) -> int | None:
        """None: not known before it is compressed."""
        return self.content.length(self.encoding)

    async def pieces(self) -> Sequence[bytes]:
        return await self.content.sent_pieces(self.encoding)


class EventBody(NamedTuple):
    """An endless stream of chunks; `end` ends it, and must be called when the client is gone."""

    pieces: AsyncIterable[bytes]
    end: Callable[[], None]


class StreamBody(NamedTuple):
    """A body of unknown length. A chunk is requested when the previous ones are sent."""

    pieces: AsyncIterable[bytes]


class Response(NamedTuple):
    """`body` None: there is none; the headers are those of the full response (HEAD, 304)."""

    status: int
    headers: Headers
    body: bytes | FileBody | LargeBody | EventBody | StreamBody | None


Handler = Callable[[Request, Body], Awaitable[Response]]
QuickHandler = Callable[[Request, HeaderLookup], Response | None]


def never_now(_: Request, _headers: HeaderLookup) -> None:
    """No request is handled without waiting."""


class Worker(NamedTuple):
    """The interface of a worker to a server binding: respond, and shut down.

    `drain` is called first, when other workers take over: it ends endless responses.
    `respond_now` has the response to a request that needs no waiting, the same as that of `handle`,
    or None: a frequent read without coroutines takes 0.94 of the CPU time. It is given the headers
    of the request, because the server makes them anew whenever they are read.
    """

    handle: Handler
    close: Callable[[], None]
    drain: Callable[[], None] = lambda: None
    respond_now: QuickHandler = never_now

    async def respond(self, request: Request, body: Body) -> Response:
        """The response that a client gets."""
        return self.respond_now(request, request.headers) or await self.handle(request, body)

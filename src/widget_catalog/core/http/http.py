"""Request and response values shared by the server bindings and the API."""

import mmap
import os
import signal
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


# Exit codes of a process that reads a damaged mapped file.
_MEMORY_ERRORS = (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)


class WorkerStatus:
    """Status of the parent and its workers, in shared memory.

    Must be created before the workers are forked.
    """

    _DEAD = (1 << 64) - 1

    def __init__(self, workers: int) -> None:
        self.workers = workers
        # One word per worker: 0 during the first start, its process id when ready, or _DEAD. Then
        # the number of workers that died, how many of these of a memory error, and whether the
        # service is about to stop.
        self._words = memoryview(mmap.mmap(-1, 8 * (workers + 3))).cast("Q")

    def set_ready(self, index: int) -> None:
        self._words[index] = os.getpid()

    def set_dead(self, index: int, exit_code: int | None) -> None:
        self._words[index] = self._DEAD
        self._words[self.workers] += 1
        if exit_code in _MEMORY_ERRORS:
            self._words[self.workers + 1] += 1

    def is_ready(self, index: int, pid: int | None) -> bool:
        return self._words[index] == pid

    @property
    def is_any_ready(self) -> bool:
        return any(word not in (0, self._DEAD) for word in self._words[: self.workers])

    @property
    def missing(self) -> int:
        """How many workers have died and are not replaced yet."""
        return sum(word == self._DEAD for word in self._words[: self.workers])

    @property
    def deaths(self) -> int:
        return self._words[self.workers]

    @property
    def memory_errors(self) -> int:
        return self._words[self.workers + 1]

    @property
    def is_stopping(self) -> bool:
        """Whether the service is about to stop, and still responds."""
        return self._words[self.workers + 2] == 1

    def set_stopping(self) -> None:
        self._words[self.workers + 2] = 1

"""The small request and response values that the server bindings and the API share."""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import NamedTuple, Protocol

Headers = list[tuple[str, str]]

NOSNIFF = ("x-content-type-options", "nosniff")


class HeaderLookup(Protocol):
    """Names are in lower case. `get` knows the first line of a name, `items` all of them."""

    def get(self, key: str, /) -> str | None: ...

    def items(self) -> Iterable[tuple[str, str]]: ...


class Request:
    """What an answer may depend on. The path is decoded; the query is as it came."""

    __slots__ = ("client", "headers", "method", "path", "query")

    def __init__(
        self,
        method: str,
        path: str,
        query: str = "",
        headers: HeaderLookup | None = None,
        client: str = "",
    ) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.headers = {} if headers is None else headers
        self.client = client


class FileBody(NamedTuple):
    """A part of a file, sent by the server without loading it. `stop` is exclusive."""

    path: Path
    start: int
    stop: int
    is_whole: bool


class Response(NamedTuple):
    """`body` None: there is none, and the headers say what there would be (HEAD, 304)."""

    status: int
    headers: Headers
    body: bytes | FileBody | None


Answer = Callable[[Request], Awaitable[Response]]


class Worker(NamedTuple):
    """What a server binding drives: a way to answer, and a way to end well."""

    answer: Answer
    close: Callable[[], None]

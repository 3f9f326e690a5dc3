"""The public API: a request value in, a response value out. Every public route is here.

There is no route table on the hot path: a detail is recognised by its prefix.
"""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from typing import Protocol

import msgspec

from widget_contract.names import is_widget_key
from widget_contract.semver import InvalidVersion, SemVer
from widget_contract.version_files import CLI_VERSION, WIDGETS
from widget_contract.wire import CliVersion, Counted, ServiceVersion, Shape

from ...core import release
from ...core.current_settings import CurrentSettings
from ...core.errors import Busy, InvalidQuery, InvalidRequest, StoreUnavailable
from ...core.http.accept import accepts
from ...core.http.conditional import content_response, http_date
from ...core.http.content import Content
from ...core.http.errors import TooLarge, error
from ...core.http.http import (
    CORS,
    NOSNIFF,
    Body,
    EventBody,
    Handler,
    HeaderLookup,
    Headers,
    Request,
    Response,
)
from ...core.http.request_body import read_whole
from ...core.tracing import current, part
from ..reading.catalog import CatalogReader
from ..reading.details import RegistryContent
from .event_streams import EventStreams
from .health import Health
from .query import parse_changes, parse_search, parse_since
from .resolve_request import MAX_BODY_BYTES, parse_resolve

_WIDGETS_LENGTH = len(WIDGETS)
_SEARCH = "search"
_STATS = "/api/stats"
_SETTINGS = "/api/settings"
_REGISTRY_PREFIX = "/api/widgets/"
_REGISTRY_SUFFIX = "/registry.json"
_MAX_PATH_AND_QUERY = 8192
_TOO_LONG = "The address is too long."
_BODY_WITHIN_S = 30
_UNMEASURED = nullcontext()

_JSON = ("content-type", "application/json; charset=utf-8")
_VARY = ("vary", "accept-encoding")
_OPEN: Headers = [_JSON, CORS, _VARY, NOSNIFF]
_OPEN_TO_ACCEPT: Headers = [_JSON, CORS, ("vary", "accept, accept-encoding"), NOSNIFF]
_EVENTS: Headers = [
    ("content-type", "text/event-stream; charset=utf-8"),
    CORS,
    ("vary", "accept"),
    ("cache-control", "no-store"),
    # Otherwise nginx would buffer the events.
    ("x-accel-buffering", "no"),
    NOSNIFF,
]
_CLOSED: Headers = [_JSON, _VARY, NOSNIFF]

_READ = "GET, HEAD"
_READ_OPEN = "GET, HEAD, OPTIONS"
_READ_COUNT_OPEN = "GET, HEAD, POST, OPTIONS"

_PREFLIGHT = Response(
    204,
    [
        CORS,
        ("access-control-allow-methods", "GET, HEAD, POST, OPTIONS"),
        ("access-control-allow-headers", "*"),
        ("access-control-max-age", "86400"),
        NOSNIFF,
    ],
    None,
)
_COUNTED = Response(200, [_JSON, CORS, NOSNIFF], msgspec.json.encode(Counted()))


class Counter(Protocol):
    async def count(self, widget_id: int) -> None:
        """Return when the increment is committed; raise StoreUnavailable if it cannot be."""


class PublicApi:
    """Answers everything under `/api/`; non-public requests are passed on."""

    def __init__(
        self,
        catalog: CatalogReader,
        counter: Counter,
        health: Health,
        public_settings: CurrentSettings,
        internal: Handler,
        min_cli_version: str,
        streams: EventStreams,
        stream_client: Callable[[Request], str | None],
        newest_stored: Callable[[], int],
    ) -> None:
        self._catalog = catalog
        self._counter = counter
        self._internal = internal
        self._streams = streams
        self._stream_client = stream_client
        self._newest_stored = newest_stored
        self._settings = public_settings
        # Below `/api/v1/widgets/`, with the allowed methods.
        read = tuple(_READ_OPEN.split(", "))
        self._open: dict[str, tuple[tuple[str, ...], Handler]] = {
            _SEARCH: (read, self._search_later),
            "changes": (read, self._changes),
            "revocations": (read, self._revocations),
            "resolve": (("POST", "OPTIONS"), self._resolve),
        }
        cli_version = CliVersion(min_cli_version, release.CLI_LATEST)
        version = ServiceVersion(release.VERSION, release.RELEASED_AT, release.API_VERSIONS)
        self._operational: dict[str, Callable[[Request], Response]] = {
            "/api/health": health.handle,
            _STATS: lambda request: content_response(
                request.headers, self._catalog.stats(), _CLOSED
            ),
            "/api/version": _fixed(version),
            CLI_VERSION: _fixed(cli_version),
        }

    def drain(self) -> None:
        """End responses that would not end by themselves."""
        self._streams.close()

    def respond_now(self, request: Request, headers: HeaderLookup) -> Response | None:
        """The response to a frequent read, which needs no waiting: a detail, a version, a registry,
        a search whose index is current. None: `handle` has it. `headers` are those of the request,
        read once: every `request.headers` makes a new object in the server.
        """
        method = request.method
        if method != "GET" and method != "HEAD":
            return None
        path = request.path
        if not path.startswith(WIDGETS):
            return self._registry_now(headers, path, request.query_string)
        key = path[_WIDGETS_LENGTH:]
        if key == _SEARCH:
            if self._catalog.is_behind:
                return None
            return self._search(headers, path, request.query_string)
        if (content := self._catalog.detail(key)) is not None:
            return content_response(headers, content, _OPEN)
        is_version = key.count("/") == 2 and not _is_too_long(path, request.query_string)
        return self._version(request, headers, key) if is_version else None

    async def handle(self, request: Request, body: Body) -> Response:
        path = request.path
        if not path.startswith(WIDGETS):
            if path == _STATS:
                await self._catalog.catch_up()
            public = await self._handle_closed(request)
            return await self._internal(request, body) if public is None else public
        key = path[_WIDGETS_LENGTH:]
        method = request.method
        if (response := self.respond_now(request, request.headers)) is not None:
            return response
        if _is_too_long(path, request.query_string):
            return error(414, _TOO_LONG, CORS)
        if method == "OPTIONS":
            return _PREFLIGHT
        if key in self._open:
            methods, handler = self._open[key]
            if method not in methods:
                allowed = ", ".join(methods)
                return _wrong_method(request, allowed, CORS)
            try:
                return await handler(request, body)
            except (InvalidQuery, InvalidRequest, TooLarge) as problem:
                return error(400, problem.message, CORS)
        if key.count("/") == 2:
            return self._version(request, request.headers, key)
        if not is_widget_key(key):
            return error(404, f"There is nothing at {path[:200]}.", CORS)
        if method == "GET" or method == "HEAD":
            return _no_widget(key)
        if method == "POST":
            return await self._count(key)
        return _wrong_method(request, _READ_COUNT_OPEN, CORS)

    def _search(self, headers: HeaderLookup, path: str, query_string: str) -> Response | None:
        """None: its terms have to be looked up first."""
        if _is_too_long(path, query_string):
            return error(414, _TOO_LONG, CORS)
        try:
            asked = parse_search(query_string)
        except InvalidQuery as problem:
            return error(400, problem.message, CORS)
        if self._catalog.has_many_new_terms(asked.query):
            return None
        return content_response(headers, self._catalog.search_page(asked), _OPEN)

    async def _search_later(self, request: Request, _: Body) -> Response:
        asked = parse_search(request.query_string)  # An error need not wait.
        await self._catalog.catch_up()
        await self._catalog.look_up(asked.query)
        return content_response(request.headers, self._catalog.search_page(asked), _OPEN)

    async def _revocations(self, request: Request, _: Body) -> Response:
        return content_response(request.headers, self._catalog.revocations(), _OPEN)

    def _version(self, request: Request, headers: HeaderLookup, key: str) -> Response:
        widget, _, version = key.rpartition("/")
        is_read = request.method == "GET" or request.method == "HEAD"
        is_known = is_widget_key(widget)
        content = self._catalog.version(key) if is_read and is_known else None
        if content is not None:
            return content_response(headers, content, _OPEN)
        if not (is_known and _is_version(version)):
            return error(404, f"There is nothing at {request.path[:200]}.", CORS)
        if not is_read:
            return _wrong_method(request, _READ_OPEN, CORS)
        return error(404, f"There is no version {version[:80]!r} of {widget}.", CORS)

    async def _changes(self, request: Request, _: Body) -> Response:
        since, limit = parse_changes(request.query_string)
        if accepts(request.headers.get("accept") or "", "text/event-stream"):
            # A client that reconnects resumes after the last event it received.
            if seen := request.headers.get("last-event-id"):
                since = parse_since("Last-Event-ID", seen)
            return await self._event_stream(request, since)
        content = self._catalog.changes(since or 0, limit)
        if content is None:
            return _no_longer_kept(since or 0)
        return content_response(request.headers, content, _OPEN_TO_ACCEPT)

    async def _event_stream(self, request: Request, since: int | None) -> Response:
        """Without a starting number, only new changes are sent."""
        newest = self._catalog.revision
        after = newest if since is None else since
        if self._catalog.change_events(after, 1) is None:
            return _no_longer_kept(after)
        if after > newest and await self._is_beyond_feed(after):
            return _yet_to_come(after)
        if request.method == "HEAD":
            return Response(200, _EVENTS, None)
        client = self._stream_client(request)
        if self._streams.has_enough(client):
            return _too_many_streams("You have too many event streams open here.")
        if self._streams.is_full:
            return _too_many_streams("Too many event streams are open here.")
        listener = self._streams.listen(after, client)
        return Response(200, _EVENTS, EventBody(listener, listener.end))

    async def _is_beyond_feed(self, seq: int) -> bool:
        """Whether there is no such change at all, as opposed to a node that lags behind."""
        try:
            return seq > await asyncio.to_thread(self._newest_stored)
        except StoreUnavailable:
            return False

    async def _resolve(self, request: Request, body: Body) -> Response:
        try:
            reading = read_whole(request, body, MAX_BODY_BYTES)
            sent = await asyncio.wait_for(reading, _BODY_WITHIN_S)
            content = self._catalog.find_resolved(sent)
            if content is None:
                content = await self._catalog.resolve(await parse_resolve(sent), sent)
        except TimeoutError:
            return error(408, "The body did not come in time.", CORS, ("connection", "close"))
        except Busy as problem:
            return error(503, problem.message, CORS, ("retry-after", str(problem.wait_s)))
        # Responses to POST are not cached, so conditional headers are ignored.
        accepted = {"accept-encoding": request.headers.get("accept-encoding") or ""}
        return content_response(accepted, content, _OPEN)

    async def _count(self, key: str) -> Response:
        widget_id = self._catalog.find_id(key)
        if widget_id is None:
            return _no_widget(key)
        try:
            with _UNMEASURED if current.get() is None else part("counting"):
                await self._counter.count(widget_id)
        except StoreUnavailable as problem:
            return error(503, problem.message, CORS, ("retry-after", "5"))
        return _COUNTED

    async def _handle_closed(self, request: Request) -> Response | None:
        """Everything public under /api/ without CORS headers; None for other paths."""
        path = request.path
        if _is_too_long(path, request.query_string):
            return error(414, _TOO_LONG)
        operational = self._operational.get(path)
        if path == _SETTINGS or operational is not None:
            if request.method != "GET" and request.method != "HEAD":
                return _wrong_method(request, _READ)
            if operational is not None:
                return operational(request)
            return content_response(request.headers, await self._settings.content(), _CLOSED)
        if (scope := _scope_of_registry(path)) is not None:
            return await self._registry(request, scope)
        if path.startswith("/api/v1/"):
            return error(404, f"There is nothing at {path[:200]}.")
        return None

    def _registry_now(self, headers: HeaderLookup, path: str, query_string: str) -> Response | None:
        scope = _scope_of_registry(path)
        if scope is None or _is_too_long(path, query_string):
            return None
        registry = self._catalog.registry(scope)
        return None if registry is None else _registry_response(headers, registry)

    async def _registry(self, request: Request, scope: str) -> Response:
        if request.method != "GET" and request.method != "HEAD":
            return _wrong_method(request, _READ)
        registry = await self._catalog.load_registry(scope)
        if registry is None:
            return error(404, f"There is no scope {scope[:80]!r}.")
        return _registry_response(request.headers, registry)


def _is_too_long(path: str, query_string: str) -> bool:
    """The caller passes both, because every access to one of a request decodes it again."""
    return len(path) + len(query_string) > _MAX_PATH_AND_QUERY


def _scope_of_registry(path: str) -> str | None:
    if not (path.startswith(_REGISTRY_PREFIX) and path.endswith(_REGISTRY_SUFFIX)):
        return None
    scope = path[len(_REGISTRY_PREFIX) : -len(_REGISTRY_SUFFIX)]
    return scope if scope and "/" not in scope else None


def _registry_response(headers: HeaderLookup, registry: RegistryContent) -> Response:
    response = content_response(headers, registry.content, _CLOSED)
    # Informative only: two changes may happen in the same second, so If-Modified-Since is not used.
    response.headers.append(("last-modified", http_date(registry.changed_at)))
    return response


def _fixed(body: Shape) -> Callable[[Request], Response]:
    content = Content(msgspec.json.encode(body))
    return lambda request: content_response(request.headers, content, _CLOSED)


def _wrong_method(request: Request, allowed: str, *headers: tuple[str, str]) -> Response:
    message = f"{request.method[:40]} is not possible here; use {allowed}."
    return error(405, message, ("allow", allowed), *headers)


def _too_many_streams(sentence: str) -> Response:
    message = f"{sentence} Try again, or ask without one."
    return error(503, message, CORS, ("retry-after", "5"))


def _no_longer_kept(since: int) -> Response:
    message = (
        f"Not all changes after {since} are kept any more. Start over from the registries or from "
        "a snapshot, then follow from the number that the newest change has."
    )
    return error(410, message, CORS)


def _yet_to_come(since: int) -> Response:
    message = (
        f"There is no change {since} yet: this catalog was restored from a backup, or is another "
        "one. Start over from the registries, then follow from the number of the newest change."
    )
    return error(410, message, CORS)


def _is_version(text: str) -> bool:
    try:
        SemVer.parse(text)
    except InvalidVersion:
        return False
    return True


def _no_widget(key: str) -> Response:
    return error(404, f"There is no widget {key!r}.", CORS)

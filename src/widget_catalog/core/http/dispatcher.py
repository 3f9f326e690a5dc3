"""Dispatcher: finds the route of a request, receives its body, checks who sends it and from where,
and runs its handler in a thread.
"""

import asyncio
import contextvars
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from widget_contract.errors import CatalogError, InvalidManifest
from widget_contract.manifests import MAX_MANIFEST_TEXT_BYTES
from widget_contract.version_files import MAX_PICTURE_BYTES, MAX_PICTURES

from ..actors import Right, Visitor
from ..data_folder import DataFolder
from ..errors import NotFound, NotSignedIn
from ..jobs.fair_pool import FairPool
from ..networks import network_of
from ..tracing import current, part
from .call import OAUTH_BASE, Call, is_asked_by_program
from .cookies import COOKIE, Cookies, theme_of
from .csrf import check_csrf, refuse_other_sites
from .errors import (
    STATUSES,
    TooLarge,
    TooSlow,
    WrongMethod,
    failure,
    failure_page,
    log_error,
    oauth_failure,
)
from .http import Body, Request, Response
from .middleware import client_of
from .multipart_form import FormFile, MultipartForm, MultipartReader, boundary_of
from .receiving import Receiver
from .request_body import check_content_type, content_type_of, length_of, read_whole
from .routing import AuthMode, Found, Route, Routes, Who, allowed
from .services import Services

T = TypeVar("T")

_TIMEOUT_S = 30
# More of a form with files is read than is kept, so that a person who uploads a file that is too
# large gets the form with an error instead of a closed connection.
_MAX_FORM_BYTES = 32 << 20
# Manifest, bundle, style sheet and README; the others are pictures.
_LARGE_FILES = 4
_CLOSED = "This address is for signed-in people only."


class Authentication(Protocol):
    """Authenticates requests. The feature `accounts` implements it."""

    def by_token(self, token: str, address: str) -> Visitor:
        """Raises NotSignedIn if it is invalid or has expired."""

    def by_session(self, secret: str, address: str) -> Visitor | None: ...

    def check(self, visitor: Visitor, route: Route) -> None:
        """Raises an error if this route needs more proof."""


@dataclass
class Exchange:
    """A request on its way: located, received, authorized, run."""

    request: Request
    method: str
    address: str
    cookies: Mapping[str, str]
    found: Found[Route] | None
    """The routes of its path."""
    sent: bytes | CatalogError = b""
    """The body, or why it could not be received."""
    files: Sequence[FormFile] = ()

    @property
    def route(self) -> Route | None:
        return None if self.found is None else self.found.methods.get(self.method)

    @property
    def auth(self) -> AuthMode:
        """All methods of a path report errors in the same format."""
        if self.found is None:
            return AuthMode.API
        return (self.route or next(iter(self.found.methods.values()))).auth

    @property
    def is_open(self) -> bool:
        """Whether anybody may use some method of the path."""
        methods = () if self.found is None else self.found.methods.values()
        return any(it.needs is Who.ANYONE for it in methods)

    @property
    def may_be_received(self) -> bool:
        """Whether anybody may send a body there, or the sender claims to be signed in."""
        return self.is_open or COOKIE in self.cookies or "authorization" in self.request.headers

    def call(self, visitor: Visitor | None, body: bytes) -> Call:
        params = {} if self.found is None else self.found.params
        return Call(self.request, self.address, params, body, visitor, self.cookies, self.files)

    def close_files(self) -> None:
        for file in self.files:
            file.content.close()


@dataclass(eq=False)
class Dispatcher:
    """Read-only requests have a separate thread pool, so they never wait for a writer."""

    services: Services
    authentication: Authentication
    routes: Routes[Route]
    readers: ThreadPoolExecutor
    writers: ThreadPoolExecutor
    hashing: FairPool
    publishing: FairPool
    receiver: Receiver

    def __post_init__(self) -> None:
        self._cookies = Cookies(self.services.settings.public_url)

    def knows(self, path: str) -> bool:
        return self.routes.find(path) is not None

    async def handle(self, request: Request, body: Body) -> Response:
        if (trace := current.get()) is not None:
            trace.theme = theme_of(request)
        return self._cookies.sent(await self._respond(self._locate(request), body))

    async def _respond(self, exchange: Exchange, body: Body) -> Response:
        if not exchange.may_be_received:
            return self._failure(exchange, NotSignedIn(_CLOSED))
        await self._receive(exchange, body)
        try:
            response = await self._run(exchange)
        except tuple(STATUSES) as error:
            response = await _in_thread(self.readers, partial(self._report, exchange, error))
        finally:
            if exchange.files:
                await _in_thread(self.writers, exchange.close_files)
        return response._replace(body=None) if exchange.request.method == "HEAD" else response

    def _locate(self, request: Request) -> Exchange:
        method = "GET" if request.method == "HEAD" else request.method
        address, cookies = client_address(self.services, request), self._cookies.received(request)
        return Exchange(request, method, address, cookies, self.routes.find(request.path))

    async def _receive(self, exchange: Exchange, body: Body) -> None:
        """Read the body up to the limit of its route. An error is kept: `_authorize` raises it."""
        request, route = exchange.request, exchange.route
        if route is None:
            return
        try:
            boundary = boundary_of(content_type_of(request)) if route.takes_files else None
            if boundary is not None:
                form = await self._receive_form(exchange, body, boundary)
                exchange.sent, exchange.files = form.urlencoded, form.files
            else:
                reading = read_whole(request, body, route.max_body)
                exchange.sent = await asyncio.wait_for(reading, _TIMEOUT_S)
        except TimeoutError:
            exchange.sent = TooSlow("The body did not come in time.")
        except tuple(STATUSES) as error:
            exchange.sent = error

    def _authorize(self, exchange: Exchange) -> tuple[Route, Call]:
        """The route, which the sender may use, and the call for its handler. In a thread."""
        request, found = exchange.request, exchange.found
        route, sent = exchange.route, exchange.sent
        visitor = self._identify(exchange)
        # First of all, so that anonymous clients cannot find out what exists.
        if visitor is None and not exchange.is_open:
            raise NotSignedIn(_CLOSED)
        if found is None:
            raise NotFound(f"There is nothing at {request.path[:200]}.")
        if route is None:
            raise WrongMethod(request.method, allowed(found.methods))
        if visitor is None and route.needs is not Who.ANYONE:
            raise NotSignedIn(_CLOSED)
        if isinstance(sent, TooLarge) and route.needs is Right.PUBLISH:
            # Reported like the other errors of a manifest.
            raise InvalidManifest([sent.message])
        if isinstance(sent, CatalogError):
            raise sent
        check_content_type(request, route, sent)
        call = exchange.call(visitor, sent)
        check_csrf(self.services.settings, call, route)
        if visitor is not None:
            self.authentication.check(visitor, route)
        return route, call

    async def _run(self, exchange: Exchange) -> Response:
        """Run the handler in a thread: after its preparation, or in turn, if the route says so."""
        route = exchange.route
        threads = self.writers if route is not None and route.writes else self.readers
        if route is not None and route.prepares is not None:
            _, call = await _in_thread(threads, partial(self._authorize, exchange))
            in_turn = partial(self._in_turn, call.actor.name)
            act = partial(self._act, route, call)
            async with route.prepares(self.services, call, in_turn):
                return await (in_turn(act) if route.writes else _in_thread(threads, act))

        def authorize_and_act() -> Response:
            return self._act(*self._authorize(exchange))

        if route is not None and route.hashes:
            network = network_of(exchange.address)
            return await self.hashing.run(network, _in_context(authorize_and_act))
        return await _in_thread(threads, authorize_and_act)

    def _act(self, route: Route, call: Call) -> Response:
        with part("action"):
            return route.handler(self.services, call)

    async def _in_turn(self, account: str, work: Callable[[], T]) -> T:
        return await self.publishing.run(account, _in_context(work))

    def _report(self, exchange: Exchange, error: CatalogError) -> Response:
        log_error(exchange.request, error)
        return self._failure(exchange, error)

    def _failure(self, exchange: Exchange, error: CatalogError) -> Response:
        """The response to an error, in the format of the path."""
        request = exchange.request
        match exchange.auth:
            case AuthMode.API | AuthMode.SIGN_IN:
                return failure(error)
            case AuthMode.OAUTH:
                return oauth_failure(error)
            case _ if is_asked_by_program(request):
                is_oauth = request.path.startswith(OAUTH_BASE)
                return oauth_failure(error) if is_oauth else failure(error)
            case _:
                return failure_page(self.services.renderer, request, error, self._page_at(request))

    def _page_at(self, request: Request) -> str:
        """The page to return to if something else must be done first. A submitted form is lost, so
        this is the page that has the form: at the same path, or at the nearest one above.
        """
        query, path = request.query_string, request.path
        if request.method in ("GET", "HEAD"):
            return f"{path}?{query}" if query else path
        while path:
            found = self.routes.find(path)
            if found is not None and "GET" in found.methods:
                return f"{path}?{query}" if query and path == request.path else path
            path = path.rpartition("/")[0]
        return ""

    def _identify(self, exchange: Exchange) -> Visitor | None:
        """Authenticate the request; raises NotSignedIn for an invalid or expired bearer token."""
        if exchange.auth in (AuthMode.SIGN_IN, AuthMode.OAUTH, AuthMode.ANONYMOUS_PAGE):
            return None
        given = exchange.request.headers.get("authorization")
        if given is not None and exchange.auth is AuthMode.API:
            scheme, _, token = given.partition(" ")
            if scheme.lower() != "bearer" or not token:
                raise NotSignedIn("Authorization must be `Bearer` and a token.")
            return self.authentication.by_token(token.strip(), exchange.address)
        secret = exchange.cookies.get(COOKIE)
        return None if secret is None else self.authentication.by_session(secret, exchange.address)

    async def _receive_form(self, exchange: Exchange, body: Body, boundary: str) -> MultipartForm:
        """Receive a form with files; of authenticated senders only, and not from other sites."""
        settings, receiver = self.services.settings, self.receiver
        visitor = await receiver.in_thread(self._identify, exchange)
        if visitor is None:
            raise NotSignedIn(_CLOSED)
        refuse_other_sites(settings, exchange.request)
        large = max(settings.max_bundle_bytes, MAX_MANIFEST_TEXT_BYTES)
        folder = DataFolder(settings.data).uploads
        kept = _LARGE_FILES * large + MAX_PICTURES * MAX_PICTURE_BYTES
        most = max(large, MAX_PICTURE_BYTES)
        reader = MultipartReader(boundary, folder, most, max(_MAX_FORM_BYTES, 2 * kept))
        with (
            receiver.limit_forms(visitor.actor.name),
            receiver.limit_uploads(network_of(exchange.address)),
            receiver.limit_bytes(min(kept, length_of(exchange.request, kept))),
        ):
            try:
                await receiver.pass_on(body, reader.write)
                return await receiver.in_thread(reader.finish)
            except BaseException:
                await receiver.in_thread(reader.give_up)
                raise


def _in_context(work: Callable[[], T]) -> Callable[[], T]:
    return partial(contextvars.copy_context().run, work)


async def _in_thread(threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, _in_context(work))


def client_address(services: Services, request: Request) -> str:
    return client_of(request, trust_forwarded_for=services.settings.trust_forwarded_for)

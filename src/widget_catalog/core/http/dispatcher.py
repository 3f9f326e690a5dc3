"""Dispatcher: authenticates a request, checks where it comes from, reads its body, and runs its
handler in a thread.
"""

import asyncio
import contextvars
import hmac
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NoReturn, Protocol, TypeVar
from urllib.parse import urlsplit

from widget_contract.errors import CatalogError, InvalidManifest
from widget_contract.manifests import MAX_MANIFEST_TEXT_BYTES
from widget_contract.version_files import MAX_PICTURE_BYTES, MAX_PICTURES

from ..actors import Right, Visitor
from ..data_folder import DataFolder
from ..errors import InvalidRequest, NotAllowed, NotFound, NotSignedIn
from ..jobs.fair_pool import FairPool
from ..networks import network_of
from ..tracing import current, part
from .call import (
    OAUTH_BASE,
    Call,
    is_asked_by_program,
)
from .cookies import (
    COOKIE,
    Cookies,
    theme_of,
)
from .errors import (
    STATUSES,
    TooLarge,
    TooSlow,
    UnsupportedType,
    WrongMethod,
    failure,
    failure_page,
    log_error,
    oauth_failure,
)
from .http import Body, Request, Response
from .middleware import client_of
from .multipart_form import (
    FormFile,
    MultipartForm,
    MultipartReader,
    boundary_of,
)
from .receiving import Receiver
from .routing import AuthMode, Handler, Route, Routes, Who, allowed
from .services import Services

T = TypeVar("T")

_UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
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
        cookies = self._cookies.received(request)
        return self._cookies.sent(await self._handle(request, body, cookies))

    async def _handle(self, request: Request, body: Body, cookies: Mapping[str, str]) -> Response:
        found = self.routes.find(request.path)
        method = "GET" if request.method == "HEAD" else request.method
        route = found.methods.get(method) if found is not None else None
        is_open = found is not None and any(it.needs is Who.ANYONE for it in found.methods.values())
        # All methods of a path report errors in the same format.
        some = route or (next(iter(found.methods.values())) if found is not None else None)
        auth = some.auth if some is not None else AuthMode.API

        def fail(error: CatalogError) -> Response:
            match auth:
                case AuthMode.API | AuthMode.SIGN_IN:
                    return failure(error)
                case AuthMode.OAUTH:
                    return oauth_failure(error)
                case _ if is_asked_by_program(request):
                    is_oauth = request.path.startswith(OAUTH_BASE)
                    return oauth_failure(error) if is_oauth else failure(error)
                case _:
                    back = self._page_at(request)
                    return failure_page(self.services.renderer, request, error, back)

        if not is_open and COOKIE not in cookies and request.headers.get("authorization") is None:
            return fail(NotSignedIn(_CLOSED))
        params = found.params if found is not None else {}
        address = client_address(self.services, request)
        sent: bytes | CatalogError = b""
        files: list[FormFile] = []
        if route is not None:
            try:
                boundary = boundary_of(content_type_of(request)) if route.takes_files else None
                if boundary is not None:
                    form = await self._receive_form(request, body, boundary, auth, cookies)
                    sent, files = form.urlencoded, form.files
                else:
                    reading = read_whole(request, body, route.max_body)
                    sent = await asyncio.wait_for(reading, _TIMEOUT_S)
            except TimeoutError:
                sent = TooSlow("The body did not come in time.")
            except tuple(STATUSES) as error:
                sent = error

        def admit() -> tuple[Handler, Call]:
            """For a route that the sender may use."""
            visitor = identify(self.authentication, request, auth, address, cookies)
            # First of all, so that anonymous clients cannot find out what exists.
            if visitor is None and not is_open:
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
            call = Call(request, address, params, sent, visitor, cookies, files)
            check_csrf(self.services, call, route)
            if visitor is not None:
                self.authentication.check(visitor, route)
            return route.handler, call

        def act(handler: Handler, call: Call) -> Response:
            with part("action"):
                return handler(self.services, call)

        def respond(act: Callable[[], Response]) -> Response:
            try:
                return act()
            except tuple(STATUSES) as error:
                log_error(request, error)
                return fail(error)

        def finish() -> Response:
            return respond(lambda: act(*admit()))

        threads = self.writers if route is not None and route.writes else self.readers
        in_thread = partial(_in_thread, threads)
        response: Response
        try:
            if route is not None and route.prepares is not None:
                handler, call = await in_thread(admit)
                in_turn = partial(self._in_turn, call.actor.name)
                async with route.prepares(self.services, call, in_turn):
                    run = in_turn if route.writes else in_thread
                    response = await run(lambda: respond(lambda: act(handler, call)))
            elif route is not None and route.hashes:
                response = await self.hashing.run(network_of(address), _in_context(finish))
            else:
                response = await in_thread(finish)
        except tuple(STATUSES) as error:
            response = await _in_thread(self.readers, partial(respond, partial(_raise, error)))
        finally:
            if files:
                await in_thread(partial(_close, files))
        return response._replace(body=None) if request.method == "HEAD" else response

    async def _in_turn(self, account: str, work: Callable[[], T]) -> T:
        return await self.publishing.run(account, _in_context(work))

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

    async def _receive_form(
        self,
        request: Request,
        body: Body,
        boundary: str,
        auth: AuthMode,
        cookies: Mapping[str, str],
    ) -> MultipartForm:
        """Receive a form with files; of authenticated senders only, and not from other sites."""
        services, receiver, in_thread = self.services, self.receiver, self.receiver.in_thread
        address = client_address(services, request)
        visitor = await in_thread(identify, self.authentication, request, auth, address, cookies)
        if visitor is None:
            raise NotSignedIn(_CLOSED)
        refuse_other_sites(services, Call(request, address, {}, b"", visitor, cookies))
        large = max(services.settings.max_bundle_bytes, MAX_MANIFEST_TEXT_BYTES)
        folder = DataFolder(services.settings.data).uploads
        kept = _LARGE_FILES * large + MAX_PICTURES * MAX_PICTURE_BYTES
        most = max(large, MAX_PICTURE_BYTES)
        reader = MultipartReader(boundary, folder, most, max(_MAX_FORM_BYTES, 2 * kept))
        with (
            receiver.limit_forms(visitor.actor.name),
            receiver.limit_uploads(network_of(address)),
            receiver.limit_bytes(min(kept, length_of(request, kept))),
        ):
            try:
                await receiver.pass_on(body, reader.write)
                return await in_thread(reader.finish)
            except BaseException:
                await in_thread(reader.give_up)
                raise


def _in_context(work: Callable[[], T]) -> Callable[[], T]:
    return partial(contextvars.copy_context().run, work)


async def _in_thread(threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(threads, _in_context(work))


def _raise(error: BaseException) -> NoReturn:
    raise error


def _close(files: Sequence[FormFile]) -> None:
    for file in files:
        file.content.close()


def identify(
    authentication: Authentication,
    request: Request,
    auth: AuthMode,
    address: str,
    cookies: Mapping[str, str],
) -> Visitor | None:
    """Authenticate the request; raises NotSignedIn for an invalid or expired bearer token."""
    if auth in (AuthMode.SIGN_IN, AuthMode.OAUTH, AuthMode.ANONYMOUS_PAGE):
        return None
    given = request.headers.get("authorization")
    if given is not None and auth is AuthMode.API:
        scheme, _, token = given.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise NotSignedIn("Authorization must be `Bearer` and a token.")
        return authentication.by_token(token.strip(), address)
    secret = cookies.get(COOKIE)
    return None if secret is None else authentication.by_session(secret, address)


def check_csrf(services: Services, call: Call, route: Route) -> None:
    """Browsers send cookies on behalf of any site; only our own pages can send the CSRF token."""
    if route.method not in _UNSAFE or not call.is_by_session:
        return
    if route.takes_form:
        refuse_other_sites(services, call)
    token = call.request.headers.get("x-csrf-token") or ""
    if not token and route.takes_form:
        token = call.form().get("csrf_token", "")
    if not hmac.compare_digest(token.encode(), call.csrf_token.encode()):
        raise NotAllowed(
            "This form is out of date. Go back, load the page again, and send it once more."
            if route.takes_form
            else "The CSRF token is missing or wrong: send the session's csrfToken in the header "
            "X-CSRF-Token."
        )


def check_content_type(request: Request, route: Route, sent: bytes) -> None:
    """JSON must be declared as JSON, which other sites cannot do without a preflight."""
    if request.method not in _UNSAFE or not sent:
        return
    kind = content_type_of(request).partition(";")[0].strip().lower()
    if route.takes_form:
        if kind == "multipart/form-data" and not route.takes_files:
            raise UnsupportedType("The form must be application/x-www-form-urlencoded.")
    elif kind != "application/json":
        raise UnsupportedType("The body must be application/json.")


def content_type_of(request: Request) -> str:
    return request.headers.get("content-type") or ""


def length_of(request: Request, otherwise: int) -> int:
    """The announced length of the body, if any."""
    text = request.headers.get("content-length") or ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else otherwise


def client_address(services: Services, request: Request) -> str:
    return client_of(request, trust_forwarded_for=services.settings.trust_forwarded_for)


async def read_whole(request: Request, body: Body, most: int) -> bytes:
    """Raises TooLarge, without reading a body that is announced as such, and InvalidRequest."""
    announced = length_of(request, 0)
    chunks: list[bytes] = []
    size = 0
    if announced <= most:
        async for chunk in body:
            chunks.append(chunk)
            size += len(chunk)
            if size > most:
                break
    if max(size, announced) > most:
        raise TooLarge(f"The body is too large: at most {most:,} bytes are taken here.")
    if size < announced:
        # The connection was closed. A form that is cut off may still look complete.
        raise InvalidRequest("The body is incomplete. Send the request again.")
    return b"".join(chunks)


def refuse_other_sites(services: Services, call: Call) -> None:
    """Raises NotAllowed for a cross-site request.

    `Origin: null` is foreign, too: sandboxed frames and `data:` documents send it. Our own pages
    never do, because their referrer policy is `same-origin`; with `no-referrer` they would. A
    request without the header is not a browser's form.
    """
    headers = call.request.headers
    origin = headers.get("origin")
    is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if is_foreign or (origin is not None and not _is_own(services, call, origin)):
        raise NotAllowed(
            "This was sent from a page of another site. Open a page of this service, and send it "
            "from there."
        )


def _is_own(services: Services, call: Call, origin: str) -> bool:
    """With `base_url`, only that origin: the `Host` header is chosen by the client, and a page
    loaded over http may have been replaced. Without it, any host name of this machine is accepted.
    """
    settings = services.settings
    if settings.base_url:
        return _origin_of(origin) == _origin_of(settings.public_url)
    ours = {call.request.headers.get("host"), urlsplit(settings.public_url).netloc} - {None, ""}
    found = _origin_of(origin)
    return found is not None and urlsplit(origin).netloc in ours


def _origin_of(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port, as browsers compare them; None if there is none, as for `null`."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    return parts.scheme, host, port or {"https": 443, "http": 80}.get(parts.scheme)

"""InternalApi: lets people in, reads what they sent, and has a handler answer in a thread."""

import asyncio
import hmac
from concurrent.futures import ThreadPoolExecutor

from ...actions.sign_in import Visitor, identify_bearer, identify_session
from ...domain.accounts import Via
from ...domain.errors import NotAllowed, NotSignedIn
from ..around import client_of
from ..http import Body, Request, Response
from ..public import error
from .call import Call, Services, cookie_of, csrf_token
from .failures import STATUSES, TooLarge, TooSlow, UnsupportedType, failure
from .routing import Route, Routes, Who, allowed

_UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
_PATIENCE_S = 30
_CLOSED = "This address is for signed-in people only."
_BEARER = ("www-authenticate", "Bearer")


class InternalApi:
    def __init__(self, services: Services, routes: Routes, threads: ThreadPoolExecutor) -> None:
        self._services = services
        self._routes = routes
        self._threads = threads

    async def answer(self, request: Request, body: Body) -> Response:
        found = self._routes.find(request.path)
        method = "GET" if request.method == "HEAD" else request.method
        route = found.methods.get(method) if found is not None else None
        is_open = found is not None and any(it.needs is Who.ANYONE for it in found.methods.values())
        if not is_open and not has_credentials(request):
            return error(401, _CLOSED, _BEARER)
        sent = b""
        if route is not None:
            try:
                sent = await asyncio.wait_for(read_whole(body, route.max_body), _PATIENCE_S)
            except TooLarge as fault:
                return failure(fault)
            except TimeoutError:
                return failure(TooSlow("The body did not come in time."))
        loop = asyncio.get_running_loop()
        params = found.params if found is not None else {}

        def work() -> Response:
            try:
                visitor = identify(self._services, request)
                if route is None:
                    return self._no_route(request, visitor, allowed(found.methods) if found else "")
                if visitor is None and route.needs is not Who.ANYONE:
                    raise NotSignedIn(_CLOSED)
                check_content_type(request, route, sent)
                check_csrf(request, visitor, request.headers.get("x-csrf-token") or "")
                address = client_address(self._services, request)
                return route.handler(self._services, Call(request, address, params, sent, visitor))
            except tuple(STATUSES) as fault:
                return failure(fault)

        response = await loop.run_in_executor(self._threads, work)
        return response._replace(body=None) if request.method == "HEAD" else response

    def _no_route(self, request: Request, visitor: Visitor | None, allow: str) -> Response:
        if visitor is None and not allow:
            raise NotSignedIn(_CLOSED)
        if allow:
            sentence = f"{request.method[:40]} is not possible here; use {allow}."
            return error(405, sentence, ("allow", allow))
        return error(404, f"There is nothing at {request.path[:200]}.")


def has_credentials(request: Request) -> bool:
    return request.headers.get("authorization") is not None or cookie_of(request) is not None


def identify(services: Services, request: Request) -> Visitor | None:
    """Who is asking; NotSignedIn for a bearer token that is not good (any more)."""
    given = request.headers.get("authorization")
    if given is not None:
        scheme, _, token = given.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise NotSignedIn("Authorization must be `Bearer` and a token.")
        return identify_bearer(services.store, token.strip())
    secret = cookie_of(request)
    if secret is None:
        return None
    return identify_session(services.store, secret, services.lifetimes)


def check_csrf(request: Request, visitor: Visitor | None, token: str) -> None:
    """A cookie is sent by the browser, whoever asks it to; the token only by our own pages."""
    is_by_cookie = visitor is not None and visitor.actor.via is Via.SESSION
    if request.method not in _UNSAFE or not is_by_cookie:
        return
    if not hmac.compare_digest(token.encode(), csrf_token(cookie_of(request) or "").encode()):
        raise NotAllowed(
            "The CSRF token is missing or wrong: send the session's csrfToken in the header "
            "X-CSRF-Token."
        )


def check_content_type(request: Request, route: Route, sent: bytes) -> None:
    """JSON must be said to be JSON: no page of another site can do that without being asked."""
    if route.takes_form or request.method not in _UNSAFE or not sent:
        return
    kind = (request.headers.get("content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedType("The body must be application/json.")


def client_address(services: Services, request: Request) -> str:
    return client_of(request, trust_forwarded_for=services.settings.trust_forwarded_for)


async def read_whole(body: Body, most: int) -> bytes:
    chunks: list[bytes] = []
    left = most
    async for chunk in body:
        left -= len(chunk)
        if left < 0:
            raise TooLarge(f"The body is too large: at most {most:,} bytes are taken here.")
        chunks.append(chunk)
    return b"".join(chunks)

"""Site: everything one origin serves, dispatched by the first segment of the path."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from ..catalog.api.api import PublicApi
from ..catalog.api.cdn import PREFIX as CDN_PREFIX
from ..catalog.api.cdn import Cdn
from ..catalog.api.client_files import PREFIX as CLIENT_PREFIX
from ..catalog.api.client_files import serve_client_file
from ..catalog.api.health import PREFIX as HEALTHZ_PREFIX
from ..catalog.api.health import Healthz
from ..catalog.api.sandbox_frame import PREFIX as FRAME_PREFIX
from ..catalog.api.sandbox_frame import SandboxFrame
from ..core.db.damage import DamageAlarm
from ..core.errors import ReplicaDamaged, StoreUnavailable
from ..core.http.dispatcher import Dispatcher
from ..core.http.errors import damaged, internal_error, rebuilding, unavailable
from ..core.http.http import Body, Handler, HeaderLookup, Request, Response
from ..core.http.middleware import REQUEST_ID, begin_trace, identified, traced
from ..core.tracing import current
from ..pages.embeds import EmbedPages
from ..pages.pages import PublicPages

_log = structlog.get_logger("widget_catalog.web")


@dataclass(eq=False)
class Site:
    api: PublicApi
    cdn: Cdn
    frame: SandboxFrame
    others: Mapping[str, Handler]
    dispatcher: Dispatcher
    embeds: EmbedPages
    pages: PublicPages
    healthz: Healthz
    alarm: DamageAlarm
    condemn: Callable[[ReplicaDamaged], None]

    def drain(self) -> None:
        """Other workers take over."""
        self.healthz.is_draining = True
        self.api.drain()

    def __post_init__(self) -> None:
        self._traced_others = {prefix: traced(it) for prefix, it in self.others.items()}
        self._show_page = traced(self._find_page)

    def respond_now(self, request: Request, headers: HeaderLookup) -> Response | None:
        """The most frequent reads of the public API, which never wait; None for all else, for
        errors, and if the response has to be identified.
        """
        try:
            response = self.api.respond_now(request, headers)
        except Exception as error:
            return self._fail(request, error)
        if response is not None and (response.status >= 400 or REQUEST_ID in headers):
            return identified(request, response)
        return response

    async def handle(self, request: Request, body: Body) -> Response:
        path = request.path
        try:
            if path.startswith("/api/") or path == "/api":
                response = await self.api.handle(request, body)
                # Successes are identified only if asked for: a public read pays nothing for it.
                if response.status >= 400 or request.headers.get(REQUEST_ID) is not None:
                    return identified(request, response)
                return response
            if path.startswith(CDN_PREFIX):
                response = await self.cdn.handle(request)
                return identified(request, response) if response.status >= 400 else response
            if path.startswith(CLIENT_PREFIX):
                return serve_client_file(request)
            if path.startswith(FRAME_PREFIX):
                return self.frame.serve(request)
            for prefix, handler in self._traced_others.items():
                if path.startswith(prefix):
                    return await handler(request, body)
            if path.startswith(HEALTHZ_PREFIX):
                return self.healthz.handle(request)
            return await self._show_page(request, body)
        except Exception as error:
            return self._fail(request, error)

    async def _find_page(self, request: Request, body: Body) -> Response:
        try:
            await self.pages.follow()
            if self.dispatcher.knows(request.path):
                return await self.dispatcher.handle(request, body)
            return await self.embeds.handle(request) or await self.pages.handle(request)
        except Exception as error:
            return self._fail(request, error)

    def _fail(self, request: Request, error: Exception) -> Response:
        path, is_traced = request.path, current.get() is not None
        begin_trace(request)
        try:
            if not isinstance(error, sqlite3.Error | StoreUnavailable):
                _log.error("A request failed.", method=request.method, path=path, exc_info=error)
                failure = internal_error(path)
            elif isinstance(error, ReplicaDamaged):
                self.condemn(error)
                failure = rebuilding(path)
            elif self.alarm.report(error):
                failure = damaged(path)
            else:
                _log.error("The catalog cannot be read.", path=path, error=str(error))
                failure = unavailable(path)
            return identified(request, self._for_people(request, failure))
        finally:
            if not is_traced:
                current.set(None)

    def _for_people(self, request: Request, failure: Response) -> Response:
        """An error as a page, unless a program sent the request."""
        path = request.path
        if path.startswith(("/api/", CDN_PREFIX, *self.others)) or path == "/api":
            return failure
        try:
            return self.pages.failure(request, failure)
        except Exception:  # The failing code may be part of the page rendering.
            _log.exception("The page that says so failed, too.", path=path)
            return failure

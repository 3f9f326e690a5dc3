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
from ..catalog.pages.pages import PublicPages
from ..catalog.pages.preview import PreviewPages
from ..core.db.damage import DamageAlarm
from ..core.errors import ReplicaDamaged, StoreUnavailable
from ..core.http.dispatcher import Dispatcher
from ..core.http.errors import damaged, internal_error, rebuilding, unavailable
from ..core.http.http import Body, Handler, Request, Response

_log = structlog.get_logger("widget_catalog.web")


@dataclass(eq=False)
class Site:
    api: PublicApi
    cdn: Cdn
    others: Mapping[str, Handler]
    dispatcher: Dispatcher
    previews: PreviewPages
    pages: PublicPages
    healthz: Healthz
    alarm: DamageAlarm
    condemn: Callable[[ReplicaDamaged], None]

    def drain(self) -> None:
        """Other workers take over."""
        self.healthz.is_draining = True
        self.api.drain()

    async def handle(self, request: Request, body: Body) -> Response:
        path = request.path
        try:
            if path.startswith("/api/") or path == "/api":
                return await self.api.handle(request, body)
            if path.startswith(CDN_PREFIX):
                return await self.cdn.handle(request)
            if path.startswith(CLIENT_PREFIX):
                return serve_client_file(request)
            for prefix, handler in self.others.items():
                if path.startswith(prefix):
                    return await handler(request, body)
            if path.startswith(HEALTHZ_PREFIX):
                return self.healthz.handle(request)
            if self.dispatcher.knows(path):
                return await self.dispatcher.handle(request, body)
            return await self.previews.handle(request) or await self.pages.handle(request)
        except ReplicaDamaged as error:
            self.condemn(error)
            return self._for_people(request, rebuilding(path))
        except (sqlite3.Error, StoreUnavailable) as error:
            if self.alarm.report(error):
                return self._for_people(request, damaged(path))
            _log.error("The catalog cannot be read.", path=path, error=str(error))
            return self._for_people(request, unavailable(path))
        except Exception:
            _log.exception("A request failed.", method=request.method, path=path)
            return self._for_people(request, internal_error(path))

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

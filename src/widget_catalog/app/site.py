"""Site: everything one origin serves, dispatched by the first segment of the path."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from ..catalog.api.api import PublicApi
from ..catalog.api.cdn import PREFIX as CDN_PREFIX
from ..catalog.api.cdn import Cdn
from ..catalog.api.client_files import PREFIX as CLIENT_PREFIX
from ..catalog.api.client_files import answer_client_file
from ..catalog.api.health import PREFIX as HEALTHZ_PREFIX
from ..catalog.api.health import Healthz
from ..catalog.pages.pages import PublicPages
from ..catalog.pages.preview import PreviewPages
from ..core.db.damage import DamageAlarm
from ..core.errors import StoreUnavailable
from ..core.http.dispatcher import Dispatcher
from ..core.http.errors import damaged, internal_fault, unavailable
from ..core.http.http import Answer, Body, Request, Response

_log = structlog.get_logger("widget_catalog.web")


@dataclass(eq=False)
class Site:
    api: PublicApi
    cdn: Cdn
    others: Mapping[str, Answer]
    dispatcher: Dispatcher
    previews: PreviewPages
    pages: PublicPages
    healthz: Healthz
    alarm: DamageAlarm

    def drain(self) -> None:
        """Other workers take over."""
        self.healthz.is_draining = True
        self.api.drain()

    async def answer(self, request: Request, body: Body) -> Response:
        path = request.path
        try:
            if path.startswith("/api/") or path == "/api":
                return await self.api.answer(request, body)
            if path.startswith(CDN_PREFIX):
                return await self.cdn.answer(request)
            if path.startswith(CLIENT_PREFIX):
                return answer_client_file(request)
            for prefix, answer in self.others.items():
                if path.startswith(prefix):
                    return await answer(request, body)
            if path.startswith(HEALTHZ_PREFIX):
                return self.healthz.answer(request)
            if self.dispatcher.knows(path):
                return await self.dispatcher.answer(request, body)
            return await self.previews.answer(request) or await self.pages.answer(request)
        except (sqlite3.Error, StoreUnavailable) as fault:
            if self.alarm.report(fault):
                return self._for_people(request, damaged(path))
            _log.error("The catalog cannot be read.", path=path, fault=str(fault))
            return self._for_people(request, unavailable(path))
        except Exception:
            _log.exception("A request failed.", method=request.method, path=path)
            return self._for_people(request, internal_fault(path))

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

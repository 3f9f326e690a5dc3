"""Site: everything one origin serves, by the first part of the path."""

import sqlite3
from typing import Protocol

import structlog

from ..actions.signed_uploads import PREFIX as UPLOADS_PREFIX
from ..domain.errors import StoreUnavailable
from .cdn import PREFIX as CDN_PREFIX
from .cdn import Cdn
from .http import Body, Request, Response
from .internal.api import InternalApi
from .public import PublicApi, damaged, internal_fault, unavailable
from .uploads import Uploads

_log = structlog.get_logger("widget_catalog.web")


class Pages(Protocol):
    def answer(self, request: Request) -> Response: ...


class Alarm(Protocol):
    def hears(self, fault: BaseException) -> bool:
        """Whether this is damage; then whoever watches the service is told."""


class Site:
    def __init__(
        self,
        api: PublicApi,
        cdn: Cdn,
        uploads: Uploads,
        people: InternalApi,
        pages: Pages,
        alarm: Alarm,
    ) -> None:
        self._api = api
        self._cdn = cdn
        self._uploads = uploads
        self._people = people
        self._pages = pages
        self._alarm = alarm

    async def answer(self, request: Request, body: Body) -> Response:
        path = request.path
        try:
            if path.startswith("/api/") or path == "/api":
                return await self._api.answer(request, body)
            if path.startswith(CDN_PREFIX):
                return self._cdn.answer(request)
            if path.startswith(UPLOADS_PREFIX):
                return await self._uploads.answer(request, body)
            if self._people.knows(path):
                return await self._people.answer(request, body)
            return self._pages.answer(request)
        except (sqlite3.Error, StoreUnavailable) as fault:
            if self._alarm.hears(fault):
                return damaged(path)
            _log.error("The catalog cannot be read.", path=path, fault=str(fault))
            return unavailable(path)
        except Exception:
            _log.exception("A request failed.", method=request.method, path=path)
            return internal_fault(path)

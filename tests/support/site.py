"""The whole site in this process, without a socket: for most tests of responses."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from support.folders import empty_folder
from support.widgets import add_old_widgets, import_widgets
from widget_catalog.app.worker import build_worker
from widget_catalog.catalog.node.node import open_catalog, open_node, prepare_node
from widget_catalog.core import clock
from widget_catalog.core.clock import Clock
from widget_catalog.core.features import list_contributions
from widget_catalog.core.http.http import (
    EventBody,
    FileBody,
    LargeBody,
    PlainRequest,
    Response,
    SentBody,
    StreamBody,
)
from widget_catalog.core.http.rendering import PageRenderer
from widget_catalog.core.settings import settings_from
from widget_catalog.pages.context import PublicContext
from widget_catalog.pages.pages import PublicPages, build_public_pages
from widget_catalog.pages.store_reads import StoreAccess

SECRET_KEY = "0123456789abcdef" * 2

# A request: method, address, body, headers.
Sent = tuple[str, str, bytes, Mapping[str, str]]


class Reply:
    """A response, with convenient accessors."""

    def __init__(self, response: Response) -> None:
        self.status = response.status
        self.headers = dict(response.headers)
        # Another one in each response: tests/app/test_request_ids.py tests it.
        self.request_id = self.headers.pop("x-request-id", None)
        self.response = response

    @property
    def body(self) -> bytes:
        body = self.response.body
        if isinstance(body, FileBody):
            return body.path.read_bytes()[body.start : body.stop]
        assert not isinstance(body, LargeBody | EventBody | StreamBody)
        return b"" if body is None else body

    def json(self) -> Any:
        return json.loads(self.body)


class InProcessSite:
    """`get`, `post` and `request` return the response a client would get."""

    def __init__(
        self,
        data: Path,
        now: Clock = clock.now,
        *,
        is_prepared: bool = False,
        new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
        **settings: Any,
    ) -> None:
        """A missing folder is created; `is_prepared` skips the check of an existing one."""
        self._new_loop = new_loop
        self._given = {"base_url": "https://catalog.example", **settings}
        self.settings = settings_from({"data": data, **self._given})
        self._now = now
        backends = self.settings.backends
        if not data.exists() and not self.settings.database:
            empty_folder(data)
        elif not is_prepared or self.settings.database:
            prepare_node(data, backends=backends).store.close()
        self.node = open_node(data, now=now, backends=backends)

    def __enter__(self) -> Self:
        self._loop = self._new_loop()
        self._worker = self._loop.run_until_complete(self._build())
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()
        self.node.store.close()
        self._loop.close()

    async def _build(self) -> Any:
        return build_worker(self.settings, self._now)

    def beside(self) -> "InProcessSite":
        """Another site on its folder and database: as after a restart, or of another process."""
        return InProcessSite(self.node.folder.path, **self._given)

    def drain(self) -> None:
        """As before the worker ends."""
        self._worker.drain()

    def add(self, *lines: dict[str, Any]) -> None:
        """Import widgets, as another process would while this one serves."""
        import_widgets(self.node, *lines)

    def add_old(self, *lines: dict[str, Any]) -> None:
        """Add widgets with texts from an earlier release, which imported any."""
        add_old_widgets(self.node, *lines)

    def get(self, address: str, **headers: str) -> Reply:
        return self.request("GET", address, **headers)

    def post(self, address: str, **headers: str) -> Reply:
        return self.request("POST", address, **headers)

    def request(self, method: str, address: str, body: bytes = b"", /, **headers: str) -> Reply:
        """Header names are written with underscores: `if_none_match='*'`."""
        return self._loop.run_until_complete(self._response(method, address, body, headers))

    def together(self, requests: Sequence[Sent]) -> list[tuple[int, Reply]]:
        """Send all concurrently; yields the number and the response of each, as they arrive."""
        arrived: list[tuple[int, Reply]] = []

        async def send(number: int, sent: Sent) -> None:
            arrived.append((number, await self._response(*sent)))

        async def send_all() -> None:
            await asyncio.gather(*(send(*it) for it in enumerate(requests)))

        self._loop.run_until_complete(send_all())
        return arrived

    async def _response(
        self, method: str, address: str, body: bytes, headers: Mapping[str, str]
    ) -> Reply:
        path, _, query = address.partition("?")
        given = {key.replace("_", "-"): value for key, value in headers.items()}
        request = PlainRequest(method, path, query, given, "127.0.0.1:1")
        return Reply(await self._sent(request, SentBody(body)))

    async def _sent(self, request: PlainRequest, body: SentBody) -> Response:
        """Like the bindings: a large body is created when it is sent."""
        response: Response = await self._worker.respond(request, body)
        if isinstance(response.body, LargeBody):
            is_sent = request.method != "HEAD"
            whole = b"".join(await response.body.pieces()) if is_sent else None
            return response._replace(body=whole)
        if isinstance(response.body, StreamBody):
            return response._replace(body=b"".join([it async for it in response.body.pieces]))
        return response


def open_public_pages(data: Path) -> PublicPages:
    """The public pages of a folder, for what is known of them without a request."""
    settings = settings_from({"data": data, "base_url": "https://catalog.example"})
    node = open_node(data)
    renderer = PageRenderer("Widgets", settings.public_url, list_contributions())
    access = StoreAccess(node.store)
    catalog = open_catalog(node, settings)
    context = PublicContext(catalog, renderer, settings.cdn_url, node.bundles, access)
    return build_public_pages(context)

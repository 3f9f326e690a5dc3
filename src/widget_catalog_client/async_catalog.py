"""AsyncCatalog: the client for asyncio, with the same methods as `Catalog`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar

import httpx

from widget_contract.wire import Registry, SearchResults, Settings, VersionEntry, WidgetDetail
from widget_contract.wire_running import (
    Change,
    Changes,
    InstalledWidget,
    PublishedFile,
    Resolved,
    Revocations,
    VersionDetail,
)

from .calls import Call, Calls, ClientError, Response
from .flows import (
    Emit,
    Fetch,
    Flow,
    Listen,
    Pause,
    Receiver,
    Step,
    WatchOptions,
    downloaded,
    fetched,
    watched,
)
from .transport import errors_named, headers_of, http_options, stream_timeout

T = TypeVar("T")


class AsyncCatalog:
    """A catalog by its URL. See `Catalog` for the parameters and methods."""

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = 10,
        retries: int = 2,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._calls = Calls(url)
        self._retries = retries
        self._is_own = http is None
        self._http = http or httpx.AsyncClient(**http_options(timeout_s))

    @property
    def url(self) -> str:
        return self._calls.url

    async def search(
        self,
        q: str | None = None,
        *,
        compat_sdk: str | None = None,
        scope: str | None = None,
        official: bool | None = None,
        page: int = 1,
        limit: int = 20,
    ) -> SearchResults:
        return await self._call(
            self._calls.search(
                q, compat_sdk=compat_sdk, scope=scope, official=official, page=page, limit=limit
            )
        )

    async def detail(self, widget_id: str) -> WidgetDetail:
        return await self._call(self._calls.detail(widget_id))

    async def version(self, widget_id: str, number: str) -> VersionDetail:
        return await self._call(self._calls.version(widget_id, number))

    async def registry(self, scope: str) -> Registry:
        return await self._call(self._calls.registry(scope))

    async def resolve(
        self,
        sdk: str,
        widgets: Iterable[InstalledWidget | str],
        *,
        min_age_days: float | None = None,
    ) -> Resolved:
        return await self._call(self._calls.resolve(sdk, widgets, min_age_days))

    async def changes(self, since: int = 0, *, limit: int = 100) -> Changes:
        return await self._call(self._calls.changes(since, limit))

    async def revocations(self) -> Revocations:
        return await self._call(self._calls.revocations())

    async def settings(self) -> Settings:
        return await self._call(self._calls.settings())

    async def count_install(self, widget_id: str) -> None:
        await self._run(fetched(self._calls.count_install(widget_id), retries=0))

    async def download_bundle(self, file: VersionEntry | PublishedFile, to: BinaryIO) -> None:
        await self._run(downloaded(file, to, self._retries))

    async def watch(
        self, since: int | None = None, *, poll_s: float = 15, streams: bool = True
    ) -> AsyncIterator[Change]:
        flow = watched(self._calls, since, WatchOptions(poll_s, streams))
        async with contextlib.AsyncExitStack() as stack:
            stream = _Stream(self, stack)
            step = next(flow)
            while True:
                result = None
                if isinstance(step, Emit):
                    yield step.change
                else:
                    try:
                        result = await stream.do(step)
                    except ClientError as error:
                        step = flow.throw(error)
                        continue
                step = flow.send(result)

    async def close(self) -> None:
        if self._is_own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _call(self, call: Call[T]) -> T:
        return await self._run(fetched(call, self._retries))

    async def _run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    result = await self._do(step)
                except ClientError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    async def _do(self, step: Step) -> Any:
        if isinstance(step, Pause):
            return await asyncio.sleep(step.seconds)
        assert isinstance(step, Fetch)  # noqa: S101
        request = step.request
        with errors_named(request.url):
            async with self._http.stream(
                request.method, request.url, headers=request.headers, content=request.content
            ) as response:
                receiver = Receiver(step, response.status_code, headers_of(response))
                async for piece in response.aiter_raw():
                    receiver.take(piece)
                return receiver.response()


class _Stream:
    """Runs the steps of watching, with at most one open stream."""

    def __init__(self, catalog: AsyncCatalog, stack: contextlib.AsyncExitStack) -> None:
        self._catalog = catalog
        self._stack = stack
        self._pieces: AsyncIterator[bytes] | None = None

    async def do(self, step: Step) -> Any:
        if isinstance(step, Fetch | Pause):
            await self._stack.aclose()
            return await self._catalog._do(step)  # noqa: SLF001
        if isinstance(step, Listen):
            return await self._open(step)
        try:
            return b"" if self._pieces is None else await anext(self._pieces, b"")
        except httpx.HTTPError:
            return b""

    async def _open(self, step: Listen) -> Response:
        await self._stack.aclose()
        request = step.request
        http = self._catalog._http  # noqa: SLF001
        with errors_named(request.url):
            response = await self._stack.enter_async_context(
                http.stream(
                    request.method,
                    request.url,
                    headers=request.headers,
                    timeout=stream_timeout(http.timeout, step.idle_s),
                )
            )
            if response.status_code == 200:
                self._pieces = response.aiter_raw()
                return Response(200, headers_of(response), b"")
            receiver = Receiver(Fetch(request), response.status_code, headers_of(response))
            async for piece in response.aiter_raw():
                receiver.take(piece)
            return receiver.response()

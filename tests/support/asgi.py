"""Runs an ASGI application like a server: its lifespan around all requests, on one loop."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

import httpx

from support.wire import WireAnswer
from widget_catalog.core.http.bindings.asgi import AsgiApp

T = TypeVar("T")
Message = dict[str, Any]


class AsgiClient:
    def __init__(self, app: AsgiApp) -> None:
        self.app = app

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run_until_complete(self._stop())
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """On the application's event loop."""
        return self._loop.run_until_complete(work)

    def ask(self, method: str, address: str, *headers: tuple[str, str]) -> WireAnswer:
        return self._loop.run_until_complete(self._ask(method, address, list(headers)))

    async def _ask(self, method: str, address: str, headers: list[tuple[str, str]]) -> WireAnswer:
        # The application and the transport have slightly different types.
        transport = httpx.ASGITransport(app=self.app, client=("127.0.0.1", 1))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport) as client:
            client.headers.clear()  # httpx would send its own Accept headers.
            # A full URL: a path that starts with two slashes would be parsed as another host.
            whole = f"http://service{address}"
            async with client.stream(method, whole, headers=headers) as response:
                body = b"".join([chunk async for chunk in response.aiter_raw()])
            return WireAnswer(response.status_code, dict(response.headers), body)

    async def _start(self) -> None:
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self._from_app: asyncio.Queue[Message] = asyncio.Queue()
        scope: Message = {"type": "lifespan", "asgi": {"version": "3.0"}}
        self._life = asyncio.ensure_future(self.app(scope, self._to_app.get, self._from_app.put))
        await self._to_app.put({"type": "lifespan.startup"})
        assert await self._from_app.get() == {"type": "lifespan.startup.complete"}

    async def _stop(self) -> None:
        await self._to_app.put({"type": "lifespan.shutdown"})
        assert await self._from_app.get() == {"type": "lifespan.shutdown.complete"}
        await self._life
        # Like a server, wait for requests in flight.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=60)

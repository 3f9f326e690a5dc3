"""Runs requests that wait in asyncio, because Granian's own task driver would leak.

That driver, written in Rust, handles a request that never waits in half the time. But it keeps a
reference to every future that a request awaits, and to its result, for the lifetime of the process
(seen in Granian 2.8.7). So a request starts with that driver, and one that awaits continues as an
ordinary asyncio task. The driver awaits a reusable gate instead, which has no result.
"""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any

from .rsgi import RsgiApp


class RustDrivenApp(RsgiApp):
    """For Granian with `TaskImpl.rust`."""

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._idle: list[_Gate] = []
        super().__rsgi_init__(loop)

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        answering = super().__rsgi__(scope, protocol)
        try:
            begun = _Begun(answering, answering.send(None))
        except StopIteration:
            return
        gate = self._idle.pop() if self._idle else _Gate(self._loop)
        task = self._loop.create_task(_finish(begun))
        task.add_done_callback(gate.open)
        await gate
        self._idle.append(gate)
        task.result()


class _Gate:
    """A reusable awaitable for the driver: the part of a future's interface that it uses."""

    __slots__ = ("_asyncio_future_blocking", "_callback", "_context", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._asyncio_future_blocking = False

    def __await__(self) -> Generator["_Gate", None, None]:
        self._asyncio_future_blocking = True
        yield self

    def add_done_callback(
        self, callback: Callable[[Any], object], *, context: Context | None = None
    ) -> None:
        self._callback = callback
        self._context = context

    def result(self) -> None:
        """Called by the driver, to check for an exception."""

    def open(self, _task: "asyncio.Task[None]") -> None:
        self._loop.call_soon(self._callback, self, context=self._context)


class _Begun:
    """The rest of a coroutine that was started and awaits `awaited`."""

    def __init__(self, coroutine: Coroutine[Any, Any, None], awaited: Any) -> None:
        self._coroutine = coroutine
        self._awaited = awaited

    def __await__(self) -> Generator[Any, Any, None]:
        awaited, self._awaited = self._awaited, None
        while True:
            try:
                try:
                    sent = yield awaited
                except BaseException as fault:
                    awaited = self._coroutine.throw(fault)
                else:
                    awaited = self._coroutine.send(sent)
            except StopIteration:
                return


async def _finish(begun: _Begun) -> None:
    await begun

"""Measures how long an event loop is busy at a time."""

import asyncio
import time
from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import TypeVarTuple, Unpack

A = TypeVarTuple("A")


class MeasuringLoop(asyncio.SelectorEventLoop):
    """Notes the longest step: between two steps, other requests get their turn. It is CPU time of
    this thread, so neither other processes nor other threads count.
    """

    longest_ms = 0.0

    def call_soon(
        self,
        callback: Callable[[Unpack[A]], object],
        *args: *A,
        context: Context | None = None,
    ) -> asyncio.Handle:
        return super().call_soon(partial(self._step, callback, *args), context=context)

    def call_soon_threadsafe(
        self,
        callback: Callable[[Unpack[A]], object],
        *args: *A,
        context: Context | None = None,
    ) -> asyncio.Handle:
        step = partial(self._step, callback, *args)
        return super().call_soon_threadsafe(step, context=context)

    def _step(self, callback: Callable[[Unpack[A]], object], *args: *A) -> None:
        began = time.thread_time()
        try:
            callback(*args)
        finally:
            self.longest_ms = max(self.longest_ms, (time.thread_time() - began) * 1000)

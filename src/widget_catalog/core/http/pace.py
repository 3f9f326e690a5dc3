"""Pace: splits long work on the event loop into short slices."""

import asyncio
import time

_TURN_S = 0.001


class Pace:
    """For one task. A slice ends after a millisecond."""

    def __init__(self) -> None:
        self._ends_at = time.perf_counter() + _TURN_S

    @property
    def is_over(self) -> bool:
        return time.perf_counter() >= self._ends_at

    async def let_others_in(self) -> None:
        """If the slice is over, yield to other tasks."""
        if self.is_over:
            await asyncio.sleep(0)
            self._ends_at = time.perf_counter() + _TURN_S

"""The current time, and its format; numbers and durations for people. No other module reads the
clock.

Times are whole milliseconds in UTC, as in the API.
"""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import msgspec

Clock = Callable[[], datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MIN_JUMP = timedelta(seconds=5)
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> datetime:
    return from_ms(to_ms(datetime.now(UTC)))


class JumpWatch:
    """A clock that reports when it was set: when it advances more or less than the monotonic
    clock, which continues while the machine sleeps.
    """

    def __init__(
        self,
        report: Callable[[timedelta], None],
        now: Clock = now,
        elapsed_s: Callable[[], float] = lambda: time.clock_gettime(_STEADY),
    ) -> None:
        self._report = report
        self._now = now
        self._elapsed_s = elapsed_s
        self._last = (now(), elapsed_s())

    def __call__(self) -> datetime:
        wall, steady = self._now(), self._elapsed_s()
        last_wall, last_steady = self._last
        self._last = (wall, steady)
        passed = timedelta(seconds=steady - last_steady)
        jump = wall - last_wall - passed
        # A clock that is slewed deviates by at most a thousandth.
        if abs(jump) > _MIN_JUMP + passed / 1000:
            self._report(jump)
        return wall


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def to_ms(instant: datetime) -> int:
    since = instant - _EPOCH
    # Half the time of `since // _MILLISECOND`.
    return (since.days * 86_400 + since.seconds) * 1_000 + since.microseconds // 1_000


def from_ms(milliseconds: int) -> datetime:
    return _EPOCH + milliseconds * _MILLISECOND


def iso(instant: datetime) -> str:
    """`2026-01-31T09:05:00.000Z`, from an instant in UTC."""
    text: str = msgspec.to_builtins(instant)  # Ten times as fast as isoformat().
    return f"{text[:19]}.000Z" if len(text) == 20 else f"{text[:23]}Z"


_MINUTE_S = 60
_HOUR_S = 60 * _MINUTE_S
_DAY_S = 24 * _HOUR_S


def counted(number: int, thing: str) -> str:
    """`1 widget`, `2 widgets`, `20,000 widgets`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def format_duration(seconds: float) -> str:
    """In one unit, rounded up: `5 seconds`, `11 minutes`, `24 hours`, `3 days`."""
    whole = max(1, math.ceil(seconds))
    if whole < _MINUTE_S:
        return counted(whole, "second")
    minutes = math.ceil(whole / _MINUTE_S)
    if minutes < 120 and minutes != 60:
        return counted(minutes, "minute")
    if whole <= 2 * _DAY_S:
        return counted(math.ceil(whole / _HOUR_S), "hour")
    return counted(math.ceil(whole / _DAY_S), "day")


def format_days(days: float) -> str:
    """As given, up to six decimal places: `1 day`, `30 days`, `0.5 days`."""
    shown = f"{max(days, 1e-6):.6f}".rstrip("0").rstrip(".")
    return f"{shown} day{'' if shown == '1' else 's'}"

"""The one place that asks what time it is, and the one way an instant is written.

Instants are whole milliseconds in UTC: what the API shows is all there is.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import msgspec

Clock = Callable[[], datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def now() -> datetime:
    return from_ms(to_ms(datetime.now(UTC)))


def to_ms(instant: datetime) -> int:
    return (instant - _EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def iso(instant: datetime) -> str:
    """`2026-01-31T09:05:00.000Z`, from an instant in UTC."""
    text: str = msgspec.to_builtins(instant)  # Ten times as fast as isoformat().
    return f"{text[:19]}.000Z" if len(text) == 20 else f"{text[:23]}Z"

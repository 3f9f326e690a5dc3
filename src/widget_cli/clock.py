"""The current time; tests set it."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def now() -> datetime:
    return datetime.now(UTC)

"""Numbers and durations in human-readable form."""

import math

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

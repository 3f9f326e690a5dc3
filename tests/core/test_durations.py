"""Durations in messages."""

import pytest

from widget_catalog.core.clock import format_days, format_duration


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "1 second"),
        (1, "1 second"),
        (1.2, "2 seconds"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (61, "2 minutes"),
        (600, "10 minutes"),
        (3599, "1 hour"),
        (3600, "1 hour"),
        (3601, "61 minutes"),
        (7200, "2 hours"),
        (7201, "3 hours"),
        (86_400, "24 hours"),
        (172_800, "48 hours"),
        (172_801, "3 days"),
    ],
)
def test_a_duration_is_said_in_one_unit_and_never_too_short(seconds: float, said: str) -> None:
    assert format_duration(seconds) == said


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (1, "1 day"),
        (3, "3 days"),
        (0.5, "0.5 days"),
        (1.25, "1.25 days"),
        (1e-05, "0.00001 days"),
        (5e-324, "0.000001 days"),
        (0.9999999, "1 day"),
        (36_499.99, "36499.99 days"),
        (36_500.0, "36500 days"),
    ],
)
def test_days_are_said_as_they_were_given(days: float, said: str) -> None:
    assert format_days(days) == said

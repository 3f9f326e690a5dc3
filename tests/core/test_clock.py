"""The clock: jumps are detected, and normal time is not a jump."""

from datetime import UTC, datetime, timedelta

import pytest

from widget_catalog.core.clock import JumpWatch

START = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wall_s", "steady_s", "jumps_s"),
    [
        (0, 0, []),
        (3_600, 3_600, []),
        (4, 0, []),
        (-4, 0, []),
        (86_400, 86_370, []),  # Slewed over a day.
        (3_600, 1, [3_599]),
        (-3_600, 1, [-3_601]),
        (0, 60, [-60]),
    ],
)
def test_a_clock_that_was_set_is_reported_once(
    wall_s: float, steady_s: float, jumps_s: list[float]
) -> None:
    passed = [(0.0, 0.0), (wall_s, steady_s), (wall_s, steady_s)]
    jumps: list[timedelta] = []
    walls = iter([START + timedelta(seconds=wall) for wall, _ in passed])
    steadies = iter([steady for _, steady in passed])
    watch = JumpWatch(jumps.append, lambda: next(walls), lambda: next(steadies))

    shown = [watch(), watch()]

    assert shown == [START + timedelta(seconds=wall_s)] * 2
    assert [it.total_seconds() for it in jumps] == jumps_s

"""When the tasks of a follower are due."""

import pytest

from widget_catalog.catalog.replica.due import Due


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("widget_catalog.catalog.replica.due.time.monotonic", lambda: now[0])
    return now


def test_a_task_is_due_at_first_after_its_interval_and_when_called_for(clock: list[float]) -> None:
    due = Due({"look": 5.0, "tell": float("inf")})

    assert due.take("look")
    assert not due.take("look")
    assert due.wait_s("look") == 5.0
    clock[0] += 4.5
    assert (due.is_due("look"), due.wait_s("look"), due.since_s("look")) == (False, 0.5, 4.5)
    clock[0] += 0.5
    assert due.is_due("look")

    due.done("look")
    due.call_for("look")
    assert due.take("look")
    assert not due.is_due("look")

    assert due.take("tell")
    clock[0] += 1e9
    assert not due.is_due("tell")


def test_what_is_called_for_while_it_is_done_is_due_again() -> None:
    due = Due({"apply": 10.0})

    assert due.take("apply")
    due.call_for("apply")

    assert due.is_due("apply")

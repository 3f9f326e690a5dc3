"""Jobs that run as long as a service."""

from functools import partial

import pytest

from support.service import wait_for
from widget_catalog.core.errors import StoreUnavailable
from widget_catalog.core.jobs.periodic import PeriodicJobs


def tidy_shelves(shelf: str, done: list[str]) -> None:
    done.append(shelf)
    raise StoreUnavailable("The shelf is locked.")


def test_a_job_that_fails_is_named_in_the_log_and_runs_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done: list[str] = []
    jobs = PeriodicJobs("shelves", partial(tidy_shelves, "top", done), interval_s=0.01)
    try:
        wait_for(lambda: len(done) >= 3)
    finally:
        jobs.close()

    logged = "".join(capsys.readouterr())
    assert logged.count("A job failed.") == 1
    assert "tidy_shelves" in logged
    assert "The shelf is locked." in logged

"""Many bundles in parallel: results in order, and items taken as they are needed."""

import time
from collections.abc import Iterator
from itertools import count, islice

import pytest

from widget_catalog.core.jobs.parallel import map_parallel


def _slowest_first(number: int) -> int:
    time.sleep(0.05 if number % 20 == 0 else 0)
    return number


def test_results_are_in_the_order_of_the_items() -> None:
    assert list(map_parallel(_slowest_first, range(200))) == list(range(200))
    assert list(map_parallel(_slowest_first, [])) == []


def test_the_first_result_does_not_wait_for_the_last_item() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in count():
            taken.append(number)
            yield number
            assert number < 1_000, "Items are taken long before they are needed."

    results = map_parallel(abs, items())

    assert list(islice(results, 100)) == list(range(100))
    assert len(taken) < 300
    results.close()


def test_after_an_error_no_other_item_is_started() -> None:
    started: list[int] = []

    def fail(number: int) -> None:
        started.append(number)
        time.sleep(0.01)
        raise ValueError(number)

    with pytest.raises(ValueError, match=r"^0$"):
        list(map_parallel(fail, range(10_000)))

    assert len(started) < 100

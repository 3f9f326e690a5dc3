"""The arithmetic of all reported figures."""

import random

import pytest
from bench.measures import Histogram, Outcome, at_least, at_most, median_ratio, percentile


@pytest.mark.parametrize(
    ("share", "expected"), [(0.01, 1), (0.5, 50), (0.501, 51), (0.99, 99), (1.0, 100)]
)
def test_percentile_is_the_nearest_rank(share: float, expected: int) -> None:
    values = list(range(1, 101))
    random.Random(0).shuffle(values)

    assert percentile(values, share) == expected


def test_percentile_of_one_value_is_that_value() -> None:
    assert percentile([7.0], 0.99) == 7.0


def test_percentile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_ratio_is_taken_round_by_round_so_that_a_slow_round_cancels_out() -> None:
    theirs = [100.0, 10.0, 80.0]

    assert median_ratio([it * 0.4 for it in theirs], theirs) == pytest.approx(0.4)


def test_ratio_needs_as_many_rounds_of_both() -> None:
    with pytest.raises(ValueError, match="longer"):
        median_ratio([1.0], [1.0, 2.0])


def test_histogram_is_right_to_two_percent_also_when_put_together() -> None:
    rng = random.Random(1)
    values = [rng.lognormvariate(0, 1) for _ in range(5_000)]
    whole, part = Histogram(), Histogram()
    for i, value in enumerate(values):
        (whole if i % 2 else part).add(value)

    whole.merge(part)

    assert whole.count == len(values)
    assert whole.most == max(values)
    for share in (0.5, 0.9, 0.99):
        assert whole.percentile(share) == pytest.approx(percentile(values, share), rel=0.02)


def test_outcome_holds_at_its_limit_and_says_nothing_where_nothing_is_wanted() -> None:
    assert Outcome("rate", 0.33, "of nginx", at_least(0.33)).holds is True
    assert Outcome("rate", 0.32, "of nginx", at_least(0.33)).holds is False
    assert Outcome("time", 3.0, "ms", at_most(3)).holds is True
    assert Outcome("time", 3.1, "ms", at_most(3)).holds is False
    assert Outcome("time", 3.1, "ms").holds is None

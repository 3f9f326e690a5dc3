"""Figures: medians, percentiles, ratios, and targets of outcomes. Pure."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, NamedTuple

Unit = Literal[
    "of nginx",
    "of the bare server",
    "of 10,000",
    "of quiet",
    "of SQLite",
    "of uncompressed",
    "of an empty frame",
    "/s",
    "µs",
    "ms",
    "s",
    "MB",
]

_BUCKETS_A_DOUBLING = 32


class BenchError(Exception):
    """An invalid measurement, and why: wrong responses, a server that ended."""


@dataclass(frozen=True)
class Limit:
    """The minimum or maximum of a figure."""

    figure: float
    is_minimum: bool

    def holds_for(self, value: float) -> bool:
        return value >= self.figure if self.is_minimum else value <= self.figure


def at_least(figure: float) -> Limit:
    return Limit(figure, is_minimum=True)


def at_most(figure: float) -> Limit:
    return Limit(figure, is_minimum=False)


class Served(NamedTuple):
    """What a server takes for a request: its worker's CPU time in µs, as the kernel accounts for
    it; and how many it handles per second, with the client on another core. Medians of the rounds.
    """

    cpu_us: float
    rate: float


@dataclass(frozen=True)
class Outcome:
    """One line of the report. Without `wanted` it is for information only. `servers` are those
    that were compared, by name."""

    what: str
    value: float
    unit: Unit
    wanted: Limit | None = None
    notes: Sequence[str] = ()
    figures: dict[str, float] = field(default_factory=dict)
    servers: Mapping[str, Served] = field(default_factory=dict)

    @property
    def holds(self) -> bool | None:
        return None if self.wanted is None else self.wanted.holds_for(self.value)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not exceeded by `share` of all (nearest rank)."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of each round's two figures."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))


class Histogram:
    """Any number of durations in little memory; percentiles are right to about 2 %."""

    def __init__(self) -> None:
        self.buckets: Counter[int] = Counter()
        self.most = 0.0

    def add(self, value: float) -> None:
        self.buckets[round(math.log2(max(value, 1e-9)) * _BUCKETS_A_DOUBLING)] += 1
        self.most = max(self.most, value)

    def merge(self, other: "Histogram") -> None:
        self.buckets.update(other.buckets)
        self.most = max(self.most, other.most)

    @property
    def count(self) -> int:
        return self.buckets.total()

    def percentile(self, share: float) -> float:
        wanted = max(math.ceil(share * self.count), 1)
        for bucket in sorted(self.buckets):
            wanted -= self.buckets[bucket]
            if wanted <= 0:
                return float(2 ** (bucket / _BUCKETS_A_DOUBLING))
        raise ValueError("no values")

"""The example widgets of `serve --demo`, with installs of the last 90 days."""

import random
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.settings import Settings
from ..transfer.commands import import_file

if TYPE_CHECKING:
    from ..catalog.node.node import Node
    from ..transfer.import_checks import ImportSummary

_CATALOG = Path(__file__).parent.parent / "demo" / "catalog.ndjson"
_SHARE = 0.3  # The share of all installs that falls on the days shown.
_WEEKEND = (2, 3)  # Days are numbered from 1 January 1970, a Thursday.


def is_empty(node: "Node") -> bool:
    from ..catalog.store.widgets import count_widgets

    with node.store.reading() as connection:
        return count_widgets(connection) == 0


def add_examples(node: "Node", settings: Settings) -> "ImportSummary":
    from ..catalog.installs import today_of
    from ..catalog.store.downloads import add_installs, get_counts
    from ..catalog.store.widgets import stream_widgets

    summary = import_file(node, _CATALOG, settings)
    today = today_of(node.store)
    with node.store.reading() as connection:
        names = {it.id: f"{it.widget.scope}/{it.widget.name}" for it in stream_widgets(connection)}
        totals = get_counts(connection, list(names))
    history = {
        (id_, day): count
        for id_, total in totals.items()
        for day, count in example_installs(names[id_], total, today).items()
    }
    with node.store.writing() as tx:
        add_installs(tx, history)
    return summary


def example_installs(name: str, total: int, today: int) -> dict[int, int]:
    """Installs of a widget per day before today: fewer at weekends, more recently. Deterministic,
    and their sum is less than `total`.
    """
    from ..catalog.installs import CHART_DAYS

    dice = random.Random(name)  # noqa: S311 - no secret depends on it.
    days = range(today - CHART_DAYS + 1, today)
    weights = [
        (0.5 if day % 7 in _WEEKEND else 1) * (1 + place / CHART_DAYS) * dice.uniform(0.7, 1.3)
        for place, day in enumerate(days)
    ]
    share = _SHARE * total / sum(weights)
    counts = {day: int(share * weight) for day, weight in zip(days, weights, strict=True)}
    return {day: count for day, count in counts.items() if count}

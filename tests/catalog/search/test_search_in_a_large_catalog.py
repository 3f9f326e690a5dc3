"""Search compared with the oracle with many widgets, words, and texts per word."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import pytest

from catalog.search.oracle import Key, Search, Shown, check_search
from support.widgets import import_widgets, version_line
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.reading.catalog import CatalogReader
from widget_catalog.catalog.replica.reader import ReplicaReader

pytestmark = pytest.mark.slow

# Just over five thousand, so that the index rows are read in more than one batch.
WIDGETS = 5_100


class Large(NamedTuple):
    node: Node
    catalog: CatalogReader
    widgets: dict[Key, Shown]
    chance: Random


def _word(chance: Random) -> str:
    """One of a few thousand words consisting of the same few pairs of letters."""
    return "".join(chance.choices("abcß", k=chance.randint(1, 6)))


def _text(chance: Random, words: int) -> str:
    # The first word is in thousands of texts, the others in a few.
    said = [chance.choice(["the", "The", "a"]), *(_word(chance) for _ in range(words))]
    chance.shuffle(said)
    return chance.choice([" ", "\u3000", "  "]).join(said)


def _widget(chance: Random) -> Shown:
    return Shown(
        display_name=_text(chance, chance.randint(0, 3)),
        description=chance.choice([None, "", _text(chance, 5)]),
        is_official=chance.choice([True, False, None]),
        is_listed=chance.random() < 0.95,
        downloads=chance.choice([0, 0, 1, 2, 1_000_000]),
    )


@pytest.fixture
def large(node: Node) -> Iterator[Large]:
    chance = Random(20_260_131)
    widgets = {(f"s{i % 50}", f"w{i}"): _widget(chance) for i in range(WIDGETS)}
    import_widgets(node, *(it.line(key) for key, it in widgets.items()))
    reader = ReplicaReader(node.folder.replica)
    catalog = CatalogReader(reader, node.revision, node.counts, "https://x", 1 << 20)
    yield Large(node, catalog, widgets, chance)
    catalog.close()


def _searches(chance: Random) -> Iterator[Search]:
    fixed = ["", "t", "h", "th", "the", "he the", "The", "a", "ß", "aab", "abca", "zz", "the the"]
    texts = fixed + [_word(chance) for _ in range(20)]
    texts += [f"{_word(chance)} {_word(chance)}" for _ in range(5)] + ["the a", "a the ab"]
    for q in texts:
        yield Search(
            q,
            scope=chance.choice([None, None, "s7"]),
            official=chance.choice([None, None, "true", "false"]),
            page=chance.choice([1, 1, 2, 40]),
            limit=chance.choice([1, 10, 100]),
        )


def test_a_large_catalog_agrees_with_the_oracle_before_and_after_changes(large: Large) -> None:
    totals = [check_search(large.catalog, large.widgets, it) for it in _searches(large.chance)]
    assert max(totals) > 3_000
    assert 0 in totals

    for i in range(0, 300, 3):
        key = (f"s{i % 50}", f"w{i}")
        old, new = large.widgets[key], _widget(large.chance)
        version = version_line("2.0.0", publishedAt="2026-06-01T00:00:00Z")
        import_widgets(large.node, new.line(key) | {"versions": [version]})
        large.widgets[key] = Shown(
            new.display_name, new.description, old.is_official, old.is_listed, old.downloads
        )
    added = {("new", f"w{i}"): _widget(large.chance) for i in range(50)}
    import_widgets(large.node, *(it.line(key) for key, it in added.items()))
    large.widgets.update(added)

    for search in _searches(large.chance):
        check_search(large.catalog, large.widgets, search)

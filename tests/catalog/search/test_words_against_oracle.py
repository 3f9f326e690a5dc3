"""The search of pages over random histories: it finds what a simple search finds, and an index that
was updated orders results like one that was just built.
"""

import json
import re
from typing import NamedTuple

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from Stemmer import Stemmer

from catalog.histories import Add, Played, adds, changes, crowds, playing, some
from catalog.search.oracle import Key, Shown
from widget_catalog.catalog.model.query import Order, Query, SearchRequest
from widget_catalog.catalog.search.index import SearchIndex
from widget_contract.texts import fold

pytestmark = pytest.mark.slow

# Some share a stem, or start with another; some are similar.
VOCABULARY = [
    "clock",
    "clocks",
    "Clockwork",
    "uhren",
    "Uhr",
    "weather",
    "wether",
    "météo",
    "a",
    "b",
]
STEMMERS = [Stemmer("english"), Stemmer("german")]

texts = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=3).map(" ".join)


class Ask(NamedTuple):
    q: str
    scope: str | None
    official: bool | None
    order: Order

    @property
    def query(self) -> Query:
        return Query(fold(self.q), self.scope, self.official, order=self.order, is_ranked=True)


asks = st.builds(
    Ask,
    texts | st.sampled_from(["cloc", "lock", "eathe", "clokc", "a-b", "ss", "%", "ガ"]),
    st.none() | st.none() | st.sampled_from(["a", "b"]),
    st.none() | st.sampled_from([True, False]),
    st.sampled_from([Order.RELEVANCE, Order.RELEVANCE, Order.INSTALLS]),
)
named = st.builds(Shown, texts, st.none() | texts, st.booleans(), st.booleans(), st.integers(0, 9))
word_adds = st.builds(lambda it, shown: it._replace(shown=shown), adds, named)
histories = st.lists(st.lists(changes | word_adds, max_size=4) | asks, max_size=8)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", fold(text))


def _has(key: Key, widget: Shown, term: str) -> bool:
    """Whether a text contains the term, or a word of it has its stem."""
    texts = [fold(widget.display_name), fold(widget.description or ""), *key]
    if any(term in it for text in texts for it in text.split()):
        return True
    words = [word for text in texts for word in _words(text)]
    return any(it.stemWord(term) == it.stemWord(word) for it in STEMMERS for word in words)


def _matches(played: Played, ask: Ask) -> set[Key]:
    listed = {
        key: widget
        for key, widget in played.widgets.items()
        if widget.is_listed
        and ask.scope in (None, key[0])
        and ask.official in (None, widget.is_official is True)
    }
    terms = _words(ask.q) or fold(ask.q).split()
    having = [{key for key, it in listed.items() if _has(key, it, term)} for term in terms]
    every = set(listed).intersection(*having)
    return every if len(every) >= 10 or len(ask.q.split()) == 1 else set().union(*having)


def _search(played: Played, ask: Ask) -> None:
    body = json.loads(played.catalog.search_page(SearchRequest(ask.query, None, "1", 100)).body)
    found = [(it["scope"], it["name"]) for it in body["widgets"]]
    # A word like "a" is ignored beside others, and an unknown one replaced by a similar one.
    is_plain = not {"a"} & set(_words(ask.q)) and played.catalog.index.correct(fold(ask.q)) is None
    # In a small catalog of words that mean the same, clocks are found for "Uhr", and vice versa.
    means_more = any(it.startswith(("clock", "uhr", "weather", "meteo")) for it in _words(ask.q))
    if is_plain:
        wanted = _matches(played, ask)
        assert set(found) >= wanted if means_more else set(found) == wanted
    index = played.catalog._follower.index
    fresh = SearchIndex(index._reader, played.node.counts)
    assert fresh.correct(fold(ask.q)) == index.correct(fold(ask.q))
    assert fresh.find(ask.query, 0, 100)[:2] == index.find(ask.query, 0, 100)[:2]
    assert fresh.count_matches(ask.query) == index.count_matches(ask.query)
    ids = fresh.find(ask.query, 0, 100).ids
    assert fresh.explain(fold(ask.q), ids) == index.explain(fold(ask.q), ids)
    assert [it.id for it in index._reader.list_index_rows(ids)] == ids
    assert body["total"] == len(found)
    event("found something" if found else "found nothing")


@given(
    st.lists(word_adds, max_size=6) | crowds,
    histories,
    st.lists(asks, min_size=1, max_size=4),
    some,
)
def test_words_are_found_as_by_the_oracle_through_any_history(
    initial: list[Add], history: list[Ask | list[Add]], final: list[Ask], seed: int
) -> None:
    with playing(initial, seed << 10) as played:
        last = Ask("clock", None, None, Order.RELEVANCE)
        for step in [*history, *final]:
            if isinstance(step, Ask):
                last = step
            else:
                for change in step:
                    played.change(change)
            _search(played, last)

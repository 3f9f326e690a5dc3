"""How good the order of the search page's results is, measured on judged queries."""

from collections.abc import Iterator
from statistics import mean
from urllib.parse import urlencode

import pytest

from catalog.search.judged import JudgedQuery, read_queries, read_widgets
from support.html import Html
from support.site import InProcessSite

WIDGETS = read_widgets()
QUERIES = read_queries(WIDGETS)
# Substrings of names, descriptions and labels, by rank and popularity, had 0.573.
FLOOR = 0.88


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    """Read-only."""
    with InProcessSite(tmp_path_factory.mktemp("judged") / "data") as site:
        site.add(*(it.line() for it in WIDGETS))
        yield site


def _on_page(site: InProcessSite, query: JudgedQuery) -> list[str]:
    page = Html(site.get(f"/search?{urlencode({'q': query.text})}").body)
    return [it.text for it in page.all("span", class_="key")]


def _in_api(site: InProcessSite, query: JudgedQuery) -> list[str]:
    found = site.get(f"/api/v1/widgets/search?{urlencode({'q': query.text})}").json()
    return [f"{it['scope']}/{it['name']}" for it in found["widgets"]]


def test_the_measure_has_enough_of_everything() -> None:
    assert len(WIDGETS) >= 300
    assert len(QUERIES) >= 60
    assert sum("de" in it.tags for it in WIDGETS) >= 50


def test_a_perfect_order_has_one_and_a_reversed_order_has_less() -> None:
    query = JudgedQuery("x", {"a/a": 3, "a/b": 1})
    assert query.ndcg(["a/a", "a/b"]) == 1
    assert 0.5 < query.ndcg(["a/b", "a/a"]) < 0.8
    assert query.ndcg(["a/c"]) == 0


def test_the_search_page_finds_what_people_want(judged: InProcessSite) -> None:
    by_query = {it.text: it.ndcg(_on_page(judged, it)) for it in QUERIES}
    by_api = mean(it.ndcg(_in_api(judged, it)) for it in QUERIES)
    assert mean(by_query.values()) >= FLOOR, sorted(by_query.items(), key=lambda it: it[1])
    assert mean(by_query.values()) > 2 * by_api

"""What a search box suggests: the first results of the search page, keywords and scopes."""

import pytest

from support.html import Html
from support.site import InProcessSite

PATH = "/search/suggestions"


def links_of(site: InProcessSite, path: str) -> list[str]:
    return Html(site.get(path).body).links


@pytest.mark.parametrize("text", ["clo", "wether", "temperature", "meteo"])
def test_widgets_are_in_the_order_of_the_search_page(demo_site: InProcessSite, text: str) -> None:
    suggested = [it for it in links_of(demo_site, f"{PATH}?q={text}") if "/widgets/" in it]
    found = [it for it in links_of(demo_site, f"/search?q={text}") if it.startswith("/widgets/")]
    assert suggested
    assert suggested == found[: len(suggested)]
    assert len(links_of(demo_site, f"{PATH}?q={text}")) <= 8


def test_keywords_and_scopes_come_first(demo_site: InProcessSite) -> None:
    shown = Html(demo_site.get(f"{PATH}?q=time").body)
    assert shown.links[:2] == ["/search?keyword=time", "/search?keyword=time-zone"]
    assert shown.one("div", role="listbox").attributes["data-status"] == "8 suggestions"
    assert links_of(demo_site, f"{PATH}?q=@home")[0] == "/scopes/home"
    named = [it for it in links_of(demo_site, f"{PATH}?q=catalog/clock") if "/widgets/" in it]
    assert named[0] == "/widgets/catalog/clock"


@pytest.mark.parametrize(
    "query", ["", "?q=", "?q=%20", "?q=qqqqqqqq", "?q=%00%ff", "?q=" + "x" * 500]
)
def test_without_results_the_list_is_empty(demo_site: InProcessSite, query: str) -> None:
    response = demo_site.get(f"{PATH}{query}")
    assert response.status == 200
    assert Html(response.body).links == []


def test_it_is_cached_briefly_and_escaped(demo_site: InProcessSite) -> None:
    response = demo_site.get(f"{PATH}?q=<script>clock")
    assert response.headers["cache-control"] == "public, max-age=60"
    assert "script-src" not in response.headers["content-security-policy"].split(",")[0]
    assert b"<script" not in response.body


def test_boxes_ask_for_them_except_where_results_are_live(demo_site: InProcessSite) -> None:
    for path in ("/", "/widgets/catalog/clock", "/scopes/home"):
        form = Html(demo_site.get(path).body).one("form", role="search")
        assert form.attributes["data-suggest"] == PATH
    assert b"data-suggest" not in demo_site.get("/search").body

"""What the search page says about its results: filters with counts, reasons, corrections."""

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from support.html import Html
from support.site import InProcessSite
from support.widgets import version_line, widget_line

ABOUT = {
    "acme/dial": (["clock", "home"], "Shows the time.", "Needs a Fronius inverter."),
    "acme/sun": (["clock"], "Says when it rises.", None),
    "beta/lamp": (["home"], "Switches a light.", None),
}


def _line(key: str, name: str = "", **fields: object) -> dict[str, object]:
    keywords, description, readme = ABOUT[key]
    manifest = json.dumps({"keywords": keywords, "readme": readme})
    shown = {"displayName": name} if name else {}
    return widget_line(
        key,
        description=description,
        isOfficial=key == "acme/sun",
        versions=[version_line(manifest=manifest)],
        **shown,
        **fields,
    )


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    """Read-only."""
    with InProcessSite(tmp_path_factory.mktemp("browsed") / "data") as site:
        site.add(*map(_line, ABOUT))
        yield site


def _search(site: InProcessSite, **asked: str) -> Html:
    response = site.get(f"/search?{urlencode(asked)}")
    assert response.status == 200
    return Html(response.body)


def _keys(page: Html) -> list[str]:
    return [it.text for it in page.all("span", class_="key")]


def _choices(page: Html) -> dict[str, str]:
    """The filters that a page offers, with their counts, and where they lead."""
    shown = page.one("nav", class_="facets").text
    links = {it.text: it.attributes["href"] or "" for it in page.all("a")}
    return {text: link for text, link in links.items() if text in shown and "/search?" in link}


def test_filters_have_counts_and_lead_to_as_many_widgets(quiet: InProcessSite) -> None:
    choices = _choices(_search(quiet))
    assert choices == {
        "clock 2": "/search?keyword=clock",
        "home 2": "/search?keyword=home",
        "acme 2": "/search?scope=acme",
        "beta 1": "/search?scope=beta",
        "Official 1": "/search?official=true",
    }
    for text, link in choices.items():
        assert len(_keys(Html(quiet.get(link).body))) == int(text.split()[-1])


def test_filters_narrow_each_other_down(quiet: InProcessSite) -> None:
    page = _search(quiet, keyword="clock", scope="acme")
    assert sorted(_keys(page)) == ["acme/dial", "acme/sun"]
    choices = _choices(page)
    assert choices["home 1"] == "/search?scope=acme&keyword=home"
    assert choices["Official 1"] == "/search?scope=acme&keyword=clock&official=true"
    # One that is applied is taken away.
    assert choices["clock 2"] == "/search?scope=acme"
    assert choices["acme 2"] == "/search?keyword=clock"
    applied = [it.text for it in page.all("a", title="Remove this filter")]
    assert applied == ["clock 2", "acme 2"]


def test_a_search_keeps_the_keyword(quiet: InProcessSite) -> None:
    page = _search(quiet, keyword="CLOCK", q="sun")
    assert _keys(page) == ["acme/sun"]
    assert page.one("input", name="keyword").attributes["value"] == "clock"
    assert not _search(quiet, q="sun").all("input", name="keyword")


@pytest.mark.parametrize(
    ("q", "key", "why"),
    [
        ("dial", "acme/dial", "name"),
        ("clocks", "acme/dial", "keywords"),
        ("fronius", "acme/dial", "README"),
        ("uhr", "acme/dial", "keywords"),
        ("beta", "beta/lamp", "scope"),
        ("lamp light", "beta/lamp", "name, description"),
        ("witc", "beta/lamp", "part of a word"),
    ],
)
def test_results_say_why_they_match(quiet: InProcessSite, q: str, key: str, why: str) -> None:
    page = _search(quiet, q=q)
    reasons = [it.text for it in page.all("p", class_="why")]
    assert dict(zip(_keys(page), reasons, strict=True))[key] == f"Matches: {why}"


def test_reasons_are_listed_as_the_language_does(quiet: InProcessSite) -> None:
    page = Html(quiet.get("/search?q=lamp+light&lang=ja").body)
    assert "一致箇所：名前、説明" in [it.text for it in page.all("p", class_="why")]


def test_without_words_there_is_no_reason(quiet: InProcessSite) -> None:
    assert not _search(quiet, scope="acme").all("p", class_="why")


def test_results_with_some_of_the_words_are_announced(quiet: InProcessSite) -> None:
    page = _search(quiet, q="dial switches")
    assert _keys(page)[:1] == ["acme/dial"]
    assert "beta/lamp" in _keys(page)
    assert page.all("p", class_="hint")[0].text.startswith("Few widgets have all of these words.")
    assert not _search(quiet, q="dial").all("p", class_="hint")


def test_an_empty_result_leads_to_keywords(quiet: InProcessSite) -> None:
    page = _search(quiet, q="qqqqqqqqq")
    assert page.one("h2", id="popular").text == "Popular keywords"
    assert {"/search?keyword=clock", "/search?keyword=home", "/keywords"} <= set(page.links)


def test_all_keywords_have_a_page(quiet: InProcessSite) -> None:
    page = Html(quiet.get("/keywords").body)
    assert page.one("p", class_="count").text.startswith("2 keywords")
    links = [it for it in page.links if "keyword=" in it]
    assert links == ["/search?keyword=clock", "/search?keyword=home"]
    assert "/keywords" in quiet.get("/sitemaps/0.xml").body.decode()


def test_what_changes_is_counted_and_corrected_at_once(site: InProcessSite) -> None:
    assert Html(site.get("/keywords").body).one("p", class_="empty")
    site.add(_line("acme/dial", "Barometer"))
    assert _keys(_search(site, q="baromeder")) == ["acme/dial"]
    assert _choices(_search(site))["clock 1"]
    site.add(_line("acme/sun"))
    assert _choices(_search(site))["clock 2"]
    newer = version_line("2.0.0", publishedAt="2026-06-01T00:00:00.000Z")
    site.add(_line("acme/dial", "Gauge") | {"versions": [newer]})
    # No widget has this word any more, so nothing is similar to it.
    assert _keys(_search(site, q="baromeder")) == []
    assert _keys(_search(site, q="barometer")) == []
    assert _choices(_search(site))["clock 1"]
    assert _keys(_search(site, keyword="home")) == []

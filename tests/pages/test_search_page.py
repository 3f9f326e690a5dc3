"""The search page: its results, their order, and the message if there are none."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from support.html import Html
from support.site import InProcessSite
from support.widgets import version_line, widget_line
from widget_catalog.catalog.model.tokens import query_tokens


def search(site: InProcessSite, **asked: str) -> Html:
    response = site.get(f"/search?{urlencode(asked)}")
    assert response.status == 200
    return Html(response.body)


def keys(page: Html) -> list[str]:
    return [it.text for it in page.all("span", class_="key")]


@pytest.fixture
def shop(site: InProcessSite) -> InProcessSite:
    fill_shop(site)
    return site


@pytest.fixture(scope="module")
def quiet_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    """Read-only."""
    with InProcessSite(tmp_path_factory.mktemp("shop") / "data") as site:
        fill_shop(site)
        yield site


def fill_shop(site: InProcessSite) -> None:
    old, new = "2025-01-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"
    site.add(
        widget_line(
            "acme/clock",
            displayName="Wall clock",
            downloadCount=5,
            isOfficial=True,
            createdAt=old,
            versions=[version_line("1.0.0", publishedAt=new, permissions=["network"])],
        ),
        widget_line(
            "beta/clock",
            displayName="Alarm",
            description="Not a wall clock.",
            downloadCount=9,
            createdAt="2025-06-01T00:00:00.000Z",
            versions=[
                version_line("1.0.0", publishedAt=old),
                version_line("2.0.0", publishedAt="2025-07-01T00:00:00.000Z", sdkVersion="^2.0.0"),
            ],
        ),
        widget_line(
            "beta/gauge",
            displayName="Gauge",
            createdAt=new,
            versions=[
                version_line("1.0.0", publishedAt=old, sdkVersion="^3.0.0", yanked=True),
                version_line("1.0.1", publishedAt=old, permissions=["storage"]),
            ],
        ),
    )


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        ("relevance", ["beta/clock", "acme/clock", "beta/gauge"]),
        ("installs", ["beta/clock", "acme/clock", "beta/gauge"]),
        ("newest", ["beta/gauge", "beta/clock", "acme/clock"]),
        ("updated", ["acme/clock", "beta/clock", "beta/gauge"]),
        ("name", ["beta/clock", "beta/gauge", "acme/clock"]),
        ("nonsense", ["beta/clock", "acme/clock", "beta/gauge"]),
    ],
)
def test_results_are_sorted(quiet_shop: InProcessSite, sort: str, wanted: list[str]) -> None:
    assert keys(search(quiet_shop, sort=sort)) == wanted


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({"official": "true"}, ["acme/clock"]),
        ({"scope": "beta"}, ["beta/clock", "beta/gauge"]),
        ({"scope": "@beta"}, ["beta/clock", "beta/gauge"]),
        ({"scope": "no such!"}, []),
        ({"sdk": "2.1.0"}, ["beta/clock"]),
        ({"sdk": "1"}, ["beta/clock", "acme/clock", "beta/gauge"]),
        ({"sdk": "3.0.0"}, []),
        ({"permission": "network"}, ["acme/clock"]),
        ({"permission": "storage", "sdk": "1.0"}, ["beta/gauge"]),
        ({"q": "gauge"}, ["beta/gauge"]),
    ],
)
def test_results_are_filtered(
    quiet_shop: InProcessSite, asked: dict[str, str], wanted: list[str]
) -> None:
    page = search(quiet_shop, **asked)
    assert keys(page)[: len(wanted)] == wanted
    count = page.one("p", class_="count").text
    assert count.startswith("1 widget" if len(wanted) == 1 else f"{len(wanted)} widgets")


@pytest.mark.parametrize("q", ["acme/clock", "@acme/clock", "ACME/Clock"])
def test_an_exact_name_comes_first(quiet_shop: InProcessSite, q: str) -> None:
    assert keys(search(quiet_shop, q=q))[0] == "acme/clock"


def test_widgets_of_the_name_alone_come_first(shop: InProcessSite) -> None:
    shop.add(widget_line("zeta/x", displayName="Clock"))
    assert keys(search(shop, q="clock")) == ["beta/clock", "acme/clock", "zeta/x"]
    assert keys(search(shop, q="wall clock")) == ["acme/clock", "beta/clock", "zeta/x"]


@pytest.mark.parametrize(
    ("q", "meant"), [("guage", "gauge"), ("beta/gague", "beta/gauge"), ("alarn", "alarm")]
)
def test_similar_words_are_found_and_suggested(
    quiet_shop: InProcessSite, q: str, meant: str
) -> None:
    page = search(quiet_shop, q=q)
    assert page.one("p", class_="meant").text == f"Did you mean {meant}?"
    assert f"/search?{urlencode({'q': meant})}" in page.links
    assert keys(page)[0] == ("beta/clock" if q == "alarn" else "beta/gauge")


def test_where_only_the_filters_are_too_narrow_the_rest_is_shown(quiet_shop: InProcessSite) -> None:
    page = search(quiet_shop, q="gauge", official="true")
    assert page.one("h2", id="near").text == "Results without filters"
    assert keys(page) == ["beta/gauge"]
    assert "/search?q=gauge" in page.links


def test_nothing_at_all_is_said_so(quiet_shop: InProcessSite) -> None:
    page = search(quiet_shop, q="qqqqqqqq")
    assert page.one("p", class_="empty").text.startswith("No matches.")


def test_an_empty_catalog_has_nothing_to_match(site: InProcessSite) -> None:
    page = search(site)
    assert page.one("p", class_="empty").text.startswith("Nothing is published here yet.")


def test_an_sdk_that_is_none_is_reported_and_not_applied(quiet_shop: InProcessSite) -> None:
    page = search(quiet_shop, sdk="newest")
    assert len(keys(page)) == 3
    assert page.one("input", id="sdk").attributes["aria-invalid"] == "true"
    assert page.one("input", id="sdk").attributes["value"] == "newest"


def test_the_form_shows_what_was_asked(quiet_shop: InProcessSite) -> None:
    page = search(
        quiet_shop, q="clock", scope="acme", sdk="1.2", permission="network", sort="newest"
    )
    shown = {it.attributes["name"]: it.attributes.get("value") for it in page.all("input")}
    assert shown == {"q": "clock", "official": "true", "scope": "acme", "sdk": "1.2"}
    assert "checked" not in page.one("input", id="official").attributes
    chosen = [it.text for it in page.elements if it.tag == "option" and "selected" in it.attributes]
    assert chosen == ["network", "Newest"]


def test_all_pages_are_linked_and_hold_all_widgets(site: InProcessSite) -> None:
    site.add(*(widget_line(f"acme/w{i:02}") for i in range(45)))
    seen: list[str] = []
    links = ["/search?q=a&sort=name"]
    for link in links:
        page = Html(site.get(link).body)
        seen += keys(page)
        links += [it.attributes["href"] or "" for it in page.all("a", rel="next")]
    assert links[1:] == ["/search?q=a&sort=name&page=2", "/search?q=a&sort=name&page=3"]
    assert seen == [f"acme/w{i:02}" for i in range(45)]
    assert keys(Html(site.get("/search?page=99").body)) == []


@pytest.mark.parametrize(
    "query", ["q=%ff%00", "page=0", "page=²", f"page={'9' * 500}", "q=" + "x" * 2000, "&&=&a" * 50]
)
def test_whatever_is_asked_there_is_a_page(quiet_shop: InProcessSite, query: str) -> None:
    assert quiet_shop.get(f"/search?{query}").status == 200


_ODD_TEXTS = {
    "a very long word": "ab" * 128,
    "one-letter words": " ".join("abcdefghijklmnopqrstuvwxyz"),
    "many unknown words": " ".join(f"q{it:03}xzv" for it in range(36)),
    "combining marks alone": "\u0301\u0302 " * 80,
    "many marks on a letter": "c" + "\u0300\u0301\u0302\u0303" * 60,
    "emoji": "🕐🌦️👨‍👩‍👧‍👦 " * 15,
    "text like a pattern": "(a+)+$ .*.* [a-z]{1,99} \\w+ ^$ (?:x|y)* " * 5,
    "right-to-left": "שעון עולם \u202eساعة\u2066 " * 8,
    "a character that folds to many": "\ufdfa" * 200,
    "symbols": "@/-%&'\"<>" * 25,
}


@pytest.mark.parametrize("text", _ODD_TEXTS.values(), ids=_ODD_TEXTS)
def test_odd_texts_are_searched_for_in_every_field(quiet_shop: InProcessSite, text: str) -> None:
    every = dict.fromkeys(("q", "keyword", "scope", "permission", "sdk"), text)
    for fields in ({"q": text}, {"keyword": text}, every):
        assert quiet_shop.get(f"/search?{urlencode(fields)}").status == 200
    assert quiet_shop.get(f"/keywords?{urlencode({'q': text})}").status == 200


def test_only_the_first_words_of_a_long_query_are_searched_for() -> None:
    words = [f"word{it}" for it in range(40)]
    assert query_tokens(" ".join(["the", *words])) == tuple(words[:12])


def test_words_of_a_script_without_spaces_are_found_in_every_field(site: InProcessSite) -> None:
    readme = "# 天気\n\nこれは東京の週間天気予報をグラフで表示するウィジェットです。" + "長" * 40
    tokyo = [version_line("1.0.0", readme=readme)]
    site.add(
        widget_line("ja/tokyo", displayName="Tokyo", versions=tokyo),
        widget_line("ja/sekai", displayName="世界時計", description="都市の時刻を表示します。"),
    )

    for q, wanted in {
        "天気予報": ["ja/tokyo"],
        "週間天気": ["ja/tokyo"],
        "東京の天気": ["ja/tokyo"],
        "グラフ": ["ja/tokyo"],
        "時計": ["ja/sekai"],
        "世界時計": ["ja/sekai"],
        "時刻": ["ja/sekai"],
        "表示": ["ja/sekai", "ja/tokyo"],
    }.items():
        assert keys(search(site, q=q)) == wanted, q
    for between in ("", " "):
        page = search(site, q=f"toky0{between}世界時計")
        meant = page.one("p", class_="meant").text
        assert meant == f"Did you mean tokyo{between}世界時計?"


def test_words_of_any_script_are_corrected_in_new_and_in_old_widgets(tmp_path: Path) -> None:
    """Their letters have several bytes each; those of other scripts are no typing errors."""
    meant = {
        "погда": "погода",
        "погодаа": "погода",
        "ρολγι": "ρολογι",
        "noteю": "note",
        "oddx": None,
    }
    with InProcessSite(tmp_path / "data") as site:
        search(site, q="Погода")
        site.add(
            widget_line("acme/weather", displayName="Погода"),
            widget_line("acme/clock", displayName="Ρολόγι"),
            widget_line("acme/note", displayName="Note"),
            widget_line("acme/strange", displayName="Oddю"),
        )
        new = {q: _meant(site, q) for q in meant}
    with InProcessSite(tmp_path / "data") as site:
        old = {q: _meant(site, q) for q in meant}

    assert new == old == meant


def _meant(site: InProcessSite, q: str) -> str | None:
    found = search(site, q=q).all("p", class_="meant")
    return found[0].text.removeprefix("Did you mean ").removesuffix("?") if found else None


def test_words_without_a_subject_are_not_forms_of_others(site: InProcessSite) -> None:
    """The German stem of "notes" is "not"."""
    site.add(
        widget_line("acme/paper", displayName="Note"),
        widget_line("acme/air", displayName="Air", description="Announced, not yet published."),
    )

    for q in ("notes", "note", "Notizen"):
        assert keys(search(site, q=q)) == ["acme/paper"], q
    assert keys(search(site, q="not")) == ["acme/paper", "acme/air"]


def test_names_in_other_languages_are_names(site: InProcessSite) -> None:
    """However long the README is."""
    texts = {
        "de": {"displayName": "Sonnenuhr", "description": "Zeigt den Schatten."},
        "ja": {"displayName": "日時計"},
    }
    readme = " ".join(f"word{it}" for it in range(200))
    dial = [version_line("1.0.0", translations=texts, readme=readme)]
    site.add(
        widget_line("acme/shade", displayName="Shade", versions=dial),
        widget_line("acme/other", displayName="Other", description="Keine Sonnenuhr."),
    )

    for q, wanted, why in (
        ("Sonnenuhr", ["acme/shade", "acme/other"], "name"),
        ("日時計", ["acme/shade"], "name"),
        ("Schatten", ["acme/shade"], "description"),
    ):
        page = search(site, q=q)
        assert keys(page) == wanted, q
        assert page.all("p", class_="why")[0].text == f"Matches: {why}"


def test_what_changes_is_shown_at_once(shop: InProcessSite) -> None:
    page = search(shop, sort="name", permission="camera")
    assert page.one("p", class_="count").text.startswith("0 widgets")
    shop.add(widget_line("acme/aaa", versions=[version_line(permissions=["camera"])]))
    assert keys(search(shop, sort="name", permission="camera")) == ["acme/aaa"]
    assert keys(search(shop, sort="name"))[0] == "acme/aaa"
    assert keys(search(shop, q="aaa"))[0] == "acme/aaa"


@pytest.fixture(scope="module", params=["there at the start", "added while serving"])
def labelled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InProcessSite]:
    """Read-only."""
    manifest = json.dumps({"keywords": ["home-automation", "wetter", 7, "a b", "x" * 31]})
    lines = [
        widget_line(
            "acme/world-dial",
            displayName="Météo",
            description="Nothing else.",
            versions=[version_line("1.0.0", manifest=manifest)],
        ),
        widget_line(
            "beta/other",
            displayName="Dial",
            versions=[
                version_line("1.0.0", manifest=manifest, publishedAt="2025-01-01T00:00:00.000Z"),
                version_line("2.0.0", publishedAt="2025-02-01T00:00:00.000Z"),
            ],
        ),
    ]
    with InProcessSite(tmp_path_factory.mktemp("labelled") / "data") as site:
        if request.param == "added while serving":
            assert keys(search(site, q="x")) == []
        site.add(*lines)
        yield site


def test_scope_name_and_keywords_of_the_latest_version_are_searched(
    labelled: InProcessSite,
) -> None:
    cases = [
        ("world", ["acme/world-dial"]),
        ("world-dial", ["acme/world-dial"]),
        ("rld-DI", ["acme/world-dial"]),
        ("acme", ["acme/world-dial"]),
        ("acme/wor", ["acme/world-dial"]),
        ("@acme/world-dial", ["acme/world-dial"]),
        ("acme meteo", ["acme/world-dial"]),
        ("wetter", ["acme/world-dial"]),
        ("WËTTER", ["acme/world-dial"]),
        ("home-automation", ["acme/world-dial"]),
        ("automation home", ["acme/world-dial"]),
        ("dial", ["beta/other", "acme/world-dial"]),
        ("acme other", ["acme/world-dial", "beta/other"]),
        ("xxxxxxxx", []),
        ("-", []),
        ("@ /", []),
    ]
    for q, wanted in cases:
        found = search(labelled, q=q)
        if wanted:
            assert sorted(keys(found)) == sorted(wanted)
        else:  # There may be suggestions.
            assert found.one("p", class_="count").text.startswith("0 widgets")
        api = labelled.get(f"/api/v1/widgets/search?{urlencode({'q': q})}").json()
        in_api = [f"{it['scope']}/{it['name']}" for it in api["widgets"]]
        assert in_api == (["beta/other"] if q == "dial" else [])


def test_a_keyword_on_a_widgets_page_leads_to_a_search_that_finds_it(
    labelled: InProcessSite,
) -> None:
    page = Html(labelled.get("/widgets/acme/world-dial").body)
    links = [it for it in page.links if "/search?keyword=" in it]

    assert links == ["/search?keyword=home-automation", "/search?keyword=wetter"]
    for link in links:
        assert keys(Html(labelled.get(link).body))[0] == "acme/world-dial"


def test_widgets_that_reach_some_hosts_are_among_those_with_network(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        hosts = ["network:a.example", "network:*.b.example"]
        site.add(widget_line("acme/clock", versions=[version_line(permissions=hosts)]))
        page = search(site, permission="network")
    assert keys(page) == ["acme/clock"]
    assert page.one("select", id="permission").text == "anynetwork"

"""GET /api/v1/widgets/search: what `q` finds, and the format of a result."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.api.expected import SEARCH, found, summary
from support.site import InProcessSite
from support.widgets import version_line, widget_line

CLOCK = widget_line("acme/clock", displayName="World Clock", description="Shows the time.")
TIMER = widget_line("acme/timer", displayName="Timer", description="Counts down, like a clock.")


WIDGETS = [
    CLOCK,
    TIMER,
    widget_line("s/hidden", displayName="Hidden Clock", listed=False),
    widget_line("t/strasse", displayName="Straße", description="STRASSENBAHN"),
    widget_line("t/wide", displayName="Ｆｕｌｌ　Ｗｉｄｔｈ", description=None),
    widget_line("t/turkish", displayName="İstanbul", description=None),
    widget_line("t/cafe", displayName="Cafe\u0301", description="ﬁne ½ coffee"),
    widget_line("t/sigma", displayName="ΣΊΣΥΦΟΣ", description=None),
    widget_line("t/kanji", displayName="天気予報", description="今日の天気"),
    widget_line("u/odd", displayName='100% _sure_ "it\'s" [a*b?] \\ -- ; OR 1=1', icon=None),
    widget_line("u/emoji", displayName="🕰️ Retro", description="z\nq\tx"),
]


@pytest.fixture(scope="module", params=["there at the start", "added while serving"])
def shop(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[InProcessSite]:
    """These widgets, added to the index in both ways."""
    site = InProcessSite(tmp_path_factory.mktemp("shop") / "data")
    if request.param == "there at the start":
        site.add_old(*WIDGETS)
    with site:
        if request.param == "added while serving":
            assert found(site) == []
            site.add_old(*WIDGETS)
        yield site


def test_a_result_shows_the_widget_and_its_latest_version(shop: InProcessSite) -> None:
    response = shop.get(f"{SEARCH}?q=world")

    assert response.status == 200
    assert response.json() == {"widgets": [summary(CLOCK)], "total": 1, "page": 1, "limit": 20}


def test_q_matches_names_and_descriptions_and_leaves_unlisted_widgets_out(
    shop: InProcessSite,
) -> None:
    response = shop.get(f"{SEARCH}?q=clock")

    assert response.json() == {
        "widgets": [summary(CLOCK), summary(TIMER)],
        "total": 2,
        "page": 1,
        "limit": 20,
    }


@pytest.mark.parametrize("q", ["acme", "emoji", "kanji", "mdi", "acme/clock", "1.0.0"])
def test_q_never_matches_scope_name_icon_or_version(shop: InProcessSite, q: str) -> None:
    assert found(shop, q=q) == []


def test_every_term_must_occur_somewhere_in_name_or_description(shop: InProcessSite) -> None:
    cases = [
        ("  world\t", ["acme/clock"]),
        ("\u3000world\u00a0", ["acme/clock"]),
        ("world time", ["acme/clock"]),
        ("time   WORLD", ["acme/clock"]),
        ("world\u3000time", ["acme/clock"]),
        ("world\ntime", ["acme/clock"]),
        ("world countdown", []),
        ("world down", []),
        ("orl hows", ["acme/clock"]),
        ("d c", ["acme/clock", "acme/timer"]),
        ("worldclock", []),
        ("clock.", ["acme/timer"]),
    ]
    for q, keys in cases:
        assert found(shop, "scope=acme", q=q) == keys


def test_texts_are_compared_without_case_accents_and_width(shop: InProcessSite) -> None:
    cases = [
        ("strasse", ["t/strasse"]),
        ("STRASSE", ["t/strasse"]),
        ("straße", ["t/strasse"]),
        ("STRAẞE", ["t/strasse"]),
        ("strassenbahn", ["t/strasse"]),
        ("straßenbahn", ["t/strasse"]),
        ("full width", ["t/wide"]),
        ("ＦＵＬＬ", ["t/wide"]),
        ("full　WIDTH", ["t/wide"]),
        ("i\u0307stanbul", ["t/turkish"]),
        ("İSTANBUL", ["t/turkish"]),
        ("istanbul", ["t/turkish"]),
        ("stanbul", ["t/turkish"]),
        ("café", ["t/cafe"]),
        ("CAFE\u0301", ["t/cafe"]),
        ("cafe", ["t/cafe"]),
        ("c\u0301afe", ["t/cafe"]),
        ("fine", ["t/cafe"]),
        ("1⁄2", ["t/cafe"]),
        ("½", ["t/cafe"]),
        ("σίσυφος", ["t/sigma"]),
        ("σίσυφοσ", ["t/sigma"]),
        ("σισυφος", ["t/sigma"]),
        ("天気", ["t/kanji"]),
        ("予報", ["t/kanji"]),
        ("報予", []),
    ]
    for q, keys in cases:
        assert found(shop, "scope=t", q=q) == keys


def test_marks_that_mean_something_elsewhere_are_ordinary_characters(shop: InProcessSite) -> None:
    cases = [
        "%",
        "_",
        "'",
        '"',
        "*",
        "?",
        "[a",
        "\\",
        "--",
        ";",
        "1=1",
        "or",
        "_sure_",
        "it's",
        "0%",
    ]
    for q in cases:
        assert found(shop, "scope=u", q=q) == ["u/odd"]


def test_no_mark_stands_for_other_characters(shop: InProcessSite) -> None:
    cases = ["%%", "__", "w*d", "a.b", "^100", "sure$", "NOT", "\x00", "k\x00", "\x00k", "\ufffd"]
    for q in cases:
        assert found(shop, q=q) == []


@pytest.mark.parametrize("q", ["🕰", "🕰️", "z q", "x z", "x\nz"])
def test_text_beyond_the_basic_plane_and_line_breaks_are_searched(
    shop: InProcessSite, q: str
) -> None:
    assert found(shop, "scope=u", q=q) == ["u/emoji"]


@pytest.mark.parametrize("q", ["", " ", "\t\n", "\u3000", "\u00a0\u2003"])
def test_blank_q_is_no_q(shop: InProcessSite, q: str) -> None:
    assert found(shop, "scope=acme", q=q) == ["acme/clock", "acme/timer"]


@pytest.mark.parametrize("letter", ["x", "ß", "🕰"])
def test_q_may_have_256_characters_after_trimming_and_no_more(
    shop: InProcessSite, letter: str
) -> None:
    assert found(shop, q=letter * 256) == []
    assert found(shop, q=f"  {letter * 256}  ") == []
    too_long = shop.get(f"{SEARCH}?q={'%20' * 3}" + "%C3%9F" * 257)
    assert too_long.status == 400
    assert too_long.json() == {"error": "q is 257 characters long; at most 256 are searched for."}


def test_terms_in_different_fields_are_found_together(site: InProcessSite) -> None:
    site.add(
        widget_line("a/both", displayName="Alpha", description="beta"),
        widget_line("a/name", displayName="Alpha", description="gamma"),
        widget_line("a/text", displayName="Delta", description="beta"),
    )

    assert found(site, q="alpha beta") == ["a/both"]


def test_text_is_that_of_the_newest_version_and_the_old_text_is_gone(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", displayName="Old Name", description="old words"))
    assert found(site, q="old") == ["acme/clock"]
    newer = version_line("2.0.0", publishedAt="2026-02-01T00:00:00.000Z")
    renamed = widget_line(
        "acme/clock", displayName="New Name", description=None, icon=None, versions=[newer]
    )
    site.add(renamed)

    assert found(site, q="old") == []
    assert site.get(f"{SEARCH}?q=NEW").json() == {
        "widgets": [summary(renamed)],
        "total": 1,
        "page": 1,
        "limit": 20,
    }


def test_a_text_that_only_a_version_has_is_shown_but_not_searched(site: InProcessSite) -> None:
    version = version_line(displayName="Version Name", description="Version text", icon="mdi:v")
    widget = widget_line("acme/clock", versions=[version])
    site.add(widget)

    assert found(site, q="version") == []
    assert site.get(SEARCH).json()["widgets"] == [summary(widget)]


def test_latest_version_is_the_newest_that_is_not_yanked(site: InProcessSite) -> None:
    early = "2025-01-01T00:00:00.000Z"
    cases: list[tuple[list[dict[str, Any]], str | None]] = [
        ([], None),
        ([{"version": "1.0.0", "yanked": True, "yankedReason": "broken"}], None),
        ([{"version": "1.0.0"}, {"version": "1.0.1"}], "1.0.1"),
        ([{"version": "1.0.0"}, {"version": "1.0.1", "yanked": True}], "1.0.0"),
        ([{"version": "1.0.0"}, {"version": "1.0.0-rc.1"}], "1.0.0"),
        ([{"version": "9.0.0", "publishedAt": early}, {"version": "1.0.0"}], "1.0.0"),
    ]
    wanted = []
    for i, (versions, latest) in enumerate(cases):
        lines = [version_line(**it) for it in versions]
        widget = widget_line(f"acme/w{i}", versions=lines)
        site.add(widget)
        shown = [it for it in lines if it["version"] == latest]
        wanted.append(summary({**widget, "versions": shown}))

    assert site.get(SEARCH).json()["widgets"] == wanted


def test_nulls_are_shown_as_nulls(site: InProcessSite) -> None:
    widget = widget_line("a/b", description=None, icon=None, isOfficial=None, versions=[])
    site.add(widget)

    assert site.get(SEARCH).json() == {
        "widgets": [
            {
                "scope": "a",
                "name": "b",
                "displayName": "B",
                "description": None,
                "icon": None,
                "isOfficial": None,
                "downloadCount": 0,
                "latestVersion": None,
            }
        ],
        "total": 1,
        "page": 1,
        "limit": 20,
    }


def test_an_empty_catalog_has_no_results(site: InProcessSite) -> None:
    nothing = {"widgets": [], "total": 0, "page": 1, "limit": 20}

    assert site.get(SEARCH).json() == nothing
    assert site.get(f"{SEARCH}?q=x&scope=a&official=true&compatSdk=1.0.0").json() == nothing


@pytest.mark.parametrize("q", ["meteo", "météo", "ME\u0301TEO", "ｍｅｔｅｏ", "etE"])
def test_accents_do_not_matter_in_ranks_either(site: InProcessSite, q: str) -> None:
    site.add(
        widget_line("a/text", displayName="Rain", description="La meteo."),
        widget_line("a/name", displayName="Ma Météo", description=None),
        widget_line("a/whole", displayName="MÉTÉO", description=None),
    )

    assert found(site, q=q) == (
        ["a/name", "a/whole", "a/text"] if q == "etE" else ["a/whole", "a/name", "a/text"]
    )


@pytest.mark.parametrize("q", ["¨", "\u0301", "\u00af \u0327"])
def test_q_of_marks_alone_is_no_q(shop: InProcessSite, q: str) -> None:
    assert found(shop, "scope=acme", q=q) == ["acme/clock", "acme/timer"]


def test_a_character_that_folds_to_a_space_separates_words(site: InProcessSite) -> None:
    site.add(
        widget_line("a/arabic", displayName="\ufdfa", description=None),
        widget_line("a/mark", displayName="one¨two", description=None),
    )

    assert found(site, q="\ufdfa") == ["a/arabic"]
    assert found(site, q="one¨two") == found(site, q="two one") == ["a/mark"]


def test_a_catalog_in_which_nothing_is_listed_finds_nothing(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        site.add(widget_line("acme/hidden", listed=False))
    with InProcessSite(tmp_path / "data") as site:  # Its index is built from the index rows.
        assert site.get("/api/v1/widgets/search").json()["total"] == 0

"""GET /api/v1/widgets/search: the five ranks, popularity, ties, and paging."""

import random
from collections.abc import Iterator

import pytest

from catalog.api.expected import SEARCH, found
from support.site import InProcessSite
from support.widgets import version_line, widget_line


def _named(*names: str, description: str | None = None) -> list[dict[str, object]]:
    """Widgets with increasing downloads: without ranks they would be in reverse order."""
    return [
        widget_line(f"a/w{i}", displayName=name, description=description, downloadCount=10 * i)
        for i, name in enumerate(names)
    ]


def test_the_five_ranks_come_before_downloads(site: InProcessSite) -> None:
    site.add(
        *_named("Red Clock", "Red Clockwork", "Clocks that are red", "Unclocked, hundred"),
        widget_line("a/w4", displayName="Red", description="A clock.", downloadCount=40),
        widget_line("a/w5", displayName="Blue Clock", description="Not.", downloadCount=50),
    )

    assert found(site, q="red clock") == ["a/w0", "a/w1", "a/w2", "a/w3", "a/w4"]


# In each pair the first name has the better rank, and the second one more downloads.
RANKED = [
    ("clock", "Clock", "Clocks"),
    ("clock", "Clocks", "A clock"),
    ("clock", "clockwork orange", "Orange clock"),
    ("clock", "A clocks", "Unclocked"),
    ("b a", "Xa Ab Ba", "Xb Xa"),
    ("b a", "Aa Bb", "Ab Xa"),
    ("a  b", "a  b", "a b"),
    ("a b", "a bc", "ab ba"),
    ("a b", "a b", "a\u00a0\u00a0b"),
    ("clock", "clock", " clock"),
    ("clock", "clock a", " clock"),
    ("fußball", "FUSSBALL", "fussballs"),
    ("ﬁ", "FISH", "A fish"),
    ("カ", "カレンダー", "x ｶﾚﾝﾀﾞｰ"),
    ("clock", "x Clock", "x-clock"),
    ("clock", "x (y) clock", "x (clock)"),
    ("ab", "ab\U0010ffff", "x ab"),
    ("ab", "ab\U0010ffff\U0010ffff\U0010ffff", "x ab"),
    ("ab", "x ab\U0010ffff\U0010ffff\U0010ffff", "xab"),
    ("\U0010ffff", "x \U0010ffff\U0010ffff\U0010ffff", "x\U0010ffff"),
    ("ab\U0010ffff", "ab\U0010ffff\U0010ffff", "x ab\U0010ffff"),
]
SAME_RANK = [
    ("clock", "Clock", "ＣＬＯＣＫ"),
    ("clock", "Clocks", "Clock x"),
    ("clock", "x clock", "y z clocks"),
    ("b a", "a b", "ax x bx"),
    ("clock", "Unclock", "x-clock"),
]


@pytest.fixture(scope="module", params=["there at the start", "added while serving"])
def pairs(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[InProcessSite]:
    """Every pair of names in its own scope, added to the index in both ways."""
    lines = [
        widget_line(f"s{i}/w{j}", displayName=name, description=None, downloadCount=10 * j)
        for i, (_, *names) in enumerate(RANKED + SAME_RANK)
        for j, name in enumerate(names)
    ]
    site = InProcessSite(tmp_path_factory.mktemp("pairs") / "data")
    if request.param == "there at the start":
        site.add(*lines)
    with site:
        if request.param == "added while serving":
            assert found(site) == []
            site.add(*lines)
        yield site


def test_a_better_rank_beats_any_number_of_downloads(pairs: InProcessSite) -> None:
    for case in range(len(RANKED)):
        assert found(pairs, f"scope=s{case}", q=RANKED[case][0]) == [f"s{case}/w0", f"s{case}/w1"]


@pytest.mark.parametrize("case", range(len(SAME_RANK)), ids=lambda i: SAME_RANK[i][1])
def test_inside_a_rank_downloads_decide(pairs: InProcessSite, case: int) -> None:
    scope = f"s{len(RANKED) + case}"

    assert found(pairs, f"scope={scope}", q=SAME_RANK[case][0]) == [f"{scope}/w1", f"{scope}/w0"]


def test_a_word_of_the_description_is_the_last_rank_wherever_it_stands(site: InProcessSite) -> None:
    site.add(
        widget_line("a/text", displayName="X", description="clock", downloadCount=99),
        widget_line("a/name", displayName="Unclocked", description=None, downloadCount=1),
        widget_line("a/half", displayName="Clock", description="red", downloadCount=98),
        widget_line("a/both", displayName="xclock xred", description=None),
    )

    assert found(site, q="clock") == ["a/half", "a/name", "a/both", "a/text"]
    assert found(site, q="clock red") == ["a/both", "a/half"]


def test_equal_downloads_are_ordered_by_scope_then_name(site: InProcessSite) -> None:
    keys = ["a/b", "a/b-c", "a/b0", "a/bc", "a-b/a", "a0/a", "ab/a", "b/0", "b/a", "0/z"]
    wanted = sorted(keys, key=lambda key: tuple(key.split("/")))
    random.Random(5).shuffle(keys)
    site.add(*(widget_line(key, displayName="Same", downloadCount=3) for key in keys))

    assert found(site) == wanted
    assert found(site, q="same") == wanted
    assert found(site, q="ame") == wanted


def test_without_q_the_order_is_downloads_then_scope_then_name(site: InProcessSite) -> None:
    site.add(
        widget_line("b/one", downloadCount=5),
        widget_line("a/two", downloadCount=5),
        widget_line("c/most", downloadCount=2**53 - 1),
        widget_line("a/none", downloadCount=0),
        widget_line("a/null", downloadCount=None),
        widget_line("a/one", downloadCount=6),
    )

    assert found(site) == ["c/most", "a/one", "a/two", "b/one", "a/none", "a/null"]


def test_a_count_moves_a_widget_at_once_with_and_without_q(site: InProcessSite) -> None:
    site.add(*(widget_line(f"a/{name}", displayName="Same") for name in ("x", "y", "z")))
    assert found(site) == found(site, q="same") == ["a/x", "a/y", "a/z"]

    site.post("/api/v1/widgets/a/z")
    assert found(site) == found(site, q="same") == ["a/z", "a/x", "a/y"]

    site.post("/api/v1/widgets/a/y")
    assert found(site) == found(site, q="same") == ["a/y", "a/z", "a/x"]


def test_a_new_widget_and_a_new_name_take_their_places_at_once(site: InProcessSite) -> None:
    site.add(widget_line("b/one", displayName="Clocks"), widget_line("d/two", displayName="Clock"))
    assert found(site, q="clock") == ["d/two", "b/one"]

    site.add(widget_line("c/new", displayName="Clock"), widget_line("a/new", displayName="Clocky"))
    assert found(site, q="clock") == ["c/new", "d/two", "a/new", "b/one"]
    assert found(site) == ["a/new", "b/one", "c/new", "d/two"]

    newer = version_line("2.0.0", publishedAt="2026-06-01T00:00:00Z")
    site.add(widget_line("c/new", displayName="Unclocked", versions=[newer]))
    assert found(site, q="clock") == ["d/two", "a/new", "b/one", "c/new"]
    assert found(site) == ["a/new", "b/one", "c/new", "d/two"]


def test_walking_the_pages_shows_every_widget_exactly_once(site: InProcessSite) -> None:
    chance = random.Random(7)
    names = ["Clock", "Clocks", "A clock", "Unclocked", "Other"]
    lines = [
        widget_line(
            f"s{i % 7}/w{i}",
            displayName=chance.choice(names),
            description="clock",
            downloadCount=chance.randrange(3),
        )
        for i in range(143)
    ]
    site.add(*lines)
    rank = {name: i for i, name in enumerate(names)}
    popular = sorted(lines, key=lambda it: (-it["downloadCount"], it["scope"], it["name"]))
    ranked = sorted(popular, key=lambda it: rank[it["displayName"]])

    for q, ordered in (("", popular), ("clock", ranked)):
        for limit in (1, 7, 50, 100, 143):
            walked = []
            for page in range(1, 145):
                address = f"{SEARCH}?q={q}&page={page}&limit={limit}"
                body = site.get(address).json()
                assert (body["total"], body["page"]) == (143, page)
                if not body["widgets"]:
                    break
                walked += [(it["scope"], it["name"]) for it in body["widgets"]]
            assert walked == [(it["scope"], it["name"]) for it in ordered]

"""GET /api/v1/widgets/search with `compatSdk`: which version is offered to an SDK."""

from collections.abc import Iterator
from typing import Any

import pytest

from catalog.api.expected import SEARCH, entry, found, summary
from support.site import InProcessSite
from support.widgets import version_line, widget_line

INVALID = "compatSdk must be a semantic version with all three numbers, such as 1.2.0."

# Oldest first: each is published a day after the one before.
VERSIONS: dict[str, list[dict[str, Any]]] = {
    "caret": [{"sdkVersion": "^1.0.0"}, {"sdkVersion": "^2.0.0"}],
    "both": [{"sdkVersion": ">=1 <3"}, {"sdkVersion": "1.x || 2.x"}],
    "yanked": [{"sdkVersion": "^1.0.0"}, {"sdkVersion": "^1.0.0", "yanked": True}],
    "star": [{"sdkVersion": "*"}],
    "empty": [{"sdkVersion": ""}],
    "unreadable": [{"sdkVersion": "^1.0.0"}, {"sdkVersion": "one or so"}],
    "never": [{"sdkVersion": "one or so"}],
    "overlong": [{"sdkVersion": " " * 5000 + "*"}],
    "none": [],
    "exact": [{"sdkVersion": "1.2.3"}],
    "hyphen": [{"sdkVersion": "1.2 - 1.4"}],
    "prerelease": [{"sdkVersion": ">=1.0.0-rc.2"}],
}


def _widget(name: str) -> dict[str, Any]:
    versions = [
        version_line(f"1.{i}.0", publishedAt=f"2026-01-{i + 1:02}T00:00:00.000Z", **fields)
        for i, fields in enumerate(VERSIONS[name])
    ]
    return widget_line(f"acme/{name}", versions=versions)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path_factory.mktemp("shop") / "data") as site:
        site.add(*map(_widget, VERSIONS))
        yield site


def _offered(site: InProcessSite, sdk: str) -> dict[str, int | None]:
    """The offered version of every widget; the whole entry is checked."""
    response = site.get(f"{SEARCH}?limit=100&compatSdk={sdk}")
    assert response.status == 200, response.body
    offered = {}
    for shown in response.json()["widgets"]:
        widget = _widget(shown["name"])
        entries = [entry(widget, it) for it in widget["versions"]]
        best = shown["latestCompatibleVersion"]
        offered[shown["name"]] = None if best is None else entries.index(best)
    assert len(offered) == len(VERSIONS)
    return offered


@pytest.mark.parametrize(
    ("sdk", "wanted"),
    [
        (
            "1.2.3",
            {"caret": 0, "both": 1, "yanked": 0, "unreadable": 0, "exact": 0, "hyphen": 0,
             "prerelease": 0},
        ),
        ("1.0.0", {"caret": 0, "both": 1, "yanked": 0, "unreadable": 0, "prerelease": 0}),
        (
            "1.4.99",
            {"caret": 0, "both": 1, "yanked": 0, "unreadable": 0, "hyphen": 0, "prerelease": 0},
        ),
        ("2.0.0", {"caret": 1, "both": 1, "prerelease": 0}),
        ("3.0.0", {"prerelease": 0}),
        ("0.9.0", {}),
        # A prerelease is tested itself, and as its release.
        ("1.0.0-rc.1", {"caret": 0, "both": 1, "yanked": 0, "unreadable": 0, "prerelease": 0}),
        (
            "1.2.3-rc.1",
            {"caret": 0, "both": 1, "yanked": 0, "unreadable": 0, "exact": 0, "hyphen": 0,
             "prerelease": 0},
        ),
        ("2.0.0-alpha", {"caret": 1, "both": 1, "prerelease": 0}),
        ("3.0.0-rc.1", {"prerelease": 0}),
        # Build metadata is ignored.
        (
            "1.2.3%2Bbuild.5",
            {"caret": 0, "both": 1, "yanked": 0, "unreadable": 0, "exact": 0, "hyphen": 0,
             "prerelease": 0},
        ),
        ("2.0.0-alpha%2B7", {"caret": 1, "both": 1, "prerelease": 0}),
    ],
)  # fmt: skip
def test_the_newest_version_that_fits_the_sdk_is_offered(
    shop: InProcessSite, sdk: str, wanted: dict[str, int]
) -> None:
    always = {"star": 0, "empty": 0}

    assert _offered(shop, sdk) == dict.fromkeys(VERSIONS) | always | wanted


def test_the_whole_body_with_and_without_compat_sdk(site: InProcessSite) -> None:
    old = version_line("1.0.0", sdkVersion="^1.0.0")
    new = version_line("2.0.0", sdkVersion="^2.0.0", publishedAt="2026-02-01T00:00:00.000Z")
    widget = widget_line("acme/clock", versions=[new, old])
    bare = widget_line("acme/none", versions=[])
    site.add(widget, bare)
    rest = {"total": 2, "page": 1, "limit": 20}

    assert site.get(SEARCH).json() == {"widgets": [summary(widget), summary(bare)], **rest}
    assert site.get(f"{SEARCH}?compatSdk=1.9.0").json() == {
        "widgets": [
            summary(widget, latestCompatibleVersion=entry(widget, old)),
            summary(bare, latestCompatibleVersion=None),
        ],
        **rest,
    }


def test_compat_sdk_filters_nothing_and_changes_no_order(shop: InProcessSite) -> None:
    assert found(shop, "compatSdk=99.0.0") == found(shop)
    assert found(shop, "compatSdk=99.0.0&q=a") == found(shop, "q=a") != []


def test_newest_means_published_last_not_the_highest_number(site: InProcessSite) -> None:
    days = {"2.0.0": "01", "1.9.4": "03", "1.9.5": "03", "1.9.5-rc.1": "03", "3.0.0": "02"}
    versions = [
        version_line(it, publishedAt=f"2026-01-{day}T00:00:00.000Z") for it, day in days.items()
    ]
    site.add(widget_line("acme/clock", versions=versions))

    [widget] = site.get(f"{SEARCH}?compatSdk=1.0.0").json()["widgets"]

    assert widget["latestCompatibleVersion"]["version"] == "1.9.5"
    assert widget["latestVersion"]["version"] == "1.9.5"


def test_an_offer_follows_the_catalog_at_once(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", versions=[version_line("1.0.0", sdkVersion="^9.0.0")]))
    [before] = site.get(f"{SEARCH}?compatSdk=1.0.0").json()["widgets"]
    site.add(widget_line("acme/clock", versions=[version_line("0.9.0", sdkVersion="^1.0.0")]))
    [after] = site.get(f"{SEARCH}?compatSdk=1.0.0").json()["widgets"]

    assert before["latestCompatibleVersion"] is None
    assert after["latestCompatibleVersion"]["version"] == "0.9.0"


def test_compat_sdk_that_is_not_strict_semver_is_400(shop: InProcessSite) -> None:
    cases = [
        "", "1", "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0-01", "1.0.0-", "1.0.0%2B", "^1.0.0",
        "*", "%201.0.0", "1.0.0%20", "1.0.0+b", "1.0.0%0A", "latest", "1.x.0", "%EF%BC%91.0.0",
        "-1.0.0", "9007199254740992.0.0", "1.0.0-" + "a" * 300, "1" * 5000,
    ]  # fmt: skip
    for sdk in cases:
        response = shop.get(f"{SEARCH}?compatSdk={sdk}")

        assert (response.status, response.json()) == (400, {"error": INVALID})


def test_the_first_compat_sdk_counts_and_its_name_is_case_sensitive(shop: InProcessSite) -> None:
    assert shop.get(f"{SEARCH}?compatSdk=&compatSdk=1.0.0").status == 400
    assert shop.get(f"{SEARCH}?compatSdk=1.0.0&compatSdk=x").status == 200
    assert "latestCompatibleVersion" not in shop.get(f"{SEARCH}?compatsdk=x").json()["widgets"][0]

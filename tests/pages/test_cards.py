"""The cards of widgets, which are written without a template."""

import msgspec
from markupsafe import Markup

from support.html import Html
from widget_catalog.catalog.model.card_picture import Card, CardPicture, Thumbnail, choose_picture
from widget_catalog.catalog.model.widgets import AttachedFile
from widget_catalog.pages.cards import Cards
from widget_catalog.pages.icons import Icons
from widget_contract.wire import Size, VersionEntry

HOSTILE = "</span><script>\"'&"

VERSION = VersionEntry(
    scope="acme",
    name="clock",
    version="1.2.0",
    bundle_url="https://cdn.example/clock.js",
    bundle_size=1,
    sha256_hash="0" * 64,
    published_at="2026-03-01T00:00:00.000Z",
    yanked=False,
    yanked_reason=None,
    deprecation_message=None,
    release_notes=None,
    display_name="Clock",
    description=None,
    icon=None,
    min_size=Size(1, 1),
    max_size=Size(4, 4),
    sdk_version=">=1.2 <3",
    config_version=None,
    permissions=(),
    license=None,
)
WIDGET = Card(
    scope="acme",
    name="clock",
    display_name="Clock",
    description="Shows the time.",
    icon=None,
    is_official=True,
    download_count=1234,
    latest_version=VERSION,
)


PICTURE = CardPicture(
    Thumbnail("screenshots/light.thumb.webp", 640, 480),
    Thumbnail("screenshots/dark.thumb.webp", 640, 400),
)


def drawn(**changed: object) -> Markup:
    cards = Cards("/catalog", Icons(), "https://cdn.example")
    return cards.list([msgspec.structs.replace(WIDGET, **changed)])


def attached(*names: str) -> list[AttachedFile]:
    """Pictures with these names, each followed by its thumbnail."""
    files = []
    for name in names:
        stem = f"screenshots/{name.rpartition('.')[0]}"
        files.append(AttachedFile(f"screenshots/{name}", 9, "0" * 64, 1280, 960))
        files.append(AttachedFile(f"{stem}.thumb.webp", 9, "0" * 64, 640, 480))
    return files


def chosen(*names: str) -> list[str]:
    picture = choose_picture(attached(*names))
    assert picture is not None
    both = [it for it in (picture.light, picture.dark) if it is not None]
    return [it.path.removeprefix("screenshots/").removesuffix(".thumb.webp") for it in both]


def test_a_card_links_to_its_widget_and_shows_the_facts() -> None:
    page = Html(drawn().encode())

    assert page.links == ["/catalog/widgets/acme/clock"]
    facts = zip([it.text for it in page.all("dt")], [it.text for it in page.all("dd")], strict=True)
    assert dict(facts) == {
        "Installs": "1,234",
        "Updated": "1 Mar 2026",
        "Version": "1.2.0",
        "SDK": ">=1.2 <3",
    }
    assert "Official" in drawn()


def test_a_widget_without_versions_says_so() -> None:
    text = drawn(latest_version=None, is_official=None, description=None, picture=None)

    assert "<dt>Version</dt> <dd>none</dd>" in text
    assert "Official" not in text
    assert "<p dir" not in text


def test_the_compatible_version_is_shown_only_if_it_is_not_the_latest() -> None:
    older = msgspec.structs.replace(VERSION, version="1.1.0")

    assert "Version 1.1.0 is compatible" in drawn(latest_compatible_version=older)
    assert "is compatible" not in drawn(latest_compatible_version=VERSION)
    assert "is compatible" not in drawn(latest_compatible_version=None)


def test_every_text_of_a_card_is_escaped() -> None:
    hostile = msgspec.structs.replace(VERSION, version=HOSTILE, sdk_version=HOSTILE)
    other = msgspec.structs.replace(VERSION, version=f"{HOSTILE}2")
    text = drawn(
        scope=HOSTILE,
        name=HOSTILE,
        display_name=HOSTILE,
        description=HOSTILE,
        icon=HOSTILE,
        latest_version=hostile,
        latest_compatible_version=other,
    )

    assert "<script" not in text
    assert text.count("&lt;script&gt;&#34;&#39;&amp;") == 12


def test_a_card_leads_with_the_thumbnail_for_the_colors_of_the_page() -> None:
    page = Html(drawn(picture=PICTURE).encode())

    files = "/catalog/cdn/@acme/clock/1.2.0/screenshots/"
    assert page.one("img").attributes == {
        "src": f"{files}light.thumb.webp",
        "alt": "",
        "width": "640",
        "height": "480",
        "loading": "lazy",
        "decoding": "async",
    }
    assert page.one("source").attributes == {
        "media": "(prefers-color-scheme: dark)",
        "srcset": f"{files}dark.thumb.webp",
        "width": "640",
        "height": "400",
    }


def test_only_pictures_that_are_visible_at_once_are_loaded_before_the_layout() -> None:
    widgets = [msgspec.structs.replace(WIDGET, picture=PICTURE) for _ in range(5)]
    cards = Cards("/catalog", Icons(), "https://cdn.example")

    pages = [Html(cards.list(widgets, is_first=it).encode()) for it in (True, False)]

    lazy = [[it.attributes.get("loading") for it in page.all("img")] for page in pages]
    assert lazy == [[None, None, None, "lazy", "lazy"], ["lazy"] * 5]


def test_without_a_picture_the_icon_is_drawn_large_at_the_widgets_proportions() -> None:
    wide = msgspec.structs.replace(VERSION, min_size=Size(6, 2), max_size=Size(8, 2))
    tall = msgspec.structs.replace(VERSION, min_size=Size(1, 1), max_size=Size(2, 4))

    boards = []
    for version in (wide, tall):
        page = Html(drawn(icon="lucide:clock", latest_version=version).encode())
        assert not page.all("img")
        assert page.one("svg", class_="glyph")
        board = page.one("rect").attributes
        boards.append(float(board["width"] or 0) / float(board["height"] or 1))

    assert [round(it, 1) for it in boards] == [3.0, 0.7]
    assert ">C</text>" in drawn(icon="unknown:icon")


def test_cards_have_a_color_of_their_own() -> None:
    names = ["Clock", "Weather", "Notes", "Calendar", "Sensors"]

    pages = [Html(drawn(display_name=it).encode()) for it in names]

    assert len({it.all("div")[0].attributes["class"] for it in pages}) > 2


def test_a_site_without_the_files_shows_icons_only() -> None:
    cards = Cards("", Icons(), "https://cdn.example", has_pictures=False)

    assert "<img" not in cards.list([msgspec.structs.replace(WIDGET, picture=PICTURE)])


def test_the_picture_for_dark_is_the_counterpart_of_that_for_light() -> None:
    assert chosen("light.png", "dark.png") == ["light", "dark"]
    assert chosen("dark.png", "light.png") == ["light", "dark"]
    names = ("default-dark.png", "default-light.png", "largest-dark.png", "largest-light.png")
    assert chosen(*names) == ["default-light", "default-dark"]
    assert chosen("overview.jpg", "settings.png") == ["overview"]
    assert chosen("overview.jpg", "night-dark.png") == ["overview", "night-dark"]
    assert chosen("dark.png") == ["dark"]
    assert chosen("darkroom.png", "highlights.png") == ["darkroom"]


def test_a_version_without_pictures_has_none_on_its_card() -> None:
    assert choose_picture([AttachedFile("README.md", 9, "0" * 64)]) is None


def test_a_picture_without_a_thumbnail_is_shown_itself() -> None:
    (picture, _) = attached("light.png")

    assert choose_picture([picture]) == CardPicture(Thumbnail("screenshots/light.png", 1280, 960))


def test_only_a_bundle_that_is_stored_here_runs_on_a_card() -> None:
    elsewhere = msgspec.structs.replace(VERSION, bundle_url="https://other.example/clock.js")

    assert '<li data-live="acme/clock/1.2.0">' in drawn()
    assert "data-live" not in drawn(latest_version=elsewhere)
    assert "data-live" not in drawn(latest_version=None)

"""Link pictures: what other sites and chats show beside a link."""

import io
from dataclasses import dataclass
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from PIL import Image, ImageChops, features

from support.html import Html
from support.site import InProcessSite, Sent
from support.widgets import version_line, widget_line
from widget_catalog.catalog.pages.icons import Icons
from widget_catalog.catalog.pages.link_drawing import Drawn, draw_link_picture
from widget_catalog.catalog.pages.link_pictures import rounded
from widget_catalog.core.actors import Actor, Via
from widget_catalog.moderation.revoke_version import revoke_version

OWN = "https://catalog.example"
ARABIC, JAPANESE = "ساعة", "時計"


def meta(site: InProcessSite, path: str) -> dict[str, str]:
    found = Html(site.get(path).body).all("meta")
    named = ((it.attributes.get("property") or it.attributes.get("name"), it) for it in found)
    return {name: it.attributes["content"] or "" for name, it in named if name}


def fetch(site: InProcessSite, path: str) -> bytes:
    address = meta(site, path)["og:image"]
    assert address.startswith(OWN)
    response = site.get(address.removeprefix(OWN))
    assert (response.status, response.headers["content-type"]) == (200, "image/jpeg")
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    assert response.headers["cache-control"] == "public, max-age=300"
    assert "set-cookie" not in response.headers
    return response.body


def test_every_kind_of_page_names_its_own_picture(demo_site: InProcessSite) -> None:
    widget, scope, front = "/widgets/catalog/clock", "/scopes/catalog", "/"
    pictures = {path: fetch(demo_site, path) for path in (widget, scope, front)}
    assert len(set(pictures.values())) == 3
    for content in pictures.values():
        assert Image.open(io.BytesIO(content)).size == (1200, 630)
        # Programs refuse or delay larger ones.
        assert len(content) < 300_000
    told = meta(demo_site, f"{widget}/2.0.0")
    assert told["og:image"] == meta(demo_site, widget)["og:image"]
    assert told["twitter:card"] == "summary_large_image"
    assert (told["og:image:width"], told["og:image:height"]) == ("1200", "630")
    for path in ("/search", "/docs"):
        assert meta(demo_site, path)["og:image"] == meta(demo_site, front)["og:image"]


def test_the_address_changes_with_the_picture_but_not_with_each_install(
    site: InProcessSite,
) -> None:
    def address() -> str:
        return meta(site, "/widgets/acme/clock")["og:image"]

    site.add(widget_line("acme/clock", downloadCount=40))
    first = address()
    site.post("/api/v1/widgets/acme/clock")
    assert site.get("/api/v1/widgets/acme/clock").json()["widget"]["downloadCount"] == 41
    assert address() == first
    for _ in range(9):
        site.post("/api/v1/widgets/acme/clock")
    assert address() != first


def test_a_widget_that_is_not_listed_has_no_picture(site: InProcessSite) -> None:
    site.add(widget_line("acme/hidden", listed=False))
    for path in ("/widgets/acme/hidden", "/widgets/acme/none", "/scopes/acme", "/scopes/A%20b"):
        assert site.get(f"{path}/picture.jpg").status == 404


def test_a_revoked_version_does_not_show_its_screenshot(demo_site: InProcessSite) -> None:
    path, key = "/widgets/acme/stopwatch/picture.jpg", "acme/stopwatch"
    before = demo_site.get(path).body
    latest = demo_site.get(f"/api/v1/widgets/{key}").json()["latestVersion"]
    node, operator = demo_site.node, Actor(via=Via.COMMAND)
    revoke_version(node.store, node.bundles, operator, key, latest, "It spies.")
    assert demo_site.get(path).body != before


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0"), (9, "9"), (10, "10+"), (49, "40+"), (999, "990+"), (1_290, "1.2k+")],
)
def test_numbers_are_rounded_down(count: int, told: str) -> None:
    assert rounded(count) == told
    assert rounded(12_900_000) == "12M+"


@dataclass
class Drawing:
    """Draws, and tells which of several texts is on the picture: they differ in nothing else."""

    fonts: tuple[str, ...] = ()

    def draw(self, title: str, plain: str = "acme/clock") -> "Image.Image":
        face = str(Icons().face("lucide:clock", "x", 4, 3))
        drawn = Drawn(title, plain, "", "by x", "by x", 1, b"", face, "x", "Site", b"", self.fonts)
        return Image.open(io.BytesIO(draw_link_picture(tuple(drawn))))

    def shows_the_same(self, title: str, other: str) -> bool:
        difference = ImageChops.difference(self.draw(title), self.draw(other))
        return difference.getbbox() is None


def test_names_that_the_font_lacks_show_the_plain_name_and_not_boxes() -> None:
    it = Drawing()
    for title in ("時計", "ساعة", "שעון", "घड़ी", "🌦️", "\u200d", "", "\x00\n", "\ud800"):
        assert it.shows_the_same(title, "acme/clock"), title
    for title in ("Ćma", "Погода", "Ωμέγα", "Đồng hồ"):
        assert not it.shows_the_same(title, "acme/clock"), title
    # A symbol that is missing is left out.
    assert it.shows_the_same("Weather 🌦️ today", "Weather today")


def test_a_letter_that_the_font_lacks_is_that_of_the_plain_name() -> None:
    def draw(letter: str) -> bytes:
        face = str(Icons().face(None, "x", 4, 3))
        texts = "Clock", "acme/clock", "", "by x", "by x"
        return draw_link_picture(tuple(Drawn(*texts, 1, b"", face, letter, "Site", b"")))

    assert draw(ARABIC[0]) == draw(JAPANESE[0]) == draw("C") != draw("A")


@pytest.fixture
def bars(tmp_path: Path) -> Path:
    """A font whose glyphs are bars, for these letters alone."""
    pen = TTGlyphPen(None)
    for number, (x, y) in enumerate(((50, 0), (50, 700), (450, 700), (450, 0))):
        (pen.lineTo if number else pen.moveTo)((x, y))
    pen.closePath()
    names = {it: f"u{ord(it):04X}" for it in ARABIC + JAPANESE}
    builder = FontBuilder(1_000, isTTF=True)
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap({ord(it): name for it, name in names.items()})
    bar, empty = pen.glyph(), TTGlyphPen(None).glyph()
    builder.setupGlyf({".notdef": empty} | dict.fromkeys(names.values(), bar))
    builder.setupHorizontalMetrics(dict.fromkeys((".notdef", *names.values()), (500, 50)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Bars", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    path = tmp_path / "bars.ttf"
    builder.save(path)
    return path


def test_the_operators_fonts_add_languages(bars: Path) -> None:
    it = Drawing((str(bars.with_name("missing.ttf")), str(bars)))
    assert not it.shows_the_same(JAPANESE, "acme/clock")
    assert it.shows_the_same("घड़ी", "acme/clock")
    # Only with a library of the system are letters put in order from right to left.
    assert it.shows_the_same(ARABIC, "acme/clock") is not features.check("raqm")


def test_hostile_names_take_no_longer_than_others_and_stay_in_their_part() -> None:
    it, plain = Drawing(), Drawing().draw("Clock")
    for title in ("W" * 5_000, "a " * 5_000, "e" + "\u0301" * 5_000, "<svg onload=x>&\"'"):
        image = it.draw(title)
        right = (640, 0, 1200, 630)
        assert ImageChops.difference(image.crop(right), plain.crop(right)).getbbox() is None


def test_a_crawler_gets_all_or_is_told_to_come_later(site: InProcessSite) -> None:
    names = [f"acme/w{it}" for it in range(24)]
    site.add(*(widget_line(it, versions=[version_line()]) for it in names))
    sent: list[Sent] = [("GET", f"/widgets/{it}/picture.jpg", b"", {}) for it in names]
    statuses = {reply.status for _, reply in site.together(sent)}
    assert statuses <= {200, 503}
    assert 200 in statuses
    assert 503 in statuses

"""Content for programs: feeds, badges, sitemaps; and link previews."""

import xml.etree.ElementTree as ET

import pytest

from support.html import Html
from support.site import InProcessSite
from support.widgets import version_line, widget_line

_ATOM = "{http://www.w3.org/2005/Atom}"
_SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
HOSTILE = '</title>"<&'


def xml_of(site: InProcessSite, path: str, kind: str) -> ET.Element:
    response = site.get(path)
    assert (response.status, response.headers["content-type"]) == (200, f"{kind}; charset=utf-8")
    assert response.headers["etag"]
    return ET.fromstring(response.body)


@pytest.fixture
def shop(site: InProcessSite) -> InProcessSite:
    versions = [
        version_line("1.0.0", publishedAt="2026-01-01T00:00:00.000Z"),
        version_line("1.1.0+b", publishedAt="2026-01-02T00:00:00.000Z", releaseNotes=HOSTILE),
    ]
    old = [version_line(publishedAt="2025-01-01T00:00:00.000Z", sdkVersion="^7.0.0")]
    site.add(
        widget_line("acme/clock", displayName="<Clock>", downloadCount=1234, versions=versions),
        widget_line("beta/gauge", versions=old),
        widget_line("beta/hidden", listed=False),
    )
    return site


def entries(feed: ET.Element) -> list[str]:
    return [it.text or "" for it in feed.findall(f"{_ATOM}entry/{_ATOM}title")]


def test_feeds_tell_what_was_published_last(shop: InProcessSite) -> None:
    kind = "application/atom+xml"
    everything = xml_of(shop, "/feed.atom", kind)
    assert entries(everything) == ["<Clock> 1.1.0+b", "Gauge 1.0.0"]
    assert everything.findtext(f"{_ATOM}updated") == "2026-01-02T00:00:00.000Z"
    assert entries(xml_of(shop, "/scopes/beta/feed.atom", kind)) == ["Gauge 1.0.0"]
    widget = xml_of(shop, "/widgets/acme/clock/feed.atom", kind)
    assert entries(widget) == ["<Clock> 1.1.0+b", "<Clock> 1.0.0"]
    link = widget.find(f"{_ATOM}entry/{_ATOM}link")
    assert link is not None
    address = link.attrib["href"]
    assert address == "https://catalog.example/widgets/acme/clock/1.1.0%2Bb"
    for missing in ("/scopes/nobody/feed.atom", "/widgets/acme/x/feed.atom"):
        assert shop.get(missing).status == 404


def test_pages_name_their_feed(shop: InProcessSite) -> None:
    for path, wanted in {"/": 1, "/scopes/acme": 2, "/widgets/acme/clock": 2}.items():
        links = Html(shop.get(path).body).all("link", type="application/atom+xml")
        assert len(links) == wanted
        assert all(shop.get(it.attributes["href"] or "").status == 200 for it in links)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("acme/clock/version.svg", "version: 1.1.0+b"),
        ("acme/clock/downloads.svg", "installs: 1.2k"),
        ("beta/gauge/sdk.svg", "sdk: ^7.0.0"),
        ("acme/nothing/version.svg", "version: not found"),
        ("beta/hidden/sdk.svg", "sdk: not found"),
    ],
)
def test_badges(shop: InProcessSite, path: str, told: str) -> None:
    response = shop.get(f"/badges/{path}")
    assert (response.status, response.headers["content-type"]) == (200, "image/svg+xml")
    assert response.headers["cross-origin-resource-policy"] == "cross-origin"
    assert ET.fromstring(response.body).attrib["aria-label"] == told


def test_there_are_no_other_badges(shop: InProcessSite) -> None:
    assert shop.get("/badges/acme/clock/stars.svg").status == 404


def test_the_sitemap_names_every_listed_widget_and_scope(shop: InProcessSite) -> None:
    kind = "application/xml"
    index = xml_of(shop, "/sitemap.xml", kind)
    parts = [it.text or "" for it in index.findall(f"{_SITEMAP}sitemap/{_SITEMAP}loc")]
    assert parts == [f"https://catalog.example/sitemaps/{i}.xml" for i in (0, 1)]
    found = [
        place.text or ""
        for i in (0, 1)
        for place in xml_of(shop, f"/sitemaps/{i}.xml", kind).findall(
            f"{_SITEMAP}url/{_SITEMAP}loc"
        )
    ]
    paths = [it.removeprefix("https://catalog.example") for it in found]
    assert {"/docs", "/docs/publishing", "/docs/api/searchWidgets"} <= set(paths)
    assert {"/", "/search", "/widgets/acme/clock", "/widgets/beta/gauge"} <= set(paths)
    assert [it for it in paths if it.startswith("/scopes/")] == ["/scopes/acme", "/scopes/beta"]
    assert not any("hidden" in it for it in paths)
    assert all(shop.get(it).status == 200 for it in paths)
    for wrong in ("2.xml", "00.xml", "x.xml", "-1.xml"):
        assert shop.get(f"/sitemaps/{wrong}").status == 404


def test_others_can_show_a_page(shop: InProcessSite) -> None:
    page = Html(shop.get("/widgets/acme/clock").body)
    shown = {
        meta.attributes["property"]: meta.attributes["content"]
        for meta in page.all("meta")
        if "property" in meta.attributes
    }
    assert shown["og:title"] == "<Clock> · Widget Catalog"
    assert shown["og:description"] == "A clock."
    picture = shop.get((shown["og:image"] or "").removeprefix("https://catalog.example"))
    assert picture.body.startswith(b"\x89PNG")

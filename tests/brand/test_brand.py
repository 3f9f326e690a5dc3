"""The operator's brand: checked, previewed, saved, and shown on all pages."""

import asyncio
import base64
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.browsing import Browsing, browser_of
from support.html import Html
from support.pictures import a_picture
from support.site import InProcessSite
from support.site_with_people import People
from widget_catalog.brand import colors
from widget_catalog.brand import store as stored
from widget_catalog.brand.logo import MAX_BYTES, LogoRefused, read_logo
from widget_catalog.brand.public_pages import BrandPages, BrandReader, LegalPageReader
from widget_catalog.brand.store import LegalPage, Settings, read_brand
from widget_catalog.core import clock
from widget_catalog.core.db.engine import Store
from widget_catalog.core.http.rendering import STATIC
from widget_catalog.static_site.static_site import SiteFolder, build_static_site

HERE = "/operate/brand"
API = "/api/brand"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10">{}</svg>'
LOGO = SVG.format('<path fill="#701a75" d="M0 0h20v10z"/>').encode()
BRAND = {
    "name": "Kitchen <Widgets>",
    "accentLight": "#701a75",
    "links": ["Status page https://status.example/?a=1", "Start /search"],
    "contact": "ask&tell@example.org",
    "announcement": "We move on **Friday**: [more](https://news.example/).",
    "logo": base64.b64encode(LOGO).decode(),
}
COLORS = st.integers(0, 0xFFFFFF).map(lambda it: f"#{it:06x}")


@pytest.fixture(autouse=True)
def _pages_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LegalPageReader, "kept_s", 0.0)
    monkeypatch.setattr(BrandReader, "kept_s", 0.0)


def fault(browser: Browsing, field: str, form: str = "brand") -> str:
    return browser.page.one("div", id=f"faults-{form}-{field}").text.strip()


def test_an_operator_previews_and_saves_the_brand_and_loses_nothing(people: People) -> None:
    site, olly = people.site, browser_of(people.olly)
    olly.get(HERE)
    typed = {
        "name": "Kitchen",
        "accentLight": "#701a75",
        "accentDark": "#701a75",
        "links": "Bad javascript:alert(1)",
        "announcement": "Hello",
        "until": "2000-01-01",
    }
    refused = olly.submit_files(HERE, {"logo": LOGO}, **typed, do="save")
    assert refused.status == 400
    assert "Lacks contrast in the dark theme: #701a75 on #111514" in fault(olly, "accentDark")
    assert fault(olly, "links").startswith("Line 1: the address must begin with https://")
    assert fault(olly, "until") == "Is in the past."
    # Nothing is lost: also not the file, which no form can send again.
    assert olly.page.one("input", id="brand-name").attributes["value"] == "Kitchen"
    assert "javascript:alert(1)" in olly.page.one("textarea", id="brand-links").text
    assert sum("aria-invalid" in it.attributes for it in olly.page.elements) == 3

    typed |= {"accentDark": "", "links": "Status https://status.example/", "until": ""}
    shown = olly.submit(HERE, **typed, do="preview")
    assert shown.status == 200
    assert olly.page.one("section", class_="announcement").attributes["aria-label"]
    head = olly.page.one("a", class_="brand")
    assert head.text == "Kitchen"
    assert b'src="data:image/svg+xml;base64,' in shown.body
    assert b"Hello" not in site.get("/").body

    assert olly.submit(HERE, **typed, do="save").headers["location"] == f"{HERE}?done=save"
    page = site.get("/").body
    assert b"Hello" in page
    logo = next(it for it in Html(page).all("img") if it.attributes["height"] == "26")
    assert (logo.attributes["width"], logo.attributes["src"] or "") > ("52", "/static/logo/svg/")
    drawn = site.get(logo.attributes["src"] or "")
    assert (drawn.status, drawn.headers["content-type"]) == (200, "image/svg+xml")
    assert "sandbox" in drawn.headers["content-security-policy"]
    assert read_brand(site.node.store).accent is not None

    olly.get(HERE)
    assert olly.submit(HERE, name="Kitchen", remove_logo="yes", do="preview").status == 200
    assert "checked" in olly.page.one("input", id="remove_logo").attributes
    assert olly.submit(HERE, name="Kitchen", remove_logo="yes", do="save").status == 303
    assert b"/favicon.svg" in site.get("/").body
    olly.get(HERE)
    assert olly.submit(HERE, name="Other", logo_tag="gone", do="save").status == 400
    assert "Choose the file again" in fault(olly, "logo")
    entries = people.olly.get("/api/audit?limit=2").json()["entries"]
    assert [it["action"] for it in entries] == ["change brand"] * 2


def test_all_pages_show_the_brand_and_so_do_programs(people: People) -> None:
    site, olly = people.site, people.olly
    before = {it: site.get(it).body for it in ("/", "/search", "/feed.atom")}
    assert olly.put(API, BRAND).status == 200
    for path in ("/", "/search", "/docs", "/sign-in", "/nothing"):
        html = Html(site.get(path).body)
        assert html.one("a", class_="brand").text == "Kitchen <Widgets>"
        assert html.one("section", class_="announcement").text == "We move on Friday: more."
        wanted = {"https://status.example/?a=1", "/search", "https://news.example/"}
        wanted.add("mailto:ask&tell@example.org")
        assert wanted <= set(html.links)
        (style,) = [it for it in html.all("link") if "/accent/" in (it.attributes["href"] or "")]
    css = site.get(style.attributes["href"] or "")
    assert css.headers["content-type"] == "text/css; charset=utf-8"
    assert b"--accent: light-dark(#701a75, #" in css.body
    until = time.monotonic() + 10
    while site.get("/api/settings").json()["serviceName"] != "Kitchen <Widgets>":
        assert time.monotonic() < until  # It is read twice a second.
        time.sleep(0.05)
    assert all(site.get(it).body != body for it, body in before.items())
    assert olly.get(API).json()["accentDark"] == ""
    assert people.ann.get(API).status == 403
    assert olly.put(API, {"logo": ""}).status == 200
    for path in ("/", "/search", "/feed.atom"):
        assert site.get(path).body.decode().splitlines() == before[path].decode().splitlines()


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("ask@example.org", "mailto:ask@example.org"),
        ("https://example.org/ask?a=1&b=2", "https://example.org/ask?a=1&b=2"),
    ],
)
def test_where_registration_is_closed_the_sign_in_page_says_whom_to_ask(
    people: People, contact: str, link: str
) -> None:
    assert people.olly.put(API, {"contact": contact}).status == 200
    html = Html(people.site.get("/sign-in").body)
    hint = html.all("p", class_="hint")[-1]
    assert hint.text == f"No account yet? Ask the operator of this catalog for one: {contact}"
    # In the sentence and in the footer.
    assert html.links.count(link) == 2


def test_legal_pages_are_previewed_saved_linked_and_deleted(people: People) -> None:
    site, olly = people.site, browser_of(people.olly)
    new = f"{HERE}/page"
    olly.get(new)
    text = "# Who we are\n\n<script>alert(1)</script> [x](javascript:alert(2)) **Acme**"
    wrong = {"title": "Imp\u202erint", "slug": "No!", "text": "a\x00b"}
    assert olly.submit(new, **wrong, do="save").status == 400
    assert all(fault(olly, it, "page") for it in wrong)
    huge = olly.submit(new, title="Imprint", text="x" * 70_000, do="save")
    assert huge.status == 400
    assert "70,000 bytes" in fault(olly, "text", "page")
    shown = olly.submit(new, title="Imprint", text=text, do="preview")
    assert b"<strong>Acme</strong>" in shown.body
    assert site.get("/legal/imprint").status == 404
    place = f"{HERE}/pages/imprint"
    saved = olly.submit(new, title="Imprint", text=text, do="save")
    assert saved.headers["location"] == f"{place}?done=page"
    page = site.get("/legal/imprint")
    html = Html(page.body)
    assert (page.status, html.one("h1").text, html.one("h2").text) == (
        200,
        "Imprint",
        "Who we are",
    )
    assert b"<script>alert" not in page.body
    assert not any("javascript" in it for it in html.links)
    assert "/legal/imprint" in Html(site.get("/search").body).links
    assert b"/legal/imprint" in site.get("/sitemaps/0.xml").body
    olly.get(new)
    assert olly.submit(new, title="Imprint", text="x", do="save").status == 400
    assert "already" in fault(olly, "slug", "page")
    olly.get(place)
    assert olly.submit(place, title="Imprint", text="New text", do="save").status == 303
    assert b"New text" in site.get("/legal/imprint").body
    olly.get(place)
    assert olly.submit(f"{place}/delete").status == 400
    assert olly.submit(f"{place}/delete", sure="yes").status == 303
    assert site.get("/legal/imprint").status == 404
    api = f"{API}/pages/terms"
    assert people.olly.put(api, {"title": "Terms", "text": "x"}).json()["slug"] == "terms"
    assert people.olly.get(api).status == people.olly.delete(api).status == 200
    assert people.olly.get(api).status == 404


@given(COLORS, st.sampled_from((0, 1)))
def test_a_color_is_accepted_exactly_if_every_pair_has_enough_contrast(
    color: str, theme: int
) -> None:
    style = colors.accent_style(f"{color[1:]}-{color[1:]}.css") or ""
    soft = style.partition("--accent-soft: light-dark(")[2].partition(")")[0].split(", ")[theme]
    on = style.partition("--on-accent: light-dark(")[2].partition(")")[0].split(", ")[theme]
    pairs = [*(it[theme] for it in colors.BACKGROUNDS.values()), soft]
    error = colors.contrast_error(color, theme)
    least = min(colors.contrast(color, it) for it in pairs)
    assert (error is None) == (least >= 4.5)
    assert error is None or f"{color} on " in error
    better = colors.legible_accent(color, theme)
    assert colors.contrast_error(better, theme) is None
    assert colors.contrast(better, on) >= 4.5
    assert (better == color) == (error is None)


@given(COLORS, COLORS)
def test_contrast_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert 1 <= colors.contrast(one, other) == colors.contrast(other, one) <= 21.001
    assert colors.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert colors.contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_a_saved_legal_page_is_linked_at_once_on_the_page_that_says_so(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without waiting for the brand to be read again."""
    olly = browser_of(people.olly)
    olly.get(f"{HERE}/page")

    async def read_already(_pages: BrandPages) -> None:
        pass

    monkeypatch.setattr(BrandPages, "follow", read_already)
    saved = {"title": "Imprint", "slug": "", "text": "We."}
    assert olly.submit(f"{HERE}/page", do="save", **saved).status == 303
    olly.get(f"{HERE}/pages/imprint")
    assert "/legal/imprint" in olly.page.links
    assert b'href="/legal/imprint"' in people.site.get("/").body


def test_accents_are_checked_on_the_backgrounds_that_pages_have() -> None:
    style = (STATIC / "site.css").read_text()
    for name, pair in colors.BACKGROUNDS.items():
        assert f"--{name}: light-dark({', '.join(pair)});" in style


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (SVG.format("<script>alert(1)</script>"), "contains <script>"),
        (SVG.format('<path onload="alert(1)" d="M0 0"/>'), "attribute onload"),
        (SVG.format("<foreignObject/>"), "contains <foreignObject>"),
        (SVG.format('<image href="https://x.example/"/>'), "contains <image>"),
        (SVG.format('<use href="#a"/>'), "contains <use>"),
        (SVG.format('<rect fill="url(https://x.example/)"/>'), "attribute fill"),
        (SVG.format('<rect style="background:u\\72l(x)"/>'), "attribute style"),
        (SVG.format("<style>@import 'x'</style>"), "contains <style>"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format(""), "a declaration"),
        ('<svg xmlns="http://www.w3.org/2000/svg"/>', "has no size"),
        ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 1"/>', "is too long"),
        (SVG.format("<g>" * 60 + "</g>" * 60), "nested too deeply"),
        ("<html/>", "is not a PNG"),
        ("GIF89a", "is not a PNG"),
        ("x" * (MAX_BYTES + 1), "is too large"),
        (b"\x89PNG\r\n\x1a\n broken", "is not a PNG"),
    ],
)
def test_a_logo_that_could_do_more_than_draw_is_refused(
    content: str | bytes, sentence: str
) -> None:
    with pytest.raises(LogoRefused, match=sentence):
        read_logo(content if isinstance(content, bytes) else content.encode())


def test_a_logo_is_rebuilt_without_what_drawing_programs_add() -> None:
    drawn = read_logo(
        b'<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x"><!-- A -->'
        b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:i="urn:i" width="40px" height="20">'
        b'<metadata>secret</metadata><i:view/><g i:label="x" data-x="1" fill="url(#a)">'
        b"<text>A &amp; B</text></g></svg>"
    )
    assert drawn.width / drawn.height == 2
    assert drawn.content == (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="40px" height="20"><g fill="url(#a)">'
        b"<text>A &amp; B</text></g></svg>"
    )
    found = read_logo(a_picture("png", 40, 20))
    assert (found.kind, found.shown_width) == ("png", 52)


def test_hostile_values_are_refused_at_their_field(people: People) -> None:
    cases = [
        ({"name": "a\u202eb"}, "name"),
        ({"name": "a\x07"}, "name"),
        ({"links": ["A //evil.example"]}, "links"),
        ({"links": ["A data:text/html,x"]}, "links"),
        ({"links": ["A https://user:pw@x.example/"]}, "links"),
        ({"links": ['A https://x.example/"onclick=']}, "links"),
        ({"links": ["https://no-label.example/"]}, "links"),
        ({"links": ["A /x"] * 9}, "links"),
        ({"contact": "javascript:alert(1)"}, "contact"),
        ({"contact": "https:alert@x.example"}, "contact"),
        ({"contact": "http://x.example/"}, "contact"),
        ({"contact": "ann@x.example?bcc=eve@x.example"}, "contact"),
        ({"contact": "@ann"}, "contact"),
        ({"accentLight": "red"}, "accentLight"),
        ({"accentDark": "#ffffff"}, "accentLight"),
        ({"announcement": "\u2066x"}, "announcement"),
        ({"until": "2030-1-1"}, "until"),
        ({"logo": "?"}, "logo"),
    ]
    for body, field in cases:
        refused = people.olly.put(API, body)
        assert refused.status == 400
        assert refused.json()["error"].startswith(f"{field}: ")


def test_an_announcement_ends_after_its_last_day_and_both_databases_keep_all(store: Store) -> None:
    today = clock.now().date()
    logo = read_logo(LOGO)
    settings = Settings(announcement="x", until=f"{today}", logo=logo, links=(("A", "/a"),))
    with store.publishing() as tx:
        stored.save_draft(tx, logo)
        stored.save_settings(tx, settings)
        stored.save_page(tx, LegalPage("b", "B", "text"))
        stored.save_page(tx, LegalPage("a", "A", "text"))
        stored.save_page(tx, LegalPage("b", "Bee", "text"))
        assert stored.find_settings(tx.connection) == settings
        assert stored.find_draft(tx.connection) is None
    shown = read_brand(store)
    assert (shown.announcement, sorted(shown.pages)) == (
        "x",
        [("/legal/a", "A"), ("/legal/b", "Bee")],
    )
    over = Settings(announcement="x", until=f"{today - timedelta(days=1)}")
    assert over.shown.announcement == ""


def test_a_static_site_takes_the_brand_along(people: People, tmp_path: Path) -> None:
    assert people.olly.put(API, BRAND).status == 200
    page = {"title": "Imprint", "text": "**Acme**"}
    assert people.olly.put(f"{API}/pages/imprint", page).status == 200
    target = SiteFolder(tmp_path / "site")
    target.begin()
    site, close = build_static_site(people.site.node, people.site.settings, target)
    asyncio.run(site.write(lambda _: None))
    close()
    there: Callable[[str], Path] = lambda path: tmp_path / "site" / path.lstrip("/")  # noqa: E731
    front = Html(there("index.html").read_bytes())
    assert front.one("a", class_="brand").text == BRAND["name"]
    assert {"/legal/imprint", "https://status.example/?a=1"} <= set(front.links)
    named = [it.attributes.get("href") or it.attributes.get("src") for it in front.elements]
    own = [it for it in named if it and it.startswith(("/static/accent/", "/static/logo/"))]
    assert len(set(own)) == 2
    assert all(there(it).is_file() for it in own)
    assert b"<strong>Acme</strong>" in there("legal/imprint/index.html").read_bytes()


def test_without_a_brand_nothing_is_said_and_nothing_more_is_loaded(
    demo_site: InProcessSite,
) -> None:
    page = demo_site.get("/").body
    assert b"announcement" not in page
    assert b"/static/accent/" not in page
    assert demo_site.get("/legal/imprint").status == 404
    assert demo_site.get("/static/logo/png/x.png").status == 404
    assert demo_site.get("/static/accent/red-red.css").status == 404

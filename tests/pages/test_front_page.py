"""The front page, what all pages share, and automatic requests of browsers."""

import asyncio
import gzip
import itertools
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import brotli
import pytest
import zstandard

from support.browsing import IN_PAGE, OWN_FOLDERS_AND_SCRIPT, SCRIPTS
from support.folders import filled_folder
from support.html import Html
from support.site import InProcessSite
from support.widgets import version_line, widget_line
from widget_catalog.catalog.node.node import open_catalog
from widget_catalog.core.features import list_contributions
from widget_catalog.core.http.http import PlainRequest
from widget_catalog.core.http.rendering import PageRenderer
from widget_catalog.pages.context import PublicContext
from widget_catalog.pages.pages import build_public_pages
from widget_catalog.pages.store_reads import StoreAccess

PAGES = [
    "/",
    "/docs/api",
    "/docs/api/schemas",
    "/docs/api/getWidget",
    "/search",
    "/search?q=clock",
    "/keywords",
    "/scopes/catalog",
    "/widgets/catalog/clock",
    "/widgets/catalog/clock/versions",
    "/widgets/catalog/clock/1.1.0",
    "/widgets/catalog/clock/compare?from=1.0.0&to=2.0.0",
    "/docs",
    "/docs/operating",
    "/docs/integrating",
]
EVERYWHERE = ["/", "/docs/api", "/search", "/nowhere"]
RESOURCES = [*PAGES, "/openapi.json", "/favicon.svg", "/favicon.ico", "/robots.txt"]
HOSTILE = "</title><script>alert(1)</script>\"'&{{ 7*7 }}"

HTML_HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "vary": "accept-encoding, accept-language, cookie",
    "cache-control": "no-cache",
    "content-security-policy": f"default-src 'none'; {SCRIPTS} connect-src 'self'; "
    "style-src 'self'; img-src 'self' data:; "
    f"form-action 'self'; base-uri 'none'; frame-ancestors 'none', {OWN_FOLDERS_AND_SCRIPT}",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
}


def scripts_of(page: Html) -> int:
    """The number of scripts, all of which are files, but the one that the policy names."""
    scripts = [it for it in page.all("script") if it.attributes.get("type") != "application/json"]
    files = [it for it in scripts if it.attributes.get("src")]
    assert not any(it.text for it in files)
    digests = [sha256(it.text.encode()).digest() for it in scripts if it not in files]
    assert [f"'sha256-{b64encode(it).decode()}'" for it in digests] == [IN_PAGE]
    return len(files)


def page_of(site: InProcessSite, path: str = "/") -> Html:
    return Html(site.get(path).body)


def test_the_numbers_are_those_of_the_statistics(demo_site: InProcessSite) -> None:
    stats = demo_site.get("/api/stats").json()
    shown = [it.text for it in page_of(demo_site).all("dd")][:4]
    wanted = [stats[key] for key in ("widgets", "versions", "scopes", "downloads")]
    assert shown == [f"{number:,}" for number in wanted]


def test_the_most_installed_are_shown_in_the_order_of_the_search(demo_site: InProcessSite) -> None:
    found = demo_site.get("/api/v1/widgets/search?limit=6").json()["widgets"]
    page = page_of(demo_site)
    links = [link for link in page.links if link.startswith("/widgets/")]
    assert links[:6] == [f"/widgets/{it['scope']}/{it['name']}" for it in found]
    cards = [it.text for it in page.all("span", class_="name")][:6]
    assert [card.removesuffix(" Official") for card in cards] == [it["displayName"] for it in found]
    assert [card.endswith(" Official") for card in cards] == [it["isOfficial"] for it in found]


def test_every_link_leads_somewhere(demo_site: InProcessSite) -> None:
    page = page_of(demo_site)
    for needed in ("/search", "/docs", "/docs/api", "/openapi.json", "/api/health"):
        assert needed in page.links
    for link in set(page.links):
        assert link.startswith("#") or demo_site.get(link).status == 200, link


def test_new_and_official_widgets_are_shown_and_none_twice(tmp_path: Path) -> None:
    lines = [
        widget_line(
            f"acme/w{number:02}",
            downloadCount=100 - number,
            isOfficial=number % 5 == 0,
            versions=[version_line(publishedAt=f"2026-02-{28 - number:02}T00:00:00.000Z")],
        )
        for number in range(25)
    ]
    with InProcessSite(filled_folder(tmp_path / "data", *lines)) as site:
        page = page_of(site)

    keys = [it.text.removeprefix("acme/w") for it in page.all("span", class_="key")]
    popular, new, official = keys[:6], keys[6:12], keys[12:]
    assert popular == ["00", "01", "02", "03", "04", "05"]
    assert new == ["06", "07", "08", "09", "10", "11"]
    assert official == ["15", "20"], "The others are above."
    titles = [it.text for it in page.all("h2")]
    assert titles[1:4] == ["Most installed", "Newly published", "Official"]


def test_a_list_whose_widgets_are_all_above_is_left_out(demo_site: InProcessSite) -> None:
    titles = [it.text for it in page_of(demo_site).all("h2")]
    assert titles[1:4] == ["Most installed", "Newly published", "By keyword"]


def test_the_most_frequent_keywords_lead_to_their_widgets(demo_site: InProcessSite) -> None:
    page = page_of(demo_site)
    assert "/keywords" in page.links
    assert "/search?keyword=time" in page.links
    found = Html(demo_site.get("/search?keyword=time").body)
    assert len(found.all("span", class_="key")) == 7
    widget = Html(demo_site.get("/widgets/catalog/clock").body)
    assert "/search?keyword=time-zone" in widget.links


def test_the_search_box_leads_to_the_search_page(demo_site: InProcessSite) -> None:
    page = page_of(demo_site)
    form = page.one("form", role="search")
    assert form.attributes["method"] == "get"
    box = page.one("input", type="search")
    assert page.one("label", **{"for": box.attributes["id"] or ""}).text == "Search the catalog"
    assert "autofocus" in box.attributes
    response = demo_site.get(f"{form.attributes['action']}?{box.attributes['name']}=clock")
    assert "/widgets/catalog/clock" in Html(response.body).links


def test_commands_have_the_real_address(demo_site: InProcessSite) -> None:
    commands = [it.text for it in page_of(demo_site).all("pre")]
    assert commands == [
        "curl 'https://catalog.example/api/v1/widgets/search?q=clock&compatSdk=1.2.0'",
        "curl 'https://catalog.example/api/v1/widgets/catalog/clock'",
        "curl -X POST 'https://catalog.example/api/v1/widgets/catalog/clock'",
    ]


def test_an_empty_catalog_says_so(site: InProcessSite) -> None:
    page = page_of(site)
    assert [it.text for it in page.all("dd")] == ["0", "0", "0", "0"]
    assert page.one("p", class_="empty").text.startswith("Nothing is published here yet.")
    assert f"widget login {site.settings.public_url}" in [it.text for it in page.all("pre")]
    assert "/account/publish" in page.links
    assert not page.all("ol", class_="widgets")


def test_the_page_follows_the_catalog_and_is_kept_while_it_rests(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", displayName="Clock", downloadCount=1041))
    first = site.get("/")
    assert site.get("/").response.body is first.response.body
    site.post("/api/v1/widgets/acme/clock")
    counted = site.get("/")
    assert "Installs 1,042" in Html(counted.body).all("dl", class_="facts")[0].text
    assert counted.headers["etag"] != first.headers["etag"]
    site.add(widget_line("acme/gauge", displayName="Gauge"))
    assert [it.text for it in page_of(site).all("span", class_="name")][:2] == ["Clock", "Gauge"]


def test_a_widget_without_a_version_has_no_size(site: InProcessSite) -> None:
    site.add(widget_line("acme/soon", description=None, versions=[]))
    facts = {it.text for it in page_of(site).all("dl", class_="facts")}
    assert facts == {"Installs 0 Version none"}


def test_texts_of_authors_are_escaped(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", displayName=HOSTILE, description=HOSTILE))
    page = page_of(site)
    assert {it.text for it in page.all("span", class_="name")} == {HOSTILE}
    assert scripts_of(page) == 2


@pytest.mark.parametrize("path", EVERYWHERE)
def test_a_hostile_service_name_stays_text(tmp_path: Path, path: str) -> None:
    with InProcessSite(tmp_path / "data", service_name=HOSTILE) as site:
        page = page_of(site, path)
        assert page.one("a", class_="brand").text == HOSTILE
        assert HOSTILE in page.one("title").text
        assert scripts_of(page) == (2 if path in ("/", "/search", "/docs/api") else 1)
        assert not page.open_at_end


def test_pages_can_be_used_by_everybody(demo_site: InProcessSite) -> None:
    for path in [*PAGES, "/nowhere"]:
        page = page_of(demo_site, path)
        assert not page.open_at_end
        assert page.one("html").attributes["lang"] == "en"
        assert page.one("meta", name="viewport").attributes["content"] == (
            "width=device-width, initial-scale=1"
        )
        page.one("header", class_="top")
        for landmark in ("main", "footer"):
            page.one(landmark)
        assert all(nav.attributes["aria-label"] for nav in page.all("nav"))
        assert page.links[0] == "#main"
        assert page.one("main").attributes["id"] == "main"
        assert len(page.ids) == len(set(page.ids))
        levels = [int(it.tag[1]) for it in page.elements if it.tag in ("h1", "h2", "h3", "h4")]
        assert levels.count(1) == 1
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_pages_need_nothing_from_elsewhere(demo_site: InProcessSite) -> None:
    for path in [*PAGES, "/nowhere"]:
        page = page_of(demo_site, path)
        for element in page.elements:
            assert element.tag not in ("style", "iframe")
            is_data = element.attributes.get("type") == "application/json"
            assert (
                element.tag != "script"
                or is_data
                or element.attributes.get("src")
                or "theme=" in element.text
            )
            assert not any(key.startswith("on") or key == "style" for key in element.attributes)
            loaded = element.attributes.get("src") or (
                element.tag == "link" and element.attributes["href"]
            )
            if loaded and "hreflang" not in element.attributes:
                own = loaded.removeprefix("https://catalog.example")
                assert demo_site.get(own).status == 200, loaded


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_all_its_headers(demo_site: InProcessSite, path: str) -> None:
    headers = demo_site.get(path).headers
    assert headers.pop("etag")
    has_cards = path == "/" or path.startswith(("/search", "/scopes/"))
    is_widget = path.startswith("/widgets/") and path.endswith(("/clock", "/1.1.0"))
    if has_cards or is_widget:  # Pages on which widgets can run.
        policy = headers.pop("content-security-policy")
        assert policy.startswith(f"default-src 'none'; {SCRIPTS} connect-src 'self' ")
        assert headers.items() <= HTML_HEADERS.items()
        return
    vary = {"vary": "accept-encoding"} if path.startswith("/docs") else {}  # Not translated.
    assert headers == HTML_HEADERS | vary


def test_a_known_page_is_304(demo_site: InProcessSite) -> None:
    for path in RESOURCES:
        whole = demo_site.get(path)
        known = demo_site.get(path, if_none_match=whole.headers["etag"])
        assert (known.status, known.response.body) == (304, None)
        assert known.headers == {k: v for k, v in whole.headers.items() if k != "content-type"}


def test_head_is_answered_as_get(demo_site: InProcessSite) -> None:
    for path in [*RESOURCES, "/nowhere"]:
        head, get = demo_site.request("HEAD", path), demo_site.get(path)
        assert (head.status, head.headers) == (get.status, get.headers)


def test_pages_are_compressed(demo_site: InProcessSite) -> None:
    cases = [
        ("zstd", zstandard.ZstdDecompressor().decompress),
        ("br", brotli.decompress),
        ("gzip", gzip.decompress),
    ]
    for path in PAGES:
        for encoding, decompress in cases:
            plain, packed = demo_site.get(path), demo_site.get(path, accept_encoding=encoding)
            assert packed.headers["content-encoding"] == encoding
            assert packed.headers["etag"] != plain.headers["etag"]
            assert decompress(packed.body) == plain.body


def test_any_other_address_is_a_friendly_404(demo_site: InProcessSite) -> None:
    cases = [
        "/nowhere",
        "/docs/api/x",
        "/static",
        "/static/site.css",
        "/static/../pages/routes.py",
        "/index.html",
        "/\x00",
        "/" + "x" * 9000,
    ]
    for path in cases:
        for method in ["GET", "POST"]:
            response = demo_site.request(method, path)
            assert response.status == 404
            assert response.headers.items() >= HTML_HEADERS.items()
            page = Html(response.body)
            assert page.one("h1").text == "Page not found"
            assert "/docs/api" in page.links


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("clokc", "catalog/clock"),
        ("CLOCKS", "catalog/clock"),
        ("worldclock", "catalog/world-clock"),
        ("my-world-clok", "catalog/world-clock"),
        ("clock-of-the-world-in-all-time-zones-with-" + "very-" * 200, "catalog/world-clock"),
    ],
)
def test_an_unknown_widget_shows_similar_ones(
    demo_site: InProcessSite, name: str, meant: str
) -> None:
    response = demo_site.get(f"/widgets/nobody/{name}")
    assert response.status == 404
    page = Html(response.body)
    assert page.one("h2", id="near").text == "Did you mean…"
    assert f"/widgets/{meant}" in page.links[:12]


def test_an_unknown_widget_that_is_like_none_shows_none_or_few(demo_site: InProcessSite) -> None:
    for name in ["qqqqqqqq", "-", "--", "%", "\u200b", "a"]:
        response = demo_site.get(f"/widgets/nobody/{name}")
        assert response.status == 404
        assert len(Html(response.body).all("h3")) <= 6


def test_only_reading_is_redirected_from_a_trailing_slash(demo_site: InProcessSite) -> None:
    for path in ["/docs/api/", "/openapi.json/", "/static/", "/preview/"]:
        read, sent = demo_site.get(path), demo_site.request("POST", path)

        assert (read.status, read.headers["location"]) == (308, path.rstrip("/"))
        assert sent.status == 404


def test_another_method_is_405(demo_site: InProcessSite) -> None:
    for path in RESOURCES:
        for method in ["POST", "PUT", "DELETE", "OPTIONS"]:
            response = demo_site.request(method, path)
            assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")
            assert response.headers.items() >= HTML_HEADERS.items()
            assert "Only GET and HEAD are allowed" in Html(response.body).one("main").text


def test_the_style_may_be_kept_for_good(demo_site: InProcessSite) -> None:
    path = page_of(demo_site).one("link", rel="stylesheet").attributes["href"] or ""
    response = demo_site.get(path)
    assert response.headers["content-type"] == "text/css; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert response.headers["etag"].strip('"') in path
    assert b"url(" not in response.body
    assert b"@import" not in response.body


def test_browsers_and_robots_find_what_they_ask_for(demo_site: InProcessSite) -> None:
    for path in ("/favicon.svg", "/favicon.ico"):
        icon = demo_site.get(path)
        assert (icon.status, icon.headers["content-type"]) == (200, "image/svg+xml")
        assert icon.body.startswith(b"<svg ")
    robots = demo_site.get("/robots.txt")
    assert robots.headers["content-type"] == "text/plain; charset=utf-8"
    assert robots.body == (
        b"User-agent: *\nDisallow: /api/\nDisallow: /cdn/\n"
        b"Sitemap: https://catalog.example/sitemap.xml\n"
    )


def test_behind_a_path_of_its_own_all_links_begin_with_it(site: InProcessSite) -> None:
    site.add(widget_line())
    catalog = open_catalog(site.node, site.settings)
    context = PublicContext(
        catalog,
        PageRenderer("Widgets", "https://host.example/catalog", list_contributions()),
        "https://cdn.example",
        site.node.bundles,
        StoreAccess(site.node.store),
    )
    pages = build_public_pages(context)
    for path in [*EVERYWHERE, "/widgets/acme/clock", "/scopes/acme", "/widgets/acme/clock/1.0.0"]:
        body = asyncio.run(pages.handle(PlainRequest("GET", path))).body
        assert isinstance(body, bytes)
        page = Html(body)
        addresses = [*page.links, *(it.attributes["href"] or "" for it in page.all("link"))]
        addresses += [it.attributes["action"] or "" for it in page.all("form")]
        addresses += [it.attributes["src"] or "" for it in page.all("script") if not it.text]
        allowed = ("#", "/catalog/", "https://host.example/catalog/")
        assert all(it.startswith(allowed) for it in addresses), addresses
    catalog.close()

"""Live previews in frames of other sites, and oEmbed."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from pages.previewed_widgets import stored_version
from support.browsing import OWN_FOLDERS_AND_FRAME, SCRIPTS
from support.html import Html
from support.site import InProcessSite, Reply
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.model.settings import check_origins
from widget_catalog.core.actors import Actor, Via
from widget_catalog.moderation.revoke_version import revoke_version

OWN = "https://catalog.example"
PAGE = f"{OWN}/widgets/acme/clock"
BLOG = "https://blog.example"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[InProcessSite]:
    (tmp_path / "x.js").write_text("export function mount() {}")
    with InProcessSite(tmp_path / "data", embed_origins=f"{BLOG}  https://*.example.org") as site:
        versions = [stored_version("x.js"), stored_version("x.js", version="1.1.0+b")]
        name = {"displayName": '"><b>Clock'}
        clock = widget_line("acme/clock", versions=[it | name for it in versions], **name)
        elsewhere = widget_line("acme/elsewhere", versions=[version_line()])
        hidden = widget_line("acme/hidden", versions=[stored_version("x.js")], listed=False)
        import_widgets(site.node, clock, elsewhere, hidden, base_folder=tmp_path)
        yield site


def oembed(site: InProcessSite, url: str, more: str = "") -> Reply:
    return site.get(f"/oembed?url={quote(url, safe='')}{more}")


def test_only_the_named_sites_may_frame_the_preview(shop: InProcessSite) -> None:
    response = shop.get("/embed/acme/clock")
    sites = f"{BLOG} https://*.example.org"
    assert response.headers["content-security-policy"] == (
        f"default-src 'none'; {SCRIPTS} connect-src 'self' https://catalog.example; "
        "frame-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
        f"base-uri 'none'; frame-ancestors {sites}, {OWN_FOLDERS_AND_FRAME}"
    )
    assert "x-frame-options" not in response.headers
    assert "set-cookie" not in response.headers
    page = Html(response.body)
    assert page.open_at_end == []
    assert not page.all("form")
    # A picture until it runs.
    assert [it for it in page.all("div") if "still" in (it.attributes.get("class") or "").split()]
    [script] = page.all("script", type="module")
    assert shop.get(script.attributes["src"] or "").status == 200
    # Everything else is as it was.
    for path in ("/", "/widgets/acme/clock", "/preview/acme/clock/1.0.0"):
        assert shop.get(path).headers["x-frame-options"] == "DENY"


def test_by_default_there_is_nothing_to_frame(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        site.add(widget_line("acme/clock"))
        assert site.get("/embed/acme/clock").status == 404
        card = oembed(site, PAGE).json()
        assert (card["type"], card["title"]) == ("link", "Clock")
        assert card["thumbnail_url"].endswith("/picture.png")


def test_it_shows_what_the_pages_show(shop: InProcessSite) -> None:
    assert b"acme/clock 1.1.0+b" in shop.get("/embed/acme/clock").body
    assert b"acme/clock 1.0.0" in shop.get("/embed/acme/clock/1.0.0").body
    for missing in ("acme/hidden", "acme/none", "acme", "acme/clock/9.0.0", "acme/clock/1.0.0/x"):
        assert shop.get(f"/embed/{missing}").status == 404
    assert shop.request("POST", "/embed/acme/clock").status == 405
    assert b"data-preview" not in shop.get("/embed/acme/elsewhere").body
    node = shop.node
    by = Actor(via=Via.COMMAND)
    revoke_version(node.store, node.bundles, by, "acme/clock", "1.0.0", "It <spies>.")
    page = shop.get("/embed/acme/clock/1.0.0").body
    assert b"<strong>Revoked.</strong>" in page
    assert b"It &lt;spies&gt;." in page
    assert b"data-preview" not in page
    assert oembed(shop, f"{PAGE}/1.0.0").json()["type"] == "link"


def test_a_pasted_link_becomes_the_preview(shop: InProcessSite) -> None:
    links = Html(shop.get("/widgets/acme/clock/1.1.0+b").body).all(
        "link", type="application/json+oembed"
    )
    [found] = [it.attributes["href"] or "" for it in links]
    response = shop.get(found.removeprefix(OWN))
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert response.headers["access-control-allow-origin"] == "*"
    card = response.json()
    assert (card["version"], card["type"]) == ("1.0", "rich")
    assert (card["author_name"], card["provider_name"]) == ("acme", "Widget Catalog")
    [frame] = Html(card["html"].encode()).all("iframe")
    assert frame.attributes["title"] == '"><b>Clock'
    address = (frame.attributes["src"] or "").removeprefix(OWN)
    assert shop.get(address.replace("%2B", "+")).status == 200
    small = oembed(shop, PAGE, "&maxwidth=300&maxheight=200").json()
    assert (small["width"], small["height"]) == (300, 200)
    assert "thumbnail_url" not in small


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400),
        ("url=", 400),
        (f"url={PAGE}&maxwidth=-1", 400),
        (f"url={PAGE}&maxheight=wide", 400),
        (f"url={PAGE}&format=xml", 501),
        ("url=https://other.example/widgets/acme/clock", 404),
        ("url=javascript://catalog.example/widgets/acme/clock", 404),
        ("url=https://[", 404),
        (f"url={OWN}/scopes/acme", 404),
        (f"url={OWN}/widgets/acme/hidden", 404),
        (f"url={OWN}/widgets/acme/clock/%252e%252e", 404),
        (f"url={PAGE}%23readme", 200),
        (f"url={PAGE}/&format=json", 200),
    ],
)
def test_other_questions_get_the_status_of_the_specification(
    shop: InProcessSite, query: str, status: int
) -> None:
    response = shop.get(f"/oembed?{query}")
    assert response.status == status
    assert ("error" in response.json()) == (status != 200)


@pytest.mark.parametrize(
    ("value", "is_right"),
    [
        ("", True),
        ("*", True),
        ("https://a.example http://localhost:8080 https://*.b.example", True),
        ("a.example", False),
        ("https://a.example; script-src *", False),
        ("https://a.example, *", False),
        ("'self'", False),
        ("https://a.example/path", False),
    ],
)
def test_the_setting_takes_only_origins(value: str, is_right: bool) -> None:
    assert (check_origins(value) is None) == is_right

"""The guides on the site are the repository's docs."""

import re
from pathlib import Path

from support.html import Html
from support.site import InProcessSite
from widget_catalog.pages.guides import GUIDES, Guides, slug_of

DOCS = Path(__file__).parents[2] / "docs"


def test_every_page_of_the_docs_is_small_and_every_link_leads_somewhere(
    demo_site: InProcessSite,
) -> None:
    guides = Guides("").all
    assert list(guides) == list(GUIDES)
    pages: dict[str, Html] = {}
    for guide in guides.values():
        for part in guide.parts:
            path = f"/docs/{guide.name}/{part.slug}".rstrip("/")
            response = demo_site.get(path)
            assert (response.status, len(response.body) < 60_000) == (200, True), path
            pages[path] = Html(response.body)
    for path, page in pages.items():
        assert not page.open_at_end
        # The policy of pages forbids them.
        assert not [it for it in page.elements if "style" in it.attributes], path
        # A screen reader names the column of each cell.
        assert all(it.text for it in page.all("th")), path
        for link in page.links:
            target, _, anchor = link.partition("#")
            if target.startswith("http") or not link.startswith(("/docs/", "#")):
                continue
            found = pages.get(target or path)
            assert found is not None or demo_site.get(target).status == 200, (path, link)
            assert not anchor or found is None or anchor in found.ids, (path, link)


def test_nothing_of_a_guide_is_lost(demo_site: InProcessSite) -> None:
    guides = Guides("").all
    for name in GUIDES:
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        html = "".join(part.html for part in guides[name].parts)
        assert text.startswith(f"# {guides[name].title}\n")
        assert html.count("<pre ") == len(re.findall(r"\n *```", text)) // 2
        assert "&lt;!--" not in html, "A comment would be shown as text."


def test_the_contents_are_below_the_heading_of_a_guide(demo_site: InProcessSite) -> None:
    for path in ("/docs/publishing", "/docs/errors"):
        tags = [it.tag for it in Html(demo_site.get(path).body).elements]
        assert tags.count("h1") == 1
        assert tags.index("h1") < tags.index("details") < tags.index("p", tags.index("h1"))


def test_what_is_not_there_is_404(demo_site: InProcessSite) -> None:
    for path in ("/docs/nothing", "/docs/operating/nothing", "/docs/decisions", "/docs/api/x"):
        assert demo_site.get(path).status == 404


def test_a_section_that_had_a_page_of_its_own_is_still_found(demo_site: InProcessSite) -> None:
    for old, new in {
        "the-manifest": "/docs/publishing#the-manifest",
        "from-ci": "/docs/managing-widgets#from-ci",
    }.items():
        response = demo_site.get(f"/docs/publishing/{old}")
        assert (response.status, response.headers["location"]) == (308, new)


def test_slugs_are_those_of_links_in_the_docs() -> None:
    assert (
        slug_of("Which version fits: SDK compatibility") == "which-version-fits-sdk-compatibility"
    )


def test_guides_for_users_have_the_address_of_the_catalog_those_for_operators_do_not() -> None:
    guides = Guides("", "https://widgets.acme.example").all
    html = {name: "".join(part.html for part in it.parts) for name, it in guides.items()}
    for name, (group, _) in GUIDES.items():
        if group in ("Build a dashboard", "Publish widgets"):
            assert "127.0.0.1:8080" not in html[name], name
            assert "catalog.example" not in html[name], name
    assert "uv tool install widget-cli --index https://widgets.acme.example/" in html["publishing"]
    assert "curl https://widgets.acme.example/api/v1/widgets/catalog/clock" in html["public-api"]
    assert "ListenStream=127.0.0.1:8080" in html["operating"]


def test_a_service_shows_its_own_address_in_guides(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data", base_url="https://widgets.acme.example") as site:
        page = site.get("/docs/python-client").body.decode()
    assert "Catalog(&quot;https://widgets.acme.example&quot;)" in page


def test_the_search_finds_sections_by_words_and_shows_where_they_are(
    demo_site: InProcessSite,
) -> None:
    page = Html(demo_site.get("/docs/search?q=screenshots+README").body)
    assert page.all("h2")[0].text == "README and screenshots"
    assert "/docs/publishing#readme-and-screenshots" in page.links
    assert {it.text.lower() for it in page.all("mark")} == {"readme", "screenshot"}
    # A guide that is about it comes before those that mention it.
    assert Html(demo_site.get("/docs/search?q=yank").body).all("h2")[0].text == "After publishing"
    operations = Html(demo_site.get("/docs/search?q=resolve").body)
    assert "/docs/api/resolveWidgets" in operations.links


def test_the_search_refuses_nothing_and_says_that_nothing_was_found(
    demo_site: InProcessSite,
) -> None:
    for query in ("", "q=", "q=%28", "q=%3Czzz%3E", "q=zzzz", f"q={'x' * 3000}"):
        response = demo_site.get(f"/docs/search?{query}")
        assert (response.status, Html(response.body).all("ol")) == (200, []), query
    assert b"No section has all of these words" in demo_site.get("/docs/search?q=zzzz").body


def test_code_can_be_copied_and_the_contents_list_the_headings(
    demo_site: InProcessSite,
) -> None:
    page = Html(demo_site.get("/docs/publishing").body)
    copied = [it for it in page.all("button") if "data-copy" in it.attributes]
    assert 10 < len(copied) == len(page.all("pre"))
    page = Html(demo_site.get("/docs/scaling").body)
    assert page.links.count("#what-a-failure-looks-like") == len(("wide", "folded"))

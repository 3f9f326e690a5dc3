"""The pages of a widget, of its versions, and of its scope."""

import base64

import pytest

from support.html import Html
from support.site import InProcessSite
from support.widgets import version_line, widget_line
from widget_catalog.pages.snippets import admitted_sdk

MAX_BYTES = 60_000
HOSTILE = "</title><script>alert(1)</script>\"'&{{ 7*7 }}"
NOTES = """# New

- **bold** [good](https://example.com) [bad](javascript:alert(1))
- <img src=x onerror=alert(1)> ![pixel](https://example.com/pixel.png)
"""


def page_of(site: InProcessSite, path: str) -> Html:
    response = site.get(path)
    assert response.status == 200, path
    assert len(response.body) < MAX_BYTES
    return Html(response.body)


@pytest.fixture
def shop(site: InProcessSite) -> InProcessSite:
    site.add(
        widget_line(
            "acme/clock",
            displayName="Wall clock",
            downloadCount=1234,
            versions=[
                version_line("1.0.0", publishedAt="2026-01-01T00:00:00.000Z"),
                version_line(
                    "1.1.0",
                    publishedAt="2026-01-02T00:00:00.000Z",
                    yanked=True,
                    yankedReason="Shows the wrong day.",
                    permissions=["network"],
                ),
                version_line(
                    "2.0.0",
                    publishedAt="2026-01-03T00:00:00.000Z",
                    deprecationMessage="Use acme/watch.",
                    releaseNotes=NOTES,
                    sdkVersion="^2.0.0",
                    permissions=["storage", "acme:special"],
                    license="MIT",
                    minSize={"w": 2, "h": 1},
                    maxSize={"w": 4, "h": 3},
                ),
            ],
        )
    )
    return site


def test_the_page_tells_what_matters(shop: InProcessSite) -> None:
    page = page_of(shop, "/widgets/acme/clock")
    text = page.one("main").text
    assert page.one("h1").text == "Wall clock"
    for fact in ("1,234 installs", "2.0.0, 3 Jan 2026", "^2.0.0", "MIT", "1 kB"):
        assert fact in text
    assert "Store data in the browser storage" in text
    assert "acme:special" in text
    assert "Deprecated. Use acme/watch." in text
    picture = page.one("svg", class_="grid").attributes
    assert picture["aria-label"] == "From 2 by 1 to 4 by 3 cells"
    assert "/scopes/acme" in page.links


def test_what_people_look_for_comes_first_and_hashes_are_folded(site: InProcessSite) -> None:
    line = version_line(readme="What it does.", releaseNotes="New.", permissions=["network"])
    site.add(widget_line("acme/clock", versions=[line]))
    page = page_of(site, "/widgets/acme/clock")

    titles = [it.text for it in page.elements if it.tag in ("h1", "h2")]
    contents = ["Readme", "Install", "New in 1.0.0", "Versions", "Compatibility", "Permissions"]
    facts = ["On this page", "Size on the grid"]
    assert titles[1:] == [*facts, *contents, "Technical details"]
    text = page.one("main").text
    picture, aside, readme = (text.index(it) for it in ("live preview", "Runs on SDK", "What it"))
    assert picture < aside < readme
    folded = page.one("details").text
    hashed = line["sha256Hash"]
    assert hashed in folded
    assert text.count(hashed) == folded.count(hashed)
    (nav,) = [it for it in page.all("nav") if it.attributes["aria-label"] == "On this page"]
    for link in [it for it in page.links if it.startswith("#") and it != "#main"]:
        assert link[1:] in page.ids
    assert "What is new" in nav.text


def test_a_widget_without_texts_lists_only_the_sections_that_it_has(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", versions=[version_line(releaseNotes=None)]))
    page = page_of(site, "/widgets/acme/clock")

    own = [it for it in page.links if it.startswith("#") and it != "#main"]
    wanted = ["#install", "#versions", "#compatibility", "#permissions", "#technical"]
    assert own == ["#install", *wanted]  # The first one is a button.


def test_permissions_are_sentences_with_what_changed(shop: InProcessSite) -> None:
    text = page_of(shop, "/widgets/acme/clock").one("main").text

    asked = "this widget may: Store data in the browser storage acme:special"
    assert f"In the sandbox, if the user allows it, {asked}" in text
    assert "Changed since 1.1.0: + storage + acme:special − network" in text
    first = page_of(shop, "/widgets/acme/clock/1.0.0").one("main").text
    assert "None: in the sandbox, it gets only what the dashboard passes to it." in first


def test_what_is_wrong_with_a_version_is_said_before_anything_else(shop: InProcessSite) -> None:
    page = page_of(shop, "/widgets/acme/clock/1.1.0")

    told = "Yanked. This version was yanked: Shows the wrong day."
    assert page.one("main").text.startswith(told)
    assert "Install" not in [it.text for it in page.all("h2")]
    widget = page_of(shop, "/widgets/acme/clock")
    assert widget.one("main").text.startswith("Deprecated. Use acme/watch.")


@pytest.mark.parametrize(
    ("admitted", "sdk"),
    [
        ("^2.1.0", "2.1.0"),
        (">=1.2 <3", "1.2.0"),
        ("1.x || 2.x", "2.0.0"),
        ("~2.1.0", "2.1.0"),
        ("^2.0.0-beta.1", "2.0.0"),
        ("1.2 - 2", "2.0.0"),
        ("*", "1.0.0"),
        (">1.2.3", "1.2.4"),
        ("<1.0.0-0", None),
        ("nonsense", None),
    ],
)
def test_the_example_names_an_sdk_that_the_version_runs_on(admitted: str, sdk: str | None) -> None:
    assert admitted_sdk(admitted) == sdk


def test_the_first_snippet_runs_the_version_in_the_sandbox(shop: InProcessSite) -> None:
    (latest, alone, *_), (old, *_) = (
        [one.text for one in page_of(shop, f"/widgets/acme/clock{path}").all("pre")]
        for path in ("", "/1.0.0")
    )
    client = "https://catalog.example/client/v1"
    assert f'import {{ mount }} from "{client}/sandbox.js"' in latest
    assert 'id: "acme/clock", sdk: "2.0.0",' in latest
    assert "grants: []," in latest
    assert 'style="max-width: 24rem; height: 18rem"' in latest
    assert 'id: "acme/clock", sdk: "1.0.0", range: "1.0.0",' in old
    assert f'import {{ Catalog }} from "{client}/client.js"' in alone
    assert 'catalog.load("acme/clock", { sdk: "2.0.0" })' in alone


def test_it_says_where_permissions_hold(shop: InProcessSite) -> None:
    text = page_of(shop, "/widgets/acme/clock").one("main").text
    assert "Permissions hold in the sandbox. With load() a widget may do all that" in text


def test_versions_are_marked_and_their_permissions_compared(shop: InProcessSite) -> None:
    rows = [it.text for it in page_of(shop, "/widgets/acme/clock").all("tr")][1:]
    assert "2.0.0 Latest Deprecated Use acme/watch." in rows[0]
    assert "+ storage + acme:special − network" in rows[0]
    assert "1.1.0 Yanked Shows the wrong day." in rows[1]
    assert "+ network" in rows[1]
    assert "none" in rows[2]


def test_compatibility_names_the_version_to_install(shop: InProcessSite) -> None:
    page = page_of(shop, "/widgets/acme/clock")
    (told,) = page.all("dl", class_="compatibility")
    assert told.text == ("SDK ^2.0.0 install 2.0.0 1 version SDK ^1.0.0 install 1.0.0 2 versions")


PAGE = "https://catalog.example/widgets/acme/clock"


def test_the_snippets_have_the_hash_of_the_bundle(shop: InProcessSite) -> None:
    entry = shop.get("/api/v1/widgets/acme/clock").json()["versions"][0]
    digest = base64.b64encode(bytes.fromhex(entry["sha256Hash"])).decode()
    codes = [it.text for it in page_of(shop, "/widgets/acme/clock").all("pre")]
    assert f'href="{entry["bundleUrl"]}" integrity="sha256-{digest}"' in codes[2]
    assert codes[4:] == [
        entry["bundleUrl"],
        entry["sha256Hash"],
        f"sha256-{digest}",
        "https://catalog.example/api/v1/widgets/acme/clock",
        " ".join(
            f"[![{kind}](https://catalog.example/badges/acme/clock/{kind}.svg)]"
            "(https://catalog.example/widgets/acme/clock)"
            for kind in ("version", "downloads", "sdk")
        ),
    ]


def test_release_notes_are_safe(shop: InProcessSite) -> None:
    page = page_of(shop, "/widgets/acme/clock")
    (notes,) = [it for it in page.all("div", class_="prose") if "bold" in it.text]
    assert "New bold good" in notes.text
    assert "https://example.com" in page.links
    assert not any(link.startswith("javascript:") for link in page.links)
    badges = [f"/badges/acme/clock/{kind}.svg" for kind in ("version", "downloads", "sdk")]
    assert [it.attributes["src"] for it in page.all("img")] == ["/favicon.svg", *badges]
    assert all(shop.get(it).status == 200 for it in badges)
    assert not any(key.startswith("on") for it in page.elements for key in it.attributes)


def test_images_in_release_notes_become_links_or_text(site: InProcessSite) -> None:
    notes = (
        "![A *shot*](https://pictures.example/shot.png) "
        "[![build](https://ci.example/badge.svg)](https://ci.example/) "
        "![](docs/day.png) ![bad](javascript:alert(1))"
    )
    site.add(widget_line("acme/clock", versions=[version_line(releaseNotes=notes)]))
    page = page_of(site, "/widgets/acme/clock")
    (prose,) = [it for it in page.all("div", class_="prose") if "shot" in it.text]
    assert prose.text == "A shot build docs/day.png ![bad](javascript:alert(1))"
    assert {"https://pictures.example/shot.png", "https://ci.example/"} <= set(page.links)
    assert not {"https://ci.example/badge.svg", "docs/day.png"} & set(page.links)


def test_a_version_has_a_page(shop: InProcessSite) -> None:
    page = page_of(shop, "/widgets/acme/clock/1.1.0")
    text = page.one("main").text
    assert "yanked: Shows the wrong day." in text
    assert "Changed since 1.0.0: + network" in text
    assert "/widgets/acme/clock/2.0.0" in page.links
    assert "/widgets/acme/clock/compare?from=1.0.0&to=1.1.0" in page.links
    assert "Latest" in page_of(shop, "/widgets/acme/clock/2.0.0").one("p", class_="key").text


def test_an_old_version_names_the_newer_one(shop: InProcessSite) -> None:
    told = "There is a newer version: 2.0.0."

    assert told in page_of(shop, "/widgets/acme/clock/1.0.0").one("main").text
    for yanked_or_latest in ("1.1.0", "2.0.0"):
        page = page_of(shop, f"/widgets/acme/clock/{yanked_or_latest}")
        assert "newer version" not in page.one("main").text


@pytest.mark.parametrize(
    "path",
    [
        "/widgets/acme/nothing",
        "/widgets/acme/hidden",
        "/widgets/acme/clock/9.9.9",
        "/widgets/nobody/clock",
        "/widgets/acme/CLOCK",
        "/widgets/acme",
        "/scopes/nobody",
        "/scopes/-",
    ],
)
def test_what_is_not_there_is_404_with_suggestions(shop: InProcessSite, path: str) -> None:
    shop.add(widget_line("acme/hidden", listed=False))
    response = shop.get(path)
    assert response.status == 404
    page = Html(response.body)
    assert page.one("h1").text == "Page not found"
    if path.lower().endswith("clock"):
        assert "/widgets/acme/clock" in page.links
    assert "/widgets/acme/hidden" not in page.links


def test_a_widget_without_versions_has_a_page(site: InProcessSite) -> None:
    site.add(widget_line("acme/soon", versions=[], description=None, icon=None))
    assert (
        "No version of this widget is published yet."
        in page_of(site, "/widgets/acme/soon").one("main").text
    )


def test_a_revoked_version_leads_to_the_latest(site: InProcessSite) -> None:
    revoked = {"reason": "It spies.", "at": "2026-01-02T00:00:00.000Z"}
    versions = [version_line("1.0.0"), version_line("1.1.0", yanked=True, revoked=revoked)]
    site.add(widget_line("acme/clock", versions=versions))
    (notice,) = page_of(site, "/widgets/acme/clock/1.1.0").all("p", class_="notice bad")
    assert notice.text.endswith("it must not run. It spies. The latest is 1.0.0.")


def test_a_widget_whose_versions_are_all_yanked_says_so(site: InProcessSite) -> None:
    site.add(widget_line("acme/gone", versions=[version_line(yanked=True, yankedReason="Broken.")]))
    page = page_of(site, "/widgets/acme/gone")
    assert "yanked. Reason for the latest: Broken." in page.one("main").text
    assert "Latest" not in page.one("table").text


def test_hostile_texts_stay_texts(site: InProcessSite) -> None:
    version = version_line(
        releaseNotes=HOSTILE,
        license=HOSTILE,
        deprecationMessage=HOSTILE,
        displayName=HOSTILE,
        description=HOSTILE,
    )
    site.add(widget_line("acme/clock", displayName=HOSTILE, versions=[version]))
    for path in (
        "/widgets/acme/clock",
        "/widgets/acme/clock/1.0.0",
        "/widgets/acme/clock/versions",
    ):
        page = page_of(site, path)
        assert HOSTILE in page.one("title").text
        assert HOSTILE in page.one("h1").text
        files = [it.attributes["src"] for it in page.all("script") if "src" in it.attributes]
        assert len(files) == (1 if path.endswith("/versions") else 2)
        assert not page.open_at_end


def test_pages_stay_small_whatever_is_in_a_widget(site: InProcessSite) -> None:
    versions = [
        version_line(
            f"1.{i}.0",
            publishedAt=f"2026-01-01T00:{i // 60:02}:{i % 60:02}.000Z",
            releaseNotes='"<>&' * 5000,
            description="<" * 1000,
            displayName="&" * 100,
            license="<" * 200,
            yanked=i % 2 == 0,
            yankedReason="<" * 500,
            permissions=[f"{'x' * 90}{i}{n}" for n in range(50)],
        )
        for i in range(120)
    ]
    site.add(widget_line("acme/large", displayName="&" * 100, versions=versions))
    page_of(site, "/widgets/acme/large")
    page_of(site, "/widgets/acme/large/1.119.0")
    pages = [page_of(site, f"/widgets/acme/large/versions?page={n}") for n in range(1, 6)]
    assert sum(len(page.all("tr")) - 1 for page in pages) == 120
    site.add(*(widget_line(f"acme/w{i}", description="<" * 1000) for i in range(30)))
    page_of(site, "/search")
    page_of(site, "/scopes/acme")
    page_of(site, "/")


def test_a_page_is_kept_until_it_changes(shop: InProcessSite) -> None:
    for path in ("/widgets/acme/clock", "/widgets/acme/clock/1.0.0", "/search", "/scopes/acme"):
        first = shop.get(path)
        assert shop.get(path).response.body is first.response.body
        assert shop.get(path, if_none_match=first.headers["etag"]).status == 304
    before = shop.get("/widgets/acme/clock")
    shop.post("/api/v1/widgets/acme/clock")
    after = shop.get("/widgets/acme/clock")
    assert "1,235 installs" in Html(after.body).one("main").text
    assert after.headers["etag"] != before.headers["etag"]


def test_a_scope_shows_its_widgets_and_its_registry(shop: InProcessSite) -> None:
    shop.add(widget_line("acme/gauge"), widget_line("other/gauge"))
    page = page_of(shop, "/scopes/acme")
    assert [it.text for it in page.all("span", class_="key")] == ["acme/clock", "acme/gauge"]
    assert [it.text for it in page.all("pre")] == [
        "https://catalog.example/api/widgets/acme/registry.json"
    ]
    assert "/scopes/acme/feed.atom" in page.links
    assert "/widgets/acme/clock/feed.atom" in page_of(shop, "/widgets/acme/clock").links


def test_icons_are_drawn_and_unknown_ones_are_letters(site: InProcessSite) -> None:
    site.add(
        widget_line("acme/mdi", icon="mdi:clock-outline"),
        widget_line("acme/lucide", icon="lucide:clock"),
        widget_line("acme/none", icon="nobody:knows", displayName="éclair"),
    )
    shown = {
        name: page_of(site, f"/widgets/acme/{name}").all("svg")[0]
        for name in ("mdi", "lucide", "none")
    }
    assert shown["mdi"].attributes["class"] == "tile"
    assert shown["lucide"].attributes["viewbox"] == "0 0 24 24"
    assert "letter" in (shown["none"].attributes["class"] or "")
    assert shown["none"].text == "É"


@pytest.mark.parametrize("path", ["/widgets/acme/sun", "/widgets/acme/sun/1.0.0"])
def test_readme_author_and_addresses_are_shown_and_safe(site: InProcessSite, path: str) -> None:
    homepage = 'https://sun.example/"><script>'
    details = {
        "readme": f"# Sun\n\n[shine](https://sun.example/a) {HOSTILE} [x](javascript:alert(1))",
        "homepage": homepage,
        "repository": "https://git.example/sun",
        "author": {"name": HOSTILE, "url": "https://ann.example"},
    }
    site.add(widget_line("acme/sun", versions=[version_line("1.0.0", **details)]))

    page = page_of(site, path)

    assert "Readme Sun shine" in page.one("main").text
    links = {it.attributes.get("href"): it for it in page.all("a")}
    for address in ("https://sun.example/a", homepage, "https://ann.example"):
        assert links[address].attributes["rel"] == "nofollow ugc noopener"
    assert links["https://ann.example"].text.startswith("</title><script>alert(1)</script>")
    assert not any(str(it).startswith("javascript:") for it in links)
    assert all("alert" not in it.text for it in page.all("script"))


def test_a_long_readme_is_whole_on_the_page_of_the_version(site: InProcessSite) -> None:
    readme = "\n\n".join(f"Paragraph {it}." for it in range(3_000))
    site.add(widget_line("acme/sun", versions=[version_line("1.0.0", readme=readme)]))

    page = page_of(site, "/widgets/acme/sun")
    assert "Paragraph 2999." not in page.one("main").text
    assert "/widgets/acme/sun/1.0.0#readme" in page.links
    assert "Paragraph 2999." in Html(site.get("/widgets/acme/sun/1.0.0").body).one("main").text

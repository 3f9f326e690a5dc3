"""Collections: made by operators, shown to everybody."""

import asyncio
from pathlib import Path

import pytest

from support.browsing import browser_of
from support.html import Html
from support.site import InProcessSite
from support.site_with_people import People
from support.widgets import import_widgets, widget_line
from widget_catalog.collections import store as stored
from widget_catalog.collections.public_pages import CollectionsReader
from widget_catalog.collections.store import Collection, read_collections
from widget_catalog.core.db.engine import Store
from widget_catalog.static_site.static_site import SiteFolder, build_static_site

HERE = "/operate/collections"
API = "/api/collections"


@pytest.fixture(autouse=True)
def _pages_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CollectionsReader, "kept_s", 0.0)


def add_widgets(site: InProcessSite) -> None:
    import_widgets(site.node, *(widget_line(f"home/w{number}") for number in range(1, 6)))


def titles(site: InProcessSite, path: str = "/") -> list[str]:
    return [it.text for it in Html(site.get(path).body).all("h2")]


def keys(site: InProcessSite, path: str) -> list[str]:
    return [it.text for it in Html(site.get(path).body).all("span", class_="key")]


def test_an_operator_makes_orders_and_deletes_collections_in_a_browser(people: People) -> None:
    add_widgets(people.site)
    olly = browser_of(people.olly)
    olly.get(HERE)
    assert olly.submit(HERE, title="", slug="No", text="").status == 400
    assert olly.page.one("div", id="faults-create-title").text
    assert "lowercase" in olly.page.one("div", id="faults-create-slug").text
    created = olly.submit(HERE, title="Für zu Hause!", text="**Start** here.", featured="yes")
    place = f"{HERE}/fur-zu-hause"
    assert created.headers["location"] == f"{place}?done=create"

    address = "https://catalog.example/widgets/home/w3/1.0.0?lang=de"
    for widget in ("home/w1", " @home/w2 ", address):
        olly.get(place)
        assert olly.submit(f"{place}/widgets", widget=widget).status == 303
    olly.get(place)
    assert olly.submit(f"{place}/widgets", widget="home/none").status == 400
    assert "There is no widget home/none" in olly.page.one("div", id="faults-widgets-widget").text
    for do in ("up", "down", "remove"):
        olly.get(place)
        moved = {"up": "home/w3", "down": "home/w1", "remove": "home/w2"}[do]
        assert olly.submit(f"{place}/widgets", widget=moved, do=do).status == 303
    site = people.site
    assert keys(site, "/collections/fur-zu-hause") == ["home/w3", "home/w1"]
    assert b"<strong>Start</strong> here." in site.get("/").body

    olly.get(HERE)
    assert olly.submit(HERE, title="Second", featured="yes").status == 303
    assert (
        people.olly.put(f"{API}/second", {"title": "Other", "widgets": ["home/w5"]}).status == 200
    )
    assert titles(site)[1:3] == ["Für zu Hause!", "Other"]
    olly.get(HERE)
    assert olly.submit(f"{HERE}/second/move", do="up").status == 303
    assert titles(site)[1:3] == titles(site, "/collections") == ["Other", "Für zu Hause!"]

    olly.get(f"{HERE}/second/delete")
    assert olly.submit(f"{HERE}/second/delete").status == 303
    assert site.get("/collections/second").status == 404
    entries = people.olly.get("/api/audit?limit=11").json()["entries"]
    assert [it["action"] for it in reversed(entries)] == [
        "create collection",
        *["change collection"] * 6,
        "create collection",
        "change collection",
        "move collection",
        "delete collection",
    ]


def test_a_form_does_not_undo_what_another_operator_has_changed_meanwhile(people: People) -> None:
    add_widgets(people.site)
    people.olly.post(API, {"title": "Home", "text": "x", "isFeatured": False})
    first, second = browser_of(people.olly), browser_of(people.olly)
    for one in (first, second):
        one.get(f"{HERE}/home")
    assert first.submit(f"{HERE}/home/widgets", widget="home/w1").status == 303
    first.get(f"{HERE}/home")
    assert first.submit(f"{HERE}/home", title="At home", text="x").status == 303

    assert second.submit(f"{HERE}/home", title="Home", text="Welcome.").status == 409

    assert "Somebody else" in second.page.one("div", id="faults-details-title").text
    assert second.page.one("h1").text == "At home"
    assert second.submit(f"{HERE}/home", title="At home", text="Welcome.").status == 303
    stored = people.olly.get(f"{API}/home").json()
    assert (stored["title"], stored["text"], stored["widgets"]) == (
        *("At home", "Welcome."),
        ["home/w1"],
    )


def test_what_was_typed_into_a_collection_that_is_deleted_meanwhile_can_be_created(
    people: People,
) -> None:
    people.olly.post(API, {"title": "Home", "text": "x"})
    olly = browser_of(people.olly)
    olly.get(f"{HERE}/home")
    assert people.olly.delete(f"{API}/home").status == 200

    assert olly.submit(f"{HERE}/home", title="At home", text="A long text.").status == 409

    assert "deleted meanwhile" in olly.page.one("div", role="alert").text
    kept = {
        it: olly.page.one("input", name=it).attributes["value"] or "" for it in ("title", "slug")
    }
    text = olly.page.one("textarea", name="text").text
    assert (kept, text) == ({"title": "At home", "slug": "home"}, "A long text.")
    assert olly.submit(HERE, text=text, **kept).status == 303
    assert people.olly.get(f"{API}/home").json()["title"] == "At home"


def test_an_operator_who_adds_an_unlisted_widget_is_told_that_it_is_not_shown(
    people: People,
) -> None:
    add_widgets(people.site)
    import_widgets(people.site.node, widget_line("home/hidden", listed=False))
    people.olly.post(API, {"title": "Home"})
    olly = browser_of(people.olly)
    for widget, told in (
        ("home/hidden", "It is unlisted"),
        ("home/w1", "The widgets were changed"),
    ):
        olly.get(f"{HERE}/home")
        sent = olly.submit(f"{HERE}/home/widgets", widget=f"@{widget}")
        olly.get(sent.headers["location"])
        assert told in olly.page.one("p", role="status").text


def test_the_api_changes_a_collection_as_a_whole(people: People) -> None:
    add_widgets(people.site)
    olly = people.olly
    body = {"title": "Home", "text": "x", "widgets": ["home/w2", "home/w1"], "isFeatured": False}
    made = olly.post(API, body)
    assert (made.status, made.json()) == (201, {"slug": "home", **body})
    assert olly.post(API, body).status == 409
    wrong = olly.put(f"{API}/home", {"title": "", "widgets": ["home/w1", "home/w1"]})
    assert wrong.status == 400
    assert wrong.json()["error"].startswith("title: ")
    assert "widgets: a widget is in a collection only once." in wrong.json()["error"]
    assert olly.get(API).json() == {"collections": [{"slug": "home", **body}]}
    assert people.ann.get(API).status == 403
    for beyond in (9, 10**30):
        assert olly.post(f"{API}/home/move", {"position": beyond}).json() == {"success": True}
    assert olly.delete(f"{API}/home").json() == {"success": True}
    for method in (olly.get, olly.delete):
        assert method(f"{API}/home").status == 404
    with people.site.node.store.reading() as connection:
        assert stored.list_all(connection) == []


def test_widgets_that_are_not_listed_disappear_quietly_and_none_is_shown_twice(
    people: People,
) -> None:
    add_widgets(people.site)
    import_widgets(people.site.node, widget_line("home/hidden", listed=False))
    olly, site = people.olly, people.site
    every = ["home/hidden", *(f"home/w{number}" for number in range(1, 6))]
    assert olly.post(API, {"title": "A", "widgets": every}).status == 201
    assert olly.post(API, {"title": "B", "widgets": every}).status == 201
    assert olly.post(API, {"title": "Quiet", "widgets": every, "isFeatured": False}).status == 201
    assert olly.post(API, {"title": "Empty", "widgets": ["home/hidden"]}).status == 201

    shown = keys(site, "/")
    assert len(shown) == len(set(shown))
    assert shown[:5] == ["home/w1", "home/w2", "home/w3", "home/w4", "home/w5"]
    assert titles(site)[1:3] == ["A", "B"]
    assert "/collections" in Html(site.get("/").body).links
    assert keys(site, "/collections/a") == every[1:]
    assert b"/collections/a</loc>" in site.get("/sitemaps/0.xml").body
    assert titles(site, "/collections") == ["A", "B", "Quiet"]
    assert "not listed at the moment" in Html(site.get("/collections/empty").body).one("main").text


def test_without_collections_nothing_mentions_them(demo_site: InProcessSite) -> None:
    assert demo_site.get("/collections").status == 404
    assert b"collections" not in demo_site.get("/").body


def test_a_collection_is_stored_in_both_databases(store: Store) -> None:
    first = Collection("one", "One", "Text", ("a/x", "a/y"), is_featured=True)
    second = Collection("two", "Zwei", "", (), is_featured=False)
    with store.publishing() as tx:
        for position, collection in enumerate((first, second), 1):
            stored.add_collection(tx, collection, position)
        stored.set_order(tx, ["two", "one"])
        assert stored.find_listed(tx.connection, ["a/x", "no key"]) == {}
    assert read_collections(store) == (second, first)


def test_the_largest_collections_are_shown_on_small_pages(people: People) -> None:
    site, every = people.site, [f"home/w{number}" for number in range(100)]
    import_widgets(site.node, *(widget_line(key, description="word " * 40) for key in every))
    text = "**Bold** and [a link](https://a.example/). " * 46
    for number in range(50):
        body = {"title": f"Number {number}", "text": text, "widgets": every}
        assert people.olly.post(API, body).status == 201

    assert len(site.get("/").body) < 60_000
    for path, shown in (("/collections/number-7", 100), ("/collections", 150)):
        pages, place = [], path
        while place:
            response = site.get(place)
            assert (response.status, len(response.body) < 60_000) == (200, True), place
            pages.append(keys(site, place))
            links = Html(response.body).all("a", rel="next")
            place = links[0].attributes["href"] or "" if links else ""
        assert sum(map(len, pages)) == shown
    assert len(set(keys(site, "/collections/number-7?page=5"))) == 4
    for beyond in ("/collections/number-7?page=6", "/collections?page=10"):
        assert site.get(beyond).status == 404


def test_a_static_site_has_the_pages_of_collections(people: People, tmp_path: Path) -> None:
    add_widgets(people.site)
    more = [f"home/more{number}" for number in range(30)]
    import_widgets(people.site.node, *map(widget_line, more))
    assert people.olly.post(API, {"title": "A", "widgets": ["home/w1", *more]}).status == 201
    target = SiteFolder(tmp_path / "site")
    target.begin()
    site, close = build_static_site(people.site.node, people.site.settings, target)
    asyncio.run(site.write(lambda _: None))
    close()
    assert b"home/w1" in (tmp_path / "site/collections/a/index.html").read_bytes()
    assert (
        b'href="/collections/a/page-2"' in (tmp_path / "site/collections/a/index.html").read_bytes()
    )
    assert b"home/more29" in (tmp_path / "site/collections/a/page-2/index.html").read_bytes()
    assert (tmp_path / "site/collections/index.html").exists()

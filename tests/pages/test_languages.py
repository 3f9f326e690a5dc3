"""Public pages in the languages of their readers."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from support.demo_site import running_demo_site
from support.html import Html
from support.site import InProcessSite, Reply
from support.widgets import version_line, widget_line

WIDGET = "/widgets/acme/clock"
EVERY_PAGE = (
    "/",
    "/search",
    "/search?q=clock&sdk=1.2.0",
    "/search?q=zzz",
    "/search?sdk=none",
    "/keywords",
    "/scopes/acme",
    WIDGET,
    f"{WIDGET}/versions",
    f"{WIDGET}/2.0.0",
    f"{WIDGET}/1.0.0",
    f"{WIDGET}/compare",
    "/preview/acme/clock/2.0.0",
    "/dashboard",
    "/widgets/acme/clocks",
    "/nothing/here",
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    """Read-only. Whatever is data in it is lower-case, in an element of its own."""
    folder = tmp_path_factory.mktemp("languages") / "data"
    with InProcessSite(folder, languages="en de ja ar-XB", dashboard=True) as site:
        old = version_line("1.0.0", yanked=True, permissions=["network"], license="mit")
        new = version_line("2.0.0", permissions=["camera"], deprecationMessage="old")
        site.add(widget_line("acme/clock", downloadCount=1234, versions=[new, old]))
        site.add(widget_line("acme/alarm", downloadCount=1, isOfficial=True))
        texts = {"de": {"displayName": "Sonnenuhr"}, "ja": {"description": "日時計。"}}
        sun = version_line("1.0.0", translations=texts)
        about = {"displayName": "sundial", "description": "shadow"}
        site.add(widget_line("acme/sundial", downloadCount=0, versions=[sun], **about))
        yield site


def in_language(site: InProcessSite, path: str, tag: str) -> Reply:
    return site.get(path, accept_language=tag)


@pytest.mark.parametrize("tag", ["de", "ja"])
def test_every_page_is_in_the_language_of_its_reader(shop: InProcessSite, tag: str) -> None:
    for path in EVERY_PAGE:
        english, translated = shop.get(path), in_language(shop, path, tag)
        assert translated.status == english.status
        assert translated.headers["etag"] != english.headers["etag"]
        assert translated.headers["vary"] == "accept-encoding, accept-language, cookie"
        assert f'<html lang="{tag}">'.encode() in translated.body


def test_numbers_plurals_and_dates_follow_the_language(shop: InProcessSite) -> None:
    shown = {tag: in_language(shop, "/search", tag).body.decode() for tag in ("en", "de", "ja")}
    assert "3 widgets" in shown["en"]
    assert "3 Widgets" in shown["de"]
    assert "<dt>Installs</dt> <dd>1.234</dd>" in shown["de"]
    assert "3 個のウィジェット" in shown["ja"]
    one = {tag: in_language(shop, "/search?q=alarm", tag).body.decode() for tag in shown}
    assert "1 widget for" in one["en"]
    assert "1 Widget für" in one["de"]
    assert ">alarm</bdi></strong> の検索結果：1 個のウィジェット" in one["ja"]


def test_an_error_is_in_the_language_of_its_reader(shop: InProcessSite) -> None:
    wrong = shop.post("/search", accept_language="de")
    assert wrong.status == 405
    assert "An dieser Adresse sind nur GET und HEAD erlaubt." in wrong.body.decode()


def test_what_a_page_says_in_python_is_marked_too(shop: InProcessSite) -> None:
    """The pseudo-language reverses every word that can be translated."""
    for path in EVERY_PAGE:
        page = _Words()
        page.feed(in_language(shop, path, "ar-XB").body.decode())
        assert page.unmarked == [], path


def test_a_language_from_right_to_left_says_so(shop: InProcessSite) -> None:
    assert b'<html lang="ar-XB" dir="rtl">' in in_language(shop, "/", "ar-XB").body


class _Words(HTMLParser):
    """Capitalized words, and sentences, outside of what authors wrote and of code."""

    def __init__(self) -> None:
        super().__init__()
        self.unmarked: list[str] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name in ("aria-label", "title", "placeholder", "alt"):
            self._check(given.get(name) or "")
        if tag in ("bdi", "code", "script", "button", "pre") or given.get("class") in _DATA:
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside[-1:] == [tag]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._check(data)

    def _check(self, text: str) -> None:
        plain = re.sub("\u202e[^\u202c]*\u202c", "", text)
        for name in _NAMES:
            plain = plain.replace(name, "")
        if re.search(r"[A-Z][a-z]|[a-z]{2,} [a-z]{2,}", plain):
            self.unmarked.append(text)


_DATA = {"brand", "key", "prose"}
_NAMES = ("Widget Catalog", "OpenAPI", "Clock")


def test_the_switch_is_remembered_and_shows_the_same_page_again(shop: InProcessSite) -> None:
    page = Html(in_language(shop, "/search?q=clock", "de").body)
    form = page.one("form", class_="languages")
    assert form.attributes["action"] == "/language"
    assert [it.attributes["value"] for it in page.all("button", name="lang")][:3] == [
        "en",
        "de",
        "ja",
    ]
    came_from = "https://catalog.example/search?q=clock&lang=de"
    reply = shop.get("/language?lang=ja", referer=came_from)
    assert (reply.status, reply.headers["location"]) == (303, "/search?q=clock")
    cookie = reply.headers["set-cookie"]
    assert cookie == "language=ja; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax; Secure"
    remembered = shop.get("/", cookie=cookie.partition(";")[0], accept_language="de")
    assert b'<html lang="ja">' in remembered.body


def test_an_unknown_language_is_not_remembered(shop: InProcessSite) -> None:
    reply = shop.get("/language?lang=xx")
    assert (reply.status, reply.headers["location"]) == (303, "/")
    assert "set-cookie" not in reply.headers


def test_search_engines_find_every_language_of_a_page(shop: InProcessSite) -> None:
    page = Html(shop.get(f"{WIDGET}?lang=ja").body)
    links = {
        link.attributes["hreflang"]: link.attributes["href"]
        for link in page.all("link", rel="alternate")
        if "hreflang" in link.attributes
    }
    address = f"https://catalog.example{WIDGET}"
    assert links["de"] == f"{address}?lang=de"
    assert links["x-default"] == address
    assert "hreflang" not in shop.get("/search?q=clock").body.decode()


def test_clients_cannot_force_more_forms_of_a_page_than_languages(shop: InProcessSite) -> None:
    tags = [f"{it}-{it.upper()};q=0.{it_q}" for it in ("fr", "de", "xx") for it_q in range(1, 9)]
    etags = {in_language(shop, f"/?lang={it}", it).headers["etag"] for it in tags}
    assert len(etags) == 2


def test_guides_and_the_api_are_in_english(shop: InProcessSite) -> None:
    for path in ("/docs", "/api/v1/widgets/search", "/api/v1/widgets/acme/clock", "/feed.atom"):
        english, asked = shop.get(path), in_language(shop, path, "de")
        assert (asked.body, asked.headers) == (english.body, english.headers)
    assert b'<html lang="en">' in in_language(shop, "/docs", "de").body


def test_one_language_has_no_switch(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_demo_site(tmp_path_factory.mktemp("one") / "data", languages="de") as site:
        reply = site.get("/")
    assert reply.headers["vary"] == "accept-encoding"
    assert b'<html lang="de">' in reply.body
    assert b"languages" not in reply.body
    assert b"hreflang" not in reply.body


def test_a_widget_has_its_texts_in_the_language_of_the_reader(shop: InProcessSite) -> None:
    shown = {}
    for tag in ("en", "de", "ja"):
        for path in ("/search?q=shadow", "/widgets/acme/sundial", "/widgets/acme/sundial/1.0.0"):
            page = in_language(shop, path, tag).body.decode()
            texts = ("sundial<", "Sonnenuhr<", "shadow<", "日時計。<")
            shown[tag, path[:8]] = [it for it in texts if it in page]
    assert shown["en", "/search?"] == ["sundial<", "shadow<"]
    assert shown["de", "/search?"] == ["sundial<", "Sonnenuhr<", "shadow<"]  # And its key.
    assert shown["ja", "/search?"] == ["sundial<", "shadow<", "日時計。<"]  # And the question.
    assert shown["en", "/widgets"] == ["sundial<", "shadow<"]
    assert shown["de", "/widgets"] == ["sundial<", "Sonnenuhr<", "shadow<"]
    assert shown["ja", "/widgets"] == ["sundial<", "日時計。<"]


def test_a_widget_is_found_by_its_texts_in_other_languages(shop: InProcessSite) -> None:
    found = Html(shop.get("/search?q=sonnenuhr").body)
    assert [it.text for it in found.all("span", class_="key")] == ["acme/sundial"]

"""Internal errors as seen by people: a page with the same message as for programs."""

import pytest

from support.html import Html
from support.site import InProcessSite, Reply
from support.widgets import widget_line
from widget_catalog.catalog.reading.catalog import CatalogReader
from widget_catalog.core.http.rendering import PageRenderer

PAGES = ("/", "/search?q=clock", "/scopes/acme", "/widgets/acme/clock", "/preview/acme/clock/1.0.0")
STATS = "/api/stats"


def told(response: Reply) -> tuple[str, str]:
    page = Html(response.body)
    assert not page.open_at_end
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    return page.one("h1").text, page.one("p", class_="lead").text


@pytest.fixture
def failing(site: InProcessSite, monkeypatch: pytest.MonkeyPatch) -> InProcessSite:
    site.add(widget_line("acme/clock"))
    monkeypatch.setattr(CatalogReader, "_follow", lambda _catalog: 1 / 0)
    return site


def test_a_error_of_our_own_is_shown_on_a_page(failing: InProcessSite) -> None:
    for path in PAGES:
        response = failing.get(path)
        assert response.status == 500
        assert told(response) == ("Internal error", failing.get(STATS).json()["error"])
        assert "" in Html(response.body).links, "that is: try the same again"


def test_what_was_sent_is_not_offered_once_more(failing: InProcessSite) -> None:
    response = failing.post("/widgets/acme/clock")
    assert response.status == 500
    assert "" not in Html(response.body).links


def test_a_catalog_that_cannot_be_read_is_shown_on_a_page(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))
    site._worker.handle.__self__.api._catalog.reader.close()  # As on a disk that is gone.
    for path in PAGES:
        response = site.get(path)
        assert (response.status, response.headers["retry-after"]) == (503, "5")
        assert told(response) == ("Temporarily unavailable", site.get(STATS).json()["error"])


def test_where_no_page_can_be_made_the_error_is_reported_all_the_same(
    failing: InProcessSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PageRenderer, "render", lambda *_args, **_values: 1 / 0)
    response = failing.get("/")
    assert response.status == 500
    assert response.json() == failing.get(STATS).json()

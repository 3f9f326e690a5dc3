"""Internal errors as seen by people: a page with the same message as for programs."""

import pytest

from support.html import Html
from support.site import Answer, InProcessSite
from support.widgets import widget_line
from widget_catalog.catalog.catalog import Catalog
from widget_catalog.core.http.rendering import PageRenderer

PAGES = ("/", "/search?q=clock", "/scopes/acme", "/widgets/acme/clock", "/preview/acme/clock/1.0.0")
STATS = "/api/stats"


def told(answer: Answer) -> tuple[str, str]:
    page = Html(answer.body)
    assert not page.open_at_end
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    return page.one("h1").text, page.one("p", class_="lead").text


@pytest.fixture
def failing(site: InProcessSite, monkeypatch: pytest.MonkeyPatch) -> InProcessSite:
    site.add(widget_line("acme/clock"))
    monkeypatch.setattr(Catalog, "_follow", lambda _catalog: 1 / 0)
    return site


def test_a_fault_of_our_own_is_shown_on_a_page(failing: InProcessSite) -> None:
    for path in PAGES:
        answer = failing.get(path)
        assert answer.status == 500
        assert told(answer) == ("Internal error", failing.get(STATS).json()["error"])
        assert "" in Html(answer.body).links, "that is: try the same again"


def test_what_was_sent_is_not_offered_once_more(failing: InProcessSite) -> None:
    answer = failing.post("/widgets/acme/clock")
    assert answer.status == 500
    assert "" not in Html(answer.body).links


def test_a_catalog_that_cannot_be_read_is_shown_on_a_page(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))
    site._worker.close()
    for path in PAGES:
        answer = site.get(path)
        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert told(answer) == ("Temporarily unavailable", site.get(STATS).json()["error"])


def test_where_no_page_can_be_made_the_fault_is_reported_all_the_same(
    failing: InProcessSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PageRenderer, "render", lambda *_args, **_values: 1 / 0)
    answer = failing.get("/")
    assert answer.status == 500
    assert answer.json() == failing.get(STATS).json()

"""POST /api/v1/widgets/{scope}/{name}: the download counter."""

import pytest

from catalog.api.expected import SEARCH
from support.site import InProcessSite
from support.widgets import widget_line
from widget_catalog.catalog.store.downloads import get_counts

CLOCK = "/api/v1/widgets/acme/clock"


@pytest.fixture
def site(site_on_each_database: InProcessSite) -> InProcessSite:
    return site_on_each_database


def _counts(site: InProcessSite) -> tuple[int, int, int]:
    """The counts in detail, search and statistics."""
    [found] = site.get(SEARCH).json()["widgets"]
    detail = site.get(CLOCK).json()["widget"]["downloadCount"]
    return detail, found["downloadCount"], site.get("/api/stats").json()["downloads"]


def test_a_count_responses_success_and_is_shown_everywhere_at_once(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", downloadCount=41))
    assert _counts(site) == (41, 41, 41)

    response = site.post(CLOCK)

    assert response.status == 200
    assert response.json() == {"success": True}
    assert response.headers == {
        "content-type": "application/json; charset=utf-8",
        "access-control-allow-origin": "*",
        "x-content-type-options": "nosniff",
    }
    assert _counts(site) == (42, 42, 42)


def test_every_count_counts_without_limit_or_deduplication(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))

    for number in range(1, 26):
        assert site.post(CLOCK).json() == {"success": True}
        assert _counts(site) == (number, number, number)


def test_counts_survive_a_restart(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", downloadCount=5), widget_line("acme/other"))
    site.post(CLOCK)

    with site.beside() as restarted:
        assert restarted.get(CLOCK).json()["widget"]["downloadCount"] == 6
        restarted.post(CLOCK)
        assert site.get(CLOCK).json()["widget"]["downloadCount"] == 7


def test_an_unlisted_widget_counts_but_shows_nowhere(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"), widget_line("acme/hidden", listed=False))

    response = site.post("/api/v1/widgets/acme/hidden")

    assert (response.status, response.json()) == (200, {"success": True})
    assert site.get("/api/v1/widgets/acme/hidden").status == 404
    assert site.get("/api/stats").json()["downloads"] == 0
    with site.node.store.reading() as connection:
        assert sum(get_counts(connection, [1, 2]).values()) == 1


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_an_unknown_widget_is_404_and_nothing_is_counted(site: InProcessSite, method: str) -> None:
    site.add(widget_line("acme/clock"))

    for key in ("acme/nothing", "nobody/clock"):
        response = site.request(method, f"/api/v1/widgets/{key}")
        assert response.status == 404
        assert response.json() == {"error": f"There is no widget '{key}'."}

    assert _counts(site) == (0, 0, 0)


def test_content_type_query_and_conditions_are_ignored(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))

    for content_type in ("application/json", "text/plain", "multipart/form-data", "nonsense"):
        response = site.post(
            f"{CLOCK}?by=10&x=%FF",
            content_type=content_type,
            content_length="7",
            if_none_match="*",
            accept_encoding="gzip",
        )
        assert (response.status, response.body) == (200, b'{"success":true}')

    assert _counts(site) == (4, 4, 4)


def test_reading_does_not_count(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))

    for method in ("GET", "HEAD", "OPTIONS", "PUT"):
        site.request(method, CLOCK)

    assert _counts(site) == (0, 0, 0)


def test_a_count_that_cannot_be_kept_is_not_acknowledged(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))
    with site.node.store.writing() as tx:
        tx.run("DROP TABLE downloads")

    response = site.post(CLOCK)

    assert response.status == 503
    assert list(response.json()) == ["error"]
    assert response.headers["retry-after"] == "5"
    assert response.headers["access-control-allow-origin"] == "*"
    assert site.get(CLOCK).json()["widget"]["downloadCount"] == 0

"""GET /api/widgets/{scope}/registry.json."""

from email.utils import parsedate_to_datetime

import pytest

from catalog.api.expected import entry
from support.site import InProcessSite
from support.widgets import version_line, widget_line
from widget_catalog.catalog.store.feed import list_changes
from widget_catalog.core.clock import from_ms, iso

ACME = "/api/widgets/acme/registry.json"

NEW = version_line("1.1.0", publishedAt="2026-02-01T00:00:00.000Z")
PULLED = version_line(
    "1.2.0", publishedAt="2026-03-01T00:00:00.000Z", yanked=True, yankedReason="Broken."
)
CLOCK = widget_line("acme/clock", versions=[PULLED, NEW, version_line("1.0.0")], downloadCount=9)
BARE = widget_line("acme/bare", description=None, icon=None, isOfficial=None, versions=[])


@pytest.fixture
def site(site_on_each_database: InProcessSite) -> InProcessSite:
    return site_on_each_database


def _last_change(site: InProcessSite, scope: str) -> str:
    with site.node.store.reading() as connection:
        changes = list_changes(connection, after=0)
    return iso(from_ms(max(it.changed_at for it in changes if it.scope == scope)))


def test_the_registry_shows_the_scopes_listed_widgets_with_all_versions(
    site: InProcessSite,
) -> None:
    site.add(CLOCK, BARE, widget_line("acme/hidden", listed=False), widget_line("other/thing"))

    response = site.get(ACME)

    assert response.status == 200
    assert response.json() == {
        "version": 1,
        "scope": "acme",
        "generatedAt": _last_change(site, "acme"),
        "baseUrl": "https://catalog.example/cdn/",
        "widgets": [
            {
                "scope": "acme",
                "name": "bare",
                "displayName": "Bare",
                "description": None,
                "icon": None,
                "isOfficial": None,
                "latestVersion": None,
                "versions": [],
            },
            {
                "scope": "acme",
                "name": "clock",
                "displayName": "Clock",
                "description": "A clock.",
                "icon": "mdi:clock",
                "isOfficial": False,
                "latestVersion": "1.1.0",
                "versions": [entry(CLOCK, it) for it in CLOCK["versions"]],
            },
        ],
    }
    changed_at = response.json()["generatedAt"]
    modified = parsedate_to_datetime(response.headers.pop("last-modified"))
    assert modified.isoformat()[:19] == changed_at[:19]
    assert response.headers.pop("etag").startswith('"')
    assert response.headers == {
        "content-type": "application/json; charset=utf-8",
        "vary": "accept-encoding",
        "x-content-type-options": "nosniff",
    }


def test_widgets_are_ordered_by_name_bytewise(site: InProcessSite) -> None:
    names = ["b", "a", "a-b", "a0", "ab", "0", "z9", "z10"]
    site.add(*(widget_line(f"acme/{it}", downloadCount=len(it)) for it in names))

    assert [it["name"] for it in site.get(ACME).json()["widgets"]] == sorted(names)


def test_a_scope_with_nothing_listed_is_empty_and_an_unknown_one_is_404(
    site: InProcessSite,
) -> None:
    site.add(widget_line("quiet/hidden", listed=False))

    assert site.get("/api/widgets/quiet/registry.json").json() == {
        "version": 1,
        "scope": "quiet",
        "generatedAt": _last_change(site, "quiet"),
        "baseUrl": "https://catalog.example/cdn/",
        "widgets": [],
    }
    missing = site.get("/api/widgets/nobody/registry.json")
    assert (missing.status, missing.json()) == (404, {"error": "There is no scope 'nobody'."})


@pytest.mark.parametrize("scope", ["Quiet", "@quiet", "quiet ", "-", "ö", "a" * 65, "%41", "*"])
def test_what_cannot_be_a_scope_is_404(site: InProcessSite, scope: str) -> None:
    response = site.get(f"/api/widgets/{scope}/registry.json")

    assert response.status == 404
    assert response.json() == {"error": f"There is no scope {scope!r}."}


def test_body_and_etag_stay_the_same_until_the_scopes_catalog_changes(
    site: InProcessSite,
) -> None:
    site.add(CLOCK, widget_line("other/thing"))
    first = site.get(ACME)
    site.post("/api/v1/widgets/acme/clock")
    site.add(widget_line("other/thing2"))
    site.add(CLOCK)

    second = site.get(ACME)

    assert second.body == first.body
    assert second.headers == first.headers
    known = site.get(ACME, if_none_match=first.headers["etag"])
    assert (known.status, known.body) == (304, b"")


def test_a_restart_changes_nothing(site: InProcessSite) -> None:
    site.add(CLOCK)
    first = site.get(ACME)

    with site.beside() as restarted:
        second = restarted.get(ACME)

    assert (second.body, second.headers) == (first.body, first.headers)


def test_a_change_shows_at_once_with_a_new_time_and_etag(site: InProcessSite) -> None:
    site.add(CLOCK)
    first = site.get(ACME)
    site.add(widget_line("acme/alarm"))

    second = site.get(ACME, if_none_match=first.headers["etag"])

    assert second.status == 200
    assert [it["name"] for it in second.json()["widgets"]] == ["alarm", "clock"]
    assert second.json()["generatedAt"] == _last_change(site, "acme")
    assert second.headers["etag"] != first.headers["etag"]


def test_an_empty_scope_fills_at_once(site: InProcessSite) -> None:
    assert site.get(ACME).status == 404

    site.add(CLOCK)

    assert [it["name"] for it in site.get(ACME).json()["widgets"]] == ["clock"]


def test_a_scope_called_search_or_like_a_route_has_a_registry_too(site: InProcessSite) -> None:
    for scope in ("search", "widgets", "cli-version", "v1", "registry"):
        site.add(widget_line(f"{scope}/one"))
        body = site.get(f"/api/widgets/{scope}/registry.json").json()
        assert [it["name"] for it in body["widgets"]] == ["one"]


def test_the_date_of_the_last_change_is_no_condition(site: InProcessSite) -> None:
    """Two changes within a second have the same date."""
    site.add(widget_line("acme/clock"))
    first = site.get("/api/widgets/acme/registry.json")
    site.add(widget_line("acme/bell"))

    modified = first.headers["last-modified"]
    response = site.get("/api/widgets/acme/registry.json", if_modified_since=modified)

    assert response.status == 200
    assert [it["name"] for it in response.json()["widgets"]] == ["bell", "clock"]

"""GET /api/v1/widgets/{scope}/{name}."""

import pytest

from catalog.api.expected import entry
from support.site import InProcessSite
from support.widgets import version_line, widget_line


@pytest.fixture
def site(site_on_each_database: InProcessSite) -> InProcessSite:
    return site_on_each_database


def test_detail_shows_the_widget_and_all_its_versions(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", downloadCount=7))

    response = site.get("/api/v1/widgets/acme/clock")

    assert response.status == 200
    assert response.headers["content-type"].startswith("application/json")
    assert response.json() == {
        "widget": {
            "scope": "acme",
            "name": "clock",
            "displayName": "Clock",
            "description": "A clock.",
            "icon": "mdi:clock",
            "isOfficial": False,
            "downloadCount": 7,
            "createdAt": "2026-01-01T00:00:00.000Z",
        },
        "versions": [
            {
                "scope": "acme",
                "name": "clock",
                "version": "1.0.0",
                "bundleUrl": "https://cdn.example/1.0.0.js",
                "bundleSize": 1000,
                "sha256Hash": version_line("1.0.0")["sha256Hash"],
                "publishedAt": "2026-01-31T09:05:00.000Z",
                "yanked": False,
                "yankedReason": None,
                "deprecationMessage": None,
                "releaseNotes": None,
                "displayName": "Clock",
                "description": "A clock.",
                "icon": "mdi:clock",
                "minSize": {"w": 1, "h": 1},
                "maxSize": {"w": 4, "h": 4},
                "sdkVersion": "^1.0.0",
                "configVersion": None,
                "permissions": [],
                "license": None,
            }
        ],
        "latestVersion": "1.0.0",
    }


def test_newest_is_by_time_of_publishing_and_never_a_yanked_one(site: InProcessSite) -> None:
    site.add(
        widget_line(
            versions=[
                version_line("2.0.0", publishedAt="2026-02-01T00:00:00Z"),
                version_line("1.9.4", publishedAt="2026-03-01T00:00:00Z"),
                version_line("2.1.0", publishedAt="2026-04-01T00:00:00Z", yanked=True),
            ]
        )
    )

    body = site.get("/api/v1/widgets/acme/clock").json()

    assert [it["version"] for it in body["versions"]] == ["2.1.0", "1.9.4", "2.0.0"]
    assert body["latestVersion"] == "1.9.4"


def test_unlisted_widget_is_404_on_detail_but_still_counts(site: InProcessSite) -> None:
    site.add(widget_line("acme/hidden", listed=False))

    assert site.get("/api/v1/widgets/acme/hidden").status == 404
    assert site.post("/api/v1/widgets/acme/hidden").json() == {"success": True}


def test_a_version_that_another_process_adds_is_shown_at_once(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))
    first = site.get("/api/v1/widgets/acme/clock")
    site.add(
        widget_line(
            "acme/clock", versions=[version_line("1.1.0", publishedAt="2026-05-01T00:00:00Z")]
        )
    )

    second = site.get("/api/v1/widgets/acme/clock", if_none_match=first.headers["etag"])

    assert second.status == 200
    assert second.json()["latestVersion"] == "1.1.0"


def test_the_whole_response_of_a_widget_with_nothing_but_what_it_must_have(
    site: InProcessSite,
) -> None:
    site.add(
        widget_line("0/a", description=None, icon=None, isOfficial=None, versions=[]),
    )

    response = site.get("/api/v1/widgets/0/a")

    assert response.json() == {
        "widget": {
            "scope": "0",
            "name": "a",
            "displayName": "A",
            "description": None,
            "icon": None,
            "isOfficial": False,
            "downloadCount": 0,
            "createdAt": "2026-01-01T00:00:00.000Z",
        },
        "versions": [],
        "latestVersion": None,
    }
    assert response.headers.pop("etag")
    assert response.headers == {
        "content-type": "application/json; charset=utf-8",
        "access-control-allow-origin": "*",
        "vary": "accept-encoding",
        "x-content-type-options": "nosniff",
    }


def test_a_version_shows_all_its_fields_and_its_own_text_first(site: InProcessSite) -> None:
    own = version_line(
        "2.0.0-rc.1+build.5",
        publishedAt="2026-02-01T00:00:00.000Z",
        yanked=True,
        yankedReason="Broken \U0001f552.",
        deprecationMessage="Use 3.x.",
        releaseNotes='- one\n- "two"',
        displayName="Own name",
        description="",
        icon="mdi:own",
        minSize={"w": 2, "h": 3},
        maxSize={"w": 12, "h": 9},
        sdkVersion="not a range",
        configVersion=3,
        permissions=["net", "storage"],
        license="MIT",
    )
    widget = widget_line("acme/clock", isOfficial=True, versions=[own, version_line("1.0.0")])
    site.add(widget)

    body = site.get("/api/v1/widgets/acme/clock").json()

    assert body["versions"] == [entry(widget, it) for it in widget["versions"]]
    assert body["widget"]["isOfficial"] is True
    assert body["latestVersion"] == "1.0.0"


def test_a_version_without_a_text_shows_the_widgets_own_as_it_is_now(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", displayName="Old", description="old", icon="mdi:old"))
    newer = version_line("2.0.0", publishedAt="2026-05-01T00:00:00Z", displayName="Just this")
    site.add(
        widget_line(
            "acme/clock", displayName="New", description=None, icon="mdi:new", versions=[newer]
        )
    )

    body = site.get("/api/v1/widgets/acme/clock").json()

    shown = [(it["displayName"], it["description"], it["icon"]) for it in body["versions"]]
    assert shown == [("Just this", None, "mdi:new"), ("New", None, "mdi:new")]
    assert body["widget"]["displayName"] == "New"


@pytest.mark.parametrize(
    ("yanked", "latest"),
    [
        ([], "1.2.0"),
        (["1.2.0"], "1.1.0"),
        (["1.1.0"], "1.2.0"),
        (["1.0.0", "1.1.0", "1.2.0"], None),
    ],
)
def test_latest_version_is_null_where_all_are_yanked(
    site: InProcessSite, yanked: list[str], latest: str | None
) -> None:
    numbers = ["1.2.0", "1.1.0", "1.0.0"]
    versions = [version_line(it, yanked=it in yanked) for it in numbers]
    site.add(widget_line("acme/clock", versions=versions))

    body = site.get("/api/v1/widgets/acme/clock").json()

    assert body["latestVersion"] == latest
    assert [(it["version"], it["yanked"]) for it in body["versions"]] == [
        (it, it in yanked) for it in numbers
    ]


def test_a_widget_of_a_scope_called_like_a_route_is_found(site: InProcessSite) -> None:
    for key in ("search/search", "widgets/registry", "api/v1", "cdn/health"):
        site.add(widget_line(key))

        assert site.get(f"/api/v1/widgets/{key}").json()["latestVersion"] == "1.0.0"


def test_instants_are_shown_in_utc_with_milliseconds(site: InProcessSite) -> None:
    version = version_line(publishedAt="2026-01-31T23:30:00.1234567-02:00")
    site.add(widget_line("acme/clock", createdAt="2026-01-01T00:00:00+05:30", versions=[version]))

    body = site.get("/api/v1/widgets/acme/clock").json()

    assert body["widget"]["createdAt"] == "2025-12-31T18:30:00.000Z"
    assert body["versions"][0]["publishedAt"] == "2026-02-01T01:30:00.123Z"


def test_the_query_of_a_detail_is_ignored(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock"))

    plain = site.get("/api/v1/widgets/acme/clock")
    queried = site.get("/api/v1/widgets/acme/clock?page=0&compatSdk=x&q=%FF")

    assert (queried.status, queried.body, queried.headers) == (200, plain.body, plain.headers)

"""GET /api/v1/widgets/{scope}/{name}."""

from support.site import InProcessSite
from support.widgets import version_line, widget_line


def test_detail_shows_the_widget_and_all_its_versions(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", downloadCount=7))

    answer = site.get("/api/v1/widgets/acme/clock")

    assert answer.status == 200
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.json() == {
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

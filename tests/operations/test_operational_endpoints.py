"""The operational endpoints."""

import re
import shutil
from pathlib import Path

import pytest

from support.site import InProcessSite
from support.widgets import version_line, widget_line
from widget_catalog.core import release

CLOSED = {
    "content-type": "application/json; charset=utf-8",
    "vary": "accept-encoding",
    "x-content-type-options": "nosniff",
}


def test_health_is_ok(site: InProcessSite) -> None:
    response = site.get("/api/health")

    assert response.status == 200
    assert response.json() == {"status": "ok", "checks": {"database": "ok", "bundles": "ok"}}


def test_health_names_the_check_that_fails_and_is_ok_again_when_mended(
    site: InProcessSite,
) -> None:
    bundles = site.node.folder.bundles
    shutil.rmtree(bundles)

    response = site.get("/api/health", if_none_match="*")

    assert response.status == 503
    assert response.json() == {
        "status": "unavailable",
        "checks": {"database": "ok", "bundles": "failing"},
        "error": "The folder of the bundles cannot be read.",
    }
    assert response.headers.pop("etag")
    assert response.headers == CLOSED
    bundles.mkdir()
    assert site.get("/api/health").status == 200


def test_health_tells_of_a_database_that_cannot_be_read(site: InProcessSite) -> None:
    site.node.folder.database.unlink()

    response = site.get("/api/health")

    assert response.status == 503
    assert response.json() == {
        "status": "unavailable",
        "checks": {"database": "damaged", "bundles": "ok"},
        "error": "The catalog's database file is gone or was replaced while it was in use, so "
        "nothing can be changed. Stop the service, restore the database, run doctor, and start "
        "the service again.",
    }


def test_version_tells_the_release(site: InProcessSite) -> None:
    body = site.get("/api/version").json()

    assert body == {
        "version": release.VERSION,
        "releasedAt": release.RELEASED_AT,
        "apiVersions": ["v1"],
    }
    assert re.fullmatch(r"\d+\.\d+\.\d+", body["version"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["releasedAt"])


def test_cli_version_tells_what_the_tool_must_be(site: InProcessSite) -> None:
    assert site.get("/api/widgets/cli-version").json() == {
        "minSupported": "0.0.0",
        "latest": release.CLI_LATEST,
    }


def test_the_oldest_tool_that_may_publish_is_a_setting(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data", min_cli_version="0.9.0-rc.1") as site:
        assert site.get("/api/widgets/cli-version").json() == {
            "minSupported": "0.9.0-rc.1",
            "latest": release.CLI_LATEST,
        }


def test_stats_count_listed_widgets_only(site: InProcessSite) -> None:
    site.add(
        widget_line("a/one", downloadCount=5, versions=[version_line(), version_line("2.0.0")]),
        widget_line("a/two", downloadCount=7, versions=[]),
        widget_line("b/three", downloadCount=2**53 - 1),
        widget_line("b/hidden", downloadCount=100, listed=False),
        widget_line("c/hidden", downloadCount=100, listed=False),
    )
    site.post("/api/v1/widgets/a/two")

    body = site.get("/api/stats").json()

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body.pop("generatedAt"))
    assert body == {"widgets": 3, "versions": 3, "scopes": 2, "downloads": 5 + 8 + 2**53 - 1}


def test_stats_follow_every_change_at_once(site: InProcessSite) -> None:
    empty = site.get("/api/stats").json()
    site.add(widget_line("a/one"))
    one = site.get("/api/stats").json()
    site.add(widget_line("a/one", versions=[version_line("2.0.0")]), widget_line("b/two"))
    site.post("/api/v1/widgets/b/two")
    two = site.get("/api/stats").json()

    for body in (empty, one, two):
        del body["generatedAt"]
    assert empty == {"widgets": 0, "versions": 0, "scopes": 0, "downloads": 0}
    assert one == {"widgets": 1, "versions": 1, "scopes": 1, "downloads": 0}
    assert two == {"widgets": 2, "versions": 3, "scopes": 2, "downloads": 1}


def test_settings_tell_what_is_needed_before_sign_in_and_no_more(site: InProcessSite) -> None:
    assert site.get("/api/settings").json() == {
        "serviceName": "Widget Catalog",
        "baseUrl": "https://catalog.example",
        "cdnBaseUrl": "https://catalog.example/cdn",
        "signIn": ["password"],
        "cliClientId": "widget-cli",
        "registrationOpen": False,
        "maxBundleBytes": 2_097_152,
        "acceptsFiles": True,
        "apiVersions": ["v1"],
    }


@pytest.mark.parametrize(
    "path",
    ["/api/health", "/api/version", "/api/widgets/cli-version", "/api/stats", "/api/settings"],
)
def test_operational_responses_have_an_etag_and_no_cors_header(
    site: InProcessSite, path: str
) -> None:
    response = site.get(f"{path}?unknown=%FF")

    assert response.status == 200
    etag = response.headers.pop("etag")
    assert response.headers == CLOSED
    again = site.get(path, if_none_match=etag)
    assert (again.status, again.body) == (304, b"")

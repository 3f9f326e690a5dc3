"""Publishing: request, upload, confirm, and the resulting widget."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from publishing.publish_requests import (
    CSS,
    NO_REQUEST,
    PUBLISH,
    files,
    local,
    rows,
    sha,
    styled,
    told,
)
from support.people import BUNDLE, manifest, request_body, with_token
from support.site import Reply
from support.site_with_people import People
from widget_catalog.core.clock import iso


def test_three_steps_publish_a_version_at_once(people: People) -> None:
    ann, site = people.ann, people.site
    more: dict[str, Any] = {
        "permissions": ["network", "storage:read"],
        "license": "MIT",
        "releaseNotes": "# First\n\n- all of it",
        "configVersion": 3,
        "x-unknown": {"kept": [1, 2.5, None, "é"]},
    }
    response = ann.request("ann/new", "1.0.0-rc.1+build.5", **more)

    requested = response.json()
    place = "https://catalog.example/cdn/@ann/new/1.0.0-rc.1+build.5"
    assert (response.status, requested) == (
        200,
        {
            "uploadUrl": requested["uploadUrl"],
            "cdnUrl": f"{place}/index.js",
            "widgetId": "ann/new",
            "versionId": requested["versionId"],
        },
    )
    assert site.get("/api/v1/widgets/ann/new").status == 404
    assert site.get(local(requested["cdnUrl"])).status == 404
    assert told(ann.upload(requested["uploadUrl"], BUNDLE)) == (200, {"success": True})
    assert site.get("/api/v1/widgets/ann/new").status == 404
    assert told(ann.confirm(requested["versionId"])) == (
        200,
        {"success": True, "bundleUrl": f"{place}/index.js"},
    )

    now = iso(people.clock.at)
    version = {
        "scope": "ann",
        "name": "new",
        "version": "1.0.0-rc.1+build.5",
        "bundleUrl": f"{place}/index.js",
        "bundleSize": len(BUNDLE),
        "sha256Hash": sha(BUNDLE),
        "publishedAt": now,
        "yanked": False,
        "yankedReason": None,
        "deprecationMessage": None,
        "releaseNotes": "# First\n\n- all of it",
        "displayName": "Clock",
        "description": "The time.",
        "icon": "mdi:clock-outline",
        "minSize": {"w": 1, "h": 1},
        "maxSize": {"w": 4, "h": 2},
        "sdkVersion": "^1.0.0",
        "configVersion": 3,
        "permissions": ["network", "storage:read"],
        "license": "MIT",
    }
    shown = site.get("/api/v1/widgets/ann/new").json()
    assert shown["versions"] == [version]
    assert shown["latestVersion"] == "1.0.0-rc.1+build.5"
    assert (shown["widget"]["displayName"], shown["widget"]["isOfficial"]) == ("Clock", False)
    bundle = site.get(local(requested["cdnUrl"]))
    assert (bundle.status, bundle.body) == (200, BUNDLE)
    assert bundle.headers["content-type"] == "text/javascript; charset=utf-8"
    found = site.get("/api/v1/widgets/search?scope=ann").json()
    assert sorted(it["name"] for it in found["widgets"]) == ["clock", "new"]
    registry = site.get("/api/widgets/ann/registry.json").json()
    assert {it["isOfficial"] for it in found["widgets"] + registry["widgets"]} == {False}
    assert files(people)["uploads"] == []
    (entry,) = ann.get("/api/widgets/ann/new/audit").json()["entries"]
    assert entry["details"] == {"sha256Hash": sha(BUNDLE), "bundleSize": len(BUNDLE)}
    with site.node.store.reading() as connection:
        query = "SELECT manifest FROM versions WHERE version = '1.0.0-rc.1+build.5'"
        kept = connection.exec_driver_sql(query).scalar_one()
    assert kept == json.dumps(manifest("new", "1.0.0-rc.1+build.5", **more))


def test_a_style_sheet_is_published_beside_the_bundle(people: People) -> None:
    ann = people.ann
    requested = ann.post(PUBLISH, styled()).json()
    place = "https://catalog.example/cdn/@ann/styled/1.0.0"
    assert (requested["cdnUrl"], requested["cssUrl"]) == (f"{place}/index.js", f"{place}/index.css")
    ann.upload(requested["uploadUrl"], BUNDLE)
    half = ann.confirm(requested["versionId"])
    assert told(half) == (400, {"error": "The style sheet was not uploaded yet."})
    ann.upload(requested["cssUploadUrl"], CSS)

    assert told(ann.confirm(requested["versionId"])) == (
        200,
        {"success": True, "bundleUrl": f"{place}/index.js", "cssUrl": f"{place}/index.css"},
    )
    css = people.site.get(local(requested["cssUrl"]))
    assert (css.body, css.headers["content-type"]) == (CSS, "text/css; charset=utf-8")
    (entry,) = ann.get("/api/widgets/ann/styled/audit").json()["entries"]
    assert (entry["action"], entry["details"]) == (
        "publish",
        {
            "sha256Hash": sha(BUNDLE),
            "bundleSize": len(BUNDLE),
            "cssSha256Hash": sha(CSS),
            "cssSize": len(CSS),
        },
    )
    assert files(people)["uploads"] == []


def test_a_check_passes_every_gate_and_keeps_nothing(people: People) -> None:
    before = files(people)
    place = "https://catalog.example/cdn/@ann/styled/1.0.0"

    assert told(people.ann.post(PUBLISH, styled(action="check"))) == (
        200,
        {"success": True, "cdnUrl": f"{place}/index.js", "cssUrl": f"{place}/index.css"},
    )
    assert told(people.ann.request("ann/plain", action="check")) == (
        200,
        {"success": True, "cdnUrl": "https://catalog.example/cdn/@ann/plain/1.0.0/index.js"},
    )
    for key, version, status in [("eve/clock", "2.0.0", 403), ("ann/clock", "1.0.0", 409)]:
        checked = people.ann.request(key, version, action="check")
        assert told(checked) == told(people.ann.request(key, version))
        assert checked.status == status
    bad = people.ann.request("ann/bad", "1", action="check")
    assert told(bad) == told(people.ann.request("ann/bad", "1"))
    assert files(people) == before
    assert rows(people) == []


def test_a_repeated_confirmation_gets_the_same_response(people: People) -> None:
    requested = people.ann.post(PUBLISH, styled()).json()
    people.ann.upload(requested["uploadUrl"], BUNDLE)
    people.ann.upload(requested["cssUploadUrl"], CSS)
    first = people.ann.confirm(requested["versionId"])
    people.clock.forward(minutes=59)

    assert told(people.ann.confirm(requested["versionId"])) == told(first)
    log = people.ann.get("/api/widgets/ann/styled/audit").json()
    assert log["total"] == 1


def test_a_foreign_or_unknown_request_is_404(people: People) -> None:
    requested = people.ann.request("acme/new").json()
    people.ann.upload(requested["uploadUrl"], BUNDLE)

    for other in (people.eve, people.abe, people.olly):
        assert told(other.confirm(requested["versionId"])) == (404, NO_REQUEST)
    for id_ in ("", "0" * 24, "../../etc/passwd", "\x00", "x" * 5_000):
        assert told(people.ann.confirm(id_)) == (404, NO_REQUEST)
    others: list[Any] = [None, 1, [], {"id": requested["versionId"]}]
    for wrong in others:
        body = {"action": "confirm", "versionId": wrong}
        assert told(people.ann.post(PUBLISH, body)) == (
            400,
            {"error": "versionId: must be the text that the request was answered with."},
        )
    # It belongs to the same person with other credentials.
    assert with_token(people.ann).confirm(requested["versionId"]).status == 200


@pytest.mark.parametrize(
    "lose",
    [
        lambda it: it.ann.put("/api/organizations/acme/members/abe", {"role": "member"}),
        lambda it: it.ann.delete("/api/organizations/acme/members/abe"),
    ],
    ids=["not an admin any more", "not a member any more"],
)
def test_rights_are_asked_for_again_at_the_confirmation(
    people: People, lose: Callable[[People], Reply]
) -> None:
    requested = people.abe.request("acme/new").json()
    people.abe.upload(requested["uploadUrl"], BUNDLE)
    assert lose(people).status == 200

    assert people.abe.confirm(requested["versionId"]).status == 403
    assert people.site.get("/api/v1/widgets/acme/new").status == 404


def test_a_token_cannot_confirm_what_it_could_not_request(people: People) -> None:
    requested = people.ann.request("ann/new").json()
    people.ann.upload(requested["uploadUrl"], BUNDLE)

    for limits in ({"actions": ["yank"]}, {"scopes": ["acme"]}, {"widgets": ["ann/clock"]}):
        machine = with_token(people.ann, **limits)
        assert machine.confirm(requested["versionId"]).status == 403
    assert people.ann.confirm(requested["versionId"]).status == 200


def test_the_same_bytes_can_be_published_by_many(people: People) -> None:
    assert people.eve.publish("eve/copy").status == 200
    assert people.eve.publish("eve/copy", "2.0.0").status == 200

    assert people.site.get("/cdn/@eve/copy/2.0.0/index.js").body == BUNDLE
    assert len(files(people)["bundles"]) == 1


def test_the_newest_version_sets_the_widgets_own_text(people: People) -> None:
    people.clock.forward(seconds=1)
    changed: dict[str, Any] = {
        "displayName": "Uhr",
        "description": "Die Zeit.",
        "icon": "mdi:clock",
    }
    people.ann.publish("ann/clock", "0.9.0", **changed)

    shown = people.site.get("/api/v1/widgets/ann/clock").json()

    assert {key: shown["widget"][key] for key in changed} == changed
    assert shown["latestVersion"] == "0.9.0"
    assert [it["displayName"] for it in shown["versions"]] == ["Uhr", "Clock"]
    found = people.site.get("/api/v1/widgets/search?q=uhr").json()["widgets"]
    assert [it["name"] for it in found] == ["clock"]
    people.clock.forward(seconds=1)
    body = request_body("ann/clock", "1.1.0")
    said = {k: v for k, v in manifest("clock", "1.1.0").items() if k not in ("description", "icon")}
    body = {k: v for k, v in body.items() if k not in ("description", "icon")}
    requested = people.ann.post(PUBLISH, body | {"manifestJson": json.dumps(said)}).json()
    people.ann.upload(requested["uploadUrl"], BUNDLE)
    people.ann.confirm(requested["versionId"])
    shown = people.site.get("/api/v1/widgets/ann/clock").json()["widget"]
    assert (shown["displayName"], shown["description"], shown["icon"]) == ("Clock", None, None)


def test_an_unlisted_widget_can_be_published_to_and_stays_unlisted(people: People) -> None:
    people.ann.post("/api/widgets/ann/clock/unlist")

    assert people.ann.publish("ann/clock", "2.0.0").status == 200

    assert people.site.get("/api/v1/widgets/ann/clock").status == 404
    assert people.site.get("/cdn/@ann/clock/2.0.0/index.js").status == 200
    shown = people.ann.get("/api/widgets/ann/clock").json()
    assert (shown["listed"], shown["latestVersion"]) == (False, "2.0.0")
    people.ann.post("/api/widgets/ann/clock/list")
    assert people.site.get("/api/v1/widgets/ann/clock").json()["latestVersion"] == "2.0.0"


def test_a_publisher_can_publish_the_first_version_of_what_they_are_named_for(
    people: People,
) -> None:
    assert people.mia.request("acme/next").status == 403
    named = people.ann.put("/api/widgets/acme/next/publishers", {"publishers": ["mia"]})
    assert told(named) == (200, {"publishers": ["mia"]})

    assert people.mia.publish("acme/next").status == 200


def test_people_in_other_scopes_hear_nothing_of_a_request(people: People) -> None:
    """Not even that the number is requested: the first to confirm gets it."""
    first, second = people.ann.request("acme/new").json(), people.abe.request("acme/new").json()
    people.ann.upload(first["uploadUrl"], BUNDLE)
    people.abe.upload(second["uploadUrl"], BUNDLE)

    assert people.abe.confirm(second["versionId"]).status == 200
    assert people.ann.confirm(first["versionId"]).status == 409

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
from support.site import Answer
from support.village import Village
from widget_catalog.core.clock import iso


def test_three_steps_publish_a_version_at_once(village: Village) -> None:
    ann, site = village.ann, village.site
    more: dict[str, Any] = {
        "permissions": ["network", "storage:read"],
        "license": "MIT",
        "releaseNotes": "# First\n\n- all of it",
        "configVersion": 3,
        "x-unknown": {"kept": [1, 2.5, None, "é"]},
    }
    answer = ann.request("ann/new", "1.0.0-rc.1+build.5", **more)

    requested = answer.json()
    place = "https://catalog.example/cdn/@ann/new/1.0.0-rc.1+build.5"
    assert (answer.status, requested) == (
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

    now = iso(village.clock.at)
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
    assert files(village)["uploads"] == []
    (entry,) = ann.get("/api/widgets/ann/new/audit").json()["entries"]
    assert entry["details"] == {"sha256Hash": sha(BUNDLE), "bundleSize": len(BUNDLE)}
    with site.node.store.reading() as connection:
        query = "SELECT manifest FROM versions WHERE version = '1.0.0-rc.1+build.5'"
        kept = connection.exec_driver_sql(query).scalar_one()
    assert kept == json.dumps(manifest("new", "1.0.0-rc.1+build.5", **more))


def test_a_style_sheet_is_published_beside_the_bundle(village: Village) -> None:
    ann = village.ann
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
    css = village.site.get(local(requested["cssUrl"]))
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
    assert files(village)["uploads"] == []


def test_a_check_passes_every_gate_and_keeps_nothing(village: Village) -> None:
    before = files(village)
    place = "https://catalog.example/cdn/@ann/styled/1.0.0"

    assert told(village.ann.post(PUBLISH, styled(action="check"))) == (
        200,
        {"success": True, "cdnUrl": f"{place}/index.js", "cssUrl": f"{place}/index.css"},
    )
    assert told(village.ann.request("ann/plain", action="check")) == (
        200,
        {"success": True, "cdnUrl": "https://catalog.example/cdn/@ann/plain/1.0.0/index.js"},
    )
    for key, version, status in [("eve/clock", "2.0.0", 403), ("ann/clock", "1.0.0", 409)]:
        checked = village.ann.request(key, version, action="check")
        assert told(checked) == told(village.ann.request(key, version))
        assert checked.status == status
    bad = village.ann.request("ann/bad", "1", action="check")
    assert told(bad) == told(village.ann.request("ann/bad", "1"))
    assert files(village) == before
    assert rows(village) == []


def test_a_repeated_confirmation_gets_the_same_answer(village: Village) -> None:
    requested = village.ann.post(PUBLISH, styled()).json()
    village.ann.upload(requested["uploadUrl"], BUNDLE)
    village.ann.upload(requested["cssUploadUrl"], CSS)
    first = village.ann.confirm(requested["versionId"])
    village.clock.forward(minutes=59)

    assert told(village.ann.confirm(requested["versionId"])) == told(first)
    log = village.ann.get("/api/widgets/ann/styled/audit").json()
    assert log["total"] == 1


def test_a_foreign_or_unknown_request_is_404(village: Village) -> None:
    requested = village.ann.request("acme/new").json()
    village.ann.upload(requested["uploadUrl"], BUNDLE)

    for other in (village.eve, village.abe, village.olly):
        assert told(other.confirm(requested["versionId"])) == (404, NO_REQUEST)
    for id_ in ("", "0" * 24, "../../etc/passwd", "\x00", "x" * 5_000):
        assert told(village.ann.confirm(id_)) == (404, NO_REQUEST)
    others: list[Any] = [None, 1, [], {"id": requested["versionId"]}]
    for wrong in others:
        body = {"action": "confirm", "versionId": wrong}
        assert told(village.ann.post(PUBLISH, body)) == (
            400,
            {"error": "versionId: must be the text that the request was answered with."},
        )
    # It belongs to the same person with other credentials.
    assert with_token(village.ann).confirm(requested["versionId"]).status == 200


@pytest.mark.parametrize(
    "lose",
    [
        lambda it: it.ann.put("/api/organizations/acme/members/abe", {"role": "member"}),
        lambda it: it.ann.delete("/api/organizations/acme/members/abe"),
    ],
    ids=["not an admin any more", "not a member any more"],
)
def test_rights_are_asked_for_again_at_the_confirmation(
    village: Village, lose: Callable[[Village], Answer]
) -> None:
    requested = village.abe.request("acme/new").json()
    village.abe.upload(requested["uploadUrl"], BUNDLE)
    assert lose(village).status == 200

    assert village.abe.confirm(requested["versionId"]).status == 403
    assert village.site.get("/api/v1/widgets/acme/new").status == 404


def test_a_token_cannot_confirm_what_it_could_not_request(village: Village) -> None:
    requested = village.ann.request("ann/new").json()
    village.ann.upload(requested["uploadUrl"], BUNDLE)

    for limits in ({"actions": ["yank"]}, {"scopes": ["acme"]}, {"widgets": ["ann/clock"]}):
        machine = with_token(village.ann, **limits)
        assert machine.confirm(requested["versionId"]).status == 403
    assert village.ann.confirm(requested["versionId"]).status == 200


def test_the_same_bytes_can_be_published_by_many(village: Village) -> None:
    assert village.eve.publish("eve/copy").status == 200
    assert village.eve.publish("eve/copy", "2.0.0").status == 200

    assert village.site.get("/cdn/@eve/copy/2.0.0/index.js").body == BUNDLE
    assert len(files(village)["bundles"]) == 1


def test_the_newest_version_sets_the_widgets_own_text(village: Village) -> None:
    village.clock.forward(seconds=1)
    changed: dict[str, Any] = {
        "displayName": "Uhr",
        "description": "Die Zeit.",
        "icon": "mdi:clock",
    }
    village.ann.publish("ann/clock", "0.9.0", **changed)

    shown = village.site.get("/api/v1/widgets/ann/clock").json()

    assert {key: shown["widget"][key] for key in changed} == changed
    assert shown["latestVersion"] == "0.9.0"
    assert [it["displayName"] for it in shown["versions"]] == ["Uhr", "Clock"]
    found = village.site.get("/api/v1/widgets/search?q=uhr").json()["widgets"]
    assert [it["name"] for it in found] == ["clock"]
    village.clock.forward(seconds=1)
    body = request_body("ann/clock", "1.1.0")
    said = {k: v for k, v in manifest("clock", "1.1.0").items() if k not in ("description", "icon")}
    body = {k: v for k, v in body.items() if k not in ("description", "icon")}
    requested = village.ann.post(PUBLISH, body | {"manifestJson": json.dumps(said)}).json()
    village.ann.upload(requested["uploadUrl"], BUNDLE)
    village.ann.confirm(requested["versionId"])
    shown = village.site.get("/api/v1/widgets/ann/clock").json()["widget"]
    assert (shown["displayName"], shown["description"], shown["icon"]) == ("Clock", None, None)


def test_an_unlisted_widget_can_be_published_to_and_stays_unlisted(village: Village) -> None:
    village.ann.post("/api/widgets/ann/clock/unlist")

    assert village.ann.publish("ann/clock", "2.0.0").status == 200

    assert village.site.get("/api/v1/widgets/ann/clock").status == 404
    assert village.site.get("/cdn/@ann/clock/2.0.0/index.js").status == 200
    shown = village.ann.get("/api/widgets/ann/clock").json()
    assert (shown["listed"], shown["latestVersion"]) == (False, "2.0.0")
    village.ann.post("/api/widgets/ann/clock/list")
    assert village.site.get("/api/v1/widgets/ann/clock").json()["latestVersion"] == "2.0.0"


def test_a_publisher_can_publish_the_first_version_of_what_they_are_named_for(
    village: Village,
) -> None:
    assert village.mia.request("acme/next").status == 403
    named = village.ann.put("/api/widgets/acme/next/publishers", {"publishers": ["mia"]})
    assert told(named) == (200, {"publishers": ["mia"]})

    assert village.mia.publish("acme/next").status == 200


def test_people_in_other_scopes_hear_nothing_of_a_request(village: Village) -> None:
    """Not even that the number is requested: the first to confirm gets it."""
    first, second = village.ann.request("acme/new").json(), village.abe.request("acme/new").json()
    village.ann.upload(first["uploadUrl"], BUNDLE)
    village.abe.upload(second["uploadUrl"], BUNDLE)

    assert village.abe.confirm(second["versionId"]).status == 200
    assert village.ann.confirm(first["versionId"]).status == 409

"""Publishing: request, upload, confirm; every gate on the way, and what is left behind."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.people import BUNDLE, manifest, nobody, request_body, with_token
from support.site import Answer
from support.village import BuiltVillage, Village
from widget_catalog.actions.tidy_uploads import tidy_uploads
from widget_catalog.domain.clock import iso
from widget_catalog.store.publishing import list_requests

PUBLISH = "/api/widgets/publish"
CSS = b".clock { color: red; }\n"
NO_REQUEST = {
    "error": "There is no such request to publish: it was never made by you, or it has expired. "
    "Begin again."
}


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def styled(key: str = "ann/styled", version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    css = {"cssSize": len(CSS), "cssSha256Hash": sha(CSS)}
    return request_body(key, version, **more) | css


def local(url: str) -> str:
    return url.removeprefix("https://catalog.example")


def files(village: Village) -> dict[str, list[str]]:
    """Every file of the bundles and the uploads."""
    folder = village.site.node.folder
    return {
        "bundles": sorted(str(it.relative_to(folder.bundles)) for it in _files(folder.bundles)),
        "uploads": sorted(it.name for it in _files(folder.uploads)),
    }


def _files(folder: Path) -> list[Path]:
    return [it for it in folder.rglob("*") if it.is_file()]


def told(answer: Answer) -> tuple[int, Any]:
    return answer.status, answer.json()


def faults(answer: Answer) -> str:
    assert answer.status == 400, answer.body
    return str(answer.json()["error"])


def rows(village: Village) -> list[Any]:
    with village.site.node.store.reading() as connection:
        return [it for it in list_requests(connection) if it.confirmed_at is None]


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
    assert files(village)["uploads"] == []
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
    assert files(village)["uploads"] == []


def test_a_bundle_without_a_style_sheet_takes_none(village: Village) -> None:
    requested = village.ann.request("ann/plain").json()
    assert "cssUploadUrl" not in requested
    url = requested["uploadUrl"].replace("/index.js?", "/index.css?")

    assert village.ann.upload(url, CSS).status == 403


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


def test_all_faults_are_told_at_once_and_each_once(quiet_village: Village) -> None:
    body = request_body(
        "ann/Clock",
        "v1",
        displayName="\u200b",
        description="x" * 1001,
        icon="clock",
        minSize={"w": 5, "h": 0},
        maxSize={"w": 101, "h": 1},
        sdkVersion="*",
        permissions=["a", "a"],
        license="\u202e",
        releaseNotes="\x00",
        configVersion=-1,
        scope="eve",
    )
    body |= {"bundleSize": 2_097_153, "sha256Hash": "AB" * 32, "cssSize": 0}

    told = faults(quiet_village.ann.post(PUBLISH, body))

    wanted = [
        "bundleSize: the file has 2,097,153 bytes; at most 2,097,152 are taken.",
        "sha256Hash: must be the SHA-256 of the file, 64 hexadecimal digits.",
        "cssSize: must be the size of the file in bytes.",
        "cssSha256Hash: must be the SHA-256 of the file, 64 hexadecimal digits.",
        "displayName: must not be empty.",
        "description: is too long: 1,001 characters, and at most 1,000 are taken.",
        "icon: must be an Iconify name, such as mdi:clock.",
        "scope: the manifest says 'eve', the request does not.",
        "name: 'Clock' is not a widget name: ",
        'version: "v1" is not a semantic version: write three numbers, such as 1.0.0.',
        'minSize: must be like {"w": 2, "h": 1}, in whole cells from 1 to 100.',
        'maxSize: must be like {"w": 2, "h": 1}, in whole cells from 1 to 100.',
        "sdkVersion: must name the SDK it was made for, such as ^2.0.0, not any.",
        "permissions: names a permission twice.",
        "license: must not be empty.",
        "releaseNotes: holds the character U+0000; control characters and marks that change ",
        "configVersion: must be a whole number, 0 or more.",
    ]
    for i, fault in enumerate(wanted):
        assert told.count(fault) == 1, (i, fault, told)
    assert f"({len(wanted)}) " in told
    assert f"({len(wanted) + 1}) " not in told


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"scope": None}, "scope: is missing."),
        ({"scope": 7}, "scope: must be a text."),
        ({"scope": "../ann"}, "scope: '../ann' is not a scope: "),
        ({"bundleSize": None}, "bundleSize: must be the size of the file in bytes."),
        ({"bundleSize": 0}, "bundleSize: must be the size of the file in bytes."),
        ({"bundleSize": -1}, "bundleSize: must be the size of the file in bytes."),
        ({"bundleSize": True}, "bundleSize: must be the size of the file in bytes."),
        ({"bundleSize": 10.0}, "bundleSize: must be the size of the file in bytes."),
        ({"bundleSize": 10**30}, "bundleSize: the file has 1,000,000,000,000,000,000,000,"),
        ({"sha256Hash": "ab" * 31}, "sha256Hash: must be the SHA-256 of the file"),
        ({"sha256Hash": "ab" * 32 + "\n"}, "sha256Hash: must be the SHA-256 of the file"),
        ({"sha256Hash": "../" + "a" * 61}, "sha256Hash: must be the SHA-256 of the file"),
        ({"cssSize": 5}, "cssSha256Hash: must be the SHA-256 of the file"),
        ({"cssSha256Hash": "ab" * 32}, "cssSize: must be the size of the file in bytes."),
        ({"manifestJson": None}, "manifestJson: must be the manifest as a text."),
        ({"manifestJson": {}}, "manifestJson: must be the manifest as a text."),
        ({"manifestJson": "{"}, "the manifest is not JSON: "),
        ({"manifestJson": "[]"}, "the manifest must be a JSON object."),
        ({"manifestJson": "9" * 65_537}, "the manifest has 65,537 bytes; at most 65,536 "),
        ({"name": "other"}, "name: the manifest says 'new', the request does not."),
        ({"version": "2.0.0"}, "version: the manifest says '1.0.0', the request does not."),
        ({"sdkVersion": "^2"}, "sdkVersion: the manifest says '^1.0.0', the request does not."),
        ({"displayName": 5}, "displayName: must be a text."),
        ({"action": "Request"}, "action: must be request, check or confirm."),
        ({"action": None}, "action: must be request, check or confirm."),
    ],
)
def test_what_is_wrong_with_a_request_is_told(
    quiet_village: Village, change: dict[str, Any], fault: str
) -> None:
    answer = quiet_village.ann.post(PUBLISH, request_body("ann/new") | change)

    assert faults(answer).startswith(fault)


def test_what_the_manifest_lacks_is_taken_from_beside_it(village: Village) -> None:
    body = request_body("ann/short")
    body["manifestJson"] = '{"displayName": null, "license": "MIT"}'
    requested = village.ann.post(PUBLISH, body).json()
    village.ann.upload(requested["uploadUrl"], BUNDLE)

    assert village.ann.confirm(requested["versionId"]).status == 200
    shown = village.site.get("/api/v1/widgets/ann/short").json()
    (version,) = shown["versions"]
    assert (version["displayName"], version["description"]) == ("Clock", "The time.")
    assert (version["license"], version["sdkVersion"]) == ("MIT", "^1.0.0")


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ("1.0.0", "ann/clock 1.0.0 is already published. "),
        ("1.0.0+other", "ann/clock 1.0.0 is already published. "),
    ],
)
def test_a_version_that_exists_is_409_whatever_its_build_metadata(
    quiet_village: Village, version: str, sentence: str
) -> None:
    answer = quiet_village.ann.request("ann/clock", version, b"something else")

    assert told(answer) == (
        409,
        {"error": f"{sentence}A published version never changes: choose another number."},
    )


def test_a_yanked_number_is_not_free_again(village: Village) -> None:
    ann = village.ann
    ann.post("/api/widgets/ann/clock/versions/1.0.0/yank", {"reason": "Broken."})

    assert told(ann.request("ann/clock")) == (
        409,
        {
            "error": "ann/clock 1.0.0 is already published (and yanked). A published version "
            "never changes: choose another number."
        },
    )
    # A prerelease of it, and the next, are other versions.
    assert ann.publish("ann/clock", "1.0.0-rc.1").status == 200
    assert ann.publish("ann/clock", "1.0.1").status == 200


def test_a_scope_that_is_not_yours_is_403_whether_it_exists_or_not(quiet_village: Village) -> None:
    for scope in ("ann", "acme", "nobody-has-it", "api"):
        assert told(quiet_village.eve.request(f"{scope}/clock")) == (
            403,
            {"error": f"You may not publish in the scope {scope}."},
        )


def test_other_bytes_are_refused_and_the_upload_can_be_repeated(village: Village) -> None:
    ann = village.ann
    before = files(village)
    requested = ann.request("ann/new").json()
    swapped = BUNDLE[::-1]
    ann.upload(requested["uploadUrl"], swapped)

    refused = ann.confirm(requested["versionId"])

    assert told(refused) == (
        400,
        {
            "error": f"The bundle has the SHA-256 {sha(swapped)}; {sha(BUNDLE)} was announced. "
            "Nothing was published."
        },
    )
    assert village.site.get("/api/v1/widgets/ann/new").status == 404
    assert files(village)["bundles"] == before["bundles"]
    assert ann.upload(requested["uploadUrl"], BUNDLE).status == 200
    assert ann.confirm(requested["versionId"]).status == 200


def test_a_file_of_another_size_than_announced_is_refused_on_the_way_in(village: Village) -> None:
    ann = village.ann
    requested = ann.request("ann/new").json()
    size = len(BUNDLE)
    more = ann.upload(requested["uploadUrl"], BUNDLE + b"x")
    fewer = ann.upload(requested["uploadUrl"], BUNDLE[:-1])
    none = ann.upload(requested["uploadUrl"], b"")

    sentence = f"More than the {size} bytes that were announced were sent."
    assert told(more) == (400, {"error": sentence})
    assert told(fewer) == (400, {"error": f"{size - 1} bytes were sent; {size} were announced."})
    assert told(none) == (400, {"error": f"0 bytes were sent; {size} were announced."})
    assert files(village)["uploads"] == []
    assert told(ann.confirm(requested["versionId"])) == (
        400,
        {"error": "The bundle was not uploaded yet."},
    )


def test_a_good_upload_survives_a_bad_one_after_it(village: Village) -> None:
    requested = village.ann.request("ann/new").json()
    village.ann.upload(requested["uploadUrl"], BUNDLE)
    assert village.ann.upload(requested["uploadUrl"], BUNDLE + b"x").status == 400

    assert village.ann.confirm(requested["versionId"]).status == 200


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
    # By another way in, it is still one's own.
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


def test_a_request_ends_after_an_hour_and_leaves_nothing(village: Village) -> None:
    before = files(village)
    requested = village.ann.post(PUBLISH, styled()).json()
    village.ann.upload(requested["uploadUrl"], BUNDLE)
    village.ann.upload(requested["cssUploadUrl"], CSS)
    village.clock.forward(minutes=59, seconds=59)
    node = village.site.node
    tidy_uploads(node.store, node.bundles, node.uploads)
    assert village.ann.upload(requested["uploadUrl"], BUNDLE).status == 200
    village.clock.forward(seconds=1)

    assert told(village.ann.confirm(requested["versionId"])) == (404, NO_REQUEST)
    late = village.ann.upload(requested["uploadUrl"], BUNDLE)
    assert told(late) == (
        403,
        {"error": "This upload address is not valid, or no longer. Request a new one."},
    )
    tidy_uploads(node.store, node.bundles, node.uploads)
    assert files(village) == before
    assert rows(village) == []
    # And the number is as free as it was.
    assert village.ann.publish("ann/styled").status == 200


def test_what_ends_takes_nothing_along_that_others_have(village: Village) -> None:
    """The same bytes are published elsewhere; so they stay, whoever announced them too."""
    village.eve.request("eve/copy", "1.0.0", BUNDLE)
    published = files(village)["bundles"]
    village.clock.forward(hours=2)
    node = village.site.node

    tidy_uploads(node.store, node.bundles, node.uploads)

    assert files(village)["bundles"] == published
    assert village.site.get("/cdn/@ann/clock/1.0.0/index.js").body == BUNDLE


def test_the_same_bytes_can_be_published_by_many(village: Village) -> None:
    assert village.eve.publish("eve/copy").status == 200
    assert village.eve.publish("eve/copy", "2.0.0").status == 200

    assert village.site.get("/cdn/@eve/copy/2.0.0/index.js").body == BUNDLE
    assert len(files(village)["bundles"]) == 1


@pytest.mark.parametrize(
    "tamper",
    [
        lambda url, other: url.replace("signature=", "signature=0"),
        lambda url, other: url[:-1],
        lambda url, other: url.partition("&signature")[0],
        lambda url, other: url.partition("?")[0],
        lambda url, other: url.replace("expires=", "expires=9"),
        lambda url, other: url.replace("expires=", "expires=-"),
        lambda url, other: url.replace("expires=", "expires=%31"),
        lambda url, other: url.replace("index.js", "index.css"),
        lambda url, other: f"{url.partition('?')[0]}?{other.partition('?')[2]}",
        lambda url, other: f"{other.partition('?')[0]}?{url.partition('?')[2]}",
        lambda url, other: url.partition("&signature")[0] + "&signature=\u00e9",
        lambda url, other: url.partition("&signature")[0] + "&signature=\udcff",
        lambda url, other: f"{url}&signature=00&expires=1",
    ],
)
def test_a_tampered_upload_address_is_good_for_nothing(
    quiet_village: Village, tamper: Callable[[str, str], str]
) -> None:
    ann = quiet_village.ann
    first, second = ann.request("ann/one").json(), ann.request("ann/two").json()
    url = tamper(first["uploadUrl"], second["uploadUrl"])

    answer = ann.upload(url, BUNDLE)

    assert answer.status == 403
    assert answer.json() == {
        "error": "This upload address is not valid, or no longer. Request a new one."
    }
    assert files(quiet_village)["uploads"] == []


@pytest.mark.parametrize(
    "path",
    ["/uploads/", "/uploads/x", "/uploads/x/index.html", "/uploads/x/y/index.js", "/uploads//"],
)
def test_nothing_else_can_be_uploaded(quiet_village: Village, path: str) -> None:
    answer = quiet_village.site.request("PUT", path, b"x")

    assert told(answer) == (404, {"error": "There is nothing to upload at this address."})


def test_an_upload_address_takes_a_file_and_gives_none(quiet_village: Village) -> None:
    url = local(quiet_village.ann.request("ann/new").json()["uploadUrl"])
    for method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS"):
        answer = quiet_village.site.request(method, url)
        assert (answer.status, answer.headers["allow"]) == (405, "PUT")


def test_an_upload_needs_no_session(village: Village) -> None:
    requested = village.ann.request("ann/new").json()

    assert nobody(village.site).upload(requested["uploadUrl"], BUNDLE).status == 200
    assert village.ann.confirm(requested["versionId"]).status == 200


def test_the_size_limit_is_the_operators(built_village: BuiltVillage, tmp_path: Path) -> None:
    with Village(built_village, tmp_path / "d", max_bundle_bytes=1000) as village:
        assert village.ann.publish("ann/new", "1.0.0", b"x" * 1000).status == 200
        assert faults(village.ann.request("ann/new", "2.0.0", b"x" * 1001)) == (
            "bundleSize: the file has 1,001 bytes; at most 1,000 are taken."
        )


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


def test_requests_that_are_not_confirmed_are_limited_in_number(village: Village) -> None:
    ann, store = village.ann, village.site.node.store
    requested = ann.request("ann/new").json()
    with store.writing() as tx:
        (row,) = list_requests(tx.connection)[-1:]
        columns = ", ".join(row._fields[1:])
        tx.connection.exec_driver_sql(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999) "
            f"INSERT INTO publish_requests (id, {columns}) SELECT 'copy-' || i, {columns} "
            f"FROM n, publish_requests WHERE id = '{requested['versionId']}'"
        )

    refused = ann.request("ann/newer")

    assert (refused.status, refused.headers["retry-after"]) == (429, "60")
    assert village.eve.request("eve/new").status == 200
    # What has ended counts no more.
    village.clock.forward(hours=1)
    assert ann.request("ann/newer").status == 200


def test_people_in_other_scopes_hear_nothing_of_a_request(village: Village) -> None:
    """Not even that the number is spoken for: the first to confirm it has it."""
    first, second = village.ann.request("acme/new").json(), village.abe.request("acme/new").json()
    village.ann.upload(first["uploadUrl"], BUNDLE)
    village.abe.upload(second["uploadUrl"], BUNDLE)

    assert village.abe.confirm(second["versionId"]).status == 200
    assert village.ann.confirm(first["versionId"]).status == 409

"""Rejected publish requests: every check, before any upload."""

import json
from pathlib import Path
from typing import Any

import pytest

from publishing.publish_requests import PUBLISH, errors, told
from support.people import BUNDLE, manifest, request_body
from support.site_with_people import BuiltPeople, People
from widget_catalog.publishing.store import list_requests

SMALL, LARGE = {"w": 1, "h": 1}, {"w": 4, "h": 2}


def test_all_errors_are_reported_at_once_and_each_once(shared_people: People) -> None:
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
    )
    body |= {"bundleSize": 2_097_153, "sha256Hash": "AB" * 32, "cssSize": 0}

    told = errors(shared_people.ann.post(PUBLISH, body))

    wanted = [
        "bundleSize: the file has 2,097,153 bytes; at most 2,097,152 are taken.",
        "sha256Hash: must be the SHA-256 of the file, 64 hexadecimal digits.",
        "cssSize: the file is empty.",
        "cssSha256Hash: must be the SHA-256 of the file, 64 hexadecimal digits.",
        "displayName: must not be empty.",
        "description: is too long: 1,001 characters, and at most 1,000 are taken.",
        "icon: must be an Iconify name, such as mdi:clock.",
        "name: 'Clock' is not a widget name: ",
        'version: "v1" is not a semantic version: write three numbers, such as 1.0.0.',
        'minSize: must be like {"w": 2, "h": 1}, in whole cells from 1 to 100.',
        'maxSize: must be like {"w": 2, "h": 1}, in whole cells from 1 to 100.',
        "sdkVersion: must name the SDK it was made for, such as ^2.0.0, not any.",
        "permissions: names a permission twice.",
        "license: must not be empty.",
        "releaseNotes: contains the character U+0000; control characters, invisible ",
        "configVersion: must be a whole number, 0 or more.",
    ]
    for i, error in enumerate(wanted):
        assert told.count(error) == 1, (i, error, told)
    assert f"({len(wanted)}) " in told
    assert f"({len(wanted) + 1}) " not in told


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"scope": None}, "scope: is missing."),
        ({"scope": 7}, "scope: must be a text."),
        ({"scope": "../ann"}, "scope: '../ann' is not a scope: "),
        ({"bundleSize": None}, "bundleSize: must be the size of the file in bytes."),
        ({"bundleSize": 0}, "bundleSize: the file is empty."),
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
        (
            {"manifestJson": {}, "icon": "clock"},
            "(1) manifestJson: must be the manifest as a text. (2) icon: must be an Iconify name",
        ),
        ({"manifestJson": "{"}, "the manifest is not JSON: look at line 1, column 2."),
        ({"manifestJson": "[]"}, "the manifest must be a JSON object."),
        ({"manifestJson": "9" * 65_537}, "the manifest has 65,537 bytes; at most 65,536 "),
        ({"name": "Other"}, "name: 'Other' is not a widget name: "),
        ({"version": "2.0.0"}, "version: the manifest says '1.0.0', but the request says '2.0.0'."),
        ({"sdkVersion": "^2"}, "sdkVersion: the manifest says '^1.0.0', but the request says '^2'"),
        ({"displayName": 5}, "displayName: must be a text."),
        ({"action": "Request"}, "action: must be request, check or confirm."),
        ({"action": None}, "action: must be request, check or confirm."),
    ],
)
def test_what_is_wrong_with_a_request_is_reported(
    shared_people: People, change: dict[str, Any], error: str
) -> None:
    response = shared_people.ann.post(PUBLISH, request_body("ann/new") | change)

    assert errors(response).startswith(error)


@pytest.mark.parametrize(
    ("said", "beside"),
    [
        ({"minSize": LARGE, "maxSize": SMALL}, {}),
        ({}, {"minSize": LARGE, "maxSize": SMALL}),
        ({"minSize": LARGE}, {"maxSize": SMALL}),
        ({"maxSize": {"w": 9, "h": 1}}, {"minSize": LARGE}),
    ],
    ids=["in the manifest", "beside it", "one here and one there", "in one direction"],
)
def test_a_smallest_size_above_the_largest_is_refused(
    shared_people: People, said: dict[str, Any], beside: dict[str, Any]
) -> None:
    sizes = {"minSize": None, "maxSize": None}
    body = request_body("ann/new") | sizes | beside
    body["manifestJson"] = json.dumps(manifest("new") | sizes | said)

    response = shared_people.ann.post(PUBLISH, body)

    assert errors(response) == "minSize: must not be larger than maxSize."


def test_what_the_manifest_lacks_is_taken_from_the_request(people: People) -> None:
    body = request_body("ann/short")
    body["manifestJson"] = '{"displayName": null, "license": "MIT"}'
    requested = people.ann.post(PUBLISH, body).json()
    people.ann.upload(requested["uploadUrl"], BUNDLE)

    assert people.ann.confirm(requested["versionId"]).status == 200
    shown = people.site.get("/api/v1/widgets/ann/short").json()
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
    shared_people: People, version: str, sentence: str
) -> None:
    response = shared_people.ann.request("ann/clock", version, b"something else")

    assert told(response) == (
        409,
        {"error": f"{sentence}A published version never changes: choose another number."},
    )


def test_a_yanked_number_is_not_free_again(people: People) -> None:
    ann = people.ann
    ann.post("/api/widgets/ann/clock/versions/1.0.0/yank", {"reason": "Broken."})

    assert told(ann.request("ann/clock")) == (
        409,
        {
            "error": "ann/clock 1.0.0 is already published (and yanked). A published version "
            "never changes: choose another number."
        },
    )
    # A prerelease of it, and the next version, are different versions.
    assert ann.publish("ann/clock", "1.0.0-rc.1").status == 200
    assert ann.publish("ann/clock", "1.0.1").status == 200


def test_a_scope_that_is_not_yours_is_403_whether_it_exists_or_not(shared_people: People) -> None:
    for scope in ("ann", "acme", "nobody-has-it", "api"):
        assert told(shared_people.eve.request(f"{scope}/clock")) == (
            403,
            {"error": f"You may not publish to the scope {scope}."},
        )


def test_the_size_limit_is_the_operators(built_people: BuiltPeople, tmp_path: Path) -> None:
    with People(built_people, tmp_path / "d", max_bundle_bytes=1000) as people:
        assert people.ann.publish("ann/new", "1.0.0", b"x" * 1000).status == 200
        assert errors(people.ann.request("ann/new", "2.0.0", b"x" * 1001)) == (
            "bundleSize: the file has 1,001 bytes; at most 1,000 are taken."
        )


def test_requests_that_are_not_confirmed_are_limited_in_number(people: People) -> None:
    ann, store = people.ann, people.site.node.store
    requested = ann.request("ann/new").json()
    with store.writing() as tx:
        (row,) = list_requests(tx.connection)[-1:]
        columns = ", ".join(it for it in row._fields[1:] if it != "attached")
        tx.connection.exec_driver_sql(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999) "
            f"INSERT INTO publish_requests (id, {columns}) SELECT 'copy-' || i, {columns} "
            f"FROM n, publish_requests WHERE id = '{requested['versionId']}'"
        )

    refused = ann.request("ann/newer")

    assert (refused.status, refused.headers["retry-after"]) == (429, "3600")
    assert people.eve.request("eve/new").status == 200
    # Expired requests no longer count.
    people.clock.forward(hours=1)
    assert ann.request("ann/newer").status == 200

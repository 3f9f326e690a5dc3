"""Uploads: which bytes are accepted, at which URLs, and what is left behind."""

from collections.abc import Callable

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
from support.people import BUNDLE, nobody
from support.site_with_people import People
from widget_catalog.publishing.publish_version import tidy_uploads


def test_a_bundle_without_a_style_sheet_takes_none(people: People) -> None:
    requested = people.ann.request("ann/plain").json()
    assert "cssUploadUrl" not in requested
    url = requested["uploadUrl"].replace("/index.js?", "/index.css?")

    assert people.ann.upload(url, CSS).status == 403


def test_other_bytes_are_refused_and_the_upload_can_be_repeated(people: People) -> None:
    ann = people.ann
    before = files(people)
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
    assert people.site.get("/api/v1/widgets/ann/new").status == 404
    assert files(people)["bundles"] == before["bundles"]
    assert ann.upload(requested["uploadUrl"], BUNDLE).status == 200
    assert ann.confirm(requested["versionId"]).status == 200


def test_a_file_of_another_size_than_announced_is_refused_on_the_way_in(people: People) -> None:
    ann = people.ann
    requested = ann.request("ann/new").json()
    size = len(BUNDLE)
    more = ann.upload(requested["uploadUrl"], BUNDLE + b"x")
    fewer = ann.upload(requested["uploadUrl"], BUNDLE[:-1])
    none = ann.upload(requested["uploadUrl"], b"")

    sentence = f"More than the {size} bytes that were announced were sent."
    assert told(more) == (400, {"error": sentence})
    assert told(fewer) == (400, {"error": f"{size - 1} bytes were sent; {size} were announced."})
    empty = f"The file is empty: nothing was sent; {size} bytes were announced."
    assert told(none) == (400, {"error": empty})
    assert files(people)["uploads"] == []
    assert told(ann.confirm(requested["versionId"])) == (
        400,
        {"error": "The bundle was not uploaded yet."},
    )


def test_a_good_upload_survives_a_bad_one_after_it(people: People) -> None:
    requested = people.ann.request("ann/new").json()
    people.ann.upload(requested["uploadUrl"], BUNDLE)
    assert people.ann.upload(requested["uploadUrl"], BUNDLE + b"x").status == 400

    assert people.ann.confirm(requested["versionId"]).status == 200


def test_a_request_ends_after_an_hour_and_leaves_nothing(people: People) -> None:
    before = files(people)
    requested = people.ann.post(PUBLISH, styled()).json()
    people.ann.upload(requested["uploadUrl"], BUNDLE)
    people.ann.upload(requested["cssUploadUrl"], CSS)
    people.clock.forward(minutes=59, seconds=59)
    node = people.site.node
    tidy_uploads(node.store, node.bundles, node.uploads)
    assert people.ann.upload(requested["uploadUrl"], BUNDLE).status == 200
    people.clock.forward(seconds=1)

    assert told(people.ann.confirm(requested["versionId"])) == (404, NO_REQUEST)
    late = people.ann.upload(requested["uploadUrl"], BUNDLE)
    assert told(late) == (
        403,
        {"error": "This upload address is not valid, or no longer. Request a new one."},
    )
    tidy_uploads(node.store, node.bundles, node.uploads)
    assert files(people) == before
    assert rows(people) == []
    # The version number is still free.
    assert people.ann.publish("ann/styled").status == 200


def test_what_ends_takes_nothing_along_that_others_have(people: People) -> None:
    """Bytes that are published elsewhere, too, stay."""
    people.eve.request("eve/copy", "1.0.0", BUNDLE)
    published = files(people)["bundles"]
    people.clock.forward(hours=2)
    node = people.site.node

    tidy_uploads(node.store, node.bundles, node.uploads)

    assert files(people)["bundles"] == published
    assert people.site.get("/cdn/@ann/clock/1.0.0/index.js").body == BUNDLE


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
def test_a_tampered_upload_address_is_invalid(
    shared_people: People, tamper: Callable[[str, str], str]
) -> None:
    ann = shared_people.ann
    first, second = ann.request("ann/one").json(), ann.request("ann/two").json()
    url = tamper(first["uploadUrl"], second["uploadUrl"])

    response = ann.upload(url, BUNDLE)

    assert response.status == 403
    assert response.json() == {
        "error": "This upload address is not valid, or no longer. Request a new one."
    }
    assert files(shared_people)["uploads"] == []


@pytest.mark.parametrize(
    "path",
    ["/uploads/", "/uploads/x", "/uploads/x/index.html", "/uploads/x/y/index.js", "/uploads//"],
)
def test_nothing_else_can_be_uploaded(shared_people: People, path: str) -> None:
    response = shared_people.site.request("PUT", path, b"x")

    assert told(response) == (404, {"error": "There is nothing to upload at this address."})


def test_an_upload_address_takes_a_file_and_gives_none(shared_people: People) -> None:
    url = local(shared_people.ann.request("ann/new").json()["uploadUrl"])
    for method in ("GET", "HEAD", "POST", "DELETE", "OPTIONS"):
        response = shared_people.site.request(method, url)
        assert (response.status, response.headers["allow"]) == (405, "PUT")


def test_an_upload_needs_no_session(people: People) -> None:
    requested = people.ann.request("ann/new").json()

    assert nobody(people.site).upload(requested["uploadUrl"], BUNDLE).status == 200
    assert people.ann.confirm(requested["versionId"]).status == 200

"""Readme, homepage, repository and author of a manifest; what is read of stored ones."""

import json
from typing import Any

import pytest

from contract.manifests import LEAST, errors_of
from widget_contract.manifest_details import (
    Author,
    DeclaredDetails,
    details_in,
    details_of,
    extra_details,
)
from widget_contract.manifests import parse_manifest

README = "# Clock\n\nThe time."
NO_ADDRESS = "must be an https address, such as https://clock.example."


@pytest.mark.parametrize(
    "address",
    [
        "https://clock.example",
        "https://clock.example:8443/a%20b/?q=1#top",
        "https://löwe.example/ü",
        "https://" + "x" * 492,
    ],
)
def test_a_homepage_is_an_https_address(address: str) -> None:
    stated = {**LEAST, "homepage": address, "repository": address}
    manifest = parse_manifest(json.dumps(stated))
    assert (manifest.homepage, manifest.repository) == (address, address)


def test_no_other_address_is_accepted() -> None:
    cases = [
        "http://clock.example",
        "HTTPS://clock.example",
        "//clock.example",
        "javascript:alert(1)",
        "https://",
        "https:///path",
        "https://user:secret@clock.example",
        "https://good.example\\@bad.example",
        "https://clock.example/a b",
        "https://clock.example/\n",
        "https://clock.example/\u202e",
        "https://clock.example:port",
        "https://[::1",
        "https://" + "x" * 493,
        7,
        ["https://clock.example"],
        {"href": "https://clock.example"},
    ]
    for address in cases:
        assert errors_of({**LEAST, "homepage": address}) == [f"homepage: {NO_ADDRESS}"]


def test_a_readme_may_have_64_kib_besides_the_64_kib_of_the_manifest() -> None:
    for readme in ("x" * 65_536, "ж" * 32_768, '"\n' * 32_768):
        for is_ascii in (True, False):
            stated = {**LEAST, "x-own": "y" * 65_000, "readme": readme}
            text = json.dumps(stated, ensure_ascii=is_ascii)
            assert parse_manifest(text).readme == readme
    told = errors_of({**LEAST, "readme": "ж" * 32_769})
    assert told == ["readme: has 65,538 bytes; at most 65,536 are allowed."]


def test_the_rest_of_the_manifest_keeps_its_limit() -> None:
    told = errors_of({**LEAST, "x-own": "y" * 65_536, "readme": "x" * 60_000})
    assert len(told) == 1
    assert told[0].startswith("the manifest has 65,")


@pytest.mark.parametrize(
    ("author", "error"),
    [
        ("   ", "author: must not be empty."),
        ("x" * 201, "author: is too long: 201 characters, and at most 200 are taken."),
        ({"name": ""}, "author.name: must not be empty."),
        ({"name": "Ann", "url": "http://ann.example"}, f"author.url: {NO_ADDRESS}"),
    ],
)
def test_other_authors_are_refused(author: Any, error: str) -> None:
    assert errors_of({**LEAST, "author": author}) == [error]


@pytest.mark.parametrize(
    ("stated", "wanted"),
    [
        ({"readme": "a\u202eb"}, {"readme": "a\u202eb"}),
        ({"readme": "x" * 70_000}, {"readme": "x" * 65_536}),
        ({"readme": 7, "homepage": "http://clock.example", "author": []}, {}),
        ({"author": {"name": "Ann", "url": "ftp://x"}}, {"author": Author("Ann")}),
        ({"author": {"name": "\u202e"}}, {}),
    ],
)
def test_of_a_stored_manifest_the_valid_part_is_shown(stated: Any, wanted: Any) -> None:
    assert details_in(json.dumps(stated)) == wanted
    assert details_in(json.dumps(stated).encode()) == wanted


def test_what_the_manifest_states_is_not_stored_again() -> None:
    details = DeclaredDetails(readme=README, keywords=("clock",), author=Author("Ann"))
    assert extra_details(details, None) == details_of(details)
    manifest = json.dumps({"readme": README, "keywords": ["dial"], "author": {"name": "Ann"}})
    assert extra_details(details, manifest) == {"keywords": ("clock",)}

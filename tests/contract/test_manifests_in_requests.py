"""A manifest in a publish request: which of the two takes precedence, and where they must agree."""

import json
from typing import Any

import pytest

from contract.manifests import FULL, LEAST, errors_of
from widget_contract.manifests import parse_manifest
from widget_contract.wire import Size


def test_a_request_decides_and_the_manifest_fills_in_what_it_leaves_out() -> None:
    request = {
        "scope": "acme",
        "name": "other",
        "version": "1.0.0",
        "displayName": "Requested",
        "icon": "mdi:requested",
        "minSize": {"w": 2, "h": 2},
        "maxSize": {"w": 3, "h": 3},
    }

    read = parse_manifest(json.dumps(FULL), request)

    assert (read.scope, read.name, read.version.text) == ("acme", "other", "1.0.0")
    assert (read.display_name, read.icon) == ("Requested", "mdi:requested")
    assert (read.min_size, read.max_size) == (Size(2, 2), Size(3, 3))
    assert (read.description, read.sdk_version) == ("The time.", "^1.0.0")
    assert (read.license, read.release_notes, read.config_version) == ("MIT", "# New\n\n\t- all", 3)
    assert read.text == json.dumps(FULL)
    # The request's own value is validated; the manifest's is ignored.
    assert parse_manifest(json.dumps(FULL | {"icon": 7, "minSize": "?"}), request) is not None


@pytest.mark.parametrize("name", ["Clock", "Uhr für Mutter", "other-slug", "", 7, None])
def test_the_name_in_the_manifest_may_be_anything_where_a_request_has_the_slug(name: Any) -> None:
    read = parse_manifest(json.dumps(FULL | {"name": name}), LEAST | {"scope": "ann"})

    assert (read.name, read.display_name) == ("clock", "Clock")


def test_a_request_without_a_slug_takes_the_manifests() -> None:
    assert parse_manifest(json.dumps(FULL), {"scope": "ann"}).name == "clock"
    assert errors_of(FULL | {"name": "Clock"}, {})[0].startswith("name: 'Clock' is not a widget ")
    without_scope = {key: value for key, value in FULL.items() if key != "scope"}
    assert errors_of(without_scope, {}) == ["scope: is missing."]


def test_manifest_and_request_must_agree_about_version_and_sdk() -> None:
    request = LEAST | {"scope": "eve", "name": "x", "version": "2.0.0", "sdkVersion": "^2.0.0"}

    assert errors_of(FULL, request) == [
        "version: the manifest says '1.0.0', but the request says '2.0.0'.",
        "sdkVersion: the manifest says '^1.0.0', but the request says '^2.0.0'.",
    ]
    # File names matter only to the author and the tool.
    foreign = json.dumps(FULL | {"main": "../x"})
    assert parse_manifest(foreign, LEAST).main == "index.js"


@pytest.mark.parametrize("key", ["description", "icon", "license", "releaseNotes"])
def test_an_empty_optional_text_is_absent_in_manifest_and_request(key: str) -> None:
    field = {"releaseNotes": "release_notes"}.get(key, key)
    said = json.dumps(LEAST | {key: ""})

    assert getattr(parse_manifest(said), field) is None
    assert getattr(parse_manifest(said, {"scope": "ann", key: ""}), field) is None
    assert getattr(parse_manifest(json.dumps(FULL), {key: ""}), field) is not None

"""The wire formats, the declared fields of a manifest, and URLs."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_contract import wire, wire_running
from widget_contract.manifest_details import DETAIL_FIELDS
from widget_contract.manifests import Declared, declared, parse_manifest
from widget_contract.version_files import (
    PublishedFile,
    detail_path,
    file_path,
    parse_file_path,
    style_address,
)

SHAPES = [
    shape
    for shape in (vars(wire) | vars(wire_running)).values()
    if isinstance(shape, type) and issubclass(shape, wire.Shape) and shape is not wire.Shape
]


def test_a_version_ends_with_what_its_manifest_declares_in_the_same_order() -> None:
    """Detects a field that is defined in only one of them."""
    fields = [it for it in msgspec.structs.fields(Declared) if it.name not in DETAIL_FIELDS]
    names = tuple(it.name for it in fields)
    assert wire.VersionEntry.__struct_fields__[-len(names) :] == names
    assert wire.VersionEntry.__struct_encode_fields__[-len(names) :] == tuple(
        it.encode_name for it in fields
    )


def test_what_is_declared_is_reported_by_name() -> None:
    text = """{"name": "clock", "version": "1.0.0", "displayName": "Clock", "sdkVersion": "^1.0.0",
        "minSize": {"w": 1, "h": 1}, "maxSize": {"w": 2, "h": 2}, "license": "MIT"}"""
    told = declared(parse_manifest(text.replace("{", '{"keywords": ["clock"],', 1)))
    assert tuple(told) == Declared.__struct_fields__
    assert not declared(parse_manifest(text)).keys() & set(DETAIL_FIELDS)
    assert (told["display_name"], told["max_size"], told["license"]) == (
        "Clock",
        wire.Size(2, 2),
        "MIT",
    )


def test_clients_skip_what_they_do_not_know() -> None:
    for shape in SHAPES:
        assert not shape.__struct_config__.forbid_unknown_fields
        assert shape.__doc__


NAMES = st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}", fullmatch=True)
PATHS = ["index.js", "index.css", "README.md", "screenshots/a.png", "screenshots/B_-9.thumb.webp"]
VERSIONS = st.sampled_from(["1.0.0", "2.0.0-beta.1", "1.0.0+build.7"])


@given(NAMES, NAMES, VERSIONS, st.sampled_from(PATHS))
def test_a_path_to_a_file_names_that_file(scope: str, name: str, version: str, file: str) -> None:
    path = file_path(scope, name, version, file)
    assert parse_file_path(path) == PublishedFile(scope, name, version, file)


@pytest.mark.parametrize(
    "path",
    ["", "/", "/acme/clock/1.0.0/index.js", "/@acme/clock/index.js", "/@acme/clock/1.0.0/main.js",
     "/@acme/clock/1.0.0/index.js/", "@acme/clock/1.0.0/index.js", "/x/@acme/clock/1.0.0/index.js"],
)  # fmt: skip
def test_no_other_path_names_a_file(path: str) -> None:
    assert parse_file_path(path) is None


def test_addresses() -> None:
    assert detail_path("acme", "clock") == "/api/v1/widgets/acme/clock"
    bundle = "https://cdn.example/@acme/clock/1.0.0/index.js"
    assert style_address(bundle) == "https://cdn.example/@acme/clock/1.0.0/index.css"

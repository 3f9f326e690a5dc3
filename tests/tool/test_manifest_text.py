"""Changing one value of a manifest preserves every other character."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_cli.manifest_text import Bump, bumped, with_value
from widget_contract.semver import SemVer

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
_OBJECTS = st.dictionaries(st.sampled_from(["version", "name", "a", '"}', "é\\"]), _VALUES)


def test_only_the_version_changes() -> None:
    text = (
        '{\r\n\t"nested": {"version": "9.9.9"},\r\n\t"version" :  "1.0.0" ,\r\n'
        '\t"description": "\\"version\\": \\u00e9 é"\r\n}\r\n'
    )
    assert with_value(text, "version", "1.0.1") == text.replace('"1.0.0"', '"1.0.1"')


def test_of_a_key_that_is_there_twice_the_last_one_counts() -> None:
    text = '{"version": "1.0.0", "version": "2.0.0"}'
    assert with_value(text, "version", "3.0.0") == '{"version": "1.0.0", "version": "3.0.0"}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", '{ "releaseNotes": "Ünd"}'),
        ('{"name": "a"}\n', '{"name": "a", "releaseNotes": "Ünd"}\n'),
        ('{\n  "name": "a"\n}\n', '{\n  "name": "a",\n  "releaseNotes": "Ünd"\n}\n'),
    ],
)
def test_a_key_that_is_missing_is_added_at_the_end(text: str, expected: str) -> None:
    assert with_value(text, "releaseNotes", "Ünd") == expected


@given(_OBJECTS, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_the_rest_means_what_it_meant(
    given_object: dict[str, Any], indent: int | str | None, is_ascii: bool
) -> None:
    text = json.dumps(given_object, indent=indent, ensure_ascii=is_ascii)
    changed = with_value(text, "version", "1.2.3")
    assert json.loads(changed) == {**given_object, "version": "1.2.3"}
    if "version" in given_object:
        assert with_value(changed, "version", given_object["version"]).startswith(text[:1])
        assert list(json.loads(changed)) == list(given_object)


@pytest.mark.parametrize(
    ("version", "patch", "minor", "major"),
    [
        ("1.2.3", "1.2.4", "1.3.0", "2.0.0"),
        ("0.0.0", "0.0.1", "0.1.0", "1.0.0"),
        ("1.2.3+build.7", "1.2.4", "1.3.0", "2.0.0"),
        ("1.2.3-rc.1", "1.2.3", "1.3.0", "2.0.0"),
        ("1.3.0-rc.1", "1.3.0", "1.3.0", "2.0.0"),
        ("2.0.0-rc.1", "2.0.0", "2.0.0", "2.0.0"),
    ],
)
def test_versions_are_raised_as_npm_does(version: str, patch: str, minor: str, major: str) -> None:
    given_version = SemVer.parse(version)
    raised = [bumped(given_version, it).text for it in (Bump.PATCH, Bump.MINOR, Bump.MAJOR)]
    assert raised == [patch, minor, major]
    assert bumped(given_version, Bump.KEEP) is given_version

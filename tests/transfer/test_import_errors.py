"""Import: every error names its line and field, and nothing of the file is stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.widgets import ndjson, version_line, widget_line
from transfer.import_state import state_of, stored_line, take
from widget_catalog.catalog.node.node import Node
from widget_catalog.core.errors import InvalidImport

FIRST, SECOND = widget_line("acme/first"), widget_line("acme/second", versions=[stored_line()])

COUNT = "must be a whole number from 0 to 9,007,199,254,740,991."
INSTANT = "must be an instant with a time zone, such as 2026-01-31T09:05:00.000Z."


def _without(line: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != key}


def _refused(node: Node, base_folder: Path, faulty: bytes) -> str:
    """The first error of a file whose fourth line is this, after valid ones and a blank one."""
    (base_folder / "clock.js").write_bytes(b"export default class {}")
    take(node, ndjson(widget_line("there/before", downloadCount=3)), base_folder)
    before = state_of(node)
    content = ndjson(FIRST) + b"\n" + ndjson(SECOND) + faulty + b"\n" + ndjson(widget_line("z/z"))

    with pytest.raises(InvalidImport) as refused:
        take(node, content, base_folder)

    assert state_of(node) == before
    assert all(error.startswith("Line 4: ") for error in refused.value.errors)
    return refused.value.errors[0]


WIDGET_ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"scope": "Acme"}, "scope: 'Acme' is not a scope: use 1 to 64 lowercase letters, digits and"),
    ({"scope": "@acme"}, "scope: '@acme' is not a scope: "),
    ({"scope": ""}, "scope: '' is not a scope: "),
    ({"scope": None}, "scope: must be a text."),
    ({"name": "a/b"}, "name: 'a/b' is not a widget name: "),
    ({"name": "x" * 65}, f"name: '{'x' * 65}' is not a widget name: "),
    ({"name": 5}, "name: must be a text."),
    ({"displayName": ""}, "displayName: must be a text that is not empty."),
    ({"displayName": None}, "displayName: must be a text that is not empty."),
    ({"displayName": "a\0b"}, "displayName: contains the character U+0000; control characters"),
    ({"description": "a\0"}, "description: contains the character U+0000; control characters"),
    ({"icon": ["mdi:clock"]}, "icon: must be a text or null."),
    ({"isOfficial": "yes"}, "isOfficial: must be true, false or null."),
    ({"isOfficial": 1}, "isOfficial: must be true, false or null."),
    ({"listed": None}, "listed: must be true or false."),
    ({"downloadCount": -1}, f"downloadCount: {COUNT}"),
    ({"downloadCount": 1.5}, f"downloadCount: {COUNT}"),
    ({"downloadCount": "7"}, f"downloadCount: {COUNT}"),
    ({"downloadCount": 2**53}, f"downloadCount: {COUNT}"),
    ({"downloadCount": 10**400}, f"downloadCount: {COUNT}"),
    ({"createdAt": "yesterday"}, f"createdAt: {INSTANT}"),
    ({"createdAt": "2026-01-01"}, f"createdAt: {INSTANT}"),
    ({"createdAt": "2026-01-01T00:00:00"}, f"createdAt: {INSTANT}"),
    ({"createdAt": 0}, f"createdAt: {INSTANT}"),
    ({"createdAt": "9999-12-31T23:59:59-01:00"}, "createdAt: in UTC, this is not in the years"),
    ({"versions": None}, "versions: must be a list of versions."),
    ({"versions": {}}, "versions: must be a list of versions."),
    ({"versions": [None]}, "versions[0]: must be an object."),
    ({"owner": "me"}, "owner: there is no such field."),
]
VERSION_ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"version": "1.0"}, '.version: "1.0" is not a semantic version: write three numbers, such'),
    ({"version": "v1.0.0"}, '.version: "v1.0.0" is not a semantic version: '),
    ({"version": "1.0.0\n"}, '.version: "1.0.0\\n" is not a semantic version: '),
    ({"version": ""}, '.version: "" is not a semantic version: '),
    ({"bundleUrl": "ftp://x/y.js"}, ".bundleUrl: must be an http or https address"),
    ({"bundleUrl": "https://x/a b.js"}, ".bundleUrl: must be an http or https address"),
    ({"bundleUrl": "https://x/y.js\n"}, ".bundleUrl: must be an http or https address"),
    (
        {"bundleUrl": "javascript:alert(1)//https://x"},
        ".bundleUrl: must be an http or https address",
    ),
    ({"bundleUrl": None}, ": has neither bundleUrl nor bundleFile."),
    ({"bundleFile": "clock.js"}, ": give bundleUrl or bundleFile, not both."),
    ({"bundleSize": -1}, f".bundleSize: {COUNT}"),
    ({"bundleSize": None}, ".bundleSize: is missing; it goes with bundleUrl."),
    ({"sha256Hash": None}, ".sha256Hash: is missing; it goes with bundleUrl."),
    ({"sha256Hash": "AB" * 32}, ".sha256Hash: must be 64 hexadecimal digits, in lower case."),
    ({"sha256Hash": "ab" * 31}, ".sha256Hash: must be 64 hexadecimal digits, in lower case."),
    (
        {"sha256Hash": "ab" * 32 + "\n"},
        ".sha256Hash: must be 64 hexadecimal digits, in lower case.",
    ),
    ({"publishedAt": None}, f".publishedAt: {INSTANT}"),
    ({"publishedAt": "2026-02-30T00:00:00Z"}, f".publishedAt: {INSTANT}"),
    ({"publishedAt": "0001-01-01T00:00:00+14:00"}, ".publishedAt: in UTC, this is not in the"),
    ({"yanked": "no"}, ".yanked: must be true or false."),
    ({"yankedReason": "a\0"}, ".yankedReason: contains the character U+0000; control"),
    ({"displayName": ""}, ".displayName: must be a text that is not empty."),
    ({"minSize": {"w": 0, "h": 1}}, ".minSize.w: must be a whole number from 1 to 10,000."),
    ({"minSize": {"w": 1}}, ".minSize.h: is missing."),
    ({"minSize": None}, '.minSize: must be like {"w": 2, "h": 1}.'),
    ({"maxSize": {"w": 1, "h": 10_001}}, ".maxSize.h: must be a whole number from 1 to 10,000."),
    ({"maxSize": {"w": 1, "h": 1, "d": 1}}, ".maxSize.d: there is no such field."),
    ({"sdkVersion": None}, ".sdkVersion: must be a text."),
    ({"configVersion": 1.5}, ".configVersion: must be a whole number, at most "),
    ({"configVersion": 2**60}, ".configVersion: must be a whole number, at most "),
    ({"permissions": "all"}, ".permissions: must be a list of texts."),
    ({"permissions": ["net", 1]}, ".permissions[1]: must be a list of texts."),
    ({"permissions": ["net", "a\0"]}, ".permissions[1]: contains the character U+0000; "),
    ({"manifest": "a\0"}, ".manifest: contains the character U+0000; control characters"),
    ({"cssFile": "a\0"}, ".cssFile: a\\x00 leads to no file."),
    ({"license": 3}, ".license: must be a text or null."),
    ({"cssUrl": "https://x/y.css"}, ".cssUrl: there is no such field."),
    *[
        ({"manifest": text}, ".manifest: is not a JSON object. Give --lenient to import it;")
        for text in ("[1]", '{"a": NaN}', '{"a":' + "[" * 100_000)
    ],
]
RAW_ERRORS: list[tuple[bytes, str]] = [
    (b"hello", "JSON is malformed: invalid character"),
    (b"{}", "scope: is missing."),
    (b"[]", "A line must be a JSON object."),
    (b"null", "A line must be a JSON object."),
    (b'{"scope":"a"', "Input data was truncated."),
    (json.dumps(FIRST).encode() + b"x", "JSON is malformed: trailing characters"),
    (json.dumps(FIRST).encode() * 2, "JSON is malformed: trailing characters"),
    (b"\xef\xbb\xbf" + json.dumps(FIRST).encode(), "JSON is malformed: invalid char"),
    (b'{"scope":"\xff"}', "scope: is not UTF-8."),
    (b'{"scope":"\xed\xa0\x80"}', "scope: is not UTF-8."),
    (b'{"scope":"\\ud800"}', "Input data was truncated."),
    (b'{"scope":"\\ud800 or so"}', "JSON is malformed: unexpected end of escaped"),
    (b'{"scope":"\\udc00x"}', "JSON is malformed: invalid utf-16 surrogate pair"),
    (b'{"scope":"a\0b"}', "JSON is malformed: invalid character"),
    (b'{"scope":"a\tb"}', "JSON is malformed: invalid character"),
    (b'{"downloadCount":1e400}', f"downloadCount: {COUNT}"),
    (b'{"downloadCount":NaN}', "JSON is malformed: invalid character"),
    (b'{"downloadCount":-Infinity}', "JSON is malformed: invalid character"),
    (b"[" * 200_000, "A line must be a JSON object."),
    (b'{"scope":' * 200_000, "scope: must be a text."),
    (b'{"x":' + b"[" * 200_000, "x: there is no such field."),
    (b'{"versions":[{"minSize":' + b'{"w":' * 200_000, "versions[0].minSize.w: must be a whole"),
]


def test_a_error_of_the_widget(node: Node, base_folder: Path) -> None:
    for fields, message in WIDGET_ERRORS:
        line = json.dumps(widget_line("acme/third") | fields).encode()

        assert _refused(node, base_folder, line).startswith(f"Line 4: {message}")


def test_a_error_of_a_version(node: Node, base_folder: Path) -> None:
    for fields, message in VERSION_ERRORS:
        versions = [version_line("0.1.0"), version_line() | fields]
        line = json.dumps(widget_line("acme/third", versions=versions)).encode()

        assert _refused(node, base_folder, line).startswith(f"Line 4: versions[1]{message}")


def test_a_line_that_is_no_widget_at_all(node: Node, base_folder: Path) -> None:
    for line, message in RAW_ERRORS:
        assert _refused(node, base_folder, line).startswith(f"Line 4: {message}")


def _all_errors(node: Node, base_folder: Path, line: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidImport) as refused:
        take(node, ndjson(line), base_folder)
    return [it.removeprefix("Line 1: ") for it in refused.value.errors]


def test_all_errors_of_a_line_are_reported_at_once(node: Node, base_folder: Path) -> None:
    """A value of the wrong type hides neither other errors nor unknown fields."""
    versions = [
        version_line("1.0.0", revoked={"reason": "", "at": "never"}),
        None,
        version_line("1.0.0", publishedAt="yesterday", permissions=["net", 1, 2]),
        _without(version_line(bundleFile=3, bundleUrl=None, sdkVersion=7), "version"),
        version_line("0.0.0", bundleFile="no.js", bundleUrl=None, sha256Hash="x"),
    ]
    line = widget_line("acme/third", versions=versions) | {"name": "Bad Name", "listed": 1}

    errors = _all_errors(node, base_folder, line)

    assert sorted(it.partition(": ")[0] for it in errors) == [
        "listed",
        "name",
        "versions[0].revoked.at",
        "versions[0].revoked.reason",
        "versions[1]",
        "versions[2].permissions[1]",
        "versions[2].permissions[2]",
        "versions[2].publishedAt",
        "versions[2].version",
        "versions[3].bundleFile",
        "versions[3].sdkVersion",
        "versions[3].version",
        "versions[4].bundleFile",
        "versions[4].sha256Hash",
    ]
    assert "versions[2].version: 1.0.0 is given twice." in errors


def test_every_text_that_is_too_long_is_named(node: Node, base_folder: Path) -> None:
    limits = {
        "displayName": 1_024,
        **dict.fromkeys(("description", "icon", "license", "sdkVersion"), 65_536),
        **dict.fromkeys(("yankedReason", "deprecationMessage"), 65_536),
        **dict.fromkeys(("releaseNotes", "manifest"), 1_048_576),
    }
    of_widget = {it: limits[it] for it in ("displayName", "description", "icon")}
    version = version_line(
        **{key: "x" * (most + 1) for key, most in limits.items()},
        permissions=["net", "x" * 1_025],
        bundleUrl="https://" + "x" * 65_529,
        revoked={"reason": "x" * 65_537, "at": "2026-01-31T09:05:00Z"},
    )
    texts = {key: "x" * (most + 1) for key, most in of_widget.items()}
    limits |= {"permissions[1]": 1_024, "bundleUrl": 65_536, "revoked.reason": 65_536}
    expected = of_widget | {f"versions[0].{key}": most for key, most in limits.items()}

    errors = _all_errors(node, base_folder, widget_line("acme/x", **texts, versions=[version]))

    assert sorted(errors) == sorted(
        f"{key}: is too long: at most {most:,} characters are allowed."
        for key, most in expected.items()
    )


def test_a_detail_that_would_be_too_large_is_refused(node: Node, base_folder: Path) -> None:
    """Each version has the widget's own description."""
    versions = [version_line(f"1.{i}.0") for i in range(600)]
    line = widget_line("acme/third", description="x" * 65_536, versions=versions)

    (error,) = _all_errors(node, base_folder, line)

    assert error.startswith("versions: with these 600, the detail of the widget would have 39,")
    assert error.endswith(" bytes; at most 33,554,432 are allowed.")
    take(node, ndjson({**line, "versions": versions[:300]}), base_folder)


def test_an_unknown_field_hides_nothing_and_the_one_that_is_meant_is_named(
    node: Node, base_folder: Path
) -> None:
    bidi = widget_line("acme/third", displayName="a\u202eb") | {"owner": "me"}
    line = _without(bidi, "versions") | {"versionz": []}

    errors = _all_errors(node, base_folder, line)

    assert errors[:2] == [
        "owner: there is no such field.",
        "versionz: there is no such field; did you mean versions?",
    ]
    assert errors[2].startswith("displayName: contains the character U+202E; ")
    assert len(errors) == 3
    version = _without(version_line(), "minSize") | {"min_size": {"w": 1, "h": 1}}
    assert _all_errors(node, base_folder, widget_line("acme/x", versions=[version])) == [
        "versions[0].minSize: is missing.",
        "versions[0].min_size: there is no such field; did you mean minSize?",
    ]


@pytest.mark.parametrize("key", ["scope", "name", "displayName", "createdAt"])
def test_a_widget_without_a_required_field(node: Node, base_folder: Path, key: str) -> None:
    line = json.dumps(_without(widget_line("acme/third"), key)).encode()

    message = _refused(node, base_folder, line)

    assert message == f"Line 4: {key}: is missing."


@pytest.mark.parametrize("key", ["version", "publishedAt", "minSize", "maxSize", "sdkVersion"])
def test_a_version_without_a_required_field(node: Node, base_folder: Path, key: str) -> None:
    versions = [_without(version_line(), key)]
    line = json.dumps(widget_line("acme/third", versions=versions)).encode()

    message = _refused(node, base_folder, line)

    assert message == f"Line 4: versions[0].{key}: is missing."


@pytest.mark.parametrize("again", ["1.0.0", "1.0.0+build"])
def test_a_version_that_is_given_twice_in_a_line(node: Node, base_folder: Path, again: str) -> None:
    versions = [version_line("1.0.0"), version_line("2.0.0"), version_line(again)]
    line = json.dumps(widget_line("acme/third", versions=versions)).encode()

    message = _refused(node, base_folder, line)

    assert message == f"Line 4: versions[2].version: {again} is given twice."


@pytest.mark.parametrize("key", ["acme/first", "there/before"])
def test_a_published_version_with_another_hash(node: Node, base_folder: Path, key: str) -> None:
    """In an earlier line of the same file, or already in the catalog."""
    line = json.dumps(widget_line(key, versions=[version_line(sha256Hash="ab" * 32)])).encode()

    assert _refused(node, base_folder, line) == (
        f"Line 4: sha256Hash: {key} 1.0.0 is already published with another hash "
        f"({version_line()['sha256Hash']}); a published version never changes."
    )


def test_a_error_after_many_lines_takes_all_of_them_back(node: Node, base_folder: Path) -> None:
    before = state_of(node)
    content = ndjson(*(widget_line(f"many/w{i}", downloadCount=i) for i in range(1200)))

    with pytest.raises(InvalidImport, match=r"^Line 1201: JSON is malformed"):
        take(node, content + b"nonsense\n", base_folder)

    assert state_of(node) == before
    assert not any(node.counts.slots[i] for i in range(1, 1300))

"""Manifests: every rule, all errors at once, and no internal errors for any input."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.manifests import FULL, LEAST, errors_of
from widget_contract.errors import InvalidManifest
from widget_contract.manifest_texts import clean_manifest
from widget_contract.manifests import Manifest, parse_manifest
from widget_contract.semver import SemVer
from widget_contract.texts import joined_lines
from widget_contract.wire import Size

SIZE_RULE = 'must be like {"w": 2, "h": 1}, in whole cells from 1 to 100.'
MISSING = "is missing."
TEXT = "must be a text."
EMPTY = "must not be empty."
FILE_RULE = "must be a file below the manifest's folder, such as index.js."
ICON_RULE = "must be an Iconify name, such as mdi:clock."
NUMBER_RULE = "must be a whole number, 0 or more."
LIST_RULE = "must be a list of at most 50 permissions."

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
SOME = st.fixed_dictionaries(
    {},
    optional={
        key: st.just(value) | JSON | st.sampled_from([None, "", "*", "x", 0, [], {}])
        for key, value in FULL.items()
    },
)


def read_or_refused(text: str, request: Any = None) -> Manifest | InvalidManifest:
    try:
        return parse_manifest(text, request)
    except InvalidManifest as refused:
        return refused


def test_everything_that_is_said_is_read() -> None:
    text = json.dumps(FULL | {"x": [1, {"y": None}]})

    assert parse_manifest(text) == Manifest(
        text=text,
        name="clock",  # type: ignore[arg-type]
        version=SemVer.parse("1.0.0"),
        display_name="Clock",
        min_size=Size(1, 1),
        max_size=Size(4, 2),
        sdk_version="^1.0.0",
        scope="ann",  # type: ignore[arg-type]
        description="The time.",
        icon="mdi:clock-outline",
        permissions=("network", "storage:read"),
        license="MIT",
        release_notes="# New\n\n\t- all",
        config_version=3,
        main="dist/index.js",
        style="dist/a b.css",
    )


def test_six_keys_are_enough_and_null_is_as_good_as_nothing() -> None:
    least = parse_manifest(json.dumps(LEAST))
    nothing = {key: None for key in FULL if key not in LEAST}

    assert (least.scope, least.description, least.icon, least.permissions) == (None, None, None, ())
    assert (least.license, least.release_notes, least.config_version) == (None, None, None)
    assert (least.main, least.style) == ("index.js", None)
    again = parse_manifest(json.dumps(LEAST | nothing))
    assert msgspec.structs.replace(again, text=least.text) == least


def test_all_that_is_missing_is_reported_at_once() -> None:
    assert errors_of({}) == [
        f"{key}: {MISSING}"
        for key in ("name", "version", "displayName", "minSize", "maxSize", "sdkVersion")
    ]
    with pytest.raises(InvalidManifest) as raised:
        parse_manifest('{"name": "clock"}')
    assert str(raised.value).startswith("(1) version: is missing. (2) displayName: is missing. ")


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("name", "Clock", "'Clock' is not a widget name: "),
        ("name", "", "'' is not a widget name: "),
        ("name", "a" * 65, f"'{'a' * 65}' is not a widget name: "),
        ("name", "a/b", "'a/b' is not a widget name: "),
        ("name", "clock\n", "'clock\\n' is not a widget name: "),
        ("name", 1, TEXT),
        ("name", ["clock"], TEXT),
        ("scope", "@ann", "'@ann' is not a scope: "),
        ("scope", {}, TEXT),
        ("version", "1.0", '"1.0" is not a semantic version: '),
        ("version", "v1.0.0", '"v1.0.0" is not a semantic version: '),
        ("version", "1.0.0-01", '"1.0.0-01" is not a semantic version: '),
        ("version", "1.0.0-" + "a" * 300, '"1.0.0-aaa'),
        ("version", 1.0, TEXT),
        ("displayName", "", EMPTY),
        ("displayName", "\u200b\u200b", EMPTY),
        ("displayName", "\u3164", EMPTY),
        ("displayName", "x" * 101, "is too long: 101 characters, and at most 100 are taken."),
        ("displayName", "a\nb", "contains the character U+000A; "),
        ("displayName", "a\u202eb", "contains the character U+202E; "),
        ("displayName", "Clo\u200bck", "contains the character U+200B; "),
        ("displayName", "Clock\U000e0041", "contains the character U+E0041; "),
        ("displayName", True, TEXT),
        ("description", "x" * 1001, "is too long: 1,001 characters, and at most 1,000 are taken."),
        ("description", " ", EMPTY),
        ("description", [], TEXT),
        ("icon", "clock", ICON_RULE),
        ("icon", "mdi:Clock", ICON_RULE),
        ("icon", "mdi:clock\n", ICON_RULE),
        ("icon", "mdi:" + "a" * 200, ICON_RULE),
        ("icon", "javascript:alert(1)", ICON_RULE),
        ("icon", " ", ICON_RULE),
        ("icon", 1, TEXT),
        ("minSize", {"w": 0, "h": 1}, SIZE_RULE),
        ("minSize", {"w": 1}, SIZE_RULE),
        ("minSize", {"w": True, "h": True}, SIZE_RULE),
        ("minSize", {"w": 1.0, "h": 1.0}, SIZE_RULE),
        ("minSize", {"w": "1", "h": "1"}, SIZE_RULE),
        ("minSize", [1, 1], SIZE_RULE),
        ("minSize", {"w": 5, "h": 1}, "must not be larger than maxSize."),
        ("minSize", {"w": 1, "h": 3}, "must not be larger than maxSize."),
        ("maxSize", {"w": 101, "h": 2}, SIZE_RULE),
        ("maxSize", {"w": 10**400, "h": 2}, SIZE_RULE),
        ("maxSize", "4x2", SIZE_RULE),
        ("sdkVersion", "*", "must name the SDK it was made for, such as ^2.0.0, not any."),
        ("sdkVersion", "", "must name the SDK it was made for, such as ^2.0.0, not any."),
        ("sdkVersion", ">=0.0.0-0", "must name the SDK it was made for, such as ^2.0.0, not any."),
        ("sdkVersion", "^1 || *", "must name the SDK it was made for, such as ^2.0.0, not any."),
        ("sdkVersion", "latest", '"latest" is not a version range: '),
        ("sdkVersion", "^1.0.0 " * 200, '"^1.0.0 ^1.0.0'),
        ("sdkVersion", 2, TEXT),
        ("permissions", "network", LIST_RULE),
        ("permissions", {"network": True}, LIST_RULE),
        ("permissions", [f"p{i}" for i in range(51)], LIST_RULE),
        ("permissions", ["network", 1], "1 is not a permission, such as storage or network:"),
        ("permissions", ["Net"], "'Net' is not a permission, such as storage or network:"),
        ("permissions", ["x" * 101], f"'{'x' * 79}… is not a permission, such as storage"),
        ("permissions", [["a"]], "['a'] is not a permission, such as storage or network:"),
        ("permissions", [{}, {}], "{} is not a permission, such as storage or network:"),
        ("permissions", ["a", "b", "a"], "names a permission twice."),
        ("license", "x" * 201, "is too long: 201 characters, and at most 200 are taken."),
        ("license", 1, TEXT),
        ("releaseNotes", "x" * 20_001, "is too long: 20,001 characters, and at most 20,000 are"),
        ("releaseNotes", "a\x1b[2Jb", "contains the character U+001B; "),
        ("releaseNotes", ["x"], TEXT),
        ("configVersion", -1, NUMBER_RULE),
        ("configVersion", 2**53, NUMBER_RULE),
        ("configVersion", 1.0, NUMBER_RULE),
        ("configVersion", True, NUMBER_RULE),
        ("configVersion", "1", NUMBER_RULE),
        ("main", "/etc/passwd", FILE_RULE),
        ("main", "../index.js", FILE_RULE),
        ("main", "a/../../b.js", FILE_RULE),
        ("main", "./index.js", FILE_RULE),
        ("main", "a//b.js", FILE_RULE),
        ("main", "a\\b.js", FILE_RULE),
        ("main", "a\0.js", FILE_RULE),
        ("main", "", FILE_RULE),
        ("style", "..", FILE_RULE),
        ("style", 1, TEXT),
    ],
)  # fmt: skip
def test_every_rule_is_reported_when_it_is_broken(key: str, value: Any, error: str) -> None:
    errors = errors_of(FULL | {key: value})

    assert errors[0].startswith(f"{key}: {error}")
    assert len({it.partition(":")[0] for it in errors}) == 1
    assert all(len(it) < 300 for it in errors)


def test_what_is_no_manifest_at_all_is_reported() -> None:
    cases = [
        ("", "the manifest is not JSON: look at line 1, column 1."),
        ("{", "the manifest is not JSON: look at line 1, column 2."),
        ("{'a': 1}", "the manifest is not JSON: look at line 1, column 2."),
        (
            '{"a": NaN}',
            "the manifest is not JSON: it holds a number or a character that cannot be read.",
        ),
        ('{"a": 1,}', "the manifest is not JSON: look at line 1, column "),
        ('{\n  "a": 1\n  "b": 2\n}', "the manifest is not JSON: look at line 3, column 3."),
        (
            '{"a": "\\ud800"}',
            "the manifest is not JSON: it holds a number or a character that cannot be read.",
        ),
        ("{} {}", "the manifest is not JSON: look at line 1, column 4."),
        ("\ufeff{}", "the manifest is not JSON: look at line 1, column 1."),
        ('{"a": "\0"}', "the manifest is not JSON: look at line 1, column 8."),
        (
            '{"a": ' + "9" * 5000 + "}",
            "the manifest is not JSON: it holds a number or a character that cannot be read.",
        ),
        ("null", "the manifest must be a JSON object."),
        ("[]", "the manifest must be a JSON object."),
        ('"clock"', "the manifest must be a JSON object."),
        ('{"a": "\ud800"}', "the manifest is not proper Unicode text."),
        ("[" * 5_000 + "]" * 5_000, "the manifest is nested too deeply."),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "the manifest is nested too deeply."),
        (" " * 65_537, "the manifest has 65,537 bytes; at most 65,536 are allowed."),
        ("é" * 5_000_000, "the manifest has 10,000,000 bytes; at most 65,536 are allowed."),
    ]
    for text, error in cases:
        with pytest.raises(InvalidManifest) as raised:
            parse_manifest(text)

        assert len(raised.value.errors) == 1
        assert raised.value.errors[0].startswith(error)
        raised.value.message.encode()


def test_a_manifest_of_the_largest_size_is_read() -> None:
    text = json.dumps(LEAST)
    padded = text[:-1] + " " * (65_536 - len(text)) + "}"

    assert parse_manifest(padded).text == padded


def test_what_nests_deeply_but_is_not_looked_at_is_kept() -> None:
    text = json.dumps(LEAST)[:-1] + ', "x": ' + "[" * 500 + "]" * 500 + "}"

    assert parse_manifest(text).text == text


def test_what_people_see_in_one_line_deceives_nobody() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"schema": {"title": "a{}"}}, "schema.title"),
        ({"schema": {"properties": {"x": {"label": "a{}"}}}}, "schema.properties.x.label"),
        ({"author": {"name": "a{}"}}, "author.name"),
        ({"x{}": 1}, "x"),
        ({"defaultConfig": {"deep": [{"y{}": 1}]}}, "defaultConfig.deep[0].y"),
    ]
    for char in "\u202e\u200f\u200b\u2060\U000e0041\x1b":
        for said, place in cases:
            text = json.dumps({**LEAST, **said}).replace("{}", json.dumps(char)[1:-1])

            (error,) = errors_of(json.loads(text))

            assert error.startswith(place)
            assert f": contains the character U+{ord(char):04X}; " in error
            cleaned = clean_manifest(text)
            assert cleaned != text
            assert parse_manifest(cleaned).name == LEAST["name"]
            assert clean_manifest(cleaned) == cleaned


def test_what_is_data_or_has_many_lines_is_kept_in_any_language() -> None:
    said = {
        "readme": "שלום\u200f!\nx",
        "defaultConfig": {"title": "שלום\u200f", "label": "a\u200bb"},
        "schema": {"properties": {"x": {"default": "\u200f", "description": "Two\nlines.\tx"}}},
        "examples": [{"name": "a\u202e"}],
        "greeting": "\u200f",
    }
    text = json.dumps({**LEAST, **said})

    assert parse_manifest(text).text == text
    assert clean_manifest(text) == text
    assert errors_of({**LEAST, "schema": {"description": "\u202e"}})


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    """As in every parser that a dashboard might use."""
    text = json.dumps(LEAST)[:-1] + ', "version": "2.0.0"}'

    assert parse_manifest(text).version.text == "2.0.0"


@pytest.mark.parametrize(
    ("text", "read"),
    [("One.\n\nTwo.\n", "One. Two."), ("\r\n One. \n", "One."), ("\n\n", None), (" \n ", None)],
)
def test_line_breaks_leave_no_blanks_behind(text: str, read: str | None) -> None:
    assert parse_manifest(json.dumps(LEAST | {"description": text})).description == read
    request = {"scope": "ann", "description": text}
    assert parse_manifest(json.dumps(LEAST), request).description == read


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\v", "\f"])
def test_line_breaks_in_a_description_become_spaces(line_break: str) -> None:
    said = json.dumps(LEAST | {"description": f"The{line_break}time."})

    assert parse_manifest(said).description == "The time."
    assert parse_manifest(said, {"scope": "ann"}).description == "The time."
    assert parse_manifest(said).text == said
    request = {"scope": "ann", "description": f"a{line_break}b"}
    assert parse_manifest(said, request).description == "a b"


@pytest.mark.slow
@given(SOME, st.none() | SOME)
def test_any_value_anywhere_is_read_or_refused(said: Any, request: Any) -> None:
    try:
        text = msgspec.json.encode(said).decode()
    except UnicodeEncodeError:
        text = json.dumps(said)
    read = read_or_refused(text, request)
    if isinstance(read, Manifest):
        assert parse_manifest(read.text, request) == read
    else:
        assert read.errors
        assert all(it.endswith((".", "…")) for it in read.errors)
        read.message.encode()


@given(
    st.fixed_dictionaries(
        {
            **{key: st.just(value) for key, value in LEAST.items()},
            "displayName": st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1),
            "minSize": st.builds(lambda w, h: {"w": w, "h": h}, st.integers(1, 4), st.just(2)),
        },
        optional={
            "description": st.text(max_size=1000),
            "license": st.text(max_size=200),
            "releaseNotes": st.text(max_size=2000),
            "configVersion": st.integers(0, 2**53 - 1),
            "permissions": st.lists(st.from_regex(r"\A[a-z0-9][a-z:]{0,9}\Z"), unique=True),
        },
    )
)
def test_what_is_accepted_is_what_was_said_and_survives_being_read_again(said: Any) -> None:
    read = read_or_refused(json.dumps(said))
    if isinstance(read, InvalidManifest):
        return
    assert parse_manifest(read.text) == read
    shown = {
        "displayName": read.display_name,
        "description": read.description,
        "license": read.license,
        "releaseNotes": read.release_notes,
        "configVersion": read.config_version,
        "permissions": list(read.permissions),
        "minSize": {"w": read.min_size.w, "h": read.min_size.h},
    }
    expected: dict[str, Any] = {
        key: said[key] if said[key] != "" else None for key in said if key in shown
    }
    if expected.get("description"):
        expected["description"] = joined_lines(expected["description"]) or None
    assert {key: shown[key] for key in expected} == expected
    for text in (read.display_name, read.description, read.license, read.release_notes):
        (text or "").encode()


def test_errors_are_numbered_when_there_are_several() -> None:
    assert str(InvalidManifest(["name: is missing."])) == "name: is missing."
    several = InvalidManifest(["name: is missing.", "icon: must be a text."])
    assert str(several) == "(1) name: is missing. (2) icon: must be a text."

"""The JSON Schema of manifests agrees with `parse_manifest`, according to a real validator."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from contract.manifests import FULL, LEAST
from contract.test_vectors import MANIFESTS
from widget_contract.errors import InvalidManifest
from widget_contract.manifest_schema import NOT_EXPRESSED, manifest_schema, printed
from widget_contract.manifests import Manifest, parse_manifest

SCHEMA = manifest_schema()
VALIDATOR = jsonschema_rs.Draft7Validator(SCHEMA)
COPY = Path(__file__).parents[2] / "clients" / "js" / "widget.schema.json"
# Vectors with errors that the schema cannot express, and the rule.
NOT_SEEN = {
    "the smallest size is larger than the largest": "minSize must not be larger than maxSize.",
    "an invisible character in a name": NOT_EXPRESSED[6],
    "too many entities and services": NOT_EXPRESSED[5],
    "version and SDK must agree": "It is about the request, not the manifest.",
    "the request needs a scope": "It is about the request, not the manifest.",
}
# Its manifest alone is not one for the tool: the request has the slug.
NAMED_FOR_PEOPLE = "a name for people fills in the display name"

VALUES: list[Any] = [
    None,
    True,
    0,
    1,
    -1,
    1.5,
    3,
    2**53 - 1,
    2**53,
    10**400,
    "",
    " ",
    "x",
    "clock",
    "Clock",
    "-clock",
    "x" * 64,
    "x" * 65,
    "x" * 100,
    "x" * 101,
    "x" * 200,
    "x" * 201,
    "x" * 1_000,
    "x" * 1_001,
    "x" * 20_000,
    "x" * 20_001,
    "1.0.0",
    "v1.0.0",
    "1.0",
    "1.0.0-beta.1+x",
    "01.0.0",
    "^1.0.0",
    "*",
    ">=1",
    "latest",
    "mdi:clock",
    "mdi:",
    "lucide:sun-dim",
    "a.js",
    "dist/a.js",
    "../a.js",
    "./a.js",
    "/a.js",
    "a\\b.js",
    "a//b",
    "MIT",
    "https://clock.example",
    "http://clock.example",
    "https://a b",
    "https://user@clock.example",
    "git+https://git.example/x",
    {"type": "git", "url": "git+https://g.example"},
    {"url": "ftp://x"},
    {"name": "Ann"},
    {"name": "Ann", "url": "https://ann.example"},
    {"name": "Ann", "url": "nowhere"},
    {"name": 1},
    {"w": 1, "h": 1},
    {"w": 100, "h": 100},
    {"w": 0, "h": 1},
    {"w": 101, "h": 1},
    {"w": 1},
    {"w": "1", "h": 1},
    {},
    [],
    ["network"],
    ["network", "network"],
    ["Network"],
    ["clock"],
    ["a"],
    [1],
    [None],
    [f"p{it}" for it in range(10)],
    [f"p{it}" for it in range(11)],
    [f"p{it}" for it in range(50)],
    [f"p{it}" for it in range(51)],
    [{"domain": "lock", "access": "read"}],
    [{"domain": "lock", "access": "write"}],
    [{"domain": "Lock"}],
    [{"domain": "lock", "access": "control", "entities": ["lock.front_*"], "services": None}],
    [{"domain": "lock", "access": "control", "entities": []}],
    [{"domain": "lock", "access": "control", "entities": ["lock.*****"]}],
    [{"domain": "lock", "access": "control", "services": ["un lock"]}],
    [{"domain": "x" * 64, "access": "read"}],
    [{"domain": "x" * 65, "access": "read"}],
]
# What the schema accepts although the manifest is refused: by its key, the beginning of the error.
EXCEPTIONS = {
    "displayName": ["must not be empty."],
    "license": ["must not be empty."],
    "description": ["must not be empty."],
    "author": ["must not be empty."],
    "minSize": ["must not be larger"],
    "sdkVersion": ['"', "must name the SDK"],
}
# Keys of hosts, which the catalog stores as they are.
OF_HOSTS = {"$schema", "configSchema", "schema", "defaultConfig", "defaultSize", "isOfficial"}


def test_the_schema_is_one() -> None:
    assert jsonschema_rs.meta.is_valid(SCHEMA)
    described = [it for it in SCHEMA["properties"].values() if it.get("description")]
    assert len(described) == len(SCHEMA["properties"])


def test_it_has_every_key() -> None:
    fields = {it.encode_name for it in msgspec.structs.fields(Manifest)}
    assert set(SCHEMA["properties"]) - OF_HOSTS - {"capabilities"} == fields - {"text"}


@pytest.mark.parametrize("case", MANIFESTS, ids=lambda it: str(it["about"]))
def test_it_agrees_with_the_vectors(case: dict[str, Any]) -> None:
    try:
        stated = json.loads(case["manifest"])
    except ValueError:
        assert "faults" in case  # An editor reports what is not JSON without a schema.
        return
    if isinstance(stated, dict):
        stated |= case["request"] or {}
    if case["about"] == NAMED_FOR_PEOPLE:
        stated["displayName"] = json.loads(case["manifest"])["name"]
    accepts = VALIDATOR.is_valid(stated)
    assert accepts is ("values" in case or case["about"] in NOT_SEEN)


def test_it_accepts_the_values_that_a_manifest_may_have() -> None:
    for key in sorted(set(SCHEMA["properties"]) - OF_HOSTS):
        for around in [LEAST, FULL]:
            for value in VALUES:
                stated = {**around, key: value}
                errors = errors_in(stated)
                accepts = VALIDATOR.is_valid(stated)
                if not errors:
                    assert accepts, (key, value, next(VALIDATOR.iter_errors(stated)).message)
                elif accepts:
                    rules = EXCEPTIONS.get(key, [])
                    told = [it.partition(": ")[2] for it in errors]
                    assert any(it.startswith(rule) for it in told for rule in rules), (
                        key,
                        value,
                        errors,
                    )


@pytest.mark.parametrize("key", LEAST)
def test_what_is_required_must_be_there(key: str) -> None:
    assert not VALIDATOR.is_valid({it: value for it, value in LEAST.items() if it != key})


def errors_in(stated: dict[str, Any]) -> list[str]:
    try:
        parse_manifest(json.dumps(stated))
    except InvalidManifest as error:
        return error.errors
    return []


def test_the_copy_in_the_javascript_package_is_current() -> None:
    command = "./dev run python -m widget_contract.manifest_schema clients/js/widget.schema.json"
    assert COPY.read_text(encoding="utf-8") == printed(), f"Run: {command}"

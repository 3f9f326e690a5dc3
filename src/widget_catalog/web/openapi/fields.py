"""Small functions that make JSON Schemas: one a kind of field, its rules in one place."""

from typing import Any

Schema = dict[str, Any]

NAME = r"^[a-z0-9][a-z0-9-]*$"
NAME_MAX_LENGTH = 64

# Semantic Versioning 2.0.0, strict: no leading `v`, no missing part, no leading zero.
_IDENTIFIER = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = r"[0-9a-zA-Z-]+"
_SUFFIXES = rf"(?:-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?(?:\+{_BUILD}(?:\.{_BUILD})*)?"
_NUMBERS = r"(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)"
SEMVER = f"^{_NUMBERS}{_SUFFIXES}$"
# The same, with numbers of at most 15 digits: all of those are below the largest one taken.
COMPAT_SDK = f"^{_NUMBERS.replace('*', '{0,14}')}{_SUFFIXES}$"
SEMVER_MAX_LENGTH = 256

_TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def exact(about: str, properties: dict[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    """An object that has these properties and no others."""
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def field(about: str, example: object, **rules: object) -> Schema:
    return {**rules, "description": about, "examples": [example]}


def text(about: str, example: str, **rules: object) -> Schema:
    return field(about, example, type="string", **rules)


def count(about: str, example: int, minimum: int = 0) -> Schema:
    return field(about, example, type="integer", minimum=minimum)


def name(about: str, example: str) -> Schema:
    return text(about, example, pattern=NAME, maxLength=NAME_MAX_LENGTH)


def version(about: str, example: str = "2.0.0") -> Schema:
    return text(about, example, pattern=SEMVER, maxLength=SEMVER_MAX_LENGTH)


def timestamp(about: str) -> Schema:
    """The document says once for all of them: ISO 8601 in UTC, with milliseconds."""
    return text(about, "2026-02-09T09:15:00.000Z", format="date-time", pattern=_TIMESTAMP)


def list_of(name: str, about: str) -> Schema:
    return {"type": "array", "items": ref(name), "description": about}


def nullable(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}

"""The JSON Schema of `widget.json`, for editors and other tools, from the rules of the contract.

`python -m widget_contract.manifest_schema FILE …` writes the committed copies. It is draft 7, which
every editor supports. A valid manifest conforms to it (line breaks in a description count, here);
what it cannot express is in `NOT_EXPRESSED`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from .capabilities import MAX_CAPABILITIES
from .described import (
    DOMAIN,
    DOMAIN_MAX_LENGTH,
    ENTITY,
    FILE,
    HTTPS_ADDRESS,
    ICON,
    KEYWORD,
    NAME,
    NAME_MAX_LENGTH,
    PERMISSION,
    SEMVER,
    SEMVER_MAX_LENGTH,
    SERVICE,
)
from .manifest_details import MAX_AUTHOR, MAX_DESCRIPTION, MAX_DISPLAY_NAME, DeclaredDetails
from .manifests import (
    DEFAULT_MAIN,
    MAX_CELLS,
    MAX_LICENSE,
    MAX_MATCHED,
    MAX_PERMISSIONS,
    MAX_RELEASE_NOTES,
    SAFE_INTEGER,
)
from .version_files import MAX_README_BYTES

PATH = "/schema/widget.json"
"""Where catalogs serve it."""

NOT_EXPRESSED = (
    "minSize must not be larger than maxSize.",
    "sdkVersion must be a range in npm's syntax, and not admit every SDK.",
    "The numbers of a version must be below 2^53.",
    "Whole numbers must be written as such: 1.0 is refused.",
    "Limits in bytes: of the readme, and of the rest of the manifest.",
    "At most 128 entities and services in all capabilities.",
    "No control, invisible or direction characters in keys and in texts of one line.",
    "A text that must not be empty must have a visible character.",
    "An https address must have a valid host and port.",
)
"""Rules of `parse_manifest` that the schema does not check."""

Schema = dict[str, Any]

_PERMISSIONS = (
    *("camera", "clipboard", "clipboard-read", "clipboard-write", "fullscreen", "geolocation"),
    *("microphone", "network", "notifications", "settings", "storage", "user"),
)
_LICENSES = (
    *("MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "GPL-3.0-or-later", "ISC"),
    *("LGPL-3.0-or-later", "MPL-2.0", "Unlicense", "UNLICENSED"),
)
_EMPTY = {"const": ""}
# As in package.json.
_GIT_ADDRESS = {"type": "string", "pattern": HTTPS_ADDRESS.replace("^", "^git[+]", 1)}
_REPOSITORY = {
    "type": "object",
    "properties": {
        "type": {"enum": ["git"]},
        "url": {"anyOf": [_GIT_ADDRESS, {"type": "string", "pattern": HTTPS_ADDRESS}]},
    },
}


def manifest_schema() -> Schema:
    required = ["name", "version", "displayName", "minSize", "maxSize", "sdkVersion"]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Widget manifest",
        "description": "The manifest of a dashboard widget, widget.json. Other keys are kept.",
        "type": "object",
        "required": required,
        "properties": {
            key: value if key in required or key == "$schema" else _optional(value)
            for key, value in {**_properties(), **_details()}.items()
        },
    }


def _optional(schema: Schema) -> Schema:
    """null means absent."""
    if "type" in schema:
        return {**schema, "type": [*_listed(schema["type"]), "null"]}
    return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}


def _listed(types: str | list[str]) -> list[str]:
    return [types] if isinstance(types, str) else [it for it in types if it != "null"]


def _properties() -> Schema:
    return {
        "$schema": {"type": "string", "description": f"URL of this schema: {PATH} of a catalog."},
        "name": _text(
            "The widget's name inside its scope, part of its URLs.", NAME_MAX_LENGTH, NAME
        ),
        "scope": _text(
            "Where it is published: your username, or an organization. Default: your only one, "
            "or your personal one.",
            NAME_MAX_LENGTH,
            NAME,
        ),
        "version": _text("Semantic version, such as 1.2.0.", SEMVER_MAX_LENGTH, SEMVER),
        "displayName": _text("The name shown to people.", MAX_DISPLAY_NAME, r"\S"),
        "description": _text("What the widget shows, in one or two sentences.", MAX_DESCRIPTION),
        "icon": {
            "description": "An Iconify name, such as mdi:clock-outline.",
            "anyOf": [{"type": "string", "pattern": ICON, "maxLength": MAX_MATCHED}, _EMPTY],
            "examples": ["mdi:clock-outline", "lucide:sun"],
        },
        "minSize": _size("The smallest size on the dashboard's grid, in cells."),
        "maxSize": _size("The largest size on the dashboard's grid, in cells."),
        "defaultSize": _size("The initial size, between minSize and maxSize."),
        "sdkVersion": {
            **_text("The SDKs it supports, as an npm range; not every SDK.", None, "[0-9]"),
            "examples": ["^2.0.0", ">=1.2 <3"],
        },
        "permissions": {
            "type": "array",
            "description": "What the dashboard must grant. Ask for as little as possible: "
            "network:api.example, or network:*.example, rather than network.",
            "maxItems": MAX_PERMISSIONS,
            "uniqueItems": True,
            "items": {"anyOf": [{"enum": _PERMISSIONS}, {"type": "string", "pattern": PERMISSION}]},
        },
        "capabilities": {
            "type": "array",
            "description": "Access to things such as cameras, lights or locks.",
            "maxItems": MAX_CAPABILITIES,
            "items": _capability(),
        },
        "license": {
            "description": "Preferably an SPDX identifier.",
            "anyOf": [{"enum": _LICENSES}, {"type": "string", "maxLength": MAX_LICENSE}],
        },
        "releaseNotes": _text(
            "What is new in this version, in Markdown. Better: its section in CHANGELOG.md.",
            MAX_RELEASE_NOTES,
        ),
        "configVersion": {
            "type": "integer",
            "description": "Increase it when the format of the widget's settings changes.",
            "minimum": 0,
            "maximum": SAFE_INTEGER,
        },
        "configSchema": {
            "type": "object",
            "description": "JSON Schema of the settings, for a form in hosts and previews.",
        },
        "schema": {
            "type": "object",
            "description": "What manifests of other tools call configSchema.",
        },
        "isOfficial": {
            "type": "boolean",
            "description": "Kept, but without effect: only the operator makes a widget official.",
        },
        "defaultConfig": {"type": "object", "description": "The initial settings."},
        "main": {
            **_text("The module, a file in this folder or below.", MAX_MATCHED, FILE),
            "default": DEFAULT_MAIN,
        },
        "style": _text("The style sheet, a file in this folder or below.", MAX_MATCHED, FILE),
    }


def _details() -> Schema:
    """The fields of `DeclaredDetails`, and what the parsers of some accept in addition."""
    (reference,), components = msgspec.json.schema_components(
        [DeclaredDetails], ref_template="{name}"
    )
    declared = components[reference["$ref"]]["properties"]
    found = {key: _detail(schema) for key, schema in declared.items()}
    author = components["Author"]
    author["properties"]["url"] = _optional(_or_nothing(author["properties"]["url"]))
    found["keywords"] |= {"uniqueItems": True, "items": {"type": "string", "pattern": KEYWORD}}
    found["readme"]["maxLength"] = MAX_README_BYTES
    found["repository"]["anyOf"] += [_GIT_ADDRESS, _REPOSITORY]
    del found["author"]["type"]
    found["author"]["anyOf"] = [{"type": "string", "maxLength": MAX_AUTHOR}, author]
    found["translations"]["additionalProperties"] = {
        "type": "object",
        "description": "The texts in this language.",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": components["Translation"]["properties"],
    }
    return found


def _detail(schema: Schema) -> Schema:
    """A declared field without its default; a text with a rule may be empty, which means absent."""
    kind, *_ = schema.pop("anyOf", [{}])
    schema = {**schema, **kind}
    del schema["default"]
    return _or_nothing(schema) if "pattern" in schema else schema


def _or_nothing(schema: Schema) -> Schema:
    """A text with a rule, or "", which means absent."""
    rules = {key: schema.pop(key) for key in ("type", "pattern", "maxLength") if key in schema}
    return {**schema, "anyOf": [rules, _EMPTY]}


def _text(about: str, max_length: int | None, pattern: str | None = None) -> Schema:
    rules = {"pattern": pattern, "maxLength": max_length}
    used = {key: value for key, value in rules.items() if value is not None}
    return {"type": "string", "description": about, **used}


def _size(about: str) -> Schema:
    cells = {"type": "integer", "minimum": 1, "maximum": MAX_CELLS}
    return {
        "type": "object",
        "description": about,
        "required": ["w", "h"],
        "properties": {
            "w": {**cells, "description": "Columns."},
            "h": {**cells, "description": "Rows."},
        },
        "examples": [{"w": 2, "h": 1}],
    }


def _capability() -> Schema:
    def narrowed(about: str, pattern: str) -> Schema:
        items = {"type": "string", "pattern": pattern}
        return _optional({"type": "array", "description": about, "minItems": 1, "items": items})

    return {
        "type": "object",
        "required": ["domain", "access"],
        "properties": {
            "domain": _text("The kind of thing, such as lock.", DOMAIN_MAX_LENGTH, DOMAIN),
            "access": {
                "enum": ["read", "control"],
                "description": "read: to see its state; control: also to change it.",
            },
            "entities": narrowed("Only these entities, such as lock.front_*.", ENTITY),
            "services": narrowed("Only these services, such as unlock.", SERVICE),
        },
    }


def printed() -> str:
    return json.dumps(manifest_schema(), indent=2) + "\n"


if __name__ == "__main__":
    for file in sys.argv[1:]:
        Path(file).write_text(printed(), encoding="utf-8")

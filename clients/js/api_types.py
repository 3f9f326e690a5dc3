"""The public API's schemas as TypeScript, for the JavaScript client.

`./dev run python clients/js/api_types.py > clients/js/api.d.ts` writes the committed copy.
"""

import re
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

from widget_catalog.catalog.api.openapi import openapi
from widget_contract.version_files import WIDGETS

_HEADER = """\
// Types of the public API. Generated from its OpenAPI document; do not edit.
// ./dev run python clients/js/api_types.py > clients/js/api.d.ts
"""
_REFERENCE = "#/components/schemas/"
_WIDTH = 96
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def typescript(document: dict[str, Any]) -> str:
    """Every schema of an operation under `/api/v1/widgets/`, and the parameters of search."""
    schemas = document["components"]["schemas"]
    paths = {path: item for path, item in document["paths"].items() if path.startswith(WIDGETS)}
    operations = [it for item in paths.values() for key, it in item.items() if key != "parameters"]
    wanted = _needed([_exchanged(it) for it in operations], document)
    blocks = [_query_interface("SearchQuery", paths[f"{WIDGETS}search"]["get"], document)]
    blocks += [_interface(name, schemas[name]) for name in schemas if name in wanted]
    return "\n".join([_HEADER, *blocks])


def _exchanged(operation: dict[str, Any]) -> list[Any]:
    """The bodies of requests and successful responses; errors are classes of the client."""
    responses = operation["responses"].items()
    return [operation.get("requestBody"), *(it for status, it in responses if status < "300")]


def _needed(schema: Any, document: dict[str, Any]) -> set[str]:
    """The names of the schemas that this refers to, directly or not."""
    found: set[str] = set()
    waiting = list(_references(schema))
    while waiting:
        reference = waiting.pop()
        if reference in found:
            continue
        found.add(reference)
        target: Any = document
        for step in reference.split("/")[1:]:
            target = target[step]
        waiting += _references(target)
    return {it.removeprefix(_REFERENCE) for it in found if it.startswith(_REFERENCE)}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(value.get("$ref"), str):
        yield value["$ref"]
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _references(part)


def _query_interface(name: str, operation: dict[str, Any], document: dict[str, Any]) -> str:
    """The parameters of an operation, all of them optional."""
    parameters = document["components"]["parameters"]
    properties = {}
    for reference in operation["parameters"]:
        parameter = parameters[reference["$ref"].rpartition("/")[2]]
        schema = parameter["schema"] | {"description": parameter["description"]}
        properties[parameter["name"]] = schema
    about = "What to search for; `Catalog.search` takes it."
    return _interface(name, {"description": about, "properties": properties})


def _interface(name: str, schema: dict[str, Any]) -> str:
    return f"{_comment(schema.get('description'))}export interface {name} {_members(schema, '')}\n"


def _members(schema: dict[str, Any], indent: str) -> str:
    required = schema.get("required", [])
    inner = indent + "  "
    lines = []
    for key, value in schema.get("properties", {}).items():
        name = key if re.fullmatch(r"\w+", key) else f'"{key}"'
        mark = "" if key in required else "?"
        lines.append(_comment(value.get("description"), inner))
        lines.append(f"{inner}{name}{mark}: {_type(value, inner)};\n")
    return "{\n" + "".join(lines) + indent + "}"


def _type(schema: dict[str, Any], indent: str) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].removeprefix(_REFERENCE))
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return " | ".join(map(_literal, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(_type(it, indent) for it in schema["anyOf"])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " | ".join(_one_type(kind, schema, indent) for kind in kinds) or "unknown"


def _one_type(kind: str, schema: dict[str, Any], indent: str) -> str:
    if kind == "array":
        item = _type(schema["items"], indent) if schema.get("items") else "unknown"
        return f"({item})[]" if " | " in item else f"{item}[]"
    if kind == "object":
        return _members(schema, indent) if "properties" in schema else "Record<string, unknown>"
    return _PLAIN.get(kind, kind)


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _comment(text: str | None, indent: str = "") -> str:
    if not text:
        return ""
    lines = textwrap.wrap(text.replace("*/", "* /"), _WIDTH - len(indent) - 3)
    if len(lines) == 1 and len(lines[0]) + len(indent) + 7 <= _WIDTH:
        return f"{indent}/** {lines[0]} */\n"
    return "".join([f"{indent}/**\n", *(f"{indent} * {it}\n" for it in lines), f"{indent} */\n"])


if __name__ == "__main__":
    sys.stdout.write(typescript(openapi("Widget Catalog", "http://127.0.0.1:8080")))

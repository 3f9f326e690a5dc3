"""Functions that build JSON Schemas."""

from typing import Any

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def object_of(about: str, properties: dict[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    """An object with these properties. A later release may add others: generated clients must
    accept them, so `additionalProperties` is not `false`.
    """
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


def text(about: str, example: str) -> Schema:
    return {"type": "string", "description": about, "examples": [example]}

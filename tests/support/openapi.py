"""The OpenAPI document as a stricter one, for tests."""

from typing import Any


def closed(part: Any) -> Any:
    """A copy in which objects have only the described properties.

    The document allows others, for clients of later releases; this release sends none.
    """
    if isinstance(part, list):
        return [closed(inside) for inside in part]
    if not isinstance(part, dict):
        return part
    made = {key: closed(inside) for key, inside in part.items()}
    is_object = made.get("type") == "object" and "properties" in made
    return {**made, "additionalProperties": False} if is_object else made

"""Request bodies: decodes JSON into typed values, or reports all errors at once, by field."""

from typing import Any, TypeVar

import msgspec

from ...domain.errors import InvalidRequest

S = TypeVar("S", bound=msgspec.Struct)

# The types of all fields in bodies.
_RULES: dict[object, str] = {
    str: "must be a text.",
    str | None: "must be a text.",
    int: "must be a whole number.",
    bool: "must be true or false.",
    bool | None: "must be true, false or null.",
    list[str]: "must be a list of texts.",
    dict[str, Any]: "must be an object.",
    dict[str, Any] | None: "must be an object.",
}


def read_object(body: bytes) -> dict[str, Any]:
    """The decoded body, of any type; None without a body."""
    try:
        found = msgspec.json.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InvalidRequest("The body is not proper JSON.") from None
    except RecursionError:
        raise InvalidRequest("The body is nested too deeply.") from None
    if not isinstance(found, dict):
        raise InvalidRequest("The body must be a JSON object.")
    return found


def read_fields(body: bytes, shape: type[S]) -> S:
    """The fields of this type; others are ignored."""
    found = read_object(body)
    faults = []
    for field in msgspec.structs.fields(shape):
        name = field.encode_name
        if name in found and not _is_a(field.type, found[name]):
            faults.append(f"{name}: {_RULES[field.type]}")
        elif name not in found and field.required:
            faults.append(f"{name}: is missing.")
    if faults:
        raise InvalidRequest(" ".join(faults))
    return msgspec.convert(found, shape)


def _is_a(kind: Any, value: object) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True

"""Reads the fields of a JSON body, and reports all errors in them at once."""

import re
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

import msgspec

from widget_contract.texts import find_similar

from ..errors import InvalidRequest

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


_PLAIN_KEY = re.compile(r"[\w.-]{1,80}")
_MAX_SHOWN = 20


def unknown_keys(
    given: Mapping[str, Any],
    known: Collection[str],
    at: str = "",
    synonyms: Mapping[str, str] | None = None,
) -> list[str]:
    """An error for each key of an object that is not a known one, with the key that was meant.
    `at` is the path of the object; `synonyms` are names of other interfaces for a known key.
    """
    unknown = [key for key in given if key not in known]
    free = [key for key in known if key not in given]
    errors = []
    for key in unknown[:_MAX_SHOWN]:
        meant = (synonyms or {}).get(key) or find_similar(key, free)
        shown = key if _PLAIN_KEY.fullmatch(key) else repr(key[:80])
        hint = f"did you mean {meant}?" if meant in free else f"known are {', '.join(known)}."
        errors.append(f"{at}{shown}: is an unknown key; {hint}")
    # The others are only counted: a similar name takes some microseconds to find.
    return errors + ["is an unknown key."] * len(unknown[_MAX_SHOWN:])


def sentence_of(errors: list[str]) -> str:
    """All errors of a body; the first ones, if there are many."""
    more = len(errors) - _MAX_SHOWN
    end = [f"There {'is 1 more error' if more == 1 else f'are {more} more errors'}."]
    return " ".join(errors[:_MAX_SHOWN] + (end if more > 0 else []))


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body; an empty one without a body."""
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
    """The fields of this type; unknown keys are errors."""
    found = read_object(body)
    fields = {it.encode_name: it for it in msgspec.structs.fields(shape)}
    errors = unknown_keys(found, fields)
    for name, field in fields.items():
        if name in found and not _is_a(field.type, found[name]):
            errors.append(f"{name}: {_RULES[field.type]}")
        elif name not in found and field.required:
            errors.append(f"{name}: is missing.")
    if errors:
        raise InvalidRequest(sentence_of(errors))
    return msgspec.convert(found, shape)


def _is_a(kind: Any, value: object) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True

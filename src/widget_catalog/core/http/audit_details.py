"""The details of an entry of the audit log, in words."""

import re
from collections.abc import Mapping

_LABELS = {
    "way": "method",
    "isOperator": "operator",
    "sha256Hash": "SHA-256",
    "cssSha256Hash": "SHA-256 of the style sheet",
    "cssSize": "size of the style sheet",
    "url": "URL",
}


def details_in_words(details: Mapping[str, object]) -> list[tuple[str, str]]:
    """Labels and values."""
    return [(_label(key), _value(value)) for key, value in details.items()]


def _label(key: str) -> str:
    return _LABELS.get(key) or re.sub("[A-Z]", lambda it: f" {it[0].lower()}", key)


def _value(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case list():
            return ", ".join(map(str, value)) or "none"
        case _:
            return str(value)

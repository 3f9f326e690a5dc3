"""How a field is documented for clients: description, example and constraints.

The constraints are part of the OpenAPI document. Decoding checks only types, so that a client can
decode responses of other releases.

Patterns are in JSON Schema syntax, for the OpenAPI document and the schema of manifests. In Python,
use `fullmatch`. `names.py`, `semver.py` and `capabilities.py` are authoritative.
"""

from msgspec import Meta

NAME = r"^[a-z0-9][a-z0-9-]*$"
NAME_MAX_LENGTH = 64

DOMAIN = r"^[a-z_][a-z0-9_]*$"
DOMAIN_MAX_LENGTH = 64

WIDGET_ID = r"^[a-z0-9][a-z0-9-]{0,63}/[a-z0-9][a-z0-9-]{0,63}$"

# Semantic Versioning 2.0.0, strict: no leading `v`, no missing part, no leading zero.
_IDENTIFIER = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = r"[0-9a-zA-Z-]+"
_SUFFIXES = rf"(?:-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?(?:\+{_BUILD}(?:\.{_BUILD})*)?"
_NUMBERS = r"(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)"
SEMVER = f"^{_NUMBERS}{_SUFFIXES}$"
# The same, with numbers of at most 15 digits, which are all below the largest accepted one.
COMPAT_SDK = f"^{_NUMBERS.replace('*', '{0,14}')}{_SUFFIXES}$"
SEMVER_MAX_LENGTH = 256

SHA256 = "^[0-9a-f]{64}$"
INTEGRITY = "^sha256-[A-Za-z0-9+/]{43}=$"
TIMESTAMP = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"
API_VERSION = "^v[1-9][0-9]*$"
# A language as in BCP 47: de, pt-BR, zh-Hant.
LANGUAGE = r"^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$"
KEYWORD = r"^[a-z0-9][a-z0-9-]{1,29}$"
HTTPS_ADDRESS = r"^https://[^\s/?#@\\]+(?:[/?#][^\s\\]*)?$"
HTTPS_ADDRESS_MAX_LENGTH = 500
ICON = r"^[a-z0-9]+(?:-[a-z0-9]+)*:[a-z0-9]+(?:-[a-z0-9]+)*$"
_LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
# `network:` is followed by a host name, perhaps after `*.`.
PERMISSION = rf"^(?!network:(?!(?:\*\.)?{_LABEL}(?:\.{_LABEL})*$))[a-z0-9][a-z0-9:._/*-]{{0,99}}$"
# A file in a folder or below.
FILE = r"^(?!\.\.?(?:/|$))[^/\\\x00-\x1f]+(?:/(?!\.\.?(?:/|$))[^/\\\x00-\x1f]+)*$"
ENTITY = r"^(?=.{3,255}$)(?!(?:[^*]*\*){5})[a-z_*][a-z0-9_*]*\.[A-Za-z0-9_*]+$"
SERVICE = r"^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,99}$"


def described(about: str, *examples: object, is_searched: bool = False, **rules: object) -> Meta:
    """`is_searched`: pages find a widget by the texts of this field."""
    return Meta(
        description=about,
        examples=list(examples) if examples else None,
        extra_json_schema=rules or None,
        extra={"is_searched": is_searched},
    )


def count_field(about: str, example: int, minimum: int = 0) -> Meta:
    return described(about, example, minimum=minimum)


def name_field(about: str, example: str) -> Meta:
    return described(about, example, pattern=NAME, maxLength=NAME_MAX_LENGTH)


def version_field(about: str, example: str = "2.0.0") -> Meta:
    return described(about, example, pattern=SEMVER, maxLength=SEMVER_MAX_LENGTH)


def time_field(about: str) -> Meta:
    """ISO 8601 in UTC, with milliseconds."""
    return described(about, "2026-02-09T09:15:00.000Z", format="date-time", pattern=TIMESTAMP)


def url_field(about: str, example: str) -> Meta:
    return described(about, example, format="uri")


def https_field(about: str, example: str) -> Meta:
    """An https URL that an author states."""
    return described(about, example, pattern=HTTPS_ADDRESS, maxLength=HTTPS_ADDRESS_MAX_LENGTH)

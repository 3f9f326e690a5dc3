"""How a field is documented for clients: description, example and constraints.

The constraints are part of the OpenAPI document. Decoding checks only types, so that a client can
decode responses of other releases.
"""

from msgspec import Meta

from .patterns import (
    HTTPS_ADDRESS,
    HTTPS_ADDRESS_MAX_LENGTH,
    NAME,
    NAME_MAX_LENGTH,
    SEMVER,
    SEMVER_MAX_LENGTH,
    TIMESTAMP,
)


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

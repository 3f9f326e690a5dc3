"""Rules of settings: each checks one value, and returns the error, if any."""

import importlib.util
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from .networks import parse_networks

Rule = Callable[[Any], str | None]

_HOST_AND_PORT = re.compile(r"(\w[\w.-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?", re.ASCII)
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.-]+)*/?", re.ASCII)
_SECRET_LENGTH = 32
# Random secrets have more: 32 hexadecimal digits, for example, about 14 different characters.
_LEAST_DIFFERENT = 8
_LEAST_UNREPEATED = 16


def between(least: int, most: int) -> Rule:
    """A number in this range, both included."""

    def check(value: int) -> str | None:
        return None if least <= value <= most else f"must be from {least} to {most}."

    return check


def one_of(*values: str) -> Rule:
    def check(value: str) -> str | None:
        if value in values:
            return None
        return (
            f"must be {' or '.join(values)}."
            if len(values) == 2
            else (f"must be one of {', '.join(values)}.")
        )

    return check


def parsed_by(parse: Callable[[str], object]) -> Rule:
    """What this function accepts; its ValueError is the error."""

    def check(value: str) -> str | None:
        try:
            parse(value)
        except ValueError as error:
            return str(error)
        return None

    return check


def not_empty(value: str) -> str | None:
    return None if value.strip() else "must not be empty."


def check_networks(value: str) -> str | None:
    error = parsed_by(parse_networks)(value)
    return error and f"{error}."


def check_url(value: str) -> str | None:
    if not value or _is_url(value):
        return None
    return "must be an http(s) URL without query, fragment or username."


def check_bucket(value: str) -> str | None:
    if not value:
        return None
    if not is_installed("s3"):
        return f"{missing_packages('s3')}."
    if _BUCKET.fullmatch(value):
        return None
    return "must be like s3://bucket or s3://bucket/prefix."


def check_postgresql(value: str) -> str | None:
    if not value:
        return None
    if not is_installed("postgresql"):
        return f"{missing_packages('postgresql')}."
    if _is_postgresql(value):
        return None
    return (
        "must be a PostgreSQL connection URI, such as postgresql://user:password@host/name. "
        "In a password, write @ as %40, / as %2F and % as %25."
    )


def check_rate_limit(value: str) -> str | None:
    if not value:
        return None
    from limits import parse_many  # Slow to load, so only imported if there is a limit.

    try:
        amounts = [item.amount for item in parse_many(value)]
    except ValueError:
        amounts = [0]
    return None if min(amounts) > 0 else "must be like 300/minute or 10/second."


def check_secrets(secrets: list[str]) -> str | None:
    """Of nodes that share a database. Old secrets may be weak: they are there to be replaced."""
    is_long = bool(secrets) and all(len(it) >= _SECRET_LENGTH for it in secrets)
    if is_long and not _is_guessable(secrets[0]):
        return None
    return (
        f"must have {_SECRET_LENGTH} characters or more if database is set, without spaces, be "
        "random, not a short text repeated or a few different characters, and be the same on "
        "every node. Create one with: openssl rand -hex 32"
    )


def _is_guessable(secret: str) -> bool:
    """Whether it has few different characters, or repeats a short text."""
    repeats = any(secret[it:] == secret[:-it] for it in range(1, _LEAST_UNREPEATED))
    return repeats or len(set(secret)) < _LEAST_DIFFERENT


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_port = parts.port != 0  # Raises ValueError if it is invalid.
    except ValueError:
        return False
    is_plain = text.isascii() and text.isprintable() and not set(text) & set(' "?#\\')
    has_host = _HOST_AND_PORT.fullmatch(parts.netloc) is not None
    return parts.scheme in ("http", "https") and has_host and has_port and is_plain


def _is_postgresql(text: str) -> bool:
    if not text.startswith(("postgresql://", "postgres://")):
        return False
    # Slow to load, so only imported if used.
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        given = conninfo_to_dict(text)
    except psycopg.ProgrammingError:
        return False
    # Part of a password that is not percent-encoded would be taken for the host, port or name, and
    # appear in an error message.
    authority, _, name = text.partition("://")[2].partition("?")[0].partition("/")
    is_mistaken = "@" in name or "@" in str(given.get("host", "")) or authority.count("@") > 1
    ports = str(given.get("port") or "").split(",")
    return not is_mistaken and all(it.isdecimal() for it in ports if it)


# The modules of each extra that are imported. Other programs bring some of the packages, too.
MODULES = {
    "icons": ("fontTools", "fonticon_mdi7"),
    # Without any libpq, psycopg cannot be imported.
    "postgresql": ("psycopg", "psycopg.pq"),
    "s3": ("boto3", "botocore"),
    "telemetry": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
}


def is_installed(extra: str) -> bool:
    """Whether all packages of the extra are: with a part of them it is as if there were none."""
    return all(map(_has_module, MODULES[extra]))


def _has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:  # The package that it is in is missing, or lacks another.
        return False


def missing_packages(extra: str) -> str:
    """The end of a message about something that needs the extra."""
    return f'needs packages that are not installed: pip install "widget-catalog[{extra}]"'

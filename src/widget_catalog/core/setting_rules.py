"""Validation of settings. All errors are reported at once, each with the source of the value."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from widget_contract.semver import InvalidVersion, SemVer

from ..accounts.oauth.clients import parse_clients
from ..accounts.second_factor.rules import RequiredOf
from .actors import reserved_names
from .public_addresses import parse_networks

_URL_RULE = "must be an http(s) URL without query, fragment or username."
_HOST_AND_PORT = re.compile(r"(\w[\w.-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?", re.ASCII)
_PATH_RULE = (
    "must have no path, because every page on that host could act with the sessions of people "
    "who sign in here. Give the catalog a host name of its own; or set shares_origin, if you "
    "trust everything on that host."
)
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.-]+)*/?", re.ASCII)
_DATABASE_RULE = (
    "must be a PostgreSQL connection URI, such as postgresql://user:password@host/name. "
    "In a password, write @ as %40, / as %2F and % as %25."
)
_SECRET_LENGTH = 32
_SECRET_RULE = (
    f"must have {_SECRET_LENGTH} characters or more if database is set, without spaces, be random, "
    "not a short text repeated or a few different characters, and be the same on every node. "
    "Create one with: openssl rand -hex 32"
)
# Random secrets have more: 32 hexadecimal digits, for example, about 14 different characters.
_LEAST_DIFFERENT = 8
_LEAST_UNREPEATED = 16
_LOG_FORMATS = ("console", "json")
_REGISTRATION = ("closed", "invitation", "open")
_LOG_LEVELS = ("debug", "info", "warning", "error")


def check_values(values: Mapping[str, Any], given: Mapping[str, tuple[Any, str]]) -> list[str]:
    """All errors in the values; `given` has the source of each."""
    faults = []

    def require(name: str, is_good: bool, sentence: str) -> None:
        if not is_good:
            faults.append(f"{given[name][1] if name in given else name}: {sentence}")

    for name, least, most in (
        ("port", 1, 65535),
        ("metrics_port", 0, 65535),
        ("workers", 1, 256),
        ("max_bundle_bytes", 1, 1 << 30),
        ("cache_mb", 1, 1 << 20),
        ("bundle_cache_mb", 1, 1 << 24),
        ("max_event_streams", 0, 1_000_000),
        ("max_event_streams_per_client", 0, 1_000_000),
        ("max_lag_s", 1, 86_400),
        ("max_silence_s", 0, 86_400),
        ("max_document_bytes", 0, 1 << 40),
        ("max_organizations", 0, 1 << 40),
        ("max_new_widgets_per_day", 0, 1 << 40),
        ("max_versions_per_hour", 0, 1 << 40),
        ("max_bytes_per_day", 0, 1 << 60),
        ("max_changes_per_hour", 0, 1 << 40),
        ("max_open_requests", 0, 1 << 40),
        ("max_parallel_uploads", 0, 1 << 40),
        ("max_webhooks", 0, 1 << 40),
        ("max_reports", 0, 1 << 31),
        ("session_idle_hours", 1, 24 * 366),
        ("session_max_days", 1, 366),
        ("oauth_max_days", 1, 3660),
        ("audit_keep_days", 0, 36_600),
    ):
        require(name, least <= values[name] <= most, f"must be from {least} to {most}.")
    for name in ("base_url", "cdn_base_url", "oidc_issuer", "s3_endpoint"):
        require(name, not values[name] or _is_url(values[name]), _URL_RULE)
    if values["base_url"] and _is_url(values["base_url"]):
        has_path = bool(urlsplit(values["base_url"]).path.strip("/"))
        require("base_url", values["shares_origin"] or not has_path, _PATH_RULE)
    is_apart = values["metrics_port"] == 0 or values["metrics_port"] != values["port"]
    require("metrics_port", is_apart, "must not be the port of the service itself.")
    require("log_format", values["log_format"] in _LOG_FORMATS, "must be console or json.")
    require(
        "log_level", values["log_level"] in _LOG_LEVELS, f"must be one of {', '.join(_LOG_LEVELS)}."
    )
    require(
        "registration",
        values["registration"] in _REGISTRATION,
        f"must be one of {', '.join(_REGISTRATION)}.",
    )
    require(
        "second_factor_required",
        values["second_factor_required"] in tuple(RequiredOf),
        f"must be one of {', '.join(RequiredOf)}.",
    )
    has_id = bool(values["oidc_client_id"]) or not values["oidc_issuer"]
    require("oidc_client_id", has_id, "is required with oidc_issuer.")
    require("oidc_name", bool(values["oidc_name"].strip()), "must not be empty.")
    try:
        parse_clients(values["oauth_clients"])
    except ValueError as error:
        require("oauth_clients", False, str(error))
    try:
        SemVer.parse(values["min_cli_version"])
    except InvalidVersion as error:
        require("min_cli_version", False, str(error))
    try:
        reserved_names(values["reserved_names"])
    except ValueError as error:
        require("reserved_names", False, str(error))
    for name in ("webhook_networks", "mirror_networks"):
        try:
            parse_networks(values[name])
        except ValueError as error:
            require(name, False, f"{error}.")
    require("host", bool(values["host"]), "must not be empty.")
    is_bucket = not values["bundles"] or _BUCKET.fullmatch(values["bundles"]) is not None
    require("bundles", is_bucket, "must be like s3://bucket or s3://bucket/prefix.")
    has_both = bool(values["s3_access_key_id"]) == bool(values["s3_secret_access_key"])
    require("s3_access_key_id", has_both, "must be set together with s3_secret_access_key.")
    has_key = bool(values["s3_access_key_id"]) or not values["s3_session_token"]
    require("s3_session_token", has_key, "requires s3_access_key_id.")
    if values["database"]:
        require("database", _is_postgresql(values["database"]), _DATABASE_RULE)
        secrets = values["secret_key"].split()
        is_long = bool(secrets) and all(len(it) >= _SECRET_LENGTH for it in secrets)
        # Old secrets may be weak: they are there to be replaced.
        require("secret_key", is_long and not _is_guessable(secrets[0]), _SECRET_RULE)
    require("service_name", bool(values["service_name"].strip()), "must not be empty.")
    if values["rate_limit"]:
        from limits import parse_many  # Slow to load, so only imported if there is a limit.

        try:
            amounts = [item.amount for item in parse_many(values["rate_limit"])]
        except ValueError:
            amounts = [0]
        require("rate_limit", min(amounts) > 0, "must be like 300/minute or 10/second.")
    return faults


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

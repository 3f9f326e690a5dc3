"""Patterns of the OpenAPI document and of the JSON Schema of manifests, in JSON Schema syntax. In
Python, use `fullmatch`. `names.py`, `semver.py` and `capabilities.py` are authoritative."""

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
PERMISSION = r"^[a-z0-9][a-z0-9:._/*-]{0,99}$"
# A file in a folder or below.
FILE = r"^(?!\.\.?(?:/|$))[^/\\\x00-\x1f]+(?:/(?!\.\.?(?:/|$))[^/\\\x00-\x1f]+)*$"
ENTITY = r"^(?=.{3,255}$)(?!(?:[^*]*\*){5})[a-z_*][a-z0-9_*]*\.[A-Za-z0-9_*]+$"
SERVICE = r"^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,99}$"

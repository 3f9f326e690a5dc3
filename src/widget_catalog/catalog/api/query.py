"""The query string of a search: parsed and validated here."""

import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from widget_contract.names import is_name
from widget_contract.semver import InvalidVersion, SemVer
from widget_contract.texts import fold

from ...core.errors import InvalidQuery
from ..model.query import NO_SCOPE, Query, SearchRequest

_MAX_Q_CHARACTERS = 256
_DEFAULT_LIMIT = 20
_MAX_LIMIT = 100
# Parsing a query takes half as long as everything else that a cached response needs.
_MAX_REMEMBERED = 200

# The number of changes on a page: default and maximum.
_DEFAULT_CHANGES = 100
_MAX_CHANGES = 1000
_MAX_DIGITS = 18
_ALL = 10**18
_PARAMETERS = frozenset({"since", "q", "compatSdk", "scope", "official", "page", "limit"})
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def parse_search(query_string: str) -> SearchRequest:
    """The parsed query, or InvalidQuery with a message that says what to change."""
    is_short = len(query_string) <= _MAX_REMEMBERED
    return _parse_again(query_string) if is_short else _parse(query_string)


def _parse(query_string: str) -> SearchRequest:
    given = _parameters(query_string)
    scope = given.get("scope")
    if scope is not None and not is_name(scope):
        scope = NO_SCOPE
    query = Query(_text(given.get("q", "")), scope, _official(given.get("official")))
    sdk = _sdk(given.get("compatSdk"))
    page = _whole_number("page", given.get("page", "1"))
    return SearchRequest(query, sdk, page, _limit(given, _DEFAULT_LIMIT, _MAX_LIMIT))


_parse_again = lru_cache(maxsize=2_000)(_parse)


def parse_changes(query_string: str) -> tuple[int | None, int]:
    """The change to start after, if it is given, and the limit."""
    given = _parameters(query_string)
    since = parse_since("since", given["since"]) if "since" in given else None
    return since, _limit(given, _DEFAULT_CHANGES, _MAX_CHANGES)


def parse_since(name: str, value: str) -> int:
    """The number of a change; the upper limit is never reached."""
    if not (value.isascii() and value.isdecimal()):
        raise InvalidQuery(f"{name} must be the number of a change: a whole number from 0.")
    return int(value) if len(value) <= _MAX_DIGITS else _ALL


def _parameters(query_string: str) -> dict[str, str]:
    """The known parameters; of duplicates, the first is used."""
    is_encoded = "%" in query_string or not query_string.isascii()
    if is_encoded and _BAD_PERCENT.search(query_string):
        raise InvalidQuery("The query is not properly percent-encoded: write % as %25.")
    query_string = query_string.replace("+", " ")
    given: dict[str, str] = {}
    for pair in query_string.split("&"):
        key, _, value = pair.partition("=")
        if is_encoded:
            key, value = _decoded(key), _decoded(value)
        if key in _PARAMETERS:
            given.setdefault(key, value)
    return given


def _decoded(text: str) -> str:
    try:
        return unquote_to_bytes(text).decode()
    except (UnicodeDecodeError, UnicodeEncodeError):
        raise InvalidQuery("The query is not UTF-8 after percent-decoding.") from None


def _text(q: str) -> str:
    q = q.strip()
    if len(q) > _MAX_Q_CHARACTERS:
        sentence = f"q is {len(q)} characters long; at most {_MAX_Q_CHARACTERS} are searched for."
        raise InvalidQuery(sentence)
    return fold(q)


def _official(value: str | None) -> bool | None:
    if value is None:
        return None
    if value.lower() not in ("true", "false"):
        raise InvalidQuery("official must be true or false.")
    return value.lower() == "true"


def _sdk(value: str | None) -> SemVer | None:
    if value is None:
        return None
    try:
        return SemVer.parse(value)
    except InvalidVersion:
        raise InvalidQuery(
            "compatSdk must be a semantic version with all three numbers, such as 1.2.0."
        ) from None


def _limit(given: dict[str, str], default: int, most: int) -> int:
    digits = _whole_number("limit", given.get("limit", str(default)))
    return most if len(digits) > 4 else min(int(digits), most)


def _whole_number(name: str, value: str) -> str:
    """The digits of a whole number of at least 1, without leading zeros."""
    digits = value.lstrip("0")
    if not (digits.isascii() and digits.isdecimal()):
        raise InvalidQuery(f"{name} must be a whole number of at least 1.")
    return digits

"""The body of `resolve`: all its rules, and all its errors at once."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import msgspec
from msgspec.structs import fields

from widget_contract.names import is_widget_key
from widget_contract.semver import InvalidRange, InvalidVersion, Range, SemVer
from widget_contract.wire_running import InstalledWidget, ResolveRequest

from ...core.errors import InvalidQuery
from ...core.http.body_fields import sentence_of, unknown_keys
from ..reading.resolving import Installed, Resolve, TimeSlice

MAX_BODY_BYTES = 1 << 16
MAX_WIDGETS = 500
_MAX_AGE_DAYS = 36_500
# Longer texts are not cached.
_SHORT = 100

_KEYS = tuple(it.encode_name for it in fields(ResolveRequest))
_WIDGET_KEYS = tuple(it.encode_name for it in fields(InstalledWidget))
_are_widget_keys = frozenset(_WIDGET_KEYS).issuperset  # 0.1 µs; there may be 500 widgets.
# Names for the same in other parts of the API.
_SYNONYMS = {"sdkVersion": "sdk", "compatSdk": "sdk", "minAge": "minAgeDays"}
_WIDGET_SYNONYMS = {
    "name": "id",
    "widget": "id",
    "widgetId": "id",
    "version": "installed",
    "installedVersion": "installed",
    "versionRange": "range",
}

T = TypeVar("T")

_decode = msgspec.json.Decoder().decode


async def parse_resolve(body: bytes) -> Resolve:
    """The parsed body, or InvalidQuery with all errors. Long ranges take a while to parse, so this
    yields to other requests.
    """
    try:
        given = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = str(error) if isinstance(error, msgspec.DecodeError) else "it cannot be read"
        raise InvalidQuery(f"The body must be JSON: {reason}.") from None
    if not isinstance(given, dict):
        raise InvalidQuery("The body must be a JSON object.")
    reader = _Reader()
    reader.errors += unknown_keys(given, _KEYS, synonyms=_SYNONYMS)
    sdk = reader.parsed(_version, given.get("sdk"), "sdk")
    age = reader.age(given.get("minAgeDays"))
    widgets = await reader.widgets(given.get("widgets"))
    if reader.errors or sdk is None:
        raise InvalidQuery(sentence_of(reader.errors))
    return Resolve(sdk, age, widgets)


class _Reader:
    """Collects errors."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def parsed(
        self, parse: Callable[[object], T], value: object, field: str, number: int | None = None
    ) -> T | None:
        """`field` of the body, or of the widget with this number."""
        try:
            return parse(value)
        except (InvalidVersion, InvalidRange) as error:
            at = field if number is None else f"widgets[{number}].{field}"
            self.errors.append(f"{at}: {error}")
            return None

    def age(self, value: object) -> float:
        if value is None:
            return 0
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and math.isfinite(value) and 0 <= value <= _MAX_AGE_DAYS:  # type: ignore[arg-type,operator]
            return float(value)  # type: ignore[arg-type]
        self.errors.append(f"minAgeDays: must be a number from 0 to {_MAX_AGE_DAYS:,}.")
        return 0

    async def widgets(self, value: object) -> list[Installed]:
        if not isinstance(value, list):
            self.errors.append("widgets: must be a list.")
            return []
        if len(value) > MAX_WIDGETS:
            count = f"{len(value):,} are too many"
            self.errors.append(f"widgets: {count}; at most {MAX_WIDGETS} are taken.")
            return []
        time_slice = TimeSlice()
        widgets = []
        for number, widget in enumerate(value):
            if time_slice.is_over:
                await time_slice.let_others_run()
            widgets.append(self._widget(number, widget))
        return widgets

    def _widget(self, number: int, value: object) -> Installed:
        if not isinstance(value, dict):
            self.errors.append(f"widgets[{number}]: must be an object.")
            return _NONE
        if not _are_widget_keys(value):
            at = f"widgets[{number}]."
            self.errors += unknown_keys(value, _WIDGET_KEYS, at, _WIDGET_SYNONYMS)
        key, installed, wanted = value.get("id"), value.get("installed"), value.get("range")
        if not (isinstance(key, str) and is_widget_key(key)):
            sentence = "must be a scope and a name, such as acme/clock."
            self.errors.append(f"widgets[{number}].id: {sentence}")
            key = ""
        try:
            version, allowed = _known_pair(installed, wanted)
        except (TypeError, ValueError):  # It is long, no text, or invalid.
            version = allowed = None
            if installed is not None:
                version = self.parsed(_version, installed, "installed", number)
            if wanted is not None:
                allowed = self.parsed(_range, wanted, "range", number)
        return Installed(key, version, allowed, wanted)


_NONE = Installed("", None, None)


@lru_cache(1_000)
def _known_pair(installed: str | None, wanted: str | None) -> tuple[SemVer | None, Range | None]:
    """Both parsed: most widgets have one of a few pairs, so that saves most of the work."""
    if len(installed or "") + len(wanted or "") > _SHORT:
        raise ValueError
    version = None if installed is None else _version(installed)
    return version, None if wanted is None else _range(wanted)


def _version(value: object) -> SemVer:
    if isinstance(value, str):
        return SemVer.parse(value)
    raise InvalidVersion("must be a semantic version, such as 1.2.0.")


def _range(value: object) -> Range | None:
    """None for a range that admits every version."""
    if isinstance(value, str):
        allowed = Range.parse(value)
        return None if allowed.is_any else allowed
    raise InvalidRange("must be a version range, such as ^1.2.0.")

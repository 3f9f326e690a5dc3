"""The body of `resolve`: all its rules, and all its errors at once."""

import math

import msgspec

from widget_contract.names import is_widget_key
from widget_contract.semver import InvalidRange, InvalidVersion, Range, SemVer

from ...catalog.pace import Pace
from ...catalog.resolving import Installed, Resolve
from ...domain.errors import InvalidQuery

MAX_BODY_BYTES = 1 << 16
MAX_WIDGETS = 500
_MAX_AGE_DAYS = 36_500
_SHOWN = 20

_decode = msgspec.json.Decoder().decode


async def parse_resolve(body: bytes) -> Resolve:
    """The parsed body, or InvalidQuery with all errors. Long ranges take a while to parse, so this
    yields to other requests.
    """
    try:
        given = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        reason = str(fault) if isinstance(fault, msgspec.DecodeError) else "it cannot be read"
        raise InvalidQuery(f"The body must be JSON: {reason}.") from None
    if not isinstance(given, dict):
        raise InvalidQuery("The body must be a JSON object.")
    reader = _Reader()
    sdk = reader.sdk(given.get("sdk"))
    age = reader.age(given.get("minAgeDays"))
    widgets = await reader.widgets(given.get("widgets"))
    if reader.faults or sdk is None:
        more = len(reader.faults) - _SHOWN
        end = f" There are {more} more faults." if more > 0 else ""
        raise InvalidQuery(" ".join(reader.faults[:_SHOWN]) + end)
    return Resolve(sdk, age, widgets)


class _Reader:
    """Collects errors."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def sdk(self, value: object) -> SemVer | None:
        try:
            return _version(value)
        except InvalidVersion as fault:
            self.faults.append(f"sdk: {fault}")
            return None

    def age(self, value: object) -> float:
        if value is None:
            return 0
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and math.isfinite(value) and 0 <= value <= _MAX_AGE_DAYS:  # type: ignore[arg-type,operator]
            return float(value)  # type: ignore[arg-type]
        self.faults.append(f"minAgeDays: must be a number from 0 to {_MAX_AGE_DAYS:,}.")
        return 0

    async def widgets(self, value: object) -> list[Installed]:
        if not isinstance(value, list):
            self.faults.append("widgets: must be a list.")
            return []
        if len(value) > MAX_WIDGETS:
            self.faults.append(
                f"widgets: {len(value):,} are too many; at most {MAX_WIDGETS} are taken."
            )
            return []
        pace = Pace()
        widgets = []
        for number, it in enumerate(value):
            if pace.is_over:
                await pace.let_others_in()
            widgets.append(self._widget(number, it))
        return widgets

    def _widget(self, number: int, value: object) -> Installed:
        if not isinstance(value, dict):
            self.faults.append(f"widgets[{number}]: must be an object.")
            return _NONE
        key, installed, wanted = value.get("id"), value.get("installed"), value.get("range")
        version = allowed = None
        if not (isinstance(key, str) and is_widget_key(key)):
            self.faults.append(
                f"widgets[{number}].id: must be a scope and a name, such as acme/clock."
            )
            key = ""
        try:
            version = None if installed is None else _version(installed)
        except InvalidVersion as fault:
            self.faults.append(f"widgets[{number}].installed: {fault}")
        try:
            allowed = None if wanted is None else _range(wanted)
        except InvalidRange as fault:
            self.faults.append(f"widgets[{number}].range: {fault}")
        return Installed(key, version, allowed)


_NONE = Installed("", None, None)


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

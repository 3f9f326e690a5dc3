"""Badges: small pictures for other people's pages that say something of a widget."""

from typing import NamedTuple

from widget_contract.wire import WidgetDetail

# What a character of the badge's font takes, about; `textLength` makes it exact.
_CHARACTER = 6.3
_SIDE = 12
_MOST_CHARACTERS = 40

_GREEN, _BLUE, _GREY = "#11685a", "#2b5c92", "#57625e"


class Badge(NamedTuple):
    label: str
    value: str
    color: str

    @property
    def label_width(self) -> int:
        return _width(self.label)

    @property
    def value_width(self) -> int:
        return _width(self.value)


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER) + _SIDE


def badge(kind: str, detail: WidgetDetail | None) -> Badge | None:
    """None if there is no such kind. A widget that is not there has one that says so."""
    if kind not in ("version.svg", "downloads.svg", "sdk.svg"):
        return None
    label = kind.removesuffix(".svg")
    if detail is None:
        return Badge(label, "not found", _GREY)
    latest = next((it for it in detail.versions if it.version == detail.latest_version), None)
    if kind == "downloads.svg":
        return Badge("installs", short_count(detail.widget.download_count), _BLUE)
    if latest is None:
        return Badge(label, "none", _GREY)
    value = latest.version if kind == "version.svg" else latest.sdk_version
    return Badge(label, value[:_MOST_CHARACTERS], _GREEN)


def short_count(count: int) -> str:
    """A count in as few characters as people need."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + unit
    return str(count)

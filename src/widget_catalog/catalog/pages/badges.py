"""Badges: small SVG images about a widget, for other sites."""

from typing import NamedTuple

from widget_contract.wire import WidgetDetail

# Approximate widths of characters in the badge's font; `textLength` makes them exact.
_NARROW, _USUAL, _WIDE = 4.0, 6.8, 9.5
_NARROW_CHARACTERS = frozenset("ijlrtfI.,:;|!'()[] -")
_WIDE_CHARACTERS = frozenset("mwMW@%")
_SIDE = 12
_MAX_CHARACTERS = 40

BADGES = ("version", "downloads", "sdk")
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
    narrow = sum(it in _NARROW_CHARACTERS for it in text)
    wide = sum(it in _WIDE_CHARACTERS for it in text)
    usual = len(text) - narrow - wide
    return round(narrow * _NARROW + usual * _USUAL + wide * _WIDE) + _SIDE


def badge(kind: str, detail: WidgetDetail | None) -> Badge | None:
    """None if there is no such kind. For an unknown widget, the badge says so."""
    label = kind.removesuffix(".svg")
    if label not in BADGES or label == kind:
        return None
    if detail is None:
        return Badge(label, "not found", _GREY)
    latest = next((it for it in detail.versions if it.version == detail.latest_version), None)
    if kind == "downloads.svg":
        return Badge("installs", short_count(detail.widget.download_count), _BLUE)
    if latest is None:
        return Badge(label, "none", _GREY)
    value = latest.version if kind == "version.svg" else latest.sdk_version
    return Badge(label, value[:_MAX_CHARACTERS], _GREEN)


def short_count(count: int) -> str:
    """An abbreviated count."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + unit
    return str(count)


def badges_in_markdown(public_url: str, scope: str, name: str) -> str:
    """All badges, each as a link to the page of the widget."""
    key = f"{scope}/{name}"
    return "\n".join(
        f"[![{kind}]({public_url}/badges/{key}/{kind}.svg)]({public_url}/widgets/{key})"
        for kind in BADGES
    )

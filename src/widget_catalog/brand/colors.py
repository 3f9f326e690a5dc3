"""Accent colours: checked for contrast, and as a style sheet."""

import re

THEMES = ("light", "dark")
# WCAG 2.2, AA, for text.
MIN_CONTRAST = 4.5

_COLOR = re.compile("#?([0-9a-f]{6})", re.IGNORECASE)
_ACCENT_FILE = re.compile("([0-9a-f]{6})-([0-9a-f]{6})[.]css")
# What an accent is shown on, in each theme, as in `static/site.css`.
BACKGROUNDS = {
    "ground": ("#fbfbf9", "#111514"),
    "surface": ("#ffffff", "#181e1c"),
    "sunken": ("#f2f4f1", "#1d2422"),
}
_IN_WORDS = {
    "ground": "the background of pages",
    "surface": "cards",
    "sunken": "code",
    "soft": "marks, which have a tint of it",
}
_ON_ACCENT = ("#ffffff", "#111514")
_SHARE = (0.12, 0.18)


def accent_style(file: str) -> str | None:
    """The style sheet of this name, which has the colours: so every node has it at any time."""
    found = _ACCENT_FILE.fullmatch(file)
    if found is None:
        return None
    light, dark = (f"#{it}" for it in found.groups())
    softs = f"light-dark({_soft(light, 0)}, {_soft(dark, 1)})"
    return (
        f":root {{ --accent: light-dark({light}, {dark}); --accent-soft: {softs}; "
        f"--on-accent: light-dark({', '.join(_ON_ACCENT)}); }}\n"
    )


def parse_color(text: str) -> str | None:
    """As `#rrggbb`, in lower case."""
    found = _COLOR.fullmatch(text.strip())
    return None if found is None else f"#{found[1].lower()}"


def contrast(one: str, other: str) -> float:
    """Of two colours, from 1 to 21, as WCAG defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def contrast_error(accent: str, theme: int) -> str | None:
    """Which pair of colours lacks contrast in this theme, and a colour that would do."""
    pairs = {name: colors[theme] for name, colors in BACKGROUNDS.items()}
    for name, background in (pairs | {"soft": _soft(accent, theme)}).items():
        found = contrast(accent, background)
        if found < MIN_CONTRAST:
            return (
                f"lacks contrast in the {THEMES[theme]} theme: {accent} on {background}, "
                f"{_IN_WORDS[name]}, has {int(found * 100) / 100}:1, and text needs "
                f"{MIN_CONTRAST}:1. {legible_accent(accent, theme)} would do."
            )
    return None


def legible_accent(accent: str, theme: int) -> str:
    """The nearest colour with enough contrast, darker in the light theme, lighter in the dark."""
    end = "#000000" if theme == 0 else "#ffffff"
    for percent in range(0, 100, 2):
        mixed = _mix(end, accent, percent / 100)
        found = [contrast(mixed, it[theme]) for it in BACKGROUNDS.values()]
        if min(*found, contrast(mixed, _soft(mixed, theme))) >= MIN_CONTRAST:
            return mixed
    return end


def _soft(accent: str, theme: int) -> str:
    return _mix(accent, BACKGROUNDS["surface"][theme], _SHARE[theme])


def _mix(one: str, other: str, share: float) -> str:
    """With this share of the first."""
    pairs = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _channels(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


def _luminance(color: str) -> float:
    parts = (it / 255 for it in _channels(color))
    red, green, blue = (
        it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

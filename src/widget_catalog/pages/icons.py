"""Icons: Iconify names as SVG, from locally installed sets; nothing is fetched.

Two sets are included: Lucide (`lucide`), and with the extra `icons` also Material Design Icons
(`mdi`), whose glyphs are rendered from the font. Operators may add Iconify JSON files in the data
folder. An unknown name gets a tile with a letter.
"""

import importlib.util
import io
import json
import logging
import re
import sqlite3
import zlib
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import structlog
from markupsafe import Markup, escape

from ..core.setting_rules import is_installed, missing_packages

_log = structlog.get_logger("widget_catalog.icons")

_TINTS = 8
_MAX_BYTES = 4_000
# A board is drawn in a box of 160 by 100, with room around it; the icon takes half of its height.
_BOARD = (124.0, 76.0)
_GLYPH = 0.5
_SET = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
# Elements and attributes allowed in an operator's file. Everything else is removed.
_DRAWN = re.compile(
    r"(?:<(?:path|circle|ellipse|rect|line|polyline|polygon|g)(?:\s+[a-z][a-z-]*=\"[^\"<>]*\")*"
    r"\s*/?>|</(?:path|circle|ellipse|rect|line|polyline|polygon|g)>|\s)*\Z"
)
_HANDLER = re.compile(r"\s(?:on[a-z]+|style|href)=", re.IGNORECASE)


class Drawing(NamedTuple):
    """The content of an SVG, and its view box."""

    box: str
    inside: str


@cache
def load_glyphs() -> Any:
    """The glyphs of the font by icon name; none without the extra. The first call takes 50 ms, and
    much longer on a busy machine.
    """
    if not is_installed("icons"):
        why = f"showing them {missing_packages('icons')}"
        _log.info("Icons named mdi:… are shown as letters.", reason=why)
        return {}
    logging.getLogger("fontTools").setLevel(logging.ERROR)
    from fontTools.ttLib import TTFont

    fonts = _package("fonticon_mdi7") / "fonts"
    file = io.BytesIO((fonts / "materialdesignicons-webfont.ttf").read_bytes())
    return TTFont(file, lazy=True).getGlyphSet()


class Icons:
    def __init__(self, folder: Path | None = None) -> None:
        """`folder` has the operator's sets, as `<prefix>.json`."""
        self._folder = folder
        self._find = lru_cache(maxsize=2_000)(self._look_up)
        self._tile_of = lru_cache(maxsize=2_000)(self._draw)
        self._face_of = lru_cache(maxsize=2_000)(self._compose)

    def tile(self, icon: str | None, name: str) -> Markup:
        """The icon on a square; if it is unknown, the first letter of `name`."""
        tile = self._tile_of(icon) if icon else None
        if tile is not None:
            return tile
        return Markup(
            '<svg class="tile letter t{}" viewBox="0 0 24 24" aria-hidden="true">'
            '<text x="12" y="12" dy=".36em" text-anchor="middle">{}</text></svg>'
        ).format(tint_of(name), _letter(name))

    def avatar(self, name: str) -> Markup:
        """The initials of a person or an organization, one or two, on a circle."""
        return Markup(
            '<svg class="tile letter avatar t{}" viewBox="0 0 24 24" aria-hidden="true">'
            '<text x="12" y="12" dy=".36em" text-anchor="middle">{}</text></svg>'
        ).format(tint_of(name), initials_of(name))

    def face(self, icon: str | None, name: str, columns: int, rows: int) -> Markup:
        """The icon, large, on a board of these proportions; if it is unknown, the first letter of
        `name`."""
        if icon and (face := self._face_of(icon, None, columns, rows)) is not None:
            return face
        return self._face_of(None, _letter(name), columns, rows) or Markup()

    def _compose(
        self, icon: str | None, letter: str | None, columns: int, rows: int
    ) -> Markup | None:
        """Either the icon, if it is known, or the letter."""
        drawing = self._find(icon) if icon else None
        if drawing is None and letter is None:
            return None
        width, height = board_size(columns, rows)
        side = round(min(width, height) * _GLYPH, 1)
        if drawing is None:
            glyph = Markup(
                '<text x="80" y="50" dy=".36em" text-anchor="middle" font-size="{}">{}</text>'
            ).format(side, letter)
        else:
            glyph = Markup(
                '<svg class="glyph" x="{}" y="{}" width="{}" height="{}" viewBox="{}">{}</svg>'
            ).format(
                round(80 - side / 2, 1),
                round(50 - side / 2, 1),
                side,
                side,
                drawing.box,
                Markup(drawing.inside),  # noqa: S704  As below.
            )
        return Markup(
            '<svg class="face" viewBox="0 0 160 100" aria-hidden="true">'
            '<rect x="{}" y="{}" width="{}" height="{}" rx="6"/>{}</svg>'
        ).format(round(80 - width / 2, 1), round(50 - height / 2, 1), width, height, glyph)

    def _draw(self, icon: str) -> Markup | None:
        drawing = self._find(icon)
        if drawing is None:
            return None
        return Markup('<svg class="tile" viewBox="{}" aria-hidden="true">{}</svg>').format(
            drawing.box,
            Markup(drawing.inside),  # noqa: S704  From a font, or checked.
        )

    def _look_up(self, icon: str) -> Drawing | None:
        prefix, _, name = icon.partition(":")
        if not (_SET.match(prefix) and _SET.match(name)):
            return None
        if prefix in self._own_sets:
            return _from_iconify(self._own_sets[prefix], name)
        if prefix == "mdi":
            return self._glyph(name)
        return self._lucide_icon(name) if prefix == "lucide" else None

    @cached_property
    def _own_sets(self) -> dict[str, dict[str, Any]]:
        sets = {}
        for path in sorted(self._folder.glob("*.json")) if self._folder else ():
            try:
                found = json.loads(path.read_bytes())
                icons, aliases = dict(found["icons"]), dict(found.get("aliases") or {})
                sets[str(found["prefix"])] = {**found, "icons": icons, "aliases": aliases}
            except (OSError, ValueError, KeyError, TypeError):
                _log.warning("A file of icons is not in Iconify's format.", file=str(path))
        return sets

    def _glyph(self, name: str) -> Drawing | None:
        if name not in (glyphs := load_glyphs()):
            return None
        from fontTools.pens.svgPathPen import SVGPathPen

        pen = SVGPathPen(glyphs, ntos=lambda number: str(round(number)))
        glyphs[name].draw(pen)
        # The y axis of the font points up, and starts 64 below the baseline.
        inside = f'<path transform="matrix(1 0 0 -1 0 448)" d="{pen.getCommands()}"/>'
        return Drawing("0 0 512 512", inside) if len(inside) <= _MAX_BYTES else None

    @cached_property
    def _lucide(self) -> sqlite3.Connection:
        path = _package("lucide") / "data" / "lucide-icons.db"
        # Opened by one thread and used by others, but never by two at once.
        address = f"file:{path}?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, check_same_thread=False)

    def _lucide_icon(self, name: str) -> Drawing | None:
        row = self._lucide.execute("SELECT svg FROM icons WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        inside = str(row[0]).partition(">")[2].rpartition("</svg>")[0]
        return Drawing("0 0 24 24", f'<g class="lines">{" ".join(inside.split())}</g>')


def tint_of(name: str) -> int:
    """The color of its own that a name has: a number of the classes `t0` to `t7`."""
    return zlib.crc32(name.encode()) % _TINTS


def initials_of(name: str) -> str:
    """Of the first and the last word: `acme-labs` is AL."""
    words = [it for it in re.split(r"[\W_]+", name) if it]
    return "".join(it[0] for it in (words[:1] + words[1:][-1:])).upper() or "?"


def _letter(name: str) -> str:
    for letter in name:
        if letter.isalnum():
            return letter.upper()
    return "?"


def board_size(columns: int, rows: int) -> tuple[float, float]:
    """The width and height of a board of these proportions; extreme ones are limited."""
    ratio = min(max(columns / max(rows, 1), 0.5), 3.0)
    width, height = _BOARD
    return (
        (width, round(width / ratio, 1))
        if ratio > width / height
        else (round(height * ratio, 1), height)
    )


def _from_iconify(found: dict[str, Any], name: str) -> Drawing | None:
    icons, aliases = found["icons"], found["aliases"]
    if name not in icons and isinstance(aliases.get(name), dict):
        name = str(aliases[name].get("parent"))
    icon = icons.get(name)
    if not isinstance(icon, dict) or not isinstance(icon.get("body"), str):
        return None
    body = icon["body"]
    if len(body) > _MAX_BYTES or not _DRAWN.match(body) or _HANDLER.search(body):
        return None
    sizes = (icon.get(key) or found.get(key) or 16 for key in ("width", "height"))
    width, height = (it if isinstance(it, int | float) else 16 for it in sizes)
    return Drawing(str(escape(f"0 0 {width} {height}")), body)


def _package(name: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(name)
    return Path(next(iter(spec.submodule_search_locations)))

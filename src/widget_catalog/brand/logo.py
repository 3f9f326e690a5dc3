"""Logos: checked before they are saved. SVG is built anew, from elements and attributes that only
draw; anything that runs, loads or links is refused.
"""

import re
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

from ..catalog.store.attached_content import inspect_picture
from ..core.errors import BundleRefused, InvalidRequest
from ..core.files.contract import Kind
from ..core.http.branding import Logo

MAX_BYTES = 32_768
_MAX_PIXELS = 1_024
_MAX_DEPTH = 40
_PROPORTION = 6
_SVG = "{http://www.w3.org/2000/svg}"
_HEADS: dict[Kind, re.Pattern[bytes]] = {
    "png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
_ELEMENTS = frozenset(
    "svg g defs path circle ellipse rect line polyline polygon text tspan linearGradient "
    "radialGradient stop clipPath mask".split()
)
# What programs add for themselves.
_LEFT_OUT = frozenset(("metadata", "title", "desc"))
_ATTRIBUTES = frozenset(
    "id viewBox width height x y x1 y1 x2 y2 cx cy r rx ry fx fy d points transform opacity fill "
    "fill-opacity fill-rule clip-rule clip-path mask stroke stroke-width stroke-opacity "
    "stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray stroke-dashoffset offset "
    "stop-color stop-opacity gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits "
    "font-family font-size font-weight font-style text-anchor letter-spacing color style dx dy "
    "preserveAspectRatio href".split()
)
_HREFS = ("href", "{http://www.w3.org/1999/xlink}href")
_LOADS = re.compile(r"url\(\s*['\"]?(?!#)|@|\\|/\*|:\s*(?:javascript|expression)", re.IGNORECASE)
_NUMBER = re.compile(r"\s*([0-9]{1,5}(?:\.[0-9]{0,6})?)(?:px)?\s*")


class LogoRefused(InvalidRequest):
    """A sentence without its subject."""


def read_logo(content: bytes) -> Logo:
    """Raises LogoRefused, and Busy."""
    if len(content) > MAX_BYTES:
        raise LogoRefused(f"is too large: at most {MAX_BYTES:,} bytes are taken.")
    kind = next((kind for kind, head in _HEADS.items() if head.match(content)), None)
    if kind is None:
        logo = _read_svg(content)
    else:
        try:
            picture = inspect_picture(content, kind)
        except BundleRefused as error:
            raise LogoRefused(error.message) from None
        logo = Logo(content, kind, picture.width, picture.height)
        if max(logo.width, logo.height) > _MAX_PIXELS:
            raise LogoRefused(f"is too large: at most {_MAX_PIXELS:,} pixels a side are taken.")
    if not 1 <= logo.width / logo.height * _PROPORTION <= _PROPORTION**2:
        raise LogoRefused(f"is too long: one side may be {_PROPORTION} times the other at most.")
    return logo


def _read_svg(content: bytes) -> Logo:
    # Without declarations, nothing in it expands.
    text = re.sub(r"<!DOCTYPE svg[^\[\]<>]*>", "", content.decode("utf-8-sig", "replace"), count=1)
    if re.search("<!(?!--)", text):
        raise LogoRefused("contains a declaration that is not allowed in a logo.")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314
    except (ElementTree.ParseError, ValueError):
        raise LogoRefused("is not a PNG, WebP or SVG picture.") from None
    if root.tag != f"{_SVG}svg":
        raise LogoRefused("is not a PNG, WebP or SVG picture.")
    width, height = _measure(root)
    parts = "".join(_rebuild(root, 0))
    drawn = f'<svg xmlns="{_SVG[1:-1]}"{parts.removeprefix("<svg")}'.encode()
    return Logo(drawn, "svg", width, height)


def _measure(root: ElementTree.Element) -> tuple[int, int]:
    """In thousandths, because only the proportion matters."""
    box = root.get("viewBox", "").replace(",", " ").split()
    sides = box[2:] if len(box) == 4 else [root.get("width", ""), root.get("height", "")]
    found = [_NUMBER.fullmatch(it) for it in sides]
    width, height = (round(float(it[1]) * 1_000) if it else 0 for it in found)
    if not width or not height:
        raise LogoRefused("has no size: its element svg needs a viewBox.")
    return width, height


def _rebuild(element: ElementTree.Element, depth: int) -> list[str]:
    if not isinstance(element.tag, str) or not element.tag.startswith(_SVG):
        return []  # A comment, or an element for a drawing program.
    name = element.tag.removeprefix(_SVG)
    if name in _LEFT_OUT:
        return []
    if name not in _ELEMENTS:
        raise LogoRefused(f"contains <{name[:40]}>, which is not allowed in a logo.")
    if depth > _MAX_DEPTH:
        raise LogoRefused("is nested too deeply.")
    parts = [f"<{name}", *(_attribute(*it) for it in element.items()), ">"]
    parts.append(escape(element.text or "") if name in ("text", "tspan") else "")
    for child in element:
        parts += _rebuild(child, depth + 1)
        parts.append(escape(child.tail or "") if name in ("text", "tspan") else "")
    return [*parts, f"</{name}>"]


def _attribute(name: str, value: str) -> str:
    bare = "href" if name in _HREFS else name
    if bare.lower().startswith("on"):
        raise LogoRefused(f"contains the attribute {bare[:40]}, which runs a script.")
    if bare not in _ATTRIBUTES:
        return ""
    if _LOADS.search(value) or (bare == "href" and not value.startswith("#")):
        raise LogoRefused(f"contains the attribute {bare} with a link or code: not allowed.")
    return f" {bare}={quoteattr(value)}"

"""Draws a link picture. Runs in the process with limits: texts and pictures are the authors'.

A text is drawn only in a font that has all its letters: Inter, which is included (Latin, Greek,
Cyrillic), or one of the operator's. Otherwise the caller's plain text is drawn instead, so that no
picture shows boxes.
"""

import colorsys
import io
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

SIZE = (1200, 630)
FONT = Path(__file__).parents[1] / "fonts" / "Inter-SemiBold.woff2"

_GROUND, _INK, _QUIET = "#fbfbf9", "#1b2220", "#57625e"
_MARGIN, _DIVIDE = 64, 636
_TEXT_WIDTH = _DIVIDE - _MARGIN - 40
_TITLE_PX, _LINES = (72, 60, 50), 3
_SMALL_PX = 28
_PICTURE = (480, 480)
_ROUND = 14
_TINTS = (165, 200, 235, 270, 320, 15, 45, 100)
_MISSING = "\U0010ffff"
# Between the parts of an emoji.
_UNSEEN = {"\u200d", *map(chr, range(0xFE00, 0xFE10))}
_MAX_CHARACTERS = 160
_QUALITY = 90


class Drawn(NamedTuple):
    """What a link picture shows; all values are plain, to be marshalled."""

    title: str
    plain_title: str
    """Drawn if no font has the letters of the title: ASCII."""
    below: str
    facts: str
    plain_facts: str
    tint: int
    picture: bytes
    """A screenshot; or empty."""
    face: str
    """An SVG of the icon, for those without a screenshot; or empty. With neither: the mark."""
    letter: str
    """Drawn on the face, if that has no icon; if no font has it, that of the plain title."""
    site: str
    mark: bytes
    """The logo of the site: SVG, PNG or WebP."""
    fonts: tuple[str, ...] = ()
    """Paths of the operator's fonts."""


def draw_link_picture(question: tuple[object, ...]) -> bytes:
    """A JPEG, which all programs that show links can read."""
    from PIL import Image, ImageDraw

    it = Drawn(*question)  # type: ignore[arg-type]
    fonts = (str(FONT), *it.fonts)
    canvas = Image.new("RGB", SIZE, _GROUND)
    draw = ImageDraw.Draw(canvas)
    draw.rectangle((_DIVIDE, 0, *SIZE), fill=_hsl(it.tint, 0.32, 0.92))
    mark = _mark(it.mark, 48)
    left = _MARGIN
    if mark is not None:
        canvas.paste(mark, (_MARGIN, 56 + (48 - mark.height) // 2), mark)
        left += mark.width + 16
    _line(draw, (left, 80), it.site, "", fonts, _QUIET, _DIVIDE - 40 - left)
    title, path = _drawable(it.title, it.plain_title, fonts)
    lines, font = _fit_title(title, path)
    step = round(font.size * 1.16)
    top = 315 - (step * len(lines) + 20 + _SMALL_PX) // 2
    for number, text in enumerate(lines):
        draw.text((_MARGIN, top + number * step), text, fill=_INK, font=font)
    if it.below != title:
        below = (_MARGIN, top + len(lines) * step + 36)
        _line(draw, below, it.below, "", fonts, _QUIET, _TEXT_WIDTH)
    _line(draw, (_MARGIN, 550), it.facts, it.plain_facts, fonts, _INK, _TEXT_WIDTH)
    shown = _screenshot(it.picture) if it.picture else _face(it) if it.face else _mark(it.mark, 260)
    if shown is not None:
        _show(canvas, shown)
    output = io.BytesIO()
    canvas.save(output, "JPEG", quality=_QUALITY, subsampling=0, optimize=True)
    return output.getvalue()


def _hsl(tint: int, saturation: float, light: float) -> str:
    parts = colorsys.hls_to_rgb(_TINTS[tint % len(_TINTS)] / 360, light, saturation)
    return "#" + "".join(f"{round(it * 255):02x}" for it in parts)


@lru_cache(maxsize=64)
def _font(path: str, pixels: int) -> "FreeTypeFont":
    from PIL import ImageFont

    return ImageFont.truetype(path, pixels)


def _drawable(text: str, plain: str, fonts: Sequence[str]) -> tuple[str, str]:
    """The text, without symbols that no font has, and the font that has its letters; else the
    plain text."""
    text = "".join(it if it.isprintable() else " " for it in text if it not in _UNSEEN)
    text = unicodedata.normalize("NFC", text[:_MAX_CHARACTERS])
    for path in fonts:
        try:
            has = {it: _has(path, it) for it in set(text)}
        except OSError:  # This file is no font.
            continue
        shown = " ".join("".join(it for it in text if has[it]).split())
        lost = {it for it in text if not has[it] and unicodedata.category(it)[0] in "LMN"}
        if shown and not lost and (_is_left_to_right(shown) or _shapes()):
            return shown, path
    return plain, fonts[0]


@lru_cache(maxsize=5_000)
def _has(path: str, character: str) -> bool:
    if character.isspace():
        return True
    font = _font(path, 40)
    missing, found = font.getmask(_MISSING), font.getmask(character)
    return (found.size, bytes(found)) != (missing.size, bytes(missing))


def _is_left_to_right(text: str) -> bool:
    return all(unicodedata.bidirectional(it) not in ("R", "AL") for it in text)


def _shapes() -> bool:
    """Whether letters can be joined and put in order from right to left."""
    from PIL import features

    return bool(features.check("raqm"))


def _fit_title(text: str, path: str) -> "tuple[list[str], FreeTypeFont]":
    """In the largest size in which it fits; what does not fit in the smallest is cut off."""
    for pixels in _TITLE_PX:
        font = _font(path, pixels)
        lines = _wrap(text, font)
        if len(lines) <= _LINES:
            return lines, font
    lines[_LINES - 1] = _cut(f"{lines[_LINES - 1]} {lines[_LINES]}", font, _TEXT_WIDTH)
    return lines[:_LINES], font


def _wrap(text: str, font: "FreeTypeFont") -> list[str]:
    """Between words; in a word only if it is longer than a line."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}".strip()
        if font.getlength(joined) <= _TEXT_WIDTH:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for character in word:
            if font.getlength(lines[-1] + character) > _TEXT_WIDTH and lines[-1]:
                lines.append("")
            lines[-1] += character
    return lines


def _cut(text: str, font: "FreeTypeFont", width: float) -> str:
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(f"{text}…") > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _line(
    draw: object,
    middle: tuple[int, int],
    text: str,
    plain: str,
    fonts: Sequence[str],
    color: str,
    width: float,
) -> None:
    """One line, around this height."""
    shown, path = _drawable(text, plain, fonts)
    font = _font(path, _SMALL_PX)
    draw.text(middle, _cut(shown, font, width), fill=color, font=font, anchor="lm")  # type: ignore[attr-defined]


def _mark(content: bytes, height: int) -> "Image | None":
    from PIL import Image

    try:
        if content.lstrip().startswith(b"<"):
            content = _rasterize(content.decode(), height=height)
        image = Image.open(io.BytesIO(content), formats=("PNG", "WEBP")).convert("RGBA")
    except Exception:  # It is decoration.
        return None
    image.thumbnail((height * 5, height), Image.Resampling.LANCZOS)
    return image


def _screenshot(content: bytes) -> "Image":
    from PIL import Image, ImageOps

    opened = Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "WEBP"))
    image = ImageOps.contain(opened.convert("RGBA"), _PICTURE, Image.Resampling.LANCZOS)
    mask = Image.new("L", (image.width * 4, image.height * 4))
    _rounded(mask, 4)
    image.putalpha(_least(image.getchannel("A"), mask.resize(image.size, Image.Resampling.BOX)))
    return image


def _least(first: "Image", second: "Image") -> "Image":
    from PIL import ImageChops

    return ImageChops.darker(first, second)


def _rounded(mask: "Image", scale: int) -> None:
    from PIL import ImageDraw

    box = (0, 0, mask.width - 1, mask.height - 1)
    ImageDraw.Draw(mask).rounded_rectangle(box, _ROUND * scale, fill=255)


def _face(it: Drawn) -> "Image":
    """The icon on its board, as on a card."""
    from PIL import Image, ImageDraw

    svg = it.face.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    style = (
        f"rect{{fill:{_hsl(it.tint, 0.42, 0.40)}}} .glyph,.glyph *{{color:#fff;fill:#fff}} "
        ".glyph rect{fill:#fff} .glyph .lines,.glyph .lines *{fill:none;stroke:#fff;"
        "stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}"
    )
    image = Image.open(io.BytesIO(_rasterize(svg, style, width=620))).convert("RGBA")
    if "<text" in svg:
        plain = it.plain_title.rpartition("/")[2][:1].upper()
        letter, path = _drawable(it.letter, plain, (str(FONT), *it.fonts))
        middle = (image.width // 2, image.height // 2)
        ImageDraw.Draw(image).text(middle, letter, "#fff", _font(path, 170), anchor="mm")
    return image


def _show(canvas: "Image", image: "Image") -> None:
    """In the middle of the coloured part, with a shadow."""
    from PIL import Image, ImageFilter

    left = (_DIVIDE + SIZE[0] - image.width) // 2
    top = (SIZE[1] - image.height) // 2
    shadow = Image.new("L", SIZE)
    shadow.paste(image.getchannel("A").point(lambda alpha: alpha * 50 // 255), (left, top + 10))
    shadow = shadow.filter(ImageFilter.GaussianBlur(18))
    canvas.paste(Image.new("RGB", SIZE, "#000"), (0, 0), shadow)
    canvas.paste(image, (left, top), image)


def _rasterize(
    svg: str, style: str | None = None, *, width: int | None = None, height: int | None = None
) -> bytes:
    import resvg_py

    made = resvg_py.svg_to_bytes(
        svg_string=svg, style_sheet=style, width=width, height=height, skip_system_fonts=True
    )
    return bytes(made)

"""Which characters external text may contain, and how long it may be.

There are three kinds of text: a *name* identifies something to people, so it may not contain
invisible characters; a *line* is running text without line breaks; a *text* has several lines.

Also: suggestions for misspelled keys; and folding, the form in which a search compares texts, in
which case, accents and width do not matter. `vectors/folding.json` has the same rule as test cases
for clients in other languages.
"""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable
from unicodedata import normalize

_CONTROL = "\x00-\x1f\x7f-\x9f"
_LINE_SEPARATORS = "\u2028\u2029"
_SURROGATES = "\ud800-\udfff"
_LINE_BREAK = re.compile(f"\r\n|[\n\v\f\r\x85{_LINE_SEPARATORS}]")
# Bidirectional marks, embeddings, overrides and isolates: they reorder the text around them.
_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Invisible, and not needed in any text: invisible operators, deprecated and annotation controls,
# shorthand and musical controls, and tags, which can carry a whole hidden message.
_HIDDEN = (
    "\u2061-\u2065\u206a-\u206f\ufeff\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_JOINERS = "\u200c\u200d"
_MONGOLIAN_SELECTORS = "\u180b-\u180f"
_SELECTORS = f"{_MONGOLIAN_SELECTORS}\ufe00-\ufe0f\U000e0100-\U000e01ef"
# Letters and symbols by their category, yet blank on the screen: fillers, an empty pattern.
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
# The rest of what Unicode calls default ignorable: the soft hyphen, zero-width space and the
# like. In running text they mark line breaks; in a name they only deceive.
_HINTS = "\u00ad\u034f\u17b4\u17b5\u200b\u2060"
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)

_ALWAYS_UNWANTED = f"{_DIRECTION}{_SURROGATES}{_HIDDEN}"


def _unwanted(characters: str) -> re.Pattern[str]:
    """These characters, and a selector after another: one changes the character before it,
    several in a row are hidden data.

    It begins with one set, which `re` looks for three times as fast as for alternatives.
    """
    either = f"(?<=[{characters}])|(?<=[{_SELECTORS}][{_SELECTORS}])"
    return re.compile(f"[{characters}{_SELECTORS}](?:{either})")


_IN_LINE = _unwanted(f"{_CONTROL}{_LINE_SEPARATORS}{_ALWAYS_UNWANTED}")
_IN_TEXT = _unwanted(f"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_ALWAYS_UNWANTED}")
_IN_NAME = re.compile(
    f"[{_CONTROL}{_LINE_SEPARATORS}{_ALWAYS_UNWANTED}{_BLANK}{_HINTS}{_JOINERS}{_SELECTORS}]"
)
# Where a joiner or selector is part of the writing; elsewhere in a name it is rejected.
_EMOJI_JOINER = re.compile(f"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])")
_EMOJI_SELECTOR = re.compile(f"(?<=[{_EMOJI}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)")
_ARABIC_JOINER = re.compile(f"(?<=[\u0620-\u08ff])[{_JOINERS}](?=[\u0620-\u08ff])")
_MONGOLIAN_SELECTOR = re.compile(f"(?<=[\u1820-\u18aa])[{_MONGOLIAN_SELECTORS}]")
_WRITTEN = (_EMOJI_JOINER, _EMOJI_SELECTOR, _ARABIC_JOINER, _MONGOLIAN_SELECTOR)
_VIRAMA_CLASS = 9
_WHITE_SPACE = f"\t\n\x0b\x0c\r\x1c-\x1f\x85{_LINE_SEPARATORS}"
_BREAK = re.compile(f"[{_WHITE_SPACE}]+")


def name_error(text: str, max_length: int) -> str | None:
    """The error in a display name: of a widget, an organization, a token."""
    return _empty_error(text, max_length) or _length_error(text, max_length) or name_unwanted(text)


def joined_lines(text: str) -> str:
    """The text in one line: line breaks, with the spaces around them, become one space."""
    first, *others = _LINE_BREAK.split(text)
    if not others:
        return text
    parts = (it.strip(" \t") for it in (first, *others))
    return " ".join(filter(None, parts))


def line_error(text: str, max_length: int) -> str | None:
    """The error in running text of one line: a description, a reason."""
    return _empty_error(text, max_length) or _length_error(text, max_length) or line_unwanted(text)


def text_error(text: str, max_length: int) -> str | None:
    """The error in a text with several lines, such as release notes."""
    return _length_error(text, max_length) or text_unwanted(text)


def name_unwanted(text: str) -> str | None:
    """A message about the first forbidden character of a name; None if there is none."""
    return _character_error(text, _unwanted_in_name)


def line_unwanted(text: str) -> str | None:
    """A message about the first forbidden character of a line; None if there is none."""
    return _character_error(text, _unwanted_in_line)


def text_unwanted(text: str) -> str | None:
    """A message about the first forbidden character of a text; None if there is none."""
    return _character_error(text, _unwanted_in_text)


def clean_name(text: str) -> str:
    """The name without the characters that `name_fault` rejects; line breaks become spaces."""
    return _cleaned(_BREAK.sub(" ", text), _unwanted_in_name)


def clean_line(text: str) -> str:
    """The line without the characters that `line_fault` rejects; line breaks become spaces."""
    return _cleaned(_BREAK.sub(" ", text), _unwanted_in_line)


def clean_text(text: str) -> str:
    """The text without the characters that `text_fault` rejects."""
    return _cleaned(text, _unwanted_in_text)


def printable(text: str) -> str:
    """No control characters: they could forge lines, or colour a terminal."""
    return text if text.isprintable() else ascii(text)[1:-1]


def _unwanted_in_name(text: str) -> list[int]:
    found = (it.start() for it in _IN_NAME.finditer(text))
    return [at for at in found if not _is_written(text, at)]


def _unwanted_in_line(text: str) -> list[int]:
    return [it.start() for it in _IN_LINE.finditer(text)]


def _unwanted_in_text(text: str) -> list[int]:
    return [it.start() for it in _IN_TEXT.finditer(text)]


def _is_written(text: str, at: int) -> bool:
    """Whether an invisible character is part of how its neighbours are written: an emoji
    sequence, a Persian or Mongolian word, or an Indic conjunct, which has a virama."""
    if any(pattern.match(text, at) for pattern in _WRITTEN):
        return True
    neighbours = text[max(0, at - 1) : at + 2]
    return text[at] in _JOINERS and any(
        unicodedata.combining(it) == _VIRAMA_CLASS for it in neighbours
    )


def _is_visible(char: str) -> bool:
    """A letter, number, punctuation mark or symbol, and not one that is blank."""
    return unicodedata.category(char)[0] in "LNPS" and char not in _BLANK


def _empty_error(text: str, max_length: int) -> str | None:
    return None if any(map(_is_visible, text[:max_length])) else "must not be empty."


def _length_error(text: str, max_length: int) -> str | None:
    if len(text) <= max_length:
        return None
    return f"is too long: {len(text):,} characters, and at most {max_length:,} are taken."


def _character_error(text: str, unwanted_in: Callable[[str], list[int]]) -> str | None:
    if unwanted := unwanted_in(text):
        return (
            f"contains the character U+{ord(text[unwanted[0]]):04X}; control characters, invisible "
            "characters and marks that change the direction of writing are not allowed."
        )
    return None


def _cleaned(text: str, unwanted_in: Callable[[str], list[int]]) -> str:
    while unwanted := set(unwanted_in(text)):  # Again, as a joiner may have lost its neighbour.
        text = "".join(char for at, char in enumerate(text) if at not in unwanted)
    return text


_SIMILAR = 0.82
_SHORTEST = 4
_LENGTHS_DIFFER_BY = 2


def find_similar(key: str, known: Iterable[str]) -> str | None:
    """The known key that this one is a misspelling of, if any.

    It must be very similar: a key that only partly resembles a known one may be intended.
    """
    bare = _bare(key)
    if len(bare) < _SHORTEST or len(key) > 100:  # It takes quadratic time.
        return None
    by_bare = {_bare(it): it for it in known}
    close = difflib.get_close_matches(bare, by_bare, n=1, cutoff=_SIMILAR)
    if close and abs(len(close[0]) - len(bare)) <= _LENGTHS_DIFFER_BY:
        return by_bare[close[0]]
    return None


def _bare(key: str) -> str:
    """`Display_Name` and `display-name` are both displayName."""
    return re.sub("[_ -]", "", key).casefold()


_MARKS = re.compile("[\u0300-\u036f]+")
# All characters that are such a mark or decompose into one, and many others. Texts without them,
# such as Japanese ones, are folded in a fifth of the time.
_MAY_HAVE_MARKS = re.compile("[\x80-\u2fff\ufe49-\ufe4c\uffe3]")


def fold(text: str) -> str:
    """Unicode NFKD, without the combining marks U+0300 to U+036F, NFKC, then case folding.

    Folding twice is the same as folding once. The result may contain white space that the text
    does not have (U+00A8 becomes a space): split it after folding, not before.
    """
    if text.isascii():
        return text.lower()
    if _MAY_HAVE_MARKS.search(text):
        text = _MARKS.sub("", normalize("NFKD", text))
    return normalize("NFKC", text).casefold()

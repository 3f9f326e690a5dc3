"""Which characters a text from outside may hold, and how long it may be."""

import re
import unicodedata

# What could hide or reorder the text around it: embeddings, overrides, isolates, marks.
_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINE_SEPARATORS = "\u2028\u2029"
_SURROGATES = "\ud800-\udfff"
# Letters and symbols by their category, and nothing on the screen: fillers, an empty pattern.
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
_CONTROL = "\x00-\x1f\x7f-\x9f"
_UNWANTED_IN_LINE = re.compile(f"[{_CONTROL}{_DIRECTION}{_LINE_SEPARATORS}{_SURROGATES}\ufeff]")
_UNWANTED_IN_TEXT = re.compile(
    f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_DIRECTION}{_SURROGATES}\ufeff]"
)


def line_fault(text: str, max_length: int) -> str | None:
    """What is wrong with a text that people see in one line: a name, a reason, a description."""
    if not any(map(_is_seen, text[:max_length])):
        return "must not be empty."
    return _fault(text, max_length, _UNWANTED_IN_LINE)


def text_fault(text: str, max_length: int) -> str | None:
    """What is wrong with a text of several lines, such as release notes."""
    return _fault(text, max_length, _UNWANTED_IN_TEXT)


def _is_seen(char: str) -> bool:
    """A letter, number, mark of punctuation or symbol, and not one that is a blank."""
    return unicodedata.category(char)[0] in "LNPS" and char not in _BLANK


def _fault(text: str, max_length: int, unwanted: re.Pattern[str]) -> str | None:
    if len(text) > max_length:
        return f"is too long: {len(text):,} characters, and at most {max_length:,} are taken."
    if found := unwanted.search(text):
        return (
            f"holds the character U+{ord(found.group()):04X}; control characters and marks that "
            "change the direction of writing are not taken."
        )
    return None

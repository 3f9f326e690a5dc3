"""Folding: the form in which a search compares texts. Case, accents and width do not matter.

`vectors/folding.json` has the same rule as test cases for clients in other languages.
"""

import re
from unicodedata import normalize

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

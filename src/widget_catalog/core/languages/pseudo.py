"""Pseudo: English that is written from right to left, to test the layout of such languages and to
see which texts are not translated. Its tag is reserved for this purpose in CLDR.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from .language import Language, find_language

_KEPT_OR_WORD = re.compile(r"(%\(\w+\)s|%%|<[^>]*>|&\w+;)|([^\W\d_]+)")
# Right-to-left override, and its end.
_START, _END = "\u202e", "\u202c"


class Pseudo(Language):
    tag = "ar-XB"
    name = "Pseudo"
    direction = "rtl"

    def gettext(self, message: str) -> str:
        return reverse(message)

    def forms(self, singular: str, plural: str) -> Sequence[str]:
        return reverse(singular), reverse(plural)

    def script_texts(self, *scripts: str) -> Mapping[str, str]:
        known = find_language("de")
        return {} if known is None else {it: reverse(it) for it in known.script_texts(*scripts)}

    def day(self, iso: str) -> str:
        return reverse(super().day(iso))


@cache
def reverse(message: str) -> str:
    """Every word in reverse direction; placeholders and tags stay."""
    return _KEPT_OR_WORD.sub(
        lambda found: found[1] or f"{_START}{found[2]}{_END}",
        message,
    )


PSEUDO = Pseudo()

"""Language: texts, numbers and dates for people who read one language."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple

CATALOGS = Path(__file__).parent / "catalogs"

N_: Callable[[str], str] = str
"""Marks a text that is translated elsewhere."""


class Language:
    """English, in which the sources are written; subclasses translate.

    Formatting a date takes 20 µs and a page of results has twenty, so results are cached.
    """

    tag: str = "en"
    name: str = "English"
    """What its readers call it."""
    direction: ClassVar[str] = "ltr"

    def load(self) -> None:
        """Read what texts, numbers and dates need, if that takes time: in a thread."""

    def gettext(self, message: str) -> str:
        return message

    def forms(self, singular: str, plural: str) -> Sequence[str]:
        """The text in every plural form of this language."""
        return singular, plural

    def plural_form(self, count: int) -> int:
        """Which of these forms is for this number of things."""
        return 0 if count == 1 else 1

    def ngettext(self, singular: str, plural: str, count: int) -> str:
        return self.forms(singular, plural)[self.plural_form(count)]

    def script_texts(self, *scripts: str) -> Mapping[str, str]:  # noqa: ARG002
        """What these files say in this language, by the English text; nothing for English."""
        return {}

    def number(self, value: int) -> str:
        return f"{value:,}"

    def day(self, iso: str) -> str:
        """The date of a time."""
        return _english_date(iso[:10])

    def bytes(self, count: int) -> str:
        """A human-readable size."""
        for unit, size in (("MB", 1_000_000), ("kB", 1_000)):
            if count >= size:
                return f"{self._three_digits(count / size)} {unit}"
        return self.gettext("%(count)s bytes") % {"count": count}

    def _three_digits(self, value: float) -> str:
        return f"{value:.3g}"


@lru_cache(maxsize=10_000)
def _english_date(date: str) -> str:
    return f"{datetime.fromisoformat(date):%-d %b %Y}"


class Translated(Language):
    """A language with a catalog of messages in `catalogs/`, read on first use: with Babel's data,
    that takes about 100 ms.
    """

    def __init__(self, tag: str, name: str) -> None:
        self.tag = tag
        self.name = name
        self._locale = tag.replace("-", "_")
        self._date = lru_cache(maxsize=10_000)(self._format_date)
        self._number = lru_cache(maxsize=10_000)(self._format_number)

    def load(self) -> None:
        self.plural_form(1)
        self.day("2000-01-01")

    def gettext(self, message: str) -> str:
        found = self._catalog.messages.get(message)
        return found[0] if found else message

    def forms(self, singular: str, plural: str) -> Sequence[str]:
        found = self._catalog.messages.get(singular)
        return found or [singular, *[plural] * (self._catalog.forms - 1)]

    def plural_form(self, count: int) -> int:
        return self._catalog.plural_form(count)

    def script_texts(self, *scripts: str) -> Mapping[str, str]:
        texts = {text for it in scripts for text in self._catalog.scripts.get(it, ())}
        return {text: self.gettext(text) for text in sorted(texts)}

    def number(self, value: int) -> str:
        return self._number(value)

    def day(self, iso: str) -> str:
        return self._date(iso[:10])

    def _format_date(self, date: str) -> str:
        from babel.dates import format_date

        return format_date(datetime.fromisoformat(date), "medium", locale=self._locale)

    def _format_number(self, value: int) -> str:
        from babel.numbers import format_decimal

        return format_decimal(value, locale=self._locale)

    def _three_digits(self, value: float) -> str:
        from babel.numbers import format_decimal

        return format_decimal(value, "@@#", locale=self._locale)

    @cached_property
    def _catalog(self) -> "_Catalog":
        from gettext import c2py

        from babel.messages.pofile import read_po

        with (CATALOGS / f"{self.tag}.po").open("rb") as file:
            read = read_po(file, locale=self._locale)
        messages: dict[str, Sequence[str]] = {}
        scripts: dict[str, list[str]] = {}
        for message in read:
            key = message.id if isinstance(message.id, str) else message.id[0]
            text = message.string
            forms = (text,) if isinstance(text, str) else tuple(text or ())
            if key and forms and all(forms):
                messages[key] = forms
                for path, _ in message.locations:
                    if path.endswith(".js"):
                        scripts.setdefault(path.rpartition("/")[2], []).append(key)
        return _Catalog(messages, scripts, read.num_plurals, c2py(read.plural_expr))


class _Catalog(NamedTuple):
    messages: Mapping[str, Sequence[str]]
    """The translations in all plural forms, by the English text."""
    scripts: Mapping[str, Sequence[str]]
    """The English texts of scripts, by the names of their files."""
    forms: int
    plural_form: Callable[[int], int]


ENGLISH = Language()
_TRANSLATED = {it.tag: it for it in (Translated("de", "Deutsch"), Translated("ja", "日本語"))}
TAGS = (ENGLISH.tag, *_TRANSLATED)


def find_language(tag: str) -> Language | None:
    known: dict[str, Language] = {ENGLISH.tag: ENGLISH, PSEUDO.tag: PSEUDO, **_TRANSLATED}
    return known.get(tag)


def parse_languages(tags: str) -> Sequence[Language]:
    """Raises ValueError."""
    found = [find_language(it) for it in dict.fromkeys(tags.split())]
    some = [it for it in found if it is not None]
    if not some or len(some) < len(found):
        raise ValueError(f"must be some of {' '.join(TAGS)}, separated by spaces.")
    return some


_KEPT_OR_WORD = re.compile(r"(%\(\w+\)s|%%|<[^>]*>|&\w+;)|([^\W\d_]+)")
# Right-to-left override, and its end.
_START, _END = "\u202e", "\u202c"


class Pseudo(Language):
    """English that is written from right to left, to test the layout of such languages and to see
    which texts are not translated. Its tag is reserved for this purpose in CLDR.
    """

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
    return _KEPT_OR_WORD.sub(lambda found: found[1] or f"{_START}{found[2]}{_END}", message)


PSEUDO = Pseudo()

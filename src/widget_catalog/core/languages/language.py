"""Language: texts, numbers and dates for people who read one language."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from gettext import c2py
from pathlib import Path
from typing import ClassVar

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
    """A language with a catalog of messages in `catalogs/`."""

    def __init__(self, tag: str) -> None:
        """Takes about 50 ms."""
        from babel import Locale

        self.tag = tag
        locale = Locale.parse(tag, sep="-")
        self.name = locale.get_display_name(locale) or tag
        self._messages, self._plural_form = _read_catalog(tag)
        self._format(locale)

    def _format(self, locale: object) -> None:
        from babel.dates import format_date
        from babel.numbers import format_decimal

        def date(text: str) -> str:
            return format_date(datetime.fromisoformat(text), "medium", locale=str(locale))

        self._date = lru_cache(maxsize=10_000)(date)
        self.number = lru_cache(maxsize=10_000)(  # type: ignore[method-assign]
            lambda value: format_decimal(value, locale=str(locale))
        )
        self._three_digits = lambda value: format_decimal(  # type: ignore[method-assign]
            value, "@@#", locale=str(locale)
        )

    def gettext(self, message: str) -> str:
        found = self._messages.get(message)
        return found[0] if found else message

    def forms(self, singular: str, plural: str) -> Sequence[str]:
        """English ones if there is no translation, assigned to the forms of this language."""
        found = self._messages.get(singular)
        if found:
            return found
        return [singular if self._plural_form(1) == it else plural for it in range(self._count)]

    @property
    def _count(self) -> int:
        return 1 + max(self._plural_form(it) for it in range(201))

    def plural_form(self, count: int) -> int:
        return self._plural_form(count)

    def day(self, iso: str) -> str:
        return self._date(iso[:10])


def _read_catalog(tag: str) -> tuple[Mapping[str, Sequence[str]], Callable[[int], int]]:
    """The translated texts by their English ones, and the number of a plural form."""
    from babel.messages.pofile import read_po

    with (CATALOGS / f"{tag}.po").open("rb") as file:
        catalog = read_po(file, locale=tag.replace("-", "_"))
    messages: dict[str, Sequence[str]] = {}
    for it in catalog:
        key = it.id if isinstance(it.id, str) else it.id[0]
        forms = (it.string,) if isinstance(it.string, str) else tuple(it.string or ())
        if key and forms and all(forms) and not it.fuzzy:
            messages[key] = forms
    return messages, c2py(catalog.plural_expr)


ENGLISH = Language()


@cache
def find_language(tag: str) -> Language:
    """Loaded on first use. Raises ValueError if there is none."""
    from .pseudo import PSEUDO, Pseudo

    if tag == ENGLISH.tag:
        return ENGLISH
    if tag == PSEUDO:
        return Pseudo()
    if tag not in list_tags():
        raise ValueError(f"must be tags of {', '.join(list_tags())}, separated by spaces.")
    return Translated(tag)


@cache
def list_tags() -> tuple[str, ...]:
    """The languages that pages are translated to, English first."""
    return ENGLISH.tag, *sorted(it.stem for it in CATALOGS.glob("*.po"))

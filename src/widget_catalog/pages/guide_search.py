"""The search of the docs: sections of guides and operations of the API that have all words."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from markupsafe import Markup, escape

MAX_QUERY = 100
_MAX_WORDS = 8
_MAX_RESULTS = 30
# Characters of a snippet before and after the first word found.
_BEFORE, _AFTER = 70, 150
# Points for a word in the heading of a section, in what its guide is about, and in its text.
_IN_TITLE, _IN_PLACE, _MOST_IN_TEXT = 10, 4, 4
_WORD = re.compile(r"[^\W_]+")
_HEADING = re.compile(r'<h([1-4]) id="([^"]*)">(.*?)</h\1>', re.DOTALL)


class Section(NamedTuple):
    path: str
    title: str
    place: str
    """The title of its guide."""
    text: str
    about: str = ""
    """What its guide is about."""


class Result(NamedTuple):
    section: Section
    snippet: Markup


def sections_of(path: str, place: str, about: str, html: str) -> Iterator[Section]:
    """The sections of a page, each from its heading to the next one; the first has no anchor."""
    _, *parts = _HEADING.split(html)
    for start in range(0, len(parts), 4):
        _, anchor, heading, below = parts[start : start + 4]
        title, text = (Markup(it).striptags() for it in (heading, below))  # noqa: S704  Our own.
        yield Section(f"{path}#{anchor}" if start else path, title, place, text, about)


class GuideSearch:
    def __init__(self, sections: Iterable[Section]) -> None:
        # Each with its words, which are searched in microseconds.
        self._sections = [
            (
                section,
                (
                    _words(section.title),
                    _words(f"{section.place} {section.about}"),
                    _words(section.text),
                ),
            )
            for section in sections
        ]

    def find(self, query: str) -> list[Result]:
        """The sections with every word, or the beginning of one, best first."""
        words = [_singular(it) for it in _WORD.findall(query.lower())[:_MAX_WORDS]]
        found: list[tuple[int, int, Section]] = []
        for section, texts in self._sections:
            points = [_points(f" {it}", *texts) for it in words]
            if points and all(points):
                found.append((-sum(points), len(found), section))
        pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(words)})", re.IGNORECASE)
        return [Result(it, _snippet(it.text, pattern)) for _, _, it in sorted(found)[:_MAX_RESULTS]]


def _words(text: str) -> str:
    return " " + " ".join(_WORD.findall(text.lower()))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > len("its") and word.endswith("s") else word


def _points(word: str, title: str, place: str, text: str) -> int:
    in_text = min(text.count(word), _MOST_IN_TEXT)
    return (word in title) * _IN_TITLE + (word in place) * _IN_PLACE + in_text


def _snippet(text: str, pattern: re.Pattern[str]) -> Markup:
    """The text around the first word found, with all found words marked."""
    first = pattern.search(text)
    at = 0 if first is None else first.start()
    start = 0 if at <= _BEFORE else text.rfind(" ", 0, at - _BEFORE) + 1
    end = text.find(" ", at + _AFTER)
    shown = text[start : end if end > 0 else len(text)]
    marked, last = Markup(""), 0
    for match in pattern.finditer(shown):
        marked += escape(shown[last : match.start()]) + Markup("<mark>{}</mark>").format(match[0])
        last = match.end()
    dots = ("… " if start else "", " …" if end > 0 else "")
    return escape(dots[0]) + marked + escape(shown[last:] + dots[1])

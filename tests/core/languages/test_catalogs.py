"""The catalogs of messages: complete, in step with the sources, and safe to insert into pages."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po
from jinja2 import Environment

import widget_catalog
from widget_catalog.core.languages.client_texts import CLIENT, client_texts
from widget_catalog.core.languages.extract import extract, updated
from widget_catalog.core.languages.language import CATALOGS, PSEUDO, TAGS, find_language

TRANSLATED = TAGS[1:]
SOURCES = Path(widget_catalog.__file__).parent
# In English for everybody: guides and the API reference.
_ENGLISH = ("docs.html", "docs_search", "guide.html", "reference/")
_CATALOG = SOURCES / "catalog" / "templates"
PUBLIC = sorted(
    [SOURCES / "core/http/templates" / it for it in ("base.html", "message.html")]
    + [
        template
        for template in _CATALOG.rglob("*.html")
        if not str(template.relative_to(_CATALOG)).startswith(_ENGLISH)
    ]
)
_NAMES = {"SDK", "OpenAPI", "README", "API", "SHA", "UTC"}
_SHOWN = ("alt", "aria-label", "aria-description", "data-label", "placeholder", "title")
_WORD = re.compile(r"[^\W\d_]{2,}")


def messages_of(tag: str) -> list[Message]:
    with (CATALOGS / f"{tag}.po").open("rb") as file:
        return [it for it in read_po(file, locale=tag) if it.id]


@pytest.mark.parametrize("tag", TRANSLATED)
def test_a_catalog_has_the_texts_of_the_sources_and_no_others(tag: str) -> None:
    written = (CATALOGS / f"{tag}.po").read_bytes()
    command = "./dev run python -m widget_catalog.core.languages.extract"
    assert updated(tag, extract()) == written, f"Run {command}, and translate what is empty."


def test_the_client_says_what_the_catalogs_say() -> None:
    assert (CLIENT / "texts.js").read_text(encoding="utf-8") == client_texts()


@pytest.mark.parametrize("tag", TRANSLATED)
def test_every_text_is_translated_in_all_plural_forms(tag: str) -> None:
    empty = [it.id for it in messages_of(tag) if not all(_strings(it)) or it.fuzzy]
    assert empty == []


@pytest.mark.parametrize("tag", TRANSLATED)
def test_translations_have_the_values_and_the_elements_of_the_text(tag: str) -> None:
    def parts(text: str) -> list[str]:
        return sorted(re.findall(r"%\(\w+\)s|<[^>]*>|%(?!\()", text))

    for message in messages_of(tag):
        wanted = parts(message.id if isinstance(message.id, str) else message.id[-1])
        assert all(parts(text) == wanted for text in _strings(message)), message.id


def _strings(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


@pytest.mark.parametrize("path", PUBLIC, ids=lambda it: it.name)
def test_every_sentence_of_a_public_template_is_marked(path: Path) -> None:
    assert list(unmarked(path.read_text("utf-8"))) == []


def test_unmarked_sentences_are_found() -> None:
    source = """<p>Some words {{ name }}</p><img alt="A picture">{{ x or "Not stated" }}
        <code>curl it</code>{% trans %}Marked{% endtrans %}{{ _("Marked") }}"""
    assert list(unmarked(source)) == ["Not stated", "Some words", "A picture"]


def unmarked(source: str) -> Iterator[str]:
    """Texts for people outside `trans` and `_()`, in elements, attributes and expressions."""
    html: list[str] = []
    before = [""] * 2
    is_marked = is_shown = False
    for _, kind, text in Environment().lex(source):
        if kind == "name" and text in ("trans", "endtrans") and "block_begin" in before:
            is_marked = text == "trans"
        elif kind == "data" and not is_marked:
            html.append(text)
        elif kind == "variable_begin":
            is_shown = True
            html.append("1")
        elif kind == "variable_end":
            is_shown = False
        elif (
            kind == "string"
            and is_shown
            and before != ["_", "("]
            and re.search(r"[A-Z][a-z]|[a-z] [a-z]", text)
        ):
            yield text[1:-1]
        if kind != "whitespace":
            before = [before[1], kind if kind == "block_begin" else text]
    reader = _Texts()
    reader.feed("".join(html))
    for found in reader.found:
        text = re.sub(r'[a-z-]+="[^"]*"', "", found)  # An attribute, as a block of its own.
        if set(_WORD.findall(text)) - _NAMES:
            yield " ".join(text.replace("1", "").split())


class _Texts(HTMLParser):
    """What people read, without code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag in ("code", "script", "pre")
        self.found += [value for name, value in attrs if name in _SHOWN and value]

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "script", "pre")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.found.append(data)


def test_numbers_dates_and_sizes_are_written_as_readers_expect() -> None:
    written = {}
    for tag in TAGS:
        language = find_language(tag)
        assert language is not None
        written[tag] = (
            language.number(1234567),
            language.day("2026-03-01T10:00:00Z"),
            language.bytes(123),
            language.bytes(1_234_567),
        )
    assert written == {
        "en": ("1,234,567", "1 Mar 2026", "123 bytes", "1.23 MB"),
        "de": ("1.234.567", "01.03.2026", "123 Bytes", "1,23 MB"),
        "ja": ("1,234,567", "2026/03/01", "123 バイト", "1.23 MB"),
    }


def test_the_pseudo_language_reverses_words_but_neither_values_nor_elements() -> None:
    text = 'Go to <a href="%(root)s/">home</a> &amp; 100%% %(name)s'
    assert PSEUDO.gettext(text) == (
        "\u202eGo\u202c \u202eto\u202c "
        '<a href="%(root)s/">\u202ehome\u202c</a> &amp; 100%% %(name)s'
    )

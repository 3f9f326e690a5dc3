"""Fields of a manifest that only the detail of a version has: their declaration, their rules, and
what a stored manifest states of them.
"""

import re
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from .described import (
    HTTPS_ADDRESS,
    HTTPS_ADDRESS_MAX_LENGTH,
    KEYWORD,
    LANGUAGE,
    described,
    https_field,
)
from .texts import line_error, name_error
from .version_files import MAX_README_BYTES
from .wire import Shape

MAX_KEYWORDS = 10
MAX_AUTHOR = 200
MAX_TRANSLATIONS = 30
MAX_DISPLAY_NAME = 100
MAX_DESCRIPTION = 1_000


class Author(Shape, frozen=True):
    """Who made a widget."""

    name: Annotated[str, described("Name of the author.", "Ann Smith", maxLength=MAX_AUTHOR)]
    url: Annotated[
        str | UnsetType, https_field("Page about the author.", "https://ann.example")
    ] = UNSET


class Translation(Shape, frozen=True):
    """The texts of a widget in another language."""

    display_name: Annotated[
        str | UnsetType, described("The name.", "Uhr", maxLength=MAX_DISPLAY_NAME)
    ] = UNSET
    description: Annotated[
        str | UnsetType, described("What it shows.", "Die Uhrzeit.", maxLength=MAX_DESCRIPTION)
    ] = UNSET


class DeclaredDetails(Shape, frozen=True, kw_only=True):
    """Fields of a manifest that only the detail of a version has, after its other fields.

    This is their only declaration: storage, import, export, mirrors, responses, the JSON Schema of
    manifests and documentation are derived from it. Each has a default, and a parser in
    `DETAIL_PARSERS`. Pages also search the texts of fields with `is_searched`.
    """

    keywords: Annotated[
        tuple[str, ...],
        described(
            "Keywords of the manifest: lowercase letters, digits and hyphens.",
            ["clock", "time-zone"],
            maxItems=MAX_KEYWORDS,
            items={"type": "string", "pattern": KEYWORD},
            is_searched=True,
        ),
    ] = ()
    readme: Annotated[
        str | None,
        described(
            "Documentation in the manifest, in Markdown. A file README.md takes precedence.",
            "# Clock\n\nThe time.",
        ),
    ] = None
    homepage: Annotated[
        str | None, https_field("Website of the widget.", "https://clock.example")
    ] = None
    repository: Annotated[
        str | None,
        https_field("Where its source code is.", "https://git.example/ann/clock"),
    ] = None
    author: Annotated[
        str | Author | None,
        described("Who made it: a name, or a name and a page.", {"name": "Ann Smith"}),
    ] = None
    translations: Annotated[
        dict[str, Translation] | None,
        described(
            "Name and description in other languages, by the tag of the language.",
            {"de": {"displayName": "Uhr", "description": "Die Uhrzeit."}},
            maxProperties=MAX_TRANSLATIONS,
            propertyNames={"pattern": LANGUAGE},
        ),
    ] = None


Errors = list[tuple[str, str]]
"""Where in a value, such as `[1]` or nothing, and a sentence."""
DetailParser = Callable[[object], tuple[Any, Errors]]
"""Parses the value of a manifest, None if there is none. Returns what is valid of it, and all
errors.
"""

DETAIL_FIELDS = DeclaredDetails.__struct_fields__
DETAIL_KEYS = {it.name: it.encode_name for it in msgspec.structs.fields(DeclaredDetails)}
_DETAILS = [(it.name, it.encode_name, it.default) for it in msgspec.structs.fields(DeclaredDetails)]
_NO_DETAILS = tuple(default for _, _, default in _DETAILS)
_values_of = attrgetter(*DETAIL_FIELDS)
_SEARCHED = [
    field.name
    for field in msgspec.structs.fields(DeclaredDetails)
    if any(meta.extra["is_searched"] for meta in field.type.__metadata__)
]

_KEYWORD = re.compile(KEYWORD)
_KEYWORD_RULE = "use 2 to 30 lowercase letters, digits and hyphens, such as time-zone."
_LANGUAGE = re.compile(LANGUAGE)
_LANGUAGE_RULE = "is not the tag of a language, such as de or pt-BR."
_TRANSLATIONS_RULE = (
    'must be an object such as {"de": {"displayName": "Uhr", "description": "Die Uhrzeit."}}, '
    f"of at most {MAX_TRANSLATIONS} languages."
)
_ADDRESS = re.compile(HTTPS_ADDRESS)
_ADDRESS_RULE = "must be an https address, such as https://clock.example."
_AUTHOR_RULE = 'must be a name, or an object such as {"name": "Ann", "url": "https://ann.example"}.'


def has_details(declared: DeclaredDetails) -> bool:
    """Most versions have none, and an import asks three times for each."""
    return bool(_values_of(declared) != _NO_DETAILS)


def details_of(declared: DeclaredDetails) -> dict[str, Any]:
    """The details that a version has, by their JSON names."""
    if not has_details(declared):
        return {}
    every = zip(_DETAILS, _values_of(declared), strict=True)
    return {key: value for (_, key, default), value in every if value != default}


def extra_details(declared: DeclaredDetails, manifest: str | None) -> dict[str, Any]:
    """The details of a version that its manifest does not state, for storage: a readme is long."""
    details = details_of(declared)
    if not details or manifest is None:
        return details
    stated = details_in(manifest)
    return {
        key: value
        for name, key in DETAIL_KEYS.items()
        if (value := details.get(key)) is not None and value != stated.get(name)
    }


def searched_texts(declared: DeclaredDetails) -> Iterator[str]:
    """The texts that pages search, in addition to names and descriptions."""
    for name in _SEARCHED:
        value = getattr(declared, name)
        yield from (value,) if isinstance(value, str) else value or ()


def details_in(manifest: str | bytes) -> dict[str, Any]:
    """The valid details of a stored manifest, which may be any text, by name."""
    text = manifest if isinstance(manifest, str) else manifest.decode(errors="replace")
    # Most have none, and searching is faster than decoding.
    if not any(key in text for _, key, _ in _DETAILS):
        return {}
    try:
        found = msgspec.json.decode(manifest)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    stated = found if isinstance(found, dict) else {}
    parsed = {name: DETAIL_PARSERS[name](stated.get(key))[0] for name, key, _ in _DETAILS}
    return {name: value for name, value in parsed.items() if value}


def shown(value: object) -> str:
    """A value for a message: shortened, without control characters."""
    try:
        text = ascii(value)
    except RecursionError:  # Nested as deeply as the decoder allows, which needs less of the stack.
        return "a deeply nested value"
    return text if len(text) <= 80 else f"{text[:80]}…"


def parse_keywords(stated: object) -> tuple[tuple[str, ...], Errors]:
    """At most MAX_KEYWORDS, without duplicates."""
    if stated is None:
        return (), []
    if not isinstance(stated, list | tuple):
        return (), [("", 'must be a list of keywords, such as ["clock", "time-zone"].')]
    valid, errors = dict[str, None](), []
    for i, keyword in enumerate(stated[:MAX_KEYWORDS]):
        if not isinstance(keyword, str) or not _KEYWORD.fullmatch(keyword):
            errors.append((f"[{i}]", f"{shown(keyword)} is not a keyword: {_KEYWORD_RULE}"))
        elif keyword in valid:
            errors.append((f"[{i}]", f"{keyword} is given twice."))
        else:
            valid[keyword] = None
    if len(stated) > MAX_KEYWORDS:
        errors = [("", f"must not have more than {MAX_KEYWORDS} keywords."), *errors]
    return tuple(valid), errors[:3]


def parse_readme(stated: object) -> tuple[str | None, Errors]:
    """Any characters: pages sanitize what they show. The valid part is its beginning."""
    if stated is None or stated == "":
        return None, []
    if not isinstance(stated, str):
        return None, [("", "must be a text.")]
    content = stated.encode(errors="replace")
    if len(content) <= MAX_README_BYTES:
        return stated, []
    sentence = f"has {len(content):,} bytes; at most {MAX_README_BYTES:,} are allowed."
    return content[:MAX_README_BYTES].decode(errors="ignore"), [("", sentence)]


def parse_address(stated: object) -> tuple[str | None, Errors]:
    """An https URL that is safe to link to."""
    if stated is None or stated == "":
        return None, []
    if isinstance(stated, str) and _is_address(stated):
        return stated, []
    return None, [("", _ADDRESS_RULE)]


def parse_repository(stated: object) -> tuple[str | None, Errors]:
    """An https address, or one of npm's forms: an object with the `url`, and `git+https:`."""
    if isinstance(stated, dict):
        stated = stated.get("url") or ""
    return parse_address(stated.removeprefix("git+") if isinstance(stated, str) else stated)


def parse_author(stated: object) -> tuple[str | Author | None, Errors]:
    if isinstance(stated, Author):
        stated = msgspec.to_builtins(stated)
    if stated is None or stated == "":
        return None, []
    if isinstance(stated, str):
        sentence = name_error(stated, MAX_AUTHOR)
        return (None, [("", sentence)]) if sentence else (stated, [])
    if not isinstance(stated, dict) or not isinstance(stated.get("name"), str):
        return None, [("", _AUTHOR_RULE)]
    name, url = stated["name"], stated.get("url")
    address, errors = parse_address(url)
    errors = [(".url", it) for _, it in errors]
    if sentence := name_error(name, MAX_AUTHOR):
        return None, [(".name", sentence), *errors]
    return Author(name, address or UNSET), errors


def parse_translations(stated: object) -> tuple[dict[str, Translation] | None, Errors]:
    """The valid languages, each with at least one text."""
    if stated is None:
        return None, []
    if not isinstance(stated, dict) or len(stated) > MAX_TRANSLATIONS:
        return None, [("", _TRANSLATIONS_RULE)]
    valid, errors = dict[str, Translation](), Errors()
    for tag, value in stated.items():
        texts = msgspec.to_builtins(value) if isinstance(value, Translation) else value
        if not isinstance(tag, str) or not _LANGUAGE.fullmatch(tag):
            errors.append(("", f"{shown(tag)} {_LANGUAGE_RULE}"))
        elif not isinstance(texts, dict) or not texts.keys() & _TRANSLATED.keys():
            errors.append((f".{tag}", "must have a displayName, a description, or both."))
        elif wrong := list(_text_errors(tag, texts)):
            errors += wrong
        else:
            values = {name: texts[key] for key, (name, *_) in _TRANSLATED.items() if key in texts}
            valid[tag] = Translation(**values)
    return valid or None, errors[:3]


# By key: the name of the field, its rule, and the most characters.
_TRANSLATED = {
    "displayName": ("display_name", name_error, MAX_DISPLAY_NAME),
    "description": ("description", line_error, MAX_DESCRIPTION),
}


def _text_errors(tag: str, texts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, (_, rule, most) in _TRANSLATED.items():
        text = texts.get(key, "-")
        sentence = rule(text, most) if isinstance(text, str) else "must be a text."
        if sentence:
            yield f".{tag}.{key}", sentence
    for key in sorted(map(shown, texts.keys() - _TRANSLATED.keys())):
        yield f".{tag}", f"{key} cannot be translated, only displayName and description."


def _is_address(text: str) -> bool:
    if len(text) > HTTPS_ADDRESS_MAX_LENGTH or not text.isprintable():
        return False
    if not _ADDRESS.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


# By the name of the field.
DETAIL_PARSERS: dict[str, DetailParser] = {
    "keywords": parse_keywords,
    "readme": parse_readme,
    "homepage": parse_address,
    "repository": parse_repository,
    "author": parse_author,
    "translations": parse_translations,
}

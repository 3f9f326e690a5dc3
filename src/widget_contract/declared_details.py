"""Fields of a manifest that only the detail of a version has."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from .described import described, https_field
from .patterns import KEYWORD, LANGUAGE
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
    `manifest_details.DETAIL_PARSERS`. Pages also search the texts of fields with `is_searched`.
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

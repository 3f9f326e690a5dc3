"""The picture of a widget on its card: thumbnails of its latest version, for light and dark pages;
and its texts in other languages.

They are chosen once, when the widget is rendered for the read model, and stored with its document:
a page of results needs no further lookup. Only pages show them; the public API does not.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec
from msgspec import UnsetType

from widget_contract.manifest_details import Translation
from widget_contract.version_files import is_picture, thumbnail_of
from widget_contract.wire import WidgetSummary


class File(Protocol):
    """A file of a version, of the read model or of the public API; pictures have a size."""

    @property
    def path(self) -> str: ...
    @property
    def width(self) -> int | UnsetType | None: ...
    @property
    def height(self) -> int | UnsetType | None: ...


class Thumbnail(msgspec.Struct, frozen=True, array_like=True):
    """Its path in the version, and its size in pixels."""

    path: str
    width: int
    height: int


class CardPicture(msgspec.Struct, frozen=True, omit_defaults=True):
    """`light` is None if there is no picture, `dark` if one is for both; `texts` are by the tag of
    the language."""

    light: Thumbnail | None = None
    dark: Thumbnail | None = None
    texts: dict[str, Translation] | None = None


class Card(WidgetSummary, frozen=True, omit_defaults=True, dict=True):
    """A search result, as pages read it, with the number of the widget. What is made of it is kept
    in its `__dict__`."""

    id: int = 0
    picture: CardPicture | None = None


class CardResults(NamedTuple):
    """A page of search results, as pages read it. `tag` changes with it."""

    widgets: tuple[Card, ...]
    total: int
    tag: object
    # Memory besides the cards.
    size: int = 5_000


def choose_picture(files: Sequence[File]) -> CardPicture | None:
    """The author's first picture for light, and its counterpart for dark; which one a picture is
    for, its name tells, such as `default-dark.png`. None if there is no picture.
    """
    named = {it.path: _words(it.path) for it in files if is_picture(it.path)}
    if not named:
        return None
    by_path = {it.path: it for it in files}
    light = next((it for it, words in named.items() if "light" in words), None)
    light = light or next((it for it, words in named.items() if "dark" not in words), None)
    dark = next((it for it, words in named.items() if "dark" in words), None)
    if light is None or dark is None:
        return CardPicture(_thumbnail(by_path, light or next(iter(named))))
    pair = ["dark" if it == "light" else it for it in named[light]]
    same = (it for it, words in named.items() if words == pair and "dark" in words)
    return CardPicture(_thumbnail(by_path, light), _thumbnail(by_path, next(same, dark)))


def _words(path: str) -> list[str]:
    return re.split("[-_.]+", path.partition("/")[2].lower())[:-1]


def _thumbnail(files: dict[str, File], path: str) -> Thumbnail:
    file = files.get(thumbnail_of(path), files[path])
    return Thumbnail(file.path, file.width or 1, file.height or 1)

"""Results of reads from the replica, as values."""

from typing import NamedTuple

import msgspec

from .ordinals import Array

# Separates joined texts. No text contains a NUL, which is rejected as input.
TEXT_SEPARATOR = " \0 "


class FeedEntry(NamedTuple):
    """A change in the feed of this store; unique to it."""

    seq: int
    widget_id: int
    scope: str
    changed_at: int


class ChangeRow(NamedTuple):
    """A change, with the name of its widget. Those of one transaction have the same time."""

    seq: int
    widget_id: int
    scope: str
    name: str
    changed_at: int
    kind: str
    """One of those in `catalog/model/events.py`."""
    version: str | None


class SummaryRow(NamedTuple):
    id: int
    head: bytes
    latest: bytes
    place: tuple[int, int]
    picture: bytes
    """Of its card, as JSON; nothing if it has none."""


class IndexRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The data of a widget for the search index. `id` and `changed_at` are 0 until it is written.

    `released_ms` is the latest version's, `facets` the values of `query.py: FACETS`. Only pages
    search texts of the latest version: `terms`, such as keywords; `readme`, words of its README;
    and its names and descriptions in other languages. All are joined by spaces.
    """

    id: int
    changed_at: int
    created_ms: int
    released_ms: int
    version_count: int
    is_listed: bool
    is_official: bool | None
    scope: str
    name: str
    display_name: str
    facets: str
    terms: str
    readme: str
    other_names: str
    other_descriptions: str
    description: str | None

    @property
    def label(self) -> str:
        """Scope, name and terms, separated by spaces."""
        return f"{self.scope} {self.name} {self.terms}"


class IndexColumns(NamedTuple):
    """Many listed widgets, as columns; the texts of a column are joined."""

    ids: Array
    scopes: list[str]
    is_official: Array
    version_counts: Array
    display_names: str
    descriptions: str
    labels: str
    created_ms: Array
    released_ms: Array
    names: list[str]
    facets: list[str]
    terms: list[str]
    readmes: list[str]
    other_names: list[str]
    other_descriptions: list[str]

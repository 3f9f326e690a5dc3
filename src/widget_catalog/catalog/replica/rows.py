"""Results of reads from the replica, as values."""

from typing import NamedTuple

from .ordinals import Array
from .rendering import Place

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
    """One of those in `catalog/events.py`."""
    version: str | None


class SummaryRow(NamedTuple):
    id: int
    head: bytes
    latest: bytes
    place: Place


class Listing(NamedTuple):
    """The content of a listing."""

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
    sdk_ranges: str
    permissions: str
    keywords: str
    description: str | None


class ListingRow(NamedTuple):
    """The data of a listed widget for the search index."""

    id: int
    scope: str
    name: str
    is_official: bool | None
    version_count: int
    display_name: str
    description: str
    created_ms: int
    released_ms: int
    sdk_ranges: str
    permissions: str
    keywords: str

    @property
    def label(self) -> str:
        """Scope, name and keywords, separated by spaces."""
        return f"{self.scope} {self.name} {self.keywords}"


class ListingColumns(NamedTuple):
    """The same for many widgets, as columns; the texts of a column are joined."""

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
    sdk_ranges: list[str]
    permissions: list[str]

"""What is searched for. `api/query.py` and `pages/search_form.py` parse it, `search/index.py`
finds it.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from widget_contract.semver import SemVer

from .text_limits import MAX_NAME
from .widgets import Version, Widget

# Between the values of a facet, and between facets. No value contains them.
_VALUES, _FACETS = "\1", "\2"


def _kind(permission: str) -> str:
    """Permissions for some hosts are found with that for any."""
    return "network" if permission.startswith("network:") else permission


FACETS: dict[str, Callable[[Widget, Version | None], Iterable[str]]] = {
    "sdk_range": lambda widget, _: [it.sdk_version for it in widget.versions if not it.is_yanked],
    "permission": lambda _, latest: dict.fromkeys(map(_kind, latest.permissions)) if latest else (),
    "keyword": lambda _, latest: latest.keywords if latest else (),
}
"""Facets are what pages filter by, besides words, scope and official: the values of a widget and
its latest version, by the name of the facet.

The form of the search page has a field of the same name, if people choose a value.
"""

# Represents everything that cannot be a scope, and so matches nothing.
NO_SCOPE = "-"


class Order(StrEnum):
    """The order of results. Equal ones are sorted by scope and name."""

    RELEVANCE = "relevance"
    INSTALLS = "installs"
    NEWEST = "newest"
    UPDATED = "updated"
    NAME = "name"

    # That of an enumeration is written in Python, and each search hashes its query.
    __hash__ = str.__hash__


class Query(NamedTuple):
    """A search query. The text is folded; an empty one matches all.

    `runs_on`: a version that is not yanked admits this SDK. `facets`: names and values of
    `FACETS`, which all have to match. `is_ranked`: search as pages do, in all texts and
    by the words in them (search/ranking.py); otherwise as the API does.
    """

    text: str = ""
    scope: str | None = None
    official: bool | None = None
    runs_on: SemVer | None = None
    facets: tuple[tuple[str, str], ...] = ()
    order: Order = Order.RELEVANCE
    is_ranked: bool = False


class SearchRequest(NamedTuple):
    """A page of results, with the newest version of each that runs on an SDK.

    `page` consists of decimal digits: there may be more of them than any number type has.
    `is_for_pages`: each with its number and the picture of its card.
    """

    query: Query
    sdk: SemVer | None
    page: str
    limit: int
    is_for_pages: bool = False

    @property
    def offset(self) -> int:
        # A page number of more than eighteen digits is always past the end.
        return (int(self.page) - 1) * self.limit if len(self.page) <= 18 else 1 << 62


def join_facets(widget: Widget, latest: Version | None) -> str:
    """The values of all facets, for an index row."""
    each = (dict.fromkeys(of(widget, latest)) for of in FACETS.values())
    # Longer ranges admit no SDK. Old data may have longer permissions, which nobody looks for.
    return _FACETS.join([_VALUES.join([it for it in some if len(it) <= MAX_NAME]) for some in each])


def split_facets(joined: str) -> list[str]:
    """Of each facet, in order, the joined values."""
    return joined.split(_FACETS)


def split_values(joined: str) -> list[str]:
    return joined.split(_VALUES) if joined else []

"""What is searched for. `api/query.py` and `pages/search_form.py` parse it, `search/index.py`
finds it.
"""

from enum import StrEnum
from typing import NamedTuple

from widget_contract.semver import SemVer

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

    `runs_on`: a version that is not yanked admits this SDK. `permission`: the latest version
    requires it. `keyword`: the latest version has it. `is_ranked`: search as pages do, in all texts
    and by the words in them (search/ranking.py); otherwise as the API does.
    """

    text: str = ""
    scope: str | None = None
    official: bool | None = None
    runs_on: SemVer | None = None
    permission: str | None = None
    order: Order = Order.RELEVANCE
    keyword: str | None = None
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

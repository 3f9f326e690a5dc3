"""The expected results of a search: brute force, implemented directly from the contract."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple
from unicodedata import normalize
from urllib.parse import urlencode

from support.widgets import widget_line
from widget_catalog.catalog.api.query import parse_search
from widget_catalog.catalog.reading.catalog import CatalogReader

Key = tuple[str, str]


@dataclass(frozen=True)
class Shown:
    """The oracle's state of a widget."""

    display_name: str
    description: str | None
    is_official: bool | None
    is_listed: bool
    downloads: int

    def line(self, key: Key) -> dict[str, Any]:
        """The widget as a line to import."""
        return widget_line(
            "/".join(key),
            displayName=self.display_name,
            description=self.description,
            isOfficial=self.is_official,
            listed=self.is_listed,
            downloadCount=self.downloads,
        )


class Search(NamedTuple):
    q: str = ""
    scope: str | None = None
    official: str | None = None
    page: int = 1
    limit: int = 100


def check_search(catalog: CatalogReader, widgets: dict[Key, Shown], search: Search) -> int:
    """Query both, compare the results, and return the total."""
    parameters = {key: it for key, it in search._asdict().items() if it is not None}
    body = json.loads(catalog.search_page(parse_search(urlencode(parameters))).body)
    for widget in body["widgets"]:
        known = widgets[widget["scope"], widget["name"]]
        shown = (widget["displayName"], widget["description"], widget["isOfficial"])
        assert shown == (known.display_name, known.description, known.is_official)
    found = [(it["scope"], it["name"], it["downloadCount"]) for it in body["widgets"]]
    wanted = _oracle(widgets, search)
    assert body | {"widgets": found} == wanted
    return int(wanted["total"])


def _oracle(widgets: dict[Key, Shown], search: Search) -> dict[str, Any]:
    q = search.q.strip()
    matches = []
    for (scope, name), widget in widgets.items():
        if not widget.is_listed or search.scope not in (None, scope):
            continue
        if search.official is not None:
            wants_official = search.official.lower() == "true"
            if wants_official != (widget.is_official is True):
                continue
        rank = _rank(widget, q) if q else 0
        if rank is not None:
            matches.append((rank, -widget.downloads, scope, name))
    matches.sort()
    limit = min(search.limit, 100)
    start = (search.page - 1) * limit
    window = [(scope, name, -count) for _, count, scope, name in matches[start : start + limit]]
    return {"widgets": window, "total": len(matches), "page": search.page, "limit": limit}


def _rank(widget: Shown, q: str) -> int | None:
    """1 to 5, or None if the widget does not match."""
    name, text = _normal(widget.display_name), _normal(widget.description or "")
    terms = _normal(q).split()
    if not terms:  # Only marks or white space: as without q.
        return 0
    if not all(term in name or term in text for term in terms):
        return None
    if name == _normal(q):
        return 1
    if name.startswith(_normal(q)):
        return 2
    if all(any(word.startswith(term) for word in name.split()) for term in terms):
        return 3
    return 4 if all(term in name for term in terms) else 5


def _normal(text: str) -> str:
    """Written from the contract, without the code under test."""
    without_marks = [it for it in normalize("NFKD", text) if not "\u0300" <= it <= "\u036f"]
    return normalize("NFKC", "".join(without_marks)).casefold()

"""Extends the catalog's search, which does not match names.

The exact name of a widget is looked up, and similar names are found among widgets whose texts
contain a part of the word. This takes a few more requests, at most `_MAX_REQUESTS`.
"""

import difflib
import itertools
import re
from typing import Any, NamedTuple

from widget_contract.errors import InvalidName
from widget_contract.names import Scope, WidgetName
from widget_contract.semver import SemVer, is_compatible
from widget_contract.texts import fold
from widget_contract.version_files import SEARCH, detail_path

from .addresses import WidgetKey, parse_key
from .errors import ExitCode, ToolError
from .responses import FoundWidget, SearchPage, shaped
from .session import Session

_MAX_A_PAGE = 100
_MAX_REQUESTS = 4
_MAX_SUGGESTIONS = 3
_SIMILAR = 0.7
_PIECE = 3

Summary = dict[str, Any]


class Query(NamedTuple):
    """A search query."""

    text: str = ""
    scope: str | None = None
    is_official: bool | None = None
    sdk: str | None = None

    def parameters(self, page: int, limit: int) -> dict[str, Any]:
        official = None if self.is_official is None else str(self.is_official).lower()
        wanted = {"q": self.text, "scope": self.scope, "official": official, "compatSdk": self.sdk}
        given = {name: value for name, value in wanted.items() if value}
        return {**given, "page": page, "limit": limit}


def find_page(session: Session, query: Query, page: int = 1, limit: int = _MAX_A_PAGE) -> Summary:
    """A page of results, as the catalog returns it."""
    return session.ask_openly(SEARCH, query.parameters(page, limit))


def find_by_name(session: Session, query: Query, found: Summary) -> list[Summary]:
    """The widgets with exactly this name: `scope/name`, `@scope/name`, or a name alone.

    The catalog finds a name alone only through texts that contain its words, so widgets of unknown
    scopes may be missed. `found` is the first page of this query.
    """
    key, name = _find_key(query), _find_name(query.text)
    if key is not None:
        return _looked_up(session, query, key) if query.scope in (None, key.scope) else []
    if name is None:
        return []  # Not a name.
    by_words = query._replace(text=name.replace("-", " "))
    is_known = by_words == query and found["total"] <= len(found["widgets"])
    page = found if is_known else find_page(session, by_words)
    widgets = [it for it in _widgets(page, session) if it.get("name") == name]
    own = _own_key(session, name)
    if own is not None and all(it.get("scope") != own.scope for it in widgets):
        widgets += _looked_up(session, query, own)
    return widgets


def find_similar(session: Session, query: Query) -> list[str]:
    """Widgets with a similar name or display name."""
    wanted = _plain(query.text)
    scope, slash, _ = query.text.casefold().removeprefix("@").partition("/")
    queries = [query._replace(text=it) for it in _pieces(wanted) if it != query.text]
    if slash and query.scope is None:
        queries.insert(0, query._replace(text="", scope=scope))
    scores: dict[str, _Likeness] = {}
    for asked in queries[:_MAX_REQUESTS]:
        for widget in shaped(find_page(session, asked), SearchPage, session.url).widgets:
            scores[f"{widget.scope}/{widget.name}"] = _likeness(
                wanted, widget, has_scope=bool(slash)
            )
    best = sorted(
        (key for key in scores if scores[key].ratio >= _SIMILAR),
        key=lambda it: (not scores[it].is_by_name, -scores[it].ratio),
    )
    return best[:_MAX_SUGGESTIONS]


def _looked_up(session: Session, query: Query, key: WidgetKey) -> list[Summary]:
    try:
        detail = session.ask_openly(detail_path(key.scope, key.name))
    except ToolError as error:
        if error.exit_code is ExitCode.NOT_FOUND:
            return []
        raise
    widget, versions = detail.get("widget"), detail.get("versions")
    if not isinstance(widget, dict) or not isinstance(versions, list):
        return []
    if query.is_official is not None and bool(widget.get("isOfficial")) != query.is_official:
        return []
    offered = [it for it in versions if isinstance(it, dict) and it.get("yanked") is False]
    summary = {name: value for name, value in widget.items() if name != "createdAt"}
    summary["latestVersion"] = next(iter(offered), None)
    if query.sdk is not None:
        sdk = SemVer.parse(query.sdk)
        fitting = (it for it in offered if is_compatible(str(it.get("sdkVersion")), sdk))
        summary["latestCompatibleVersion"] = next(fitting, None)
    shaped(summary, FoundWidget, session.url)
    return [summary]


def _find_key(query: Query) -> WidgetKey | None:
    """The widget, if its scope is given, in the name or as an option."""
    text = query.text if "/" in query.text else f"{query.scope}/{query.text}"
    try:
        return parse_key(text) if "/" in query.text or query.scope else None
    except ToolError:
        return None


def _find_name(text: str) -> WidgetName | None:
    try:
        return WidgetName.parse(text)
    except InvalidName:
        return None


def _own_key(session: Session, name: WidgetName) -> WidgetKey | None:
    """The widget in the scope of the signed-in account."""
    kept = session.credentials.find(session.url)
    try:
        return None if kept is None else WidgetKey(Scope.parse(kept.username), name)
    except InvalidName:
        return None


def _widgets(page: Summary, session: Session) -> list[Summary]:
    shaped(page, SearchPage, session.url)
    return list(page["widgets"])


def _pieces(wanted: str) -> list[str]:
    """Prefixes and suffixes of its words: one of them is probably spelled correctly."""
    words = re.findall(r"\w+", wanted)[:_MAX_REQUESTS]
    starts, ends = [it[:_PIECE] for it in words], [it[-_PIECE:] for it in words]
    both = itertools.chain.from_iterable(zip(starts, ends, strict=True))
    return list(dict.fromkeys(both))


class _Likeness(NamedTuple):
    """`is_by_name`: the name is similar, not the display name."""

    ratio: float
    is_by_name: bool


def _likeness(wanted: str, found: FoundWidget, *, has_scope: bool) -> _Likeness:
    by_name = _ratio(wanted, f"{found.scope}/{found.name}" if has_scope else found.name)
    if has_scope or by_name >= _SIMILAR:
        return _Likeness(by_name, is_by_name=True)
    display_name = _plain(found.display_name)
    names = [display_name, *(display_name.split() if " " not in wanted else ())]
    return _Likeness(max(_ratio(wanted, it) for it in names), is_by_name=False)


def _ratio(wanted: str, name: str) -> float:
    return difflib.SequenceMatcher(None, wanted, _plain(name)).ratio()


def _plain(text: str) -> str:
    return re.sub(r"[\s-]+", " ", fold(text).removeprefix("@")).strip()

"""Public pages, as features bring them: their routes, and what other public pages show of them.

They are the same for everybody, so caches may keep them. The room `pages` serves them.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl

from markupsafe import Markup

from ..languages.language import ENGLISH, Language
from .content import AnyContent
from .http import Headers, Response


class PageRequest(NamedTuple):
    """The parameters in a path, the raw query, and the reader's language."""

    params: Mapping[str, str]
    query_string: str
    language: Language = ENGLISH

    @property
    def query(self) -> dict[str, str]:
        try:
            pairs = parse_qsl(self.query_string, errors="replace", max_num_fields=30)
        except ValueError:
            pairs = []
        return dict(reversed(pairs))

    @property
    def page(self) -> int:
        number = self.query.get("page", "1")
        return int(number) if number.isascii() and number.isdecimal() and len(number) < 7 else 1

    @property
    def key(self) -> str:
        """The widget in the path."""
        return f"{self.params['scope']}/{self.params['name']}"


class PublicRoute(NamedTuple):
    """`find` returns None if there is no page for these values."""

    path: str
    find: Callable[[PageRequest], Awaitable[AnyContent | Response | None]]
    headers: Headers
    method: str = "GET"


class FrontSection(NamedTuple):
    """A part of the front page, above its lists of widgets."""

    shows: object
    """Changes whenever the section changes without a change of the catalog."""
    most: int
    """How many widgets it shows at most."""
    write: Callable[[Language], tuple[Markup, Collection[str]]]
    """Its HTML, and the `scope/name` of the widgets in it, which the lists leave out."""


class PublicPart:
    """What a feature adds to the public pages; here, nothing."""

    def list_routes(self) -> Sequence[PublicRoute]:
        return ()

    async def follow(self) -> None:
        """Called before every page, public or personal."""

    async def list_paths(self) -> Mapping[str, int]:
        """The paths of its pages, each with the number of what it lists: of a static site, and of
        the sitemap."""
        return {}

    async def find_section(self) -> FrontSection | None:
        return None

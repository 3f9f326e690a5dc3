"""`/pictures/{scope}/{name}/{light|dark}` and `/icons/{scope}/{name}.svg`: what a dashboard shows
in a list of widgets, at addresses that it knows without asking.

A picture is the thumbnail of the latest version, sent from disk like every file of a version. A
widget without one has its icon on a board of its proportions.
"""

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from widget_contract.version_files import file_path

from ..catalog.model.card_picture import Card
from ..catalog.reading.catalog import CatalogReader
from ..core.http.conditional import content_response
from ..core.http.content import AnyContent
from ..core.http.http import CORS, NOSNIFF, Body, Handler, Headers, PlainRequest, Request, Response
from .cards import usual_size
from .icons import Icons, board_size, tint_of
from .rendered_pages import RenderedPages
from .views import Views

PICTURES, ICONS = "/pictures/", "/icons/"
SCHEMES = ("light", "dark")

_PATH = re.compile(r"/pictures/(?P<key>[^/]+/[^/]+)/(?P<scheme>light|dark)")
_ICON_PATH = re.compile(r"/icons/(?P<key>[^/]+/[^/]+)\.svg")
# Hues of the tints, as in browse.css.
_HUES = (165, 200, 235, 270, 320, 15, 45, 100)
# A board with more cells is shown without them.
_MOST_LINES = 40
_COMMON: Headers = [
    ("cache-control", "public, max-age=300"),
    ("cross-origin-resource-policy", "cross-origin"),
    ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    CORS,
    NOSNIFF,
]
_SVG: Headers = [("content-type", "image/svg+xml"), ("vary", "accept-encoding"), *_COMMON]
_TEXT = ("content-type", "text/plain; charset=utf-8")
_OWN = frozenset(name for name, _ in _COMMON)


SendFile = Callable[[Request], Awaitable[Response]]


class Pictures:
    def __init__(self, catalog: CatalogReader, pages: RenderedPages, icons: Icons) -> None:
        self._catalog = catalog
        self._views = Views(catalog)
        self._pages = pages
        self._icons = icons

    def find(self, key: str) -> Card | None:
        """The listed widget with this `scope/name`."""
        return next(iter(self._views.list_keys([key])), None)

    def find_thumbnail(self, widget: Card, scheme: str) -> str | None:
        """The path of its thumbnail below `/cdn`; None if it has none, or it is not stored here."""
        version, pictures = widget.latest_version, widget.picture
        if version is None or pictures is None or pictures.light is None:
            return None
        shown = (scheme == "dark" and pictures.dark) or pictures.light
        at = version.scope, version.name, version.version
        is_here = self._catalog.files.find(*at, shown.path) is not None
        return file_path(*at, shown.path) if is_here else None

    def draw(self, widget: Card, scheme: str) -> AnyContent:
        """Its icon on a board with as many cells as it usually takes."""
        size = usual_size(widget.latest_version)
        shows = (widget.icon, widget.display_name, *size)

        def values() -> dict[str, object]:
            return {
                "face": self._icons.face(*shows),
                "hue": _HUES[tint_of(widget.display_name)],
                "is_dark": scheme == "dark",
                "board": _Board.of(*size),
            }

        key = f"picture {widget.scope}/{widget.name} {scheme}"
        return self._pages.get(key, shows, "pages/picture.svg", values)

    def draw_icon(self, widget: Card) -> AnyContent:
        shows = (widget.icon, widget.display_name)

        def values() -> dict[str, object]:
            hue = _HUES[tint_of(widget.display_name)]
            return {"tile": self._icons.tile(*shows), "hue": hue}

        key = f"icon {widget.scope}/{widget.name}"
        return self._pages.get(key, shows, "pages/icon.svg", values)

    def handlers(self, send_file: SendFile) -> dict[str, Handler]:
        """By prefix; `send_file` has the responses below `/cdn`."""
        return {it: partial(self._handle, send_file) for it in (PICTURES, ICONS)}

    async def _handle(self, send_file: SendFile, request: Request, _: Body) -> Response:
        if request.method not in ("GET", "HEAD"):
            headers = [_TEXT, ("allow", "GET, HEAD"), CORS, NOSNIFF]
            return Response(405, headers, b"Only GET and HEAD are allowed at this address.\n")
        asked = _PATH.fullmatch(request.path) or _ICON_PATH.fullmatch(request.path)
        widget = None if asked is None else self.find(asked["key"])
        if asked is None or widget is None:
            headers = [_TEXT, *_COMMON[1:]]
            return Response(404, headers, b"There is no widget at this address.\n")
        if asked.re is _ICON_PATH:
            return content_response(request.headers, self.draw_icon(widget), _SVG)
        path = self.find_thumbnail(widget, asked["scheme"])
        if path is None:
            return content_response(request.headers, self.draw(widget, asked["scheme"]), _SVG)
        file = PlainRequest(request.method, f"/cdn{path}", "", request.headers)
        response = await send_file(file)
        if response.status >= 400:
            return response
        described = [it for it in response.headers if it[0] not in _OWN]
        return response._replace(headers=[*described, *_COMMON])


class _Board(NamedTuple):
    """Where the cells of a board meet, in a box of 160 by 100."""

    left: float
    top: float
    width: float
    height: float
    columns: tuple[float, ...]
    rows: tuple[float, ...]

    @classmethod
    def of(cls, columns: int, rows: int) -> "_Board":
        width, height = board_size(columns, rows)
        if columns + rows > _MOST_LINES:
            columns = rows = 1
        return cls(
            round(80 - width / 2, 1),
            round(50 - height / 2, 1),
            width,
            height,
            tuple(round(80 - width / 2 + at * width / columns, 1) for at in range(1, columns)),
            tuple(round(50 - height / 2 + at * height / rows, 1) for at in range(1, rows)),
        )

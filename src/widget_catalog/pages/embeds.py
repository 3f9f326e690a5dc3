"""`/embed/{scope}/{name}`, optionally with a version: the live preview for frames of other sites,
and `/oembed`, which tells programs about it when a link to a widget is pasted.

Only sites that the operator names may show it; every other page refuses that.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import msgspec
from markupsafe import escape

from widget_contract.manifest_details import Author
from widget_contract.wire import VersionEntry, WidgetDetail

from ..catalog.model.card_picture import choose_picture
from ..catalog.reading.catalog import CatalogReader
from ..core.http.conditional import content_response
from ..core.http.errors import error
from ..core.http.http import CORS, NOSNIFF, Headers, Request, Response
from ..core.http.public_page import PageRequest
from ..core.http.rendering import HTML, PageRenderer
from .facts import find_version, shown_version
from .link_picture import link_picture
from .preview import panel_of, panel_security_headers
from .views import Views

EMBED, OEMBED = "/embed/", "/oembed"
_WIDTH, _HEIGHT = 560, 440
_MAX_URL = 2_000
_READ_ONLY = "Only GET and HEAD are allowed at this address."
_A_DAY_S = 86_400
_REVALIDATED = ("cache-control", "no-cache")
_VARY = ("vary", "accept-encoding")
_JSON: Headers = [
    ("content-type", "application/json; charset=utf-8"),
    _VARY,
    ("cache-control", "public, max-age=300"),
    NOSNIFF,
    CORS,
]
_SANDBOX = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox"


class EmbedPages:
    def __init__(
        self,
        catalog: CatalogReader,
        renderer: PageRenderer,
        cdn_url: str,
        origins: str,
    ) -> None:
        """`origins`: the sites that may show them, as in `frame-ancestors`; empty: none."""
        self._catalog = catalog
        self._views = Views(catalog)
        self._renderer = renderer
        self._origins = origins
        policy = panel_security_headers(renderer, cdn_url, ancestors=origins or "'none'")
        self._html: Headers = [HTML, _VARY, _REVALIDATED, *policy]

    async def handle(self, request: Request) -> Response | None:
        """None: there is no such page."""
        path = request.path
        if path == OEMBED:
            return await self._describe(request)
        if not self._origins or not path.startswith(EMBED):
            return None
        page = await self._render(path)
        if page is None:
            return None
        if request.method not in ("GET", "HEAD"):
            allowed = ("allow", "GET, HEAD")
            return self._renderer.message(405, "Method not allowed", _READ_ONLY, allowed, NOSNIFF)
        content = self._catalog.packer.content([page])
        return content_response(request.headers, content, self._html)

    async def _render(self, path: str) -> bytes | None:
        found = await self._find(path.removeprefix(EMBED))
        if found is None:
            return None
        detail, version = found
        extras = self._views.find_version(version.scope, version.name, version.version)
        return self._renderer.render(
            "pages/embed.html",
            widget=detail.widget,
            version=version,
            preview=panel_of(version, extras),
            picture=None if extras.revoked else choose_picture(extras.files),
            revoked=extras.revoked and extras.revoked.reason,
        )

    async def _find(self, path: str) -> tuple[WidgetDetail, VersionEntry] | None:
        """A listed widget, and the version that is named or that its page shows."""
        match path.split("/"):
            case [scope, name, *rest] if len(rest) < 2:
                found = await self._views.find_widget(f"{scope}/{name}")
                detail = None if found is None else found.read()
                if detail is None:
                    return None
                version = find_version(detail, rest[0]) if rest else shown_version(detail)
                return None if version is None else (detail, version)
        return None

    async def _describe(self, request: Request) -> Response:
        """As https://oembed.com says: 404 for other links, 501 for other formats."""
        asked = PageRequest({}, request.query_string).query
        if request.method not in ("GET", "HEAD"):
            return error(405, _READ_ONLY, ("allow", "GET, HEAD"), CORS)
        if asked.get("format", "json") != "json":
            return error(501, "Only the format json is available.", CORS)
        url = asked.get("url", "")
        if not url:
            return error(400, "The parameter url is missing: the link to a widget.", CORS)
        sizes = [_pixels(asked.get(it)) for it in ("maxwidth", "maxheight")]
        if 0 in sizes:
            return error(400, "maxwidth and maxheight must be numbers of pixels.", CORS)
        path = self._path_in(url)
        found = None if path is None else await self._find(path)
        if path is None or found is None:
            return error(404, "This is no link to a widget of this catalog.", CORS)
        described = self._card(path, *found, *sizes)
        content = self._catalog.packer.content([msgspec.json.encode(described)])
        return content_response(request.headers, content, _JSON)

    def _path_in(self, url: str) -> str | None:
        """The part of a link behind `/widgets/`."""
        own = urlsplit(f"{self._renderer.public_url}/widgets/")
        try:
            asked = urlsplit(url)
        except ValueError:
            return None
        is_ours = asked.scheme in ("http", "https") and asked.netloc.lower() == own.netloc.lower()
        if not is_ours or len(url) > _MAX_URL or not asked.path.startswith(own.path):
            return None
        return unquote(asked.path.removeprefix(own.path)).rstrip("/")

    def _card(
        self,
        path: str,
        detail: WidgetDetail,
        version: VersionEntry,
        max_width: int | None,
        max_height: int | None,
    ) -> Mapping[str, Any]:
        public_url, widget = self._renderer.public_url, detail.widget
        extras = self._views.find_version(widget.scope, widget.name, version.version)
        author = extras.author
        card: dict[str, Any] = {
            "version": "1.0",
            "type": "link",
            "title": version.display_name,
            "author_name": (author.name if isinstance(author, Author) else author) or widget.scope,
            "author_url": f"{public_url}/scopes/{widget.scope}",
            "provider_name": self._renderer.service_name,
            "provider_url": public_url,
            "cache_age": _A_DAY_S,
        }
        files = () if extras.revoked is not None else extras.files
        url, width, height = link_picture(files, public_url)
        if (max_width or width) >= width and (max_height or height) >= height:
            card |= {"thumbnail_url": url, "thumbnail_width": width, "thumbnail_height": height}
        if self._origins and panel_of(version, extras):
            width, height = min(max_width or _WIDTH, _WIDTH), min(max_height or _HEIGHT, _HEIGHT)
            address = public_url + EMBED + quote(path)
            html = (
                f'<iframe src="{escape(address)}" width="{width}" height="{height}" '
                f'title="{escape(version.display_name)}" sandbox="{_SANDBOX}" loading="lazy" '
                'style="border:0;max-width:100%"></iframe>'
            )
            card |= {"type": "rich", "html": html, "width": width, "height": height}
        return card


def _pixels(text: str | None) -> int | None:
    """0: this is no number of pixels."""
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0

"""The routes of public pages, and of the static files that pages and browsers request."""

from collections.abc import Callable, Sequence
from functools import cache, partial

from widget_contract.manifest_schema import PATH as SCHEMA
from widget_contract.manifest_schema import printed as printed_schema

from ..catalog.api.openapi import openapi, printed
from ..core.http.content import AnyContent
from ..core.http.http import CORS, NOSNIFF, Headers, Response
from ..core.http.public_page import PageRequest, PublicPart, PublicRoute
from ..core.http.rendering import HTML, STATIC
from .context import (
    A_DAY,
    A_MINUTE,
    A_WHILE,
    CSS,
    FOR_GOOD,
    REVALIDATED,
    VARY,
    VARY_BY_LANGUAGE,
    PublicContext,
)
from .feeds import Feeds
from .guides import GuidePages
from .link_picture import OWN_PATH
from .listing_pages import ListingPages
from .preview import PreviewPages
from .reference import ReferencePages
from .suggestions import Suggestions
from .widget_pages import WidgetPages

_JSON = "application/json; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"
_JS = "text/javascript; charset=utf-8"
_ATOM = "application/atom+xml; charset=utf-8"
_XML = "application/xml; charset=utf-8"
_SVG = "image/svg+xml"
_ANY_ORIGIN = ("cross-origin-resource-policy", "cross-origin")
_ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /cdn/\n"


class PublicRoutes:
    def __init__(self, context: PublicContext, parts: Sequence[PublicPart]) -> None:
        self._context = context
        self._parts = parts
        renderer, pages = context.renderer, context.pages
        self._is_static = renderer.is_static
        self._document = cache(partial(openapi, renderer.service_name, renderer.public_url))
        # A static site has no API, so what the examples do works in a service alone.
        own_url = None if renderer.is_static else renderer.public_url
        self._reference = ReferencePages(pages, self._document)
        self._guides = GuidePages(pages, own_url, self._reference.list_sections)
        self._feeds = Feeds(context.views, pages, self._list_lasting)

    def list_all(self) -> list[PublicRoute]:
        return [
            *self._list_listings(),
            *self._list_widgets(),
            *self._list_docs(),
            *self._list_previews(),
            *(route for part in self._parts for route in part.list_routes()),
            *self._list_feeds(),
            *self._list_files(),
        ]

    def _list_listings(self) -> list[PublicRoute]:
        """A static site searches in a script, which has no filters."""
        context, panel = self._context, self._context.panel
        listings = ListingPages(context, self._parts)
        search = listings.static_search if self._is_static else listings.search
        routes = [
            PublicRoute("/", listings.front_page, panel),
            PublicRoute("/search", search, panel),
            PublicRoute("/scopes/{scope}", listings.scope, panel),
        ]
        if not self._is_static:
            suggestions = Suggestions(context.views, context.pages)
            policy = context.renderer.security_headers()
            headers = [HTML, VARY_BY_LANGUAGE, A_MINUTE, *policy]
            routes.append(PublicRoute("/keywords", listings.keywords, context.html))
            routes.append(PublicRoute("/search/suggestions", suggestions.fragment, headers))
        return routes

    def _list_widgets(self) -> list[PublicRoute]:
        widgets, html = WidgetPages(self._context), self._context.html
        panel, one = self._context.panel, "/widgets/{scope}/{name}"
        return [
            PublicRoute(one, widgets.widget, panel),
            PublicRoute(f"{one}/versions", widgets.versions, html),
            PublicRoute(f"{one}/compare", widgets.compare, html),
            PublicRoute(f"{one}/feed.atom", self._feeds.widget, _asked_again(_ATOM)),
            PublicRoute(f"{one}/{{number}}", widgets.version, panel),
        ]

    def _list_docs(self) -> list[PublicRoute]:
        guides, reference, headers = self._guides, self._reference, self._context.english
        return [
            PublicRoute("/docs", guides.index, headers),
            PublicRoute("/docs/api", reference.page, headers),
            PublicRoute("/docs/api/{page}", reference.page, headers),
            PublicRoute("/docs/api/{page}/try", self._try_operation, headers),
            PublicRoute("/docs/search", guides.search, headers),
            PublicRoute("/docs/{name}", guides.part, headers),
            PublicRoute("/docs/{name}/{slug}", guides.part, headers),
        ]

    def _list_previews(self) -> list[PublicRoute]:
        if self._is_static:
            return []
        context = self._context
        previews = PreviewPages(context.catalog, context.views, context.pages)
        return previews.routes(context.renderer, context.html[:3], context.cdn_url)

    def _list_feeds(self) -> list[PublicRoute]:
        """For programs: feed readers, other sites, search engines."""
        feeds, badge = self._feeds, "/badges/{scope}/{name}/{kind}"
        return [
            PublicRoute("/feed.atom", feeds.latest, _asked_again(_ATOM)),
            PublicRoute("/scopes/{scope}/feed.atom", feeds.latest, _asked_again(_ATOM)),
            PublicRoute(badge, feeds.badge, [*_asked_again(_SVG), _ANY_ORIGIN]),
            PublicRoute("/sitemap.xml", feeds.sitemap, _asked_again(_XML)),
            PublicRoute("/sitemaps/{file}", feeds.sitemap_part, _asked_again(_XML)),
        ]

    def _list_files(self) -> list[PublicRoute]:
        renderer, file = self._context.renderer, self._file
        robots = _ROBOTS + f"Sitemap: {renderer.public_url}/sitemap.xml\n".encode()
        icon = (STATIC / "favicon.svg").read_bytes()
        picture = STATIC / "picture.png"
        return [
            file("/openapi.json", lambda: printed(self._document()).encode(), _JSON, REVALIDATED),
            file(SCHEMA, lambda: printed_schema().encode(), _JSON, A_WHILE, _ANY_ORIGIN, CORS),
            file("/favicon.svg", lambda: icon, _SVG, A_DAY),
            file("/favicon.ico", lambda: icon, _SVG, A_DAY),
            file(OWN_PATH, picture.read_bytes, "image/png", A_DAY, _ANY_ORIGIN),
            file("/robots.txt", lambda: robots, _TEXT, A_DAY),
            *(
                file(path, partial(bytes, content), _JS if path.endswith("js") else CSS, FOR_GOOD)
                for path, content in renderer.files.values()
            ),
        ]

    def _file(
        self,
        path: str,
        read: Callable[[], bytes],
        content_type: str,
        caching: tuple[str, str],
        *more: tuple[str, str],
    ) -> PublicRoute:
        """A file that never changes, read on first use."""
        content = cache(lambda: self._context.catalog.packer.content([read()]))

        async def find(_: PageRequest) -> AnyContent:
            return content()

        headers = [("content-type", content_type), VARY, caching, NOSNIFF, *more]
        return PublicRoute(path, find, headers)

    async def _try_operation(self, asked: PageRequest) -> Response | None:
        address = self._reference.find_address(asked.params["page"], asked.query)
        return None if address is None else self._context.renderer.redirect(address, NOSNIFF)

    def list_docs(self) -> list[str]:
        return [*self._guides.list_paths(), *self._reference.list_paths()]

    async def _list_lasting(self) -> list[str]:
        """The paths of all pages that do not depend on what is published."""
        await self._guides.read()
        keywords = [] if self._is_static else ["/keywords"]
        own = [path for part in self._parts for path in await part.list_paths()]
        return ["/", "/search", *keywords, *self.list_docs(), *own]


def _asked_again(content_type: str) -> Headers:
    """The headers of what programs request repeatedly."""
    return [("content-type", content_type), VARY, A_WHILE, NOSNIFF]

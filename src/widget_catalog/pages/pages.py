"""All public pages, and the static files that pages and browsers request."""

import importlib
from collections.abc import Awaitable, Callable
from functools import cache, partial
from urllib.parse import quote

from widget_contract.manifest_schema import PATH as SCHEMA
from widget_contract.manifest_schema import printed as printed_schema

from ..catalog.api.openapi import openapi, printed
from ..catalog.reading.catalog import CatalogReader
from ..core.errors import Busy
from ..core.files.contract import Bundles
from ..core.http.branding import ACCENTS, LOGO_TYPES, LOGOS, Brand
from ..core.http.conditional import content_response
from ..core.http.content import AnyContent
from ..core.http.cookies import cookie_attributes
from ..core.http.errors import cors_of, failure_page, message_of
from ..core.http.http import CORS, NOSNIFF, Headers, Request, Response
from ..core.http.language_choice import (
    A_YEAR_S,
    SWITCH,
    Languages,
    without_language,
)
from ..core.http.language_choice import COOKIE as LANGUAGE_COOKIE
from ..core.http.rendering import HTML, STATIC, PageRenderer
from ..core.http.routing import Routes
from ..core.languages.language import N_, Language
from ..core.tracing import current
from .brand_pages import BrandPages
from .cards import Cards, official_mark
from .collection_pages import CollectionPages
from .feeds import Feeds
from .guides import GuidePages
from .icons import Icons, load_glyphs
from .link_picture import OWN_PATH
from .listing_pages import ListingPages
from .pictures import Pictures
from .preview import PreviewPages, panel_security_headers
from .reference import ReferencePages
from .rendered_pages import (
    CollectionsReader,
    InstallsReader,
    LegalPageReader,
    MembersReader,
    PageRequest,
    PublicRoute,
    RenderedPages,
    TrendingReader,
)
from .suggestions import Suggestions
from .views import Views
from .widget_pages import WidgetPages

_ALLOWED = "GET, HEAD"
_MAX_PATH_AND_QUERY = 8192
_PATH_CHARACTERS = "/:@!$&'()*+,;="  # Allowed in addition to unreserved characters (RFC 3986, 3.3).

_VARY = ("vary", "accept-encoding")
# Of pages in several languages; the cookie remembers the one that a visitor has chosen.
_VARY_BY_LANGUAGE = ("vary", "accept-encoding, accept-language, cookie")
_REVALIDATED = ("cache-control", "no-cache")
_A_DAY = ("cache-control", "public, max-age=86400")
_FOR_GOOD = ("cache-control", "public, max-age=31536000, immutable")

_JSON = "application/json; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"
_CSS = "text/css; charset=utf-8"
_JS = "text/javascript; charset=utf-8"
_ATOM = "application/atom+xml; charset=utf-8"
_XML = "application/xml; charset=utf-8"
_SVG = "image/svg+xml"
_A_MINUTE = ("cache-control", "public, max-age=60")
_A_WHILE = ("cache-control", "public, max-age=300")
_ANY_ORIGIN = ("cross-origin-resource-policy", "cross-origin")
_ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /cdn/\n"


def _kept(content_type: str) -> Headers:
    """Cached content that programs request repeatedly."""
    return [("content-type", content_type), _VARY, _A_WHILE, NOSNIFF]


_FAILURES = {500: N_("Internal error"), 503: N_("Temporarily unavailable")}
_UNKNOWN: dict[str, object] = {"near": (), "wanted": ""}
_WRONG_METHOD = {
    "title": N_("Method not allowed"),
    "sentence": N_("Only GET and HEAD are allowed at this address."),
}


def load_for_pages() -> None:
    """Before workers are forked. Otherwise each loads this for the first page that needs it, and
    new workers of a busy machine, or of several nodes at once, take a second for it.
    """
    load_glyphs()
    # For words with a typing error.
    importlib.import_module("rapidfuzz")
    # For `numpy.unique`, in the first search for a frequent word.
    importlib.import_module("numpy.ma")


class PublicPages:
    """Served on the event loop: a page is cached, or rendered on first request."""

    def __init__(
        self,
        catalog: CatalogReader,
        renderer: PageRenderer,
        cdn_url: str,
        bundles: Bundles,
        icons: Icons | None = None,
        installs: InstallsReader | None = None,
        members: MembersReader | None = None,
        collections: CollectionsReader | None = None,
        trending: TrendingReader | None = None,
        languages: Languages | None = None,
        brand: Callable[[None], Awaitable[Brand]] | None = None,
        legal: LegalPageReader | None = None,
    ) -> None:
        self._renderer = renderer
        self._languages = languages or Languages()
        self._content_of = catalog.packer.content
        self._icons = icons or Icons()
        # A static site whose bundles are elsewhere has none of their files.
        has_files = not renderer.is_static or cdn_url == f"{renderer.public_url}/cdn"
        cards = self._cards = Cards(renderer.root, self._icons, cdn_url, has_pictures=has_files)
        renderer.templates.globals.update(
            tile=self._icons.tile,
            avatar=self._icons.avatar,
            card_list=cards.list_in_language,
            thumbnail=cards.thumbnail,
            still_picture=cards.still,
            official_mark=official_mark,
        )
        self._views = Views(catalog)
        offered = self._languages.offered
        self._pages = RenderedPages(renderer, catalog.packer, offered)
        self.pictures = Pictures(catalog, self._pages, self._icons)
        vary = _VARY_BY_LANGUAGE if len(offered) > 1 else _VARY
        self._document = cache(partial(openapi, renderer.service_name, renderer.public_url))
        # A static site has no API, so what the examples do works in a service alone.
        own_url = None if renderer.is_static else renderer.public_url
        self._reference = ReferencePages(self._pages, self._document)
        self._guides = GuidePages(self._pages, own_url, self._reference.list_sections)
        self._feeds = Feeds(self._views, self._pages, self._list_lasting)
        policy = renderer.security_headers(has_script=True, more="connect-src 'self'")
        self._docs: Headers = [HTML, _VARY, _REVALIDATED, *policy]
        self._html: Headers = [HTML, vary, _REVALIDATED, *policy]
        self._collections = CollectionPages(self._views, self._pages, collections)
        listings = ListingPages(self._views, self._pages, members, self._collections, trending)
        widgets = WidgetPages(catalog, self._pages, bundles, installs, cards, renderer)
        self.brand = BrandPages(
            renderer, self._pages, catalog.packer, widgets.markdown, brand, legal
        )
        routes = self._page_routes(listings, widgets, cdn_url)
        if not renderer.is_static:
            previews = PreviewPages(catalog, self._views, self._pages)
            routes += previews.routes(renderer, [HTML, vary, _REVALIDATED], cdn_url)
        files = [*self._file_routes(), *self._brand_routes()]
        self._routes = Routes([*routes, *self._feed_routes(), *files])

    def _page_routes(
        self, listings: ListingPages, widgets: WidgetPages, cdn_url: str
    ) -> list[PublicRoute]:
        html, docs = self._html, self._docs
        # For pages on which a widget can run.
        policy = panel_security_headers(self._renderer, cdn_url)
        panel: Headers = [*html[:3], *policy]
        search = listings.static_search if self._renderer.is_static else listings.search
        return [
            PublicRoute("/", listings.front_page, panel),
            PublicRoute("/search", search, panel),
            *self._keyword_routes(listings),
            PublicRoute("/collections", self._collections.index, panel),
            PublicRoute("/collections/{slug}", self._collections.collection, panel),
            PublicRoute("/scopes/{scope}", listings.scope, panel),
            PublicRoute("/widgets/{scope}/{name}", widgets.widget, panel),
            PublicRoute("/widgets/{scope}/{name}/versions", widgets.versions, html),
            PublicRoute("/widgets/{scope}/{name}/compare", widgets.compare, html),
            PublicRoute("/widgets/{scope}/{name}/feed.atom", self._feeds.widget, _kept(_ATOM)),
            PublicRoute("/widgets/{scope}/{name}/{number}", widgets.version, panel),
            PublicRoute("/docs", self._guides.index, docs),
            PublicRoute("/docs/api", self._reference.page, docs),
            PublicRoute("/docs/api/{page}", self._reference.page, docs),
            PublicRoute("/docs/api/{page}/try", self._try_operation, docs),
            PublicRoute("/docs/search", self._guides.search, docs),
            PublicRoute("/docs/{name}", self._guides.part, docs),
            PublicRoute("/docs/{name}/{slug}", self._guides.part, docs),
        ]

    def _keyword_routes(self, listings: ListingPages) -> list[PublicRoute]:
        """A static site searches in a script, which has no filters."""
        if self._renderer.is_static:
            return []
        suggestions = Suggestions(self._views, self._pages)
        policy = self._renderer.security_headers()
        return [
            PublicRoute("/keywords", listings.keywords, self._html),
            PublicRoute(
                "/search/suggestions",
                suggestions.fragment,
                [HTML, _VARY_BY_LANGUAGE, _A_MINUTE, *policy],
            ),
        ]

    def _feed_routes(self) -> list[PublicRoute]:
        """For programs: feed readers, other sites, search engines."""
        feeds = self._feeds
        return [
            PublicRoute("/feed.atom", feeds.latest, _kept(_ATOM)),
            PublicRoute("/scopes/{scope}/feed.atom", feeds.latest, _kept(_ATOM)),
            PublicRoute("/badges/{scope}/{name}/{kind}", feeds.badge, [*_kept(_SVG), _ANY_ORIGIN]),
            PublicRoute("/sitemap.xml", feeds.sitemap, _kept(_XML)),
            PublicRoute("/sitemaps/{file}", feeds.sitemap_part, _kept(_XML)),
        ]

    def _file_routes(self) -> list[PublicRoute]:
        renderer, file = self._renderer, self._file
        robots = _ROBOTS + f"Sitemap: {renderer.public_url}/sitemap.xml\n".encode()
        icon = (STATIC / "favicon.svg").read_bytes()
        picture = STATIC / "picture.png"
        return [
            file("/openapi.json", lambda: printed(self._document()).encode(), _JSON, _REVALIDATED),
            file(SCHEMA, lambda: printed_schema().encode(), _JSON, _A_WHILE, _ANY_ORIGIN, CORS),
            file("/favicon.svg", lambda: icon, _SVG, _A_DAY),
            file("/favicon.ico", lambda: icon, _SVG, _A_DAY),
            file(OWN_PATH, picture.read_bytes, "image/png", _A_DAY, _ANY_ORIGIN),
            file("/robots.txt", lambda: robots, _TEXT, _A_DAY),
            *(
                file(path, partial(bytes, content), _JS if path.endswith("js") else _CSS, _FOR_GOOD)
                for path, content in renderer.files.values()
            ),
        ]

    def _brand_routes(self) -> list[PublicRoute]:
        lasting, brand = (_VARY, _FOR_GOOD, NOSNIFF), self.brand
        # Whoever opens the file of a logo gets no page of ours.
        rules = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        logos = [
            PublicRoute(
                f"{LOGOS}/{kind}/{{file}}",
                partial(brand.logo, kind),
                [("content-type", content_type), *lasting, ("content-security-policy", rules)],
            )
            for kind, content_type in LOGO_TYPES.items()
        ]
        style = PublicRoute(f"{ACCENTS}/{{file}}", brand.style, [("content-type", _CSS), *lasting])
        return [PublicRoute("/legal/{slug}", brand.page, self._html), style, *logos]

    def _file(
        self,
        path: str,
        read: Callable[[], bytes],
        content_type: str,
        caching: tuple[str, str],
        *more: tuple[str, str],
    ) -> PublicRoute:
        """A file that never changes, read on first use."""
        content = cache(lambda: self._content_of([read()]))

        async def find(_: PageRequest) -> AnyContent:
            return content()

        headers = [("content-type", content_type), _VARY, caching, NOSNIFF, *more]
        return PublicRoute(path, find, headers)

    async def _try_operation(self, asked: PageRequest) -> Response | None:
        address = self._reference.find_address(asked.params["page"], asked.query)
        return None if address is None else self._renderer.redirect(address, NOSNIFF)

    def show_card(self, key: str) -> bytes:
        """The card of the widget with this `scope/name`, as a list of one."""
        return self._cards.list(self._views.list_named(key, 1)).encode()

    def list_docs(self) -> list[str]:
        return [*self._guides.list_paths(), *self._reference.list_paths()]

    async def list_collections(self) -> dict[str, int]:
        """The paths of their pages, with the number of what each lists."""
        found = {
            f"/collections/{it.slug}": len(it.widgets) for it in await self._collections.find()
        }
        return {"/collections": len(found)} | found if found else {}

    async def _list_lasting(self) -> list[str]:
        """The paths of all pages that do not depend on what is published."""
        await self._guides.read()
        keywords = [] if self._renderer.is_static else ["/keywords"]
        own = (*await self.list_collections(), *self.brand.list_paths())
        return ["/", "/search", *keywords, *self.list_docs(), *own]

    async def handle(self, request: Request) -> Response:
        found = self._routes.find(request.path)
        if request.path == SWITCH:
            return self._switch(request)
        language = self._languages.choose(request)
        await self._languages.load(language)
        route = None if found is None else found.methods["GET"]
        content: AnyContent | Response | None = None
        try:
            if found is not None and route is not None:
                asked = PageRequest(found.params, request.query_string, language)
                content = await route.find(asked)
        except Busy as error:
            return failure_page(self._renderer, request, error, language=language)
        if route is None or content is None:
            if (target := _without_more_slashes(request)) is not None:
                return self._renderer.redirect(target, NOSNIFF, *cors_of(target), status=308)
            missing = await self._not_found(request.path, language)
            return content_response(request.headers, missing, self._html, status=404)
        if request.method != "GET" and request.method != "HEAD":

            def wrong_method() -> dict[str, str]:
                return {it: language.gettext(text) for it, text in _WRONG_METHOD.items()}

            refusal = self._pages.get("405", (), "message.html", wrong_method, language)
            headers = [*self._html, ("allow", _ALLOWED)]
            return content_response(request.headers, refusal, headers, status=405)
        if isinstance(content, Response):
            return content
        return content_response(request.headers, content, route.headers)

    def _switch(self, request: Request) -> Response:
        """Remembers the chosen language, and shows the page again from which it was chosen."""
        headers: Headers = [NOSNIFF]
        if (chosen := self._languages.find_asked(request.query_string)) is not None:
            attributes = cookie_attributes(self._renderer.public_url)
            cookie = f"{LANGUAGE_COOKIE}={chosen.tag}; Max-Age={A_YEAR_S}{attributes}"
            headers.append(("set-cookie", cookie))
        back = without_language(request.headers.get("referer") or "", self._renderer.root)
        return self._renderer.redirect(back, *headers)

    def failure(self, request: Request, response: Response) -> Response:
        """The error page for an internal error, which programs get as JSON."""
        language = self._languages.choose(request)
        return self._renderer.page(
            "message.html",
            *(it for it in response.headers if it[0] == "retry-after"),
            status=response.status,
            language=language,
            title=language.gettext(_FAILURES[response.status]),
            sentence=language.gettext(message_of(response)),
            can_be_repeated=request.method in ("GET", "HEAD"),
            request_id=trace.request_id if (trace := current.get()) is not None else "",
        )

    async def _not_found(self, path: str, language: Language) -> AnyContent:
        """The error page for an unknown path, with similar widgets."""
        template = "pages/not_found.html"
        words = [it for it in path.split("/") if it.isprintable()][1:4]
        is_widget = words[:1] == ["widgets"] and len(words) == 3
        if not is_widget:
            return self._pages.get("404", (), template, lambda: _UNKNOWN, language)
        wanted = words[2][:100]
        near = self._views.list_named(wanted, 3) or await self._views.list_like(wanted, 6)
        return self._pages.render(template, language, near=near, wanted=wanted)


def _without_more_slashes(request: Request) -> str | None:
    """The redirect target of a path that starts with several slashes, or of a page with a slash at
    the end: the same path without them; None for others.

    All but the usual characters are encoded, and there is exactly one leading slash, so no browser
    interprets it as another host. A path with both is redirected twice, because it may lead to the
    API, where a slash at the end is significant.
    """
    path, query = request.path, request.query_string
    if len(path) + len(query) > _MAX_PATH_AND_QUERY:
        return None
    if path.startswith("//"):
        path = path.lstrip("/")
    elif path.endswith("/") and path != "/" and request.method in ("GET", "HEAD"):
        path = path.strip("/")
    else:
        return None
    target = "/" + quote(path, safe=_PATH_CHARACTERS, errors="replace")
    if not query:
        return target
    return f"{target}?{quote(query, safe=_PATH_CHARACTERS + '?%', errors='replace')}"

"""All public pages, and the static files that pages and browsers request."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

from ...core.errors import Busy
from ...core.files.contract import Bundles
from ...core.http.conditional import content_response
from ...core.http.content import AnyContent
from ...core.http.errors import cors_of, failure_page, message_of
from ...core.http.http import NOSNIFF, Headers, Request, Response
from ...core.http.rendering import HTML, STATIC, PageRenderer
from ...core.http.routing import Routes
from ..catalog import Catalog
from ..openapi.document import openapi, printed
from ..views import Views
from .badges import badge
from .compare_page import ComparePage
from .feeds import Feeds
from .front_page import FrontPage
from .guide_pages import GuidePages
from .icons import Icons
from .installs import InstallsReader
from .preview_panel import panel_security_headers
from .reference_pages import ReferencePages
from .rendered_pages import RenderedPages
from .scope_page import MembersReader, ScopePage
from .search_page import SearchPage
from .sitemaps import Sitemaps
from .widget_pages import WidgetPages

_ALLOWED = "GET, HEAD"
_MAX_PATH_AND_QUERY = 8192
_PATH_CHARACTERS = "/:@!$&'()*+,;="  # Allowed in addition to unreserved characters (RFC 3986, 3.3).

_VARY = ("vary", "accept-encoding")
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
_A_WHILE = ("cache-control", "public, max-age=300")
_ANY_ORIGIN = ("cross-origin-resource-policy", "cross-origin")
_ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /cdn/\n"

_FAILURES = {500: "Internal error", 503: "Temporarily unavailable"}
_WRONG_METHOD = ("Method not allowed", "Only GET and HEAD are allowed at this address.")


class Resource(NamedTuple):
    """The content of a path, ready to be sent."""

    content: AnyContent
    headers: Headers


class PageRequest(NamedTuple):
    """The parameters in a path, and the raw query."""

    params: Mapping[str, str]
    query_string: str

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


class PublicRoute(NamedTuple):
    """`find` returns None if there is no page for these values."""

    path: str
    find: Callable[[PageRequest], Awaitable[Resource | Response | None]]
    method: str = "GET"


class PublicPages:
    """Served on the event loop: a page is cached, or rendered on first request."""

    def __init__(
        self,
        catalog: Catalog,
        renderer: PageRenderer,
        cdn_url: str,
        bundles: Bundles,
        icons: Icons | None = None,
        installs: InstallsReader | None = None,
        members: MembersReader | None = None,
    ) -> None:
        self._renderer = renderer
        self._content_of = catalog.packer.content
        self._icons = icons or Icons()
        self._are_icons_loaded = False
        renderer.templates.globals["tile"] = self._icons.tile
        self._message = cache(self._render_message)
        self._views = Views(catalog)
        self._pages = RenderedPages(renderer, catalog.packer)
        self._front = FrontPage(self._views, self._pages)
        self._search = SearchPage(self._views, self._pages)
        self._scope = ScopePage(self._views, self._pages, members)
        self._widget = WidgetPages(catalog, self._pages, installs, renderer.public_url)
        self._compare = ComparePage(catalog, self._pages, bundles)
        self._feeds = Feeds(self._views, self._pages)
        self._guides = GuidePages(self._pages)
        self._document = cache(partial(openapi, renderer.service_name, renderer.public_url))
        self._reference = ReferencePages(self._pages, self._document)
        self._sitemaps = Sitemaps(self._views, self._pages, self._list_lasting)
        policy = renderer.security_headers(has_script=True, more="connect-src 'self'")
        self._html: Headers = [HTML, _VARY, _REVALIDATED, *policy]
        # For pages on which a widget can run.
        policy = panel_security_headers(renderer, cdn_url)
        self._with_panel: Headers = [HTML, _VARY, _REVALIDATED, *policy]
        self._routes = Routes([*self._page_routes(), *self._file_routes(), *self._feed_routes()])

    def _page_routes(self) -> list[PublicRoute]:
        async def front_page(_: PageRequest) -> Resource:
            return Resource(self._front.content(), self._html)

        async def search_page(asked: PageRequest) -> Resource:
            if self._renderer.is_static:
                return Resource(
                    self._pages.get("search", (), "catalog/static_search.html", dict), self._html
                )
            return Resource(self._search.content(asked.query_string), self._html)

        async def scope_page(asked: PageRequest) -> Resource | None:
            return _page(await self._scope.content(asked.params["scope"], asked.page), self._html)

        async def widget_page(asked: PageRequest) -> Resource | None:
            return _page(await self._widget.widget(**asked.params), self._with_panel)

        async def versions_page(asked: PageRequest) -> Resource | None:
            return _page(await self._widget.versions(**asked.params, page=asked.page), self._html)

        async def version_page(asked: PageRequest) -> Resource | None:
            return _page(await self._widget.version(**asked.params), self._with_panel)

        async def compare_page(asked: PageRequest) -> Resource | None:
            return _page(await self._compare.content(**asked.params, asked=asked.query), self._html)

        async def widget_feed(asked: PageRequest) -> Resource | None:
            return _page(await self._feeds.widget(**asked.params), _kept(_ATOM))

        return [
            PublicRoute("/", front_page),
            PublicRoute("/search", search_page),
            PublicRoute("/scopes/{scope}", scope_page),
            PublicRoute("/widgets/{scope}/{name}", widget_page),
            PublicRoute("/widgets/{scope}/{name}/versions", versions_page),
            PublicRoute("/widgets/{scope}/{name}/compare", compare_page),
            PublicRoute("/widgets/{scope}/{name}/feed.atom", widget_feed),
            PublicRoute("/widgets/{scope}/{name}/{number}", version_page),
        ]

    def _feed_routes(self) -> list[PublicRoute]:
        """Routes for programs: feed readers, other sites, search engines."""

        async def feed(asked: PageRequest) -> Resource | None:
            content = self._feeds.latest(asked.params.get("scope"))
            return _page(content, _kept(_ATOM))

        async def badge_of(asked: PageRequest) -> Resource | None:
            scope, name, kind = (asked.params[it] for it in ("scope", "name", "kind"))
            found = await self._views.find_widget(f"{scope}/{name}")
            made = badge(kind, None if found is None else found.read())
            if made is None:
                return None
            content = self._pages.get(
                f"badge {scope}/{name}/{kind}",
                (made,),
                "catalog/badge.svg",
                lambda: {"badge": made},
            )
            return Resource(content, [*_kept(_SVG), _ANY_ORIGIN])

        async def sitemap(_: PageRequest) -> Resource:
            return Resource(self._sitemaps.index(), _kept(_XML))

        async def sitemap_part(asked: PageRequest) -> Resource | None:
            return _page(self._sitemaps.part(asked.params["file"]), _kept(_XML))

        async def docs(_: PageRequest) -> Resource:
            return Resource(self._guides.index(), self._html)

        async def guide(asked: PageRequest) -> Resource | None:
            return _page(self._guides.part(**asked.params), self._html)

        async def reference(asked: PageRequest) -> Resource | None:
            return _page(self._reference.page(**asked.params), self._html)

        async def try_operation(asked: PageRequest) -> Response | None:
            address = self._reference.find_address(asked.params["page"], asked.query)
            return None if address is None else self._renderer.redirect(address, NOSNIFF)

        return [
            PublicRoute("/feed.atom", feed),
            PublicRoute("/scopes/{scope}/feed.atom", feed),
            PublicRoute("/badges/{scope}/{name}/{kind}", badge_of),
            PublicRoute("/sitemap.xml", sitemap),
            PublicRoute("/sitemaps/{file}", sitemap_part),
            PublicRoute("/docs", docs),
            PublicRoute("/docs/api", reference),
            PublicRoute("/docs/api/{page}", reference),
            PublicRoute("/docs/api/{page}/try", try_operation),
            PublicRoute("/docs/{name}", guide),
            PublicRoute("/docs/{name}/{slug}", guide),
        ]

    def _file_routes(self) -> list[PublicRoute]:
        renderer, file = self._renderer, self._file
        robots = _ROBOTS + f"Sitemap: {renderer.public_url}/sitemap.xml\n".encode()
        icon = file((STATIC / "favicon.svg").read_bytes(), "image/svg+xml", _A_DAY)
        scripts = (
            (renderer.script_path, renderer.script),
            (renderer.site_script_path, renderer.site_script),
            (renderer.publish_script_path, renderer.publish_script),
        )
        return [
            _fixed("/openapi.json", self._printed),
            _fixed("/favicon.svg", lambda: icon),
            _fixed("/favicon.ico", lambda: icon),
            _fixed("/robots.txt", lambda: file(robots, _TEXT, _A_DAY)),
            _fixed(renderer.card_path, lambda: file(renderer.card, "image/png", _FOR_GOOD)),
            _fixed(renderer.style_path, lambda: file(renderer.style, _CSS, _FOR_GOOD)),
            _fixed(
                renderer.dashboard_style_path,
                lambda: file(renderer.dashboard_style, _CSS, _FOR_GOOD),
            ),
            *(_fixed(path, partial(file, script, _JS, _FOR_GOOD)) for path, script in scripts),
            *self._static_routes(),
        ]

    def _static_routes(self) -> list[PublicRoute]:
        renderer = self._renderer
        if not renderer.is_static:
            return []
        script = self._file(renderer.static_search, _JS, _FOR_GOOD)
        return [_fixed(renderer.static_search_path, lambda: script)]

    def list_docs(self) -> list[str]:
        """The paths of the documentation."""
        return [*self._guides.list_paths(), *self._reference.list_paths()]

    def _list_lasting(self) -> list[str]:
        """The paths of all pages that do not depend on what is published."""
        return ["/", "/search", *self.list_docs()]

    async def answer(self, request: Request) -> Response:
        found = self._routes.find(request.path)
        if not self._are_icons_loaded:
            await asyncio.to_thread(self._icons.load)
            self._are_icons_loaded = True
        asked = None if found is None else PageRequest(found.params, request.query_string)
        try:
            resource = await found.methods["GET"].find(asked) if found and asked else None
        except Busy as fault:
            return failure_page(self._renderer, request, fault)
        if resource is None:
            if (target := _without_more_slashes(request)) is not None:
                return self._renderer.redirect(target, NOSNIFF, *cors_of(target), status=308)
            return content_response(request, self._not_found(request.path), self._html, status=404)
        if request.method != "GET" and request.method != "HEAD":
            headers = [*self._html, ("allow", _ALLOWED)]
            return content_response(request, self._message(*_WRONG_METHOD), headers, status=405)
        if isinstance(resource, Response):
            return resource
        return content_response(request, *resource)

    def failure(self, request: Request, answer: Response) -> Response:
        """The error page for an internal error, which programs get as JSON."""
        return self._renderer.page(
            "message.html",
            *(it for it in answer.headers if it[0] == "retry-after"),
            status=answer.status,
            title=_FAILURES[answer.status],
            sentence=message_of(answer),
            can_be_repeated=request.method in ("GET", "HEAD"),
        )

    def _not_found(self, path: str) -> AnyContent:
        """The error page for an unknown path, with similar widgets."""
        words = [it for it in path.split("/") if it.isprintable()][1:4]
        is_widget = words[:1] == ["widgets"] and len(words) == 3
        if not is_widget:
            return self._pages.get(
                "404", (), "catalog/not_found.html", lambda: {"near": [], "wanted": ""}
            )
        wanted = words[2][:100]
        near = self._views.list_named(wanted, 3) or self._views.list_like(wanted, 6)
        return self._pages.render("catalog/not_found.html", near=near, wanted=wanted)

    def _render_message(self, title: str, sentence: str) -> AnyContent:
        return self._pages.render("message.html", title=title, sentence=sentence)

    def _printed(self) -> Resource:
        return self._file(printed(self._document()).encode(), _JSON, _REVALIDATED)

    def _file(self, body: bytes, content_type: str, caching: tuple[str, str]) -> Resource:
        headers = [("content-type", content_type), _VARY, caching, NOSNIFF]
        return Resource(self._content_of([body]), headers)


def _page(content: AnyContent | None, headers: Headers) -> Resource | None:
    return None if content is None else Resource(content, headers)


def _kept(content_type: str) -> Headers:
    """Cached content that programs request repeatedly."""
    return [("content-type", content_type), _VARY, _A_WHILE, NOSNIFF]


def _fixed(path: str, make: Callable[[], Resource]) -> PublicRoute:
    """Content that never changes, created on first use."""
    made = cache(make)

    async def find(_: PageRequest) -> Resource:
        return made()

    return PublicRoute(path, find)


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

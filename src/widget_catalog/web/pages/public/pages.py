"""Every page that is the same for everybody, and the files that pages and browsers ask for."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple
from urllib.parse import quote

from ....catalog.catalog import Catalog
from ....catalog.large_content import AnyContent
from ...kit.content_response import content_response
from ...kit.errors import cors_of
from ...kit.http import NOSNIFF, Headers, Request, Response
from ...kit.rendering import HTML, STATIC, PageRenderer, safety
from ...kit.routing import Routes
from ...openapi import openapi, printed
from .front_page import FrontPage

_ALLOWED = "GET, HEAD"
_MAX_PATH_AND_QUERY = 8192
_PATH_CHARACTERS = "/:@!$&'()*+,;="  # Besides letters, digits and the like (RFC 3986, 3.3).

_VARY = ("vary", "accept-encoding")
_REVALIDATED = ("cache-control", "no-cache")
_A_DAY = ("cache-control", "public, max-age=86400")
_FOR_GOOD = ("cache-control", "public, max-age=31536000, immutable")

_HTML: Headers = [HTML, _VARY, _REVALIDATED, *safety()]

_JSON = "application/json; charset=utf-8"
_TEXT = "text/plain; charset=utf-8"
_CSS = "text/css; charset=utf-8"
_JS = "text/javascript; charset=utf-8"
_ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /cdn/\n"

_MESSAGES = {
    404: ("Page not found", "There is no page at this address."),
    405: ("Method not allowed", "Only GET and HEAD are allowed at this address."),
}


class Resource(NamedTuple):
    """What an address holds, ready to be sent."""

    content: AnyContent
    headers: Headers


class PublicRoute(NamedTuple):
    """`find` gets the values in the path; None: there is no page for them."""

    path: str
    find: Callable[[Mapping[str, str]], Resource | None]
    method: str = "GET"


class PublicPages:
    """Answered on the event loop: a page is ready, or rendered when it is first asked for."""

    def __init__(self, catalog: Catalog, renderer: PageRenderer) -> None:
        self._renderer = renderer
        self._content_of = catalog.packer.content
        self._message = cache(self._render_message)
        document = cache(partial(openapi, renderer.service_name, renderer.public_url))
        front_page = FrontPage(catalog, renderer.templates)
        icon = self._file((STATIC / "favicon.svg").read_bytes(), "image/svg+xml", _A_DAY)
        self._routes = Routes(
            [
                PublicRoute("/", lambda _: Resource(front_page.content(), _HTML)),
                _fixed("/docs/api", lambda: self._render_reference(document())),
                _fixed(
                    "/openapi.json",
                    lambda: self._file(printed(document()).encode(), _JSON, _REVALIDATED),
                ),
                _fixed("/favicon.svg", lambda: icon),
                _fixed("/favicon.ico", lambda: icon),
                _fixed("/robots.txt", lambda: self._file(_ROBOTS, _TEXT, _A_DAY)),
                _fixed(renderer.style_path, lambda: self._file(renderer.style, _CSS, _FOR_GOOD)),
                _fixed(renderer.script_path, lambda: self._file(renderer.script, _JS, _FOR_GOOD)),
            ]
        )

    def answer(self, request: Request) -> Response:
        found = self._routes.find(request.path)
        resource = None if found is None else found.methods["GET"].find(found.params)
        if resource is None:
            if (target := _single_slash(request)) is not None:
                return self._renderer.redirect(target, NOSNIFF, *cors_of(target), status=308)
            return content_response(request, self._message(404).content, _HTML, status=404)
        if request.method != "GET" and request.method != "HEAD":
            headers = [*_HTML, ("allow", _ALLOWED)]
            return content_response(request, self._message(405).content, headers, status=405)
        return content_response(request, *resource)

    def _render(self, template: str, **values: object) -> Resource:
        return Resource(self._content_of([self._renderer.render(template, **values)]), _HTML)

    def _render_reference(self, document: dict[str, Any]) -> Resource:
        from .reference import reference  # Markdown takes a while to load, and few ask for this.

        return self._render("reference.html", reference=reference(document))

    def _render_message(self, status: int) -> Resource:
        title, sentence = _MESSAGES[status]
        return self._render("message.html", title=title, sentence=sentence)

    def _file(self, body: bytes, content_type: str, caching: tuple[str, str]) -> Resource:
        headers = [("content-type", content_type), _VARY, caching, NOSNIFF]
        return Resource(self._content_of([body]), headers)


def _fixed(path: str, make: Callable[[], Resource]) -> PublicRoute:
    """What never changes: made when it is first asked for."""
    made = cache(make)
    return PublicRoute(path, lambda _: made())


def _single_slash(request: Request) -> str | None:
    """Where a path that begins with several slashes leads: the same with one; None for others.

    Everything but the usual characters is encoded, and a single slash comes first: whatever the
    path is, no browser takes it for another host.
    """
    path, query = request.path, request.query_string
    if not path.startswith("//") or len(path) + len(query) > _MAX_PATH_AND_QUERY:
        return None
    target = "/" + quote(path.lstrip("/"), safe=_PATH_CHARACTERS, errors="replace")
    if not query:
        return target
    return f"{target}?{quote(query, safe=_PATH_CHARACTERS + '?%', errors='replace')}"

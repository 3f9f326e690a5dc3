"""Every address that is neither API nor bundle: pages, their style, what browsers ask for."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple
from urllib.parse import quote

from ...reading.catalog import Catalog
from ...reading.large_content import AnyContent
from ..content_response import content_response
from ..http import NOSNIFF, Headers, Request, Response
from ..look import HTML, STATIC, Look, safety
from ..openapi import openapi, printed
from ..public import cors_of
from .front_door import FrontDoor

_ALLOWED = "GET, HEAD"
_MAX_PATH_AND_QUERY = 8192
_PATH_CHARACTERS = "/:@!$&'()*+,;="  # Besides letters, digits and the like (RFC 3986, 3.3).

_VARY = ("vary", "accept-encoding")
_REVALIDATED = ("cache-control", "no-cache")
_A_DAY = ("cache-control", "public, max-age=86400")
_FOR_GOOD = ("cache-control", "public, max-age=31536000, immutable")

_HTML: Headers = [HTML, _VARY, _REVALIDATED, *safety()]

_JSON = "application/json; charset=utf-8"
_ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /cdn/\n"

_MESSAGES = {
    404: ("Page not found", "There is no page at this address."),
    405: ("Method not allowed", "Only GET and HEAD are allowed at this address."),
}


class _Resource(NamedTuple):
    """What an address holds, ready to be sent."""

    content: AnyContent
    headers: Headers


class Pages:
    """All but the front door never changes, and is rendered when it is first asked for."""

    def __init__(self, catalog: Catalog, service_name: str, public_url: str) -> None:
        self._look = look = Look(service_name, public_url)
        self._content_of = catalog.packer.content
        document = cache(partial(openapi, service_name, public_url))
        front_door = FrontDoor(catalog, look.templates)
        icon = self._fixed((STATIC / "favicon.svg").read_bytes(), "image/svg+xml", _A_DAY)
        self._message = cache(self._render_message)
        self._resources: dict[str, Callable[[], _Resource]] = {
            "/": lambda: _Resource(front_door.content(), _HTML),
            "/docs/api": cache(lambda: self._render_reference(document())),
            "/openapi.json": cache(
                lambda: self._resource(printed(document()).encode(), _JSON, _REVALIDATED)
            ),
            "/favicon.svg": icon,
            "/favicon.ico": icon,
            "/robots.txt": self._fixed(_ROBOTS, "text/plain; charset=utf-8", _A_DAY),
            look.style_path: self._fixed(look.style, "text/css; charset=utf-8", _FOR_GOOD),
            look.script_path: self._fixed(look.script, "text/javascript; charset=utf-8", _FOR_GOOD),
        }

    def answer(self, request: Request) -> Response:
        resource = self._resources.get(request.path)
        if resource is None:
            if (target := _single_slash(request)) is not None:
                return self._look.redirect(target, NOSNIFF, *cors_of(target), status=308)
            return content_response(request, self._message(404).content, _HTML, status=404)
        if request.method != "GET" and request.method != "HEAD":
            headers = [*_HTML, ("allow", _ALLOWED)]
            return content_response(request, self._message(405).content, headers, status=405)
        return content_response(request, *resource())

    def _render(self, template: str, **values: object) -> _Resource:
        return _Resource(self._content_of([self._look.render(template, **values)]), _HTML)

    def _render_reference(self, document: dict[str, Any]) -> _Resource:
        from .reference import reference  # Markdown takes a while to load, and few ask for this.

        return self._render("reference.html", reference=reference(document))

    def _render_message(self, status: int) -> _Resource:
        title, sentence = _MESSAGES[status]
        return self._render("message.html", title=title, sentence=sentence)

    def _resource(self, body: bytes, content_type: str, caching: tuple[str, str]) -> _Resource:
        headers = [("content-type", content_type), _VARY, caching, NOSNIFF]
        return _Resource(self._content_of([body]), headers)

    def _fixed(
        self, body: bytes, content_type: str, caching: tuple[str, str]
    ) -> Callable[[], _Resource]:
        resource = self._resource(body, content_type, caching)
        return lambda: resource


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

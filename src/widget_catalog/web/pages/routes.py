"""Every address that is neither API nor bundle: pages, their style, what browsers ask for."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ... import release
from ...reading.catalog import Catalog
from ...reading.content import Content
from ..content_response import content_response
from ..http import NOSNIFF, Headers, Request, Response
from ..openapi import openapi, printed
from .front_door import FrontDoor

_TEMPLATES = Path(__file__).parent.parent / "templates"
_STATIC = Path(__file__).parent.parent / "static"
_ALLOWED = "GET, HEAD"

_VARY = ("vary", "accept-encoding")
_REVALIDATED = ("cache-control", "no-cache")
_A_DAY = ("cache-control", "public, max-age=86400")
_FOR_GOOD = ("cache-control", "public, max-age=31536000, immutable")

# There is no script on any page, and nothing comes from another origin.
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HTML: Headers = [
    ("content-type", "text/html; charset=utf-8"),
    _VARY,
    _REVALIDATED,
    ("content-security-policy", _POLICY),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    NOSNIFF,
]

_JSON = "application/json; charset=utf-8"
_ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /cdn/\n"

_MESSAGES = {
    404: ("Nothing here", "There is no page at this address."),
    405: ("Not this way", "This address can be read, and nothing else: use GET or HEAD."),
}


class _Resource(NamedTuple):
    """What an address holds, ready to be sent."""

    content: Content
    headers: Headers


class Pages:
    """All but the front door never changes, and is rendered when it is first asked for."""

    def __init__(self, catalog: Catalog, service_name: str, public_url: str) -> None:
        style = (_STATIC / "site.css").read_bytes()
        style_path = f"/static/site.{Content(style).tag}.css"
        # Where the service is reached under a path of its own, links begin with that path.
        root = urlsplit(public_url).path.rstrip("/")
        self._templates = _environment(
            root=root,
            style_url=root + style_path,
            service_name=service_name,
            public_url=public_url,
            release=release.VERSION,
        )
        document = cache(partial(openapi, service_name, public_url))
        front_door = FrontDoor(catalog, self._templates)
        icon = _fixed((_STATIC / "favicon.svg").read_bytes(), "image/svg+xml", _A_DAY)
        self._message = cache(self._render_message)
        self._resources: dict[str, Callable[[], _Resource]] = {
            "/": lambda: _Resource(front_door.content(), _HTML),
            "/docs/api": cache(lambda: self._render_reference(document())),
            "/openapi.json": cache(
                lambda: _resource(printed(document()).encode(), _JSON, _REVALIDATED)
            ),
            "/favicon.svg": icon,
            "/favicon.ico": icon,
            "/robots.txt": _fixed(_ROBOTS, "text/plain; charset=utf-8", _A_DAY),
            style_path: _fixed(style, "text/css; charset=utf-8", _FOR_GOOD),
        }

    def answer(self, request: Request) -> Response:
        resource = self._resources.get(request.path)
        if resource is None:
            return content_response(request, self._message(404).content, _HTML, status=404)
        if request.method != "GET" and request.method != "HEAD":
            headers = [*_HTML, ("allow", _ALLOWED)]
            return content_response(request, self._message(405).content, headers, status=405)
        return content_response(request, *resource())

    def _render(self, template: str, **values: object) -> _Resource:
        page = self._templates.get_template(template).render(values)
        return _Resource(Content(page.encode()), _HTML)

    def _render_reference(self, document: dict[str, Any]) -> _Resource:
        from .reference import reference  # Markdown takes a while to load, and few ask for this.

        return self._render("reference.html", reference=reference(document))

    def _render_message(self, status: int) -> _Resource:
        title, sentence = _MESSAGES[status]
        return self._render("message.html", title=title, sentence=sentence)


def _environment(**texts: str) -> Environment:
    """The templates, which all know these texts."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(texts)
    environment.filters["grouped"] = "{:,}".format
    return environment


def _resource(body: bytes, content_type: str, caching: tuple[str, str]) -> _Resource:
    headers = [("content-type", content_type), _VARY, caching, NOSNIFF]
    return _Resource(Content(body), headers)


def _fixed(body: bytes, content_type: str, caching: tuple[str, str]) -> Callable[[], _Resource]:
    resource = _resource(body, content_type, caching)
    return lambda: resource

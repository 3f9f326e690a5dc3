"""Every address that is neither API nor bundle: pages, their style, what browsers ask for."""

from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ... import release
from ...reading.catalog import Catalog
from ...reading.content import Content
from ..content_response import content_response
from ..http import NOSNIFF, Headers, Request, Response
from ..openapi import openapi, printed
from .front_door import FrontDoor
from .reference import reference

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

_ROBOTS = b"User-agent: *\nDisallow: /api/\nDisallow: /cdn/\n"


class _Resource(NamedTuple):
    """What an address holds, ready to be sent."""

    content: Content
    headers: Headers


class Pages:
    """All but the front door is rendered once, here; that one when the catalog has changed."""

    def __init__(self, catalog: Catalog, service_name: str, public_url: str) -> None:
        style = Content((_STATIC / "site.css").read_bytes())
        icon = _resource((_STATIC / "favicon.svg").read_bytes(), "image/svg+xml", _A_DAY)
        style_path = f"/static/site.{style.tag}.css"
        # Where the service is reached under a path of its own, links begin with that path.
        root = urlsplit(public_url).path.rstrip("/")
        templates = _environment(
            root=root,
            style_url=root + style_path,
            service_name=service_name,
            public_url=public_url,
            release=release.VERSION,
        )
        document = openapi(service_name, public_url)
        docs = templates.get_template("reference.html").render(reference=reference(document))
        self._front_door = FrontDoor(catalog, templates.get_template("front_door.html"))
        self._resources = {
            "/docs/api": _Resource(Content(docs.encode()), _HTML),
            "/openapi.json": _resource(
                printed(document).encode(), "application/json; charset=utf-8", _REVALIDATED
            ),
            "/favicon.svg": icon,
            "/favicon.ico": icon,
            "/robots.txt": _resource(_ROBOTS, "text/plain; charset=utf-8", _A_DAY),
            style_path: _Resource(style, _headers("text/css; charset=utf-8", _FOR_GOOD)),
        }
        message = templates.get_template("message.html")
        self._not_found = Content(
            message.render(
                title="Nothing here", sentence="There is no page at this address."
            ).encode()
        )
        self._wrong_method = Content(
            message.render(
                title="Not this way",
                sentence="This address can be read, and nothing else: use GET or HEAD.",
            ).encode()
        )

    def answer(self, request: Request) -> Response:
        path = request.path
        resource = self._resources.get(path)
        if resource is None and path != "/":
            return content_response(request, self._not_found, _HTML, status=404)
        if request.method != "GET" and request.method != "HEAD":
            headers = [*_HTML, ("allow", _ALLOWED)]
            return content_response(request, self._wrong_method, headers, status=405)
        if resource is None:
            resource = _Resource(self._front_door.content(), _HTML)
        return content_response(request, resource.content, resource.headers)


def _environment(**texts: str) -> Environment:
    """The templates, which all know these texts."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(texts)
    environment.filters["grouped"] = "{:,}".format
    return environment


def _resource(body: bytes, content_type: str, caching: tuple[str, str]) -> _Resource:
    return _Resource(Content(body), _headers(content_type, caching))


def _headers(content_type: str, caching: tuple[str, str]) -> Headers:
    return [("content-type", content_type), _VARY, caching, NOSNIFF]

"""PublicPages: responds with the public pages, and with the pages that say what went wrong."""

import importlib
from collections.abc import Sequence
from urllib.parse import quote

from ..core.errors import Busy
from ..core.features import installed
from ..core.http.conditional import content_response
from ..core.http.content import AnyContent
from ..core.http.errors import cors_of, failure_page, message_of
from ..core.http.http import NOSNIFF, Request, Response
from ..core.http.language_choice import SWITCH
from ..core.http.public_page import PageRequest, PublicPart
from ..core.http.routing import Routes
from ..core.languages.language import N_, Language
from ..core.tracing import current
from .context import PublicContext
from .icons import load_glyphs
from .language_switch import switch_language
from .pictures import Pictures
from .routes import PublicRoutes

_ALLOWED = "GET, HEAD"
_MAX_PATH_AND_QUERY = 8192
_PATH_CHARACTERS = "/:@!$&'()*+,;="  # Allowed in addition to unreserved characters (RFC 3986, 3.3).

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


def build_public_pages(context: PublicContext) -> "PublicPages":
    """With what features add to them."""
    made = [it.public_pages(context) for it in installed() if it.public_pages is not None]
    return PublicPages(context, made)


class PublicPages:
    """Served on the event loop: a page is cached, or rendered on first request."""

    def __init__(self, context: PublicContext, parts: Sequence[PublicPart] = ()) -> None:
        self._context = context
        self._renderer = context.renderer
        self._pages = context.pages
        self._views = context.views
        self._languages = context.languages
        self._html = context.html
        self._parts = parts
        self.pictures = Pictures(context.catalog, context.pages, context.icons)
        own = PublicRoutes(context, parts)
        self.list_docs = own.list_docs
        self.routes = Routes(own.list_all())

    async def follow(self) -> None:
        """What may have changed in the store and is shown on every page, public or personal."""
        for part in self._parts:
            await part.follow()

    def show_card(self, key: str) -> bytes:
        """The card of the widget with this `scope/name`, as a list of one."""
        return self._context.cards.list(self._views.list_named(key, 1)).encode()

    async def list_paths(self) -> dict[str, int]:
        """The paths of pages of features, with the number of what each lists."""
        found: dict[str, int] = {}
        for part in self._parts:
            found |= await part.list_paths()
        return found

    async def handle(self, request: Request) -> Response:
        found = self.routes.find(request.path)
        if request.path == SWITCH:
            return switch_language(request, self._languages, self._renderer)
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

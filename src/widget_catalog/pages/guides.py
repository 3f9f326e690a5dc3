"""The guides: the repository's docs as pages. A long one has a page for each of its parts."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from ..core.http.content import AnyContent
from ..core.http.http import Response
from ..core.http.public_page import PageRequest
from ..core.http.rendering import leave
from .guide_search import MAX_QUERY, GuideSearch, Section, sections_of
from .rendered_pages import RenderedPages

_BUILD, _PUBLISH = "Build a dashboard", "Publish widgets"
_RUN, _KEEP = "Run a catalog", "Keep it running"
# Each with its group on the overview page, and what it is about.
GUIDES = {
    "integrating": (_BUILD, "Search, choose a compatible version, and load it in your dashboard."),
    "loading-widgets-safely": (_BUILD, "How to verify bundles and run untrusted code."),
    "sandbox": (_BUILD, "Run widgets of strangers in a frame, with your own data."),
    "python-client": (_BUILD, "Search, resolve and follow a catalog from a server."),
    "following-changes": (_BUILD, "The feed, server-sent events and webhooks."),
    "public-api": (_BUILD, "Every request and its rules, for clients in any language."),
    "publishing": (_PUBLISH, "From an empty folder to a published widget."),
    "widget-contract": (_PUBLISH, "What a widget exports, and what its context has."),
    "managing-widgets": (_PUBLISH, "Yank, deprecate, work with others, publish from CI."),
    "operating": (_RUN, "Install, run and upgrade a catalog."),
    "settings": (_RUN, "All settings and their defaults."),
    "administering": (_RUN, "Accounts, signing in, moderation, webhooks, limits."),
    "import-and-export": (_RUN, "Import files, mirrors and static sites."),
    "backup": (_KEEP, "Nightly or continuous backups, and how to restore them."),
    "monitoring": (_KEEP, "Health checks, metrics, logs, doctor, and troubleshooting."),
    "runbook": (_KEEP, "What to do when an alert fires."),
    "scaling": (_KEEP, "PostgreSQL, object storage and several nodes."),
    "kubernetes": (_KEEP, "Several nodes on Kubernetes."),
    "security": (_KEEP, "The threat model, guarantees, limits, and personal data."),
    "errors": (_PUBLISH, "What each error means, and how to fix it."),
    "performance": (_KEEP, "Benchmarks, and how they were measured."),
}
# A link in the repository, so that the package includes the guides.
_FOLDER = Path(__file__).parents[1] / "docs"
_WHOLE_BYTES = 30_000
# The addresses of a catalog in examples for its users. In guides for operators they are meant.
_EXAMPLE_ADDRESS = re.compile(r"(?:http://127\.0\.0\.1:8080|https://catalog\.example)(?![\w.:-])")
_PRE = re.compile("<pre .*?</pre>", re.DOTALL)
_COPIED = r'<div class="snippet">\g<0><button type="button" data-copy hidden>Copy</button></div>'
# The policy of pages allows no styles in elements.
_RIGHT = ' style="text-align:right"'
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


class Part(NamedTuple):
    """A page of a guide. The first one has no slug: it has the path of the guide."""

    slug: str
    title: str
    heading: Markup
    html: Markup
    """What is below the heading."""
    headings: list[tuple[str, str]]
    """Anchors and titles in it, for the contents of a guide that is split."""


class Guide(NamedTuple):
    name: str
    title: str
    parts: list[Part]
    headings: list[tuple[str, str]]
    """Slugs and titles of the parts, for the contents."""

    def find(self, slug: str) -> Part | None:
        return next((it for it in self.parts if it.slug == slug), None)


class Guides:
    """Read and rendered on first use."""

    def __init__(self, root: str, public_url: str | None = None) -> None:
        """`root` is the prefix of links, `public_url` the address of the catalog in examples."""
        self._root = root
        self._public_url = public_url
        self._markdown = MarkdownIt("commonmark", {"html": False}).enable("table")

    @cached_property
    def all(self) -> dict[str, Guide]:
        texts = {name: (_FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in GUIDES}
        tokens = {name: self._markdown.parse(self._own(name, it)) for name, it in texts.items()}
        places = {name: _places(some, len(texts[name])) for name, some in tokens.items()}
        return {name: self._guide(name, some, places) for name, some in tokens.items()}

    def _own(self, name: str, text: str) -> str:
        """The text with the catalog's own address, if it is for users of the catalog."""
        url = self._public_url
        if url is None or GUIDES[name][0] not in (_BUILD, _PUBLISH):
            return text
        return _EXAMPLE_ADDRESS.sub(lambda _: url, text)

    def _guide(self, name: str, tokens: list[Token], places: dict[str, dict[str, str]]) -> Guide:
        is_split = bool(places[name]) and any(places[name].values())
        parts = []
        whole = ("", _text(tokens[1]), tokens)
        for slug, title, some in _split(tokens) if is_split else (whole,):
            self._link(name, some, places)
            html = self._markdown.renderer.render(some, self._markdown.options, {})
            for wide in ("pre", "table"):  # Scrollable elements must be accessible by keyboard.
                html = html.replace(f"<{wide}>", f'<{wide} tabindex="0">')
            html = _PRE.sub(_COPIED, html.replace(_RIGHT, ' class="end"'))
            heading, end, below = html.partition("</h1>")
            own = Markup(heading + end), Markup(below)  # noqa: S704  Our own text.
            parts.append(Part(slug, title, *own, _headings(some)))
        headings = [(it.slug, it.title) for it in parts[1:]] if is_split else _headings(tokens)
        return Guide(name, parts[0].title, parts, headings)

    def _link(self, name: str, tokens: list[Token], places: dict[str, dict[str, str]]) -> None:
        """Give headings their ids, and make links point to pages."""
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                token.attrSet("id", slug_of(_text(tokens[i + 1])))
            if token.type == "inline":
                children = token.children or []
                unknown = False
                for child in children:
                    if child.type == "link_open":
                        target = self._target(name, str(child.attrGet("href") or ""), places)
                        unknown = target is None
                        child.tag = "span" if unknown else "a"
                        child.attrs = {} if target is None else {"href": target}
                    elif child.type == "link_close":
                        child.tag = "span" if unknown else "a"
                token.children = [it for it in children if it.type != "image"]

    def _target(self, name: str, href: str, places: dict[str, dict[str, str]]) -> str | None:
        """None for a link to neither this site nor the web."""
        if href.startswith(("https://", "http://")):
            return href
        file, _, anchor = href.partition("#")
        guide = name if not file else file.removesuffix(".md")
        if file == "openapi.json":
            return f"{self._root}/openapi.json"
        if guide not in places:
            return None
        part = places[guide].get(anchor, "")
        path = f"{self._root}/docs/{guide}" + (f"/{part}" if part else "")
        return f"{path}#{anchor}" if anchor else path


class GuidePages:
    """The overview, and each part of each guide."""

    def __init__(
        self,
        pages: RenderedPages,
        public_url: str | None,
        list_operations: Callable[[], Iterable[Section]],
    ) -> None:
        """`public_url`: see `Guides`. The search finds the operations of the API, too."""
        self._pages = pages
        self._guides = Guides(pages.address(""), public_url)
        self._list_operations = list_operations
        self._is_read = False

    async def read(self) -> None:
        """Call this before a guide or the search is used. The first call takes most of a second, so
        a thread does it.
        """
        if not self._is_read:
            await asyncio.to_thread(lambda: self._search)
            self._is_read = True

    async def index(self, _: PageRequest) -> AnyContent:
        await self.read()
        return self._pages.get("docs", (), "pages/docs.html", self._list_groups)

    def _list_groups(self) -> dict[str, Any]:
        groups: dict[str, list[tuple[Guide, str]]] = {}
        for name, (group, about) in GUIDES.items():
            groups.setdefault(group, []).append((self._guides.all[name], about))
        return {"groups": groups}

    def list_paths(self) -> list[str]:
        parts = ((it.name, part.slug) for it in self._guides.all.values() for part in it.parts)
        return ["/docs", *(f"/docs/{name}/{slug}".rstrip("/") for name, slug in parts)]

    @cached_property
    def _search(self) -> GuideSearch:
        found = [
            section
            for guide in self._guides.all.values()
            for part in guide.parts
            for section in sections_of(
                self._pages.address(f"/docs/{guide.name}/{part.slug}".rstrip("/")),
                guide.title,
                GUIDES[guide.name][1],
                part.heading + part.html,
            )
        ]
        return GuideSearch([*found, *self._list_operations()])

    async def search(self, request: PageRequest) -> AnyContent:
        await self.read()
        query = request.query.get("q", "").strip()[:MAX_QUERY]
        results = self._search.find(query)
        return self._pages.render("pages/docs_search.html", q=query, results=results)

    async def part(self, request: PageRequest) -> AnyContent | Response | None:
        await self.read()
        name, slug = request.params["name"], request.params.get("slug", "")
        guide = self._guides.all.get(name)
        part = None if guide is None else guide.find(slug)
        if guide is None:
            return None
        if part is None:
            return self._moved(guide, slug)
        at = guide.parts.index(part)

        def values() -> dict[str, Any]:
            return {
                "guides": self._guides.all.values(),
                "guide": guide,
                "part": part,
                "before": guide.parts[at - 1] if at else None,
                "after": guide.parts[at + 1] if at + 1 < len(guide.parts) else None,
            }

        return self._pages.get(f"docs {name}/{slug}", (), "pages/guide.html", values)

    def _moved(self, guide: Guide, slug: str) -> Response | None:
        """To where a section is now that had a page of its own, in this guide or another one."""
        for other in (guide, *self._guides.all.values()):
            for part in other.parts:
                if f'id="{slug}"' in part.html:
                    path = f"/docs/{other.name}/{part.slug}".rstrip("/")
                    return leave(self._pages.address(f"{path}#{slug}"), status=308)
        return None


def slug_of(heading: str) -> str:
    """The anchor of a heading, as used by links in the docs."""
    return _NOT_IN_SLUG.sub("", heading.lower()).replace(" ", "-")


def _text(inline: Token) -> str:
    return "".join(it.content for it in inline.children or [] if it.type in ("text", "code_inline"))


def _split(tokens: list[Token]) -> Iterator[tuple[str, str, list[Token]]]:
    """At the headings of the second level."""
    starts = [i for i, it in enumerate(tokens) if it.type == "heading_open" and it.tag == "h2"]
    yield "", _text(tokens[1]), tokens[: starts[0] if starts else None]
    for start, stop in zip(starts, [*starts[1:], len(tokens)], strict=True):
        part = tokens[start:stop]
        title = _text(part[1])
        part[0].tag = part[2].tag = "h1"
        for token in part[3:]:
            if token.type in ("heading_open", "heading_close"):
                token.tag = f"h{int(token.tag[1]) - 1}"
        yield slug_of(title), title, part


def _headings(tokens: list[Token]) -> list[tuple[str, str]]:
    is_heading = [it.type == "heading_open" and it.tag == "h2" for it in tokens]
    titles = [_text(tokens[i + 1]) for i, it in enumerate(is_heading) if it]
    return [(f"#{slug_of(it)}", it) for it in titles]


def _places(tokens: list[Token], length: int) -> dict[str, str]:
    """The part that contains each heading; a short guide has only one."""
    found: dict[str, str] = {}
    part = ""
    for i, token in enumerate(tokens):
        if token.type == "heading_open":
            slug = slug_of(_text(tokens[i + 1]))
            if token.tag == "h2" and length > _WHOLE_BYTES:
                part = slug
            found[slug] = part
    return found

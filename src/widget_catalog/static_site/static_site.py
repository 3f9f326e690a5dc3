"""StaticSite: the public catalog as static files.

A page is `…/index.html`, an API response `….json`. What depends on a query, such as a search, is
computed by the client, which has an index for it: see `clients/js/static.js`.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from widget_contract.addresses import WIDGETS, file_path
from widget_contract.wire import ServiceVersion, Settings, WidgetDetail

from ..catalog.api.client_files import answer_client_file, list_client_files
from ..catalog.catalog import Catalog
from ..catalog.node.wiring import Node, open_catalog
from ..catalog.pages.feeds import BADGES
from ..catalog.pages.icons import Icons
from ..catalog.pages.pages import PublicPages
from ..catalog.pages.rendered_pages import MembersReader
from ..catalog.store.scopes import Member, find_public_members
from ..catalog.views import Views
from ..core import release
from ..core.current_settings import public_settings
from ..core.features import list_contributions
from ..core.files.contract import Kind
from ..core.http.http import FileBody, LargeBody, PlainRequest, Response
from ..core.http.rendering import PageRenderer
from ..core.settings import Settings as ServiceSettings

FORMAT = 1
CDN = "cdn"
# Number of changes kept; a client that has missed more reads everything again.
_MAX_CHANGES = 1_000
_API = WIDGETS.strip("/")
_FILES = (
    "/feed.atom",
    "/openapi.json",
    "/favicon.svg",
    "/favicon.ico",
    "/robots.txt",
    "/sitemap.xml",
)

_decode_detail = msgspec.json.Decoder(WidgetDetail).decode


class BundleFile(NamedTuple):
    """A bundle or style sheet that belongs to the site."""

    path: str
    sha256_hash: str
    kind: Kind
    size_bytes: int


class PageFile(NamedTuple):
    path: str
    content: bytes


class Indexed(msgspec.Struct, array_like=True, frozen=True):
    """A widget in the index for searches."""

    scope: str
    name: str
    display_name: str
    description: str | None
    is_official: bool | None
    download_count: int


SiteFile = BundleFile | PageFile


class StaticSite:
    def __init__(
        self, catalog: Catalog, pages: PublicPages, renderer: PageRenderer, settings: Settings
    ) -> None:
        self._catalog = catalog
        self._pages = pages
        self._renderer = renderer
        self._settings = settings
        self._views = Views(catalog)
        self._index: list[Indexed] = []
        self.written = 0
        self._scopes: dict[str, int] = {}

    @property
    def widgets(self) -> int:
        """The number of widgets to be written."""
        stats = msgspec.json.decode(self._catalog.stats().body)
        return int(stats["widgets"])

    async def files(self) -> AsyncIterator[SiteFile]:
        """Bundles before the files that refer to them, and the entry points of
        clients at the end.
        """
        for part in range(self._views.count_parts()):
            for scope, name, _ in self._views.list_addresses(part):
                async for file in self._widget(scope, name):
                    yield file
        for scope in self._scopes:
            async for file in self._scope(scope):
                yield file
        for path in (*_FILES, *self._renderer.list_files(), *self._sitemaps()):
            async for page in self._at(path):
                yield page
        for path in ("/", "/search", *self._pages.list_docs()):
            async for page in self._at(path, "index.html"):
                yield page
        missing = await self._pages.answer(PlainRequest("GET", "/404.html"))
        yield PageFile("404.html", await _read(missing))
        for path in list_client_files():
            body = await _read(answer_client_file(PlainRequest("GET", path)))
            yield PageFile(path.lstrip("/"), body)
        for file in self._answers():
            yield file

    async def _widget(self, scope: str, name: str) -> AsyncIterator[SiteFile]:
        key = f"{scope}/{name}"
        content = await self._catalog.load_detail(key)
        if content is None:
            return  # Unlisted meanwhile.
        body = content.body
        detail = _decode_detail(body)
        for version in detail.versions:
            for bundle in self._bundles(scope, name, version.version):
                yield bundle
            described = self._catalog.version(f"{key}/{version.version}")
            if described is not None:
                identity = version.version.partition("+")[0]
                yield PageFile(f"{_API}/{key}/{identity}.json", described.body)
                async for page in self._at(f"/widgets/{key}/{version.version}", "index.html"):
                    yield page
        yield PageFile(f"{_API}/{key}.json", body)
        for path in (f"/widgets/{key}", f"/widgets/{key}/versions"):
            async for page in self._at(path, "index.html"):
                yield page
        async for page in self._further(f"/widgets/{key}/versions", len(detail.versions)):
            yield page
        async for page in self._at(f"/widgets/{key}/feed.atom"):
            yield page
        for kind in BADGES:
            async for page in self._at(f"/badges/{key}/{kind}.svg"):
                yield page
        it = detail.widget
        found = Indexed(
            scope, name, it.display_name, it.description, it.is_official, it.download_count
        )
        self._index.append(found)
        self._scopes[scope] = self._scopes.get(scope, 0) + 1
        self.written += 1

    def _bundles(self, scope: str, name: str, version: str) -> Iterator[BundleFile]:
        if self._catalog.find_revocation(scope, name, version) is not None:
            return
        kinds: tuple[Kind, ...] = ("js", "css")
        for kind in kinds:
            find = self._catalog.find_bundle if kind == "js" else self._catalog.find_style
            found = find(scope, name, version)
            if found is not None:
                path = CDN + file_path(scope, name, version, kind)
                yield BundleFile(path, found.sha256_hash, kind, found.size_bytes)

    async def _scope(self, scope: str) -> AsyncIterator[SiteFile]:
        registry = await self._catalog.load_registry(scope)
        if registry is not None:
            yield PageFile(f"api/widgets/{scope}/registry.json", registry.content.body)
        async for page in self._at(f"/scopes/{scope}", "index.html"):
            yield page
        async for page in self._further(f"/scopes/{scope}", self._scopes[scope]):
            yield page
        async for page in self._at(f"/scopes/{scope}/feed.atom"):
            yield page

    async def _further(self, path: str, most: int) -> AsyncIterator[PageFile]:
        """Further pages, as long as they are linked."""
        last = f'href="{self._renderer.root}{path}/page-'.encode()
        number = 2
        while number <= most:
            answer = await self._pages.answer(PlainRequest("GET", path, f"page={number}"))
            body = await _read(answer) if answer.status == 200 else b""
            if last + f'{number}"'.encode() not in body:
                return
            yield PageFile(f"{path.lstrip('/')}/page-{number}/index.html", body)
            number += 1

    def _sitemaps(self) -> list[str]:
        return [f"/sitemaps/{it}.xml" for it in range(self._views.count_parts() + 1)]

    def _answers(self) -> Iterator[PageFile]:
        """Files that change with every publish, written after everything else."""
        version = ServiceVersion(release.VERSION, release.RELEASED_AT, release.API_VERSIONS)
        yield PageFile("api/version.json", msgspec.json.encode(version))
        yield PageFile("api/settings.json", msgspec.json.encode(self._settings))
        yield PageFile("api/stats.json", self._catalog.stats().body)
        widgets = sorted(self._index, key=lambda it: (-it.download_count, it.scope, it.name))
        yield PageFile(f"{_API}/search.json", msgspec.json.encode({"widgets": widgets}))
        yield PageFile(f"{_API}/revocations.json", self._catalog.revocations().body)
        newest = self._catalog.revision
        changes = self._catalog.changes(max(0, newest - _MAX_CHANGES), _MAX_CHANGES)
        kept = changes or self._catalog.changes(newest, _MAX_CHANGES)
        if kept is not None:
            yield PageFile(f"{_API}/changes.json", kept.body)
        described = {"format": FORMAT, "baseUrl": self._settings.base_url, "revision": newest}
        yield PageFile("static.json", msgspec.json.encode(described))

    async def _at(self, path: str, index: str = "") -> AsyncIterator[PageFile]:
        """The content of a path, if it still exists."""
        answer = await self._pages.answer(PlainRequest("GET", path))
        if answer.status == 200:
            place = "/".join(filter(None, (path.strip("/"), index)))
            yield PageFile(place, await _read(answer))


def build_static_site(
    node: Node, settings: ServiceSettings
) -> tuple[StaticSite, Callable[[], None]]:
    """The writer of a static site, and a function to close it."""
    catalog = open_catalog(node, settings)
    renderer = PageRenderer(
        settings.service_name, settings.public_url, list_contributions(), is_static=True
    )

    async def find_members(scope: str) -> Sequence[Member]:
        return find_public_members(node.store, scope)

    pages = PublicPages(
        catalog,
        renderer,
        settings.cdn_url,
        node.bundles,
        Icons(node.folder.icons),
        members=MembersReader(find_members),
    )
    return StaticSite(catalog, pages, renderer, public_settings(settings)), catalog.close


async def _read(response: Response) -> bytes:
    body = response.body
    if isinstance(body, LargeBody):
        return b"".join(await body.pieces())
    if isinstance(body, FileBody) or not isinstance(body, bytes):
        raise TypeError("This is no page.")
    return body

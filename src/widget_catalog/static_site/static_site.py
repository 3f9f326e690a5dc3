"""StaticSite: the public catalog as static files.

A page is `…/index.html`, an API response `….json`. What depends on a query, such as a search, is
computed by the client, which has an index for it: see `clients/js/static.js`.
"""

import contextlib
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from widget_contract.manifest_details import Translation
from widget_contract.static_sites import ENTRY, FORMAT, SUMS, Entry, Index, Indexed, sums_of
from widget_contract.version_files import BUNDLE, STYLE, WIDGETS, file_path, kind_of
from widget_contract.wire import ServiceVersion, Settings, WidgetDetail

from ..catalog.api.client_files import list_client_files, serve_client_file
from ..catalog.api.sandbox_frame import PATH as FRAME
from ..catalog.api.sandbox_frame import frame_document
from ..catalog.node.node import Node, open_catalog
from ..catalog.reading.catalog import CatalogReader
from ..catalog.reading.details import registry_parts
from ..core import release
from ..core.current_settings import public_settings
from ..core.errors import FolderUnusable
from ..core.features import list_contributions
from ..core.files.contract import Bundles
from ..core.files.verified_bundles import copy_verified
from ..core.http.http import FileBody, LargeBody, PlainRequest, Response
from ..core.http.rendering import PageRenderer
from ..core.progress import Advance
from ..core.settings import Settings as ServiceSettings
from ..pages.context import PublicContext
from ..pages.feeds import BADGES
from ..pages.icons import Icons
from ..pages.pages import PublicPages, build_public_pages
from ..pages.pictures import SCHEMES
from ..pages.store_reads import StoreAccess
from ..pages.views import Views

MARK = ".widget-catalog-site"
_PARTIAL = ".part"
CDN = "cdn"
# Number of changes kept; a client that has missed more reads everything again.
_MAX_CHANGES = 1_000
_API = WIDGETS.strip("/")
_FILES = [
    f"/{path}"
    for path in (
        "feed.atom",
        "openapi.json",
        "schema/widget.json",
        "favicon.svg",
        "favicon.ico",
        "robots.txt",
        "sitemap.xml",
        "picture.png",
    )
]

_decode_detail = msgspec.json.Decoder(WidgetDetail).decode


class _Labelled(msgspec.Struct):
    keywords: tuple[str, ...] | None = None
    translations: dict[str, Translation] | None = None


class SiteFolder:
    """The folder of a site. Files are replaced atomically, and only if they change. It keeps track
    of them and their hashes, so that at the end obsolete ones can be removed and all be listed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hashes: dict[str, str] = {}
        self._made: set[Path] = set()
        self.changed = 0

    def begin(self) -> None:
        """Create the folder. Raises FolderUnusable if it contains anything that is not ours."""
        with self._writable():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._folder.chmod(0o755)
            if not (self._folder / MARK).exists():
                if any(self._folder.iterdir()):
                    raise FolderUnusable(
                        f"{self._folder} is not empty, and is no site of ours. Choose another."
                    )
                (self._folder / MARK).touch()

    @property
    def files(self) -> int:
        """How many files the site has."""
        return len(self._hashes)

    def put(self, path: str, content: bytes) -> None:
        target = self._target(path, hashlib.sha256(content).hexdigest())
        with self._writable():
            if not target.exists() or target.read_bytes() != content:
                with self._replacing(target) as file:
                    file.write(content)

    @contextlib.contextmanager
    def replacing(self, path: str, sha256_hash: str) -> Iterator[BinaryIO]:
        """A file that replaces this one when it is complete."""
        target = self._target(path, sha256_hash)
        with self._writable(), self._replacing(target) as file:
            yield file

    def has(self, path: str, sha256_hash: str, size_bytes: int) -> bool:
        """Whether this bundle exists, and keep it. Bundles are immutable, so one of the same size
        is the same.
        """
        target = self._target(path, sha256_hash)
        return target.exists() and target.stat().st_size == size_bytes

    def finish(self) -> int:
        """Remove files that were not written this time, and then list all others in `SUMS`: it is
        never true of a site that is being written. Returns how many were removed.
        """
        removed = 0
        sums = b"".join(sums_of(self._hashes))
        kept = {MARK, SUMS, *self._hashes}
        with self._writable():
            for folder, _, names in os.walk(self._folder, topdown=False):
                for name in names:
                    path = Path(folder, name)
                    if path.relative_to(self._folder).as_posix() not in kept:
                        path.unlink()
                        removed += 1
                if Path(folder) != self._folder:
                    with contextlib.suppress(OSError):  # The folder is not empty.
                        Path(folder).rmdir()
        self.put(SUMS, sums)
        return removed

    def _target(self, path: str, sha256_hash: str) -> Path:
        target = self._folder / path
        if ".." in Path(path).parts or target.is_symlink():
            raise FolderUnusable(f"{target} cannot be a file of the site.")
        self._hashes[path] = sha256_hash
        return target

    @contextlib.contextmanager
    def _replacing(self, target: Path) -> Iterator[BinaryIO]:
        self._make(target.parent)
        partial = target.with_name(target.name + _PARTIAL)
        with partial.open("wb") as file:
            os.fchmod(file.fileno(), 0o644)  # The web server must be able to read it.
            yield file
        partial.replace(target)
        self.changed += 1

    def _make(self, folder: Path) -> None:
        if folder not in self._made and folder != self._folder:
            self._make(folder.parent)
            if not folder.is_dir():
                folder.mkdir()
                folder.chmod(0o755)
            self._made.add(folder)

    @contextlib.contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = error.filename or self._folder
            raise FolderUnusable(f"{place} cannot be written: {error.strerror}.") from None


class StaticSite:
    """Writes the site into a folder; without `bundles`, those are linked from elsewhere."""

    def __init__(
        self,
        catalog: CatalogReader,
        pages: PublicPages,
        renderer: PageRenderer,
        settings: Settings,
        target: SiteFolder,
        bundles: Bundles | None,
    ) -> None:
        self._catalog = catalog
        self._pages = pages
        self._renderer = renderer
        self._settings = settings
        self._target = target
        self._stored = bundles
        self._cdn = f"/{CDN}" if bundles is not None else settings.cdn_base_url or ""
        self._views = Views(catalog)
        self._index: list[Indexed] = []
        self._scopes: Counter[str] = Counter()

    @property
    def widgets(self) -> int:
        """The number of widgets to be written."""
        stats = msgspec.json.decode(self._catalog.stats().body)
        return int(stats["widgets"])

    async def write(self, advance: Advance) -> None:
        """Bundles before the files that refer to them, and the entry points of clients at the end.
        `advance` is called for each widget. All that is read of the catalog is the same state of
        it: a client that has read the site goes on with the changes after its revision.
        """
        with self._catalog.reader.snapshot():
            await self._write(advance)

    async def _write(self, advance: Advance) -> None:
        for part in range(self._views.count_parts()):
            for scope, name, _ in self._views.list_addresses(part):
                await self._widget(scope, name)
                advance(1)
        for scope in self._scopes:
            await self._scope(scope)
        for path in (*_FILES, *self._renderer.list_files(), *self._sitemaps()):
            await self._page(path)
        for path, most in (await self._pages.list_paths()).items():
            await self._list(path, most)
        for path in ("/", "/search", *self._pages.list_docs()):
            await self._page(path, "index.html")
        missing = await self._pages.handle(PlainRequest("GET", "/404.html"))
        self._target.put("404.html", await _read(missing))
        for path in list_client_files():
            body = await _read(serve_client_file(PlainRequest("GET", path)))
            self._target.put(path.lstrip("/"), body)
        # One to serve with headers of one's own, and one at the address that the client expects.
        for path in ("frame.html", f"{FRAME}/index.html".lstrip("/")):
            self._target.put(path, frame_document())
        self._entry_points()

    async def _widget(self, scope: str, name: str) -> None:
        key = f"{scope}/{name}"
        content = self._catalog.detail(key)
        if content is None:
            return  # Unlisted meanwhile.
        detail = _decode_detail(content.body)
        keywords: dict[str, None] = {}
        for version in detail.versions:
            self._bundles(scope, name, version.version)
            described = self._catalog.version(f"{key}/{version.version}")
            if described is not None:
                labels = msgspec.json.decode(described.body, type=_Labelled)
                translated = (labels.translations or {}).values()
                others = [it.display_name for it in translated if it.display_name]
                keywords |= dict.fromkeys([*(labels.keywords or ()), *others])
                identity = version.version.partition("+")[0]
                self._target.put(f"{_API}/{key}/{identity}.json", described.body)
                await self._page(f"/widgets/{key}/{version.version}", "index.html")
        self._target.put(f"{_API}/{key}.json", content.body)
        await self._page(f"/widgets/{key}", "index.html")
        await self._list(f"/widgets/{key}/versions", len(detail.versions))
        await self._page(f"/widgets/{key}/feed.atom")
        # Results of a search are shown as in all lists: its script takes each card from a file.
        self._target.put(f"widgets/{key}/card.html", self._pages.show_card(key))
        for kind in BADGES:
            await self._page(f"/badges/{key}/{kind}.svg")
        head = detail.widget
        texts = head.display_name, head.description
        counted = head.is_official, head.download_count
        pictures = await self._pictures(key)
        self._index.append(Indexed(scope, name, *texts, *counted, tuple(keywords), pictures))
        self._scopes[scope] += 1

    async def _pictures(self, key: str) -> tuple[str, ...]:
        """The addresses of its thumbnails, or none: then it has drawn pictures. And its icon."""
        pictures = self._pages.pictures
        widget = pictures.find(key)
        if widget is None:
            return ()
        self._target.put(f"icons/{key}.svg", pictures.draw_icon(widget).body)
        found = dict.fromkeys(pictures.find_thumbnail(widget, it) for it in SCHEMES)
        paths = tuple(f"{self._cdn}{it}" for it in found if it is not None)
        for scheme in () if paths else SCHEMES:
            content = pictures.draw(widget, scheme)
            self._target.put(f"pictures/{key}/{scheme}.svg", content.body)
        return paths

    def _bundles(self, scope: str, name: str, version: str) -> None:
        if self._stored is None or self._catalog.find_revocation(scope, name, version) is not None:
            return
        attached = self._catalog.files.list_attached(scope, name, version)
        for file in (BUNDLE, STYLE, *(it.path for it in attached)):
            found = self._catalog.files.find(scope, name, version, file)
            path = CDN + file_path(scope, name, version, file)
            if found is None:
                continue
            sha256_hash, size_bytes = found.sha256_hash, found.size_bytes
            if not self._target.has(path, sha256_hash, size_bytes):
                with self._target.replacing(path, sha256_hash) as copy:
                    copy_verified(self._stored, sha256_hash, kind_of(file), size_bytes, copy)

    async def _scope(self, scope: str) -> None:
        reader = self._catalog.reader
        if (changed_at := reader.find_scope_change(scope)) is not None:
            cdn_url = self._settings.cdn_base_url
            parts = registry_parts(reader, scope, changed_at, cdn_url)
            self._target.put(f"api/widgets/{scope}/registry.json", b"".join(parts))
        await self._list(f"/scopes/{scope}", self._scopes[scope])
        await self._page(f"/scopes/{scope}/feed.atom")

    async def _list(self, path: str, most: int) -> None:
        """A page, and further ones as long as they are linked."""
        await self._page(path, "index.html")
        last = f'href="{self._renderer.root}{path}/page-'.encode()
        for number in range(2, most + 1):
            response = await self._pages.handle(PlainRequest("GET", path, f"page={number}"))
            body = await _read(response) if response.status == 200 else b""
            if last + f'{number}"'.encode() not in body:
                return
            self._target.put(f"{path.lstrip('/')}/page-{number}/index.html", body)

    async def _page(self, path: str, index: str = "") -> None:
        """The content of a path, if it still exists."""
        response = await self._pages.handle(PlainRequest("GET", path))
        if response.status == 200:
            place = "/".join(filter(None, (path.strip("/"), index)))
            self._target.put(place, await _read(response))

    def _sitemaps(self) -> list[str]:
        return [f"/sitemaps/{it}.xml" for it in range(self._views.count_parts() + 1)]

    def _entry_points(self) -> None:
        """Files that change with every publish, written after everything else."""
        put, encode = self._target.put, msgspec.json.encode
        version = ServiceVersion(release.VERSION, release.RELEASED_AT, release.API_VERSIONS)
        put("api/version.json", encode(version))
        put("api/settings.json", encode(self._settings))
        put("api/stats.json", self._catalog.stats().body)
        widgets = sorted(self._index, key=lambda it: (-it.download_count, it.scope, it.name))
        put(f"{_API}/search.json", encode(Index(tuple(widgets))))
        put(f"{_API}/revocations.json", self._catalog.revocations().body)
        newest = self._catalog.revision
        changes = self._catalog.changes(max(0, newest - _MAX_CHANGES), _MAX_CHANGES)
        kept = changes or self._catalog.changes(newest, _MAX_CHANGES)
        if kept is not None:
            put(f"{_API}/changes.json", kept.body)
        put(ENTRY, encode(Entry(FORMAT, self._settings.base_url, newest)))


def build_static_site(
    node: Node, settings: ServiceSettings, target: SiteFolder
) -> tuple[StaticSite, Callable[[], None]]:
    """The writer of a static site, and a function to close it."""
    catalog = open_catalog(node, settings)
    name, url = settings.service_name, settings.public_url
    renderer = PageRenderer(name, url, list_contributions(), is_static=True)
    context = PublicContext(
        catalog,
        renderer,
        settings.cdn_url,
        node.bundles,
        StoreAccess(node.store),
        Icons(node.folder.icons),
    )
    pages = build_public_pages(context)
    shown = msgspec.structs.replace(public_settings(settings), service_name=renderer.service_name)
    bundles = None if settings.cdn_base_url else node.bundles
    site = StaticSite(catalog, pages, renderer, shown, target, bundles)
    return site, catalog.close


async def _read(response: Response) -> bytes:
    body = response.body
    if isinstance(body, LargeBody):
        return b"".join(await body.pieces())
    if isinstance(body, FileBody) or not isinstance(body, bytes):
        raise TypeError("This is no page.")
    return body

"""Link pictures: what programs show beside a link to a page (Open Graph), 1200 × 630.

Drawn when they are first asked for, one at a time in a process with limits, and cached. The address
on the page changes with the picture, because many programs never ask for the same one again; so
numbers on it are rounded.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from widget_contract.errors import CatalogError
from widget_contract.manifest_details import Author
from widget_contract.names import is_name
from widget_contract.version_files import kind_of
from widget_contract.wire import VersionEntry, WidgetDetail

from ...core.errors import StoreUnavailable
from ...core.files.contract import Bundles
from ...core.files.verified import read_verified
from ...core.http.content import AnyContent, Content, Packer
from ...core.http.rendering import PageRenderer
from ...core.jobs.bounded_work import BoundedWork
from ..card_picture import choose_picture
from ..catalog import Catalog
from ..query import Query
from ..replica.cache import ByteBoundedCache
from ..stored_files import FileRef
from ..version_details import VersionBeside
from ..views import Views
from .cards import usual_size
from .facts import shown_version
from .icons import Icons, tint_of
from .link_drawing import Drawn, draw_link_picture
from .rendered_pages import PageRequest

_MAX_BYTES = 8 << 20
_FONT_KINDS = ("ttf", "otf", "ttc", "woff", "woff2")
_ABOUT = "Find, try and load widgets"
# Fewer are not worth telling.
_FEWEST_INSTALLS = 10


class _Wanted(NamedTuple):
    drawn: Drawn
    """Without the screenshot."""
    scope: str = ""
    screenshot: tuple[FileRef, str] | None = None
    """With its path."""

    @property
    def tag(self) -> str:
        return Content(repr(self).encode()).tag[:12]


class LinkPictures:
    def __init__(
        self,
        catalog: Catalog,
        renderer: PageRenderer,
        bundles: Bundles,
        icons: Icons,
        fonts: Path | None = None,
    ) -> None:
        """`fonts` has those of the operator, for more languages than the included one."""
        self._find_file = catalog.files.find
        self._views = Views(catalog)
        self._renderer = renderer
        self._bundles = bundles
        self._icons = icons
        found = sorted(fonts.iterdir()) if fonts is not None and fonts.is_dir() else ()
        self._fonts = tuple(str(it) for it in found if it.suffix[1:].lower() in _FONT_KINDS)
        self._packer: Packer = catalog.packer
        self._drawing = BoundedWork(draw_link_picture)
        self._site_url: tuple[tuple[str, bytes] | None, str] = None, ""
        self._kept: ByteBoundedCache[str, tuple[str, AnyContent]] = ByteBoundedCache(_MAX_BYTES)

    def site_url(self) -> str:
        """The absolute address of the picture of all other pages."""
        shown = self._renderer.service_name, self._renderer.mark
        if self._site_url[0] != shown:
            url = f"{self._renderer.public_url}/picture.jpg?v={self._site().tag}"
            self._site_url = shown, url
        return self._site_url[1]

    def widget_url(self, detail: WidgetDetail, beside: VersionBeside | None = None) -> str:
        """The absolute address; in a static site, that of the picture of the site. `beside` is that
        of the version that its page shows.
        """
        if self._renderer.is_static:
            return self.site_url()
        it = detail.widget
        path = f"/widgets/{it.scope}/{it.name}/picture.jpg"
        return f"{self._renderer.public_url}{path}?v={self._widget(detail, beside).tag}"

    def scope_url(self, scope: str, total: int) -> str:
        if self._renderer.is_static:
            return self.site_url()
        tag = self._scope(scope, total).tag
        return f"{self._renderer.public_url}/scopes/{scope}/picture.jpg?v={tag}"

    async def site(self, _: PageRequest) -> AnyContent | None:
        return await self._find("", self._site)

    async def widget(self, request: PageRequest) -> AnyContent | None:
        found = await self._views.find_widget(request.key)
        if found is None:
            return None
        return await self._find(request.key, lambda: self._widget(found.read()))

    async def scope(self, request: PageRequest) -> AnyContent | None:
        scope = request.params["scope"]
        if not is_name(scope):
            return None
        total = self._views.search(Query(scope=scope), None, 1, 1).total
        return await self._find(scope, lambda: self._scope(scope, total)) if total else None

    def _site(self) -> _Wanted:
        drawn = self._drawn(self._renderer.service_name, "Dashboard widgets", _ABOUT)
        return _Wanted(drawn._replace(tint=0))

    def _scope(self, scope: str, total: int) -> _Wanted:
        facts = f"{rounded(total, 2)} {'widget' if total == 1 else 'widgets'}"
        face = str(self._icons.face(None, scope, 1, 1))
        return _Wanted(self._drawn(scope, scope, facts, face=face), scope)

    def _widget(self, detail: WidgetDetail, beside: VersionBeside | None = None) -> _Wanted:
        it, version = detail.widget, shown_version(detail)
        key = f"{it.scope}/{it.name}"
        author = it.scope
        screenshot = None
        if version is not None:
            beside = beside or self._views.find_version(it.scope, it.name, version.version)
            author = author_name(beside.author) or it.scope
            picture = choose_picture(beside.files) if beside.revoked is None else None
            if picture is not None and picture.light is not None:
                screenshot = self._stored(version, picture.light.path)
        installs = ""
        if it.download_count >= _FEWEST_INSTALLS:
            installs = f" · {rounded(it.download_count)} installs"
        drawn = self._drawn(it.display_name, key, f"by {author}{installs}", below=key)
        face = str(self._icons.face(it.icon, it.display_name, *usual_size(version)))
        plain = f"by {it.scope}{installs}"
        drawn = drawn._replace(face="" if screenshot else face, plain_facts=plain)
        return _Wanted(drawn, it.scope, screenshot)

    def _stored(self, version: VersionEntry, path: str) -> tuple[FileRef, str] | None:
        found = self._find_file(version.scope, version.name, version.version, path)
        return None if found is None else (found, path)

    def _drawn(
        self, title: str, plain: str, facts: str, *, below: str = "", face: str = ""
    ) -> Drawn:
        letter = next((it for it in title if it.isalnum()), "?").upper()
        name, mark = self._renderer.service_name, self._renderer.mark
        tint = tint_of(title)
        return Drawn(
            title, plain, below, facts, facts, tint, b"", face, letter, name, mark, self._fonts
        )

    async def _find(self, key: str, describe: Callable[[], _Wanted]) -> AnyContent | None:
        """The cached picture, or a new one. Raises Busy if others come first. A widget whose
        picture cannot be drawn has that of the site.
        """
        wanted = describe()
        kept = self._kept.items.get(key)
        if kept is not None and kept[0] == wanted.tag:
            return kept[1]
        screenshot = await self._read(wanted.screenshot)
        question = tuple(wanted.drawn._replace(picture=screenshot or b""))
        drawn = await self._drawing.ask(question, wanted.scope)
        if drawn is None:
            return await self._find("", self._site) if key else None
        content = self._packer.content([drawn])
        if screenshot is not None:
            self._kept.put(key, (wanted.tag, content), content.size + 1_000)
        return content

    async def _read(self, screenshot: tuple[FileRef, str] | None) -> bytes | None:
        """Nothing if there is none, or it is damaged; None if it cannot be read just now."""
        if screenshot is None:
            return b""
        ref, path = screenshot
        try:
            return await asyncio.to_thread(
                read_verified, self._bundles, ref.sha256_hash, kind_of(path), ref.size_bytes
            )
        except StoreUnavailable:
            return None
        except (CatalogError, OSError):
            return b""


def author_name(author: str | Author | None) -> str | None:
    return author.name if isinstance(author, Author) else author


def rounded(count: int, digits: int = 1) -> str:
    """Rounded down, so that it changes rarely: 40+, 1.2k+; exact below ten to the `digits`."""
    if count < 10**digits:
        return str(count)
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= size:
            tenths = count * 10 // size
            return (
                f"{tenths // 10}.{tenths % 10}" if tenths < 100 else str(tenths // 10)
            ) + f"{unit}+"
    return f"{count // 10 * 10}+"

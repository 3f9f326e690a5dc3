"""The operator's brand on public pages: followed as it changes, its files, and legal pages."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from widget_contract.names import is_name

from ..core.errors import StoreUnavailable
from ..core.http.branding import LOGOS, Brand, accent_style
from ..core.http.content import AnyContent, Packer
from ..core.http.rendering import PageRenderer
from ..core.tracing import part
from .markdown import MarkdownRenderer
from .rendered_pages import WAIT_S, LegalPageReader, PageRequest, RenderedPages

# As of the READMEs of versions.
_PAGE_BYTES = 150_000
# A logo that is not known yet is looked for at once, but not with every request.
_LOGO_KEPT_S = 0.05
_HEADING = re.compile("(?<=<h|/h)[3-6](?=>)")


def _higher(level: re.Match[str]) -> str:
    """The page has one level of headings of its own, and the renderer expects two."""
    return str(int(level[0]) - 1)


@dataclass
class BrandPages:
    renderer: PageRenderer
    pages: RenderedPages
    packer: Packer
    markdown: MarkdownRenderer
    read: Callable[[None], Awaitable[Brand]] | None
    legal: LegalPageReader | None
    kept_s: float = 1.0
    _read_at: float = float("-inf")
    _reading: "asyncio.Task[None] | None" = field(default=None, init=False)

    async def follow(self, kept_s: float | None = None) -> None:
        """Show the brand as it was a second ago at most. One request reads it for all others, and
        while a database hangs, none reads it again.
        """
        at = time.monotonic()
        kept_s = self.kept_s if kept_s is None else kept_s
        if self._reading is None or self._reading.done():
            if self.read is None or at - self._read_at < kept_s:
                return
            self._read_at = at
            self._reading = asyncio.ensure_future(self._read(self.read))
        if (left_s := self._read_at + WAIT_S - at) > 0:
            with part("page_data"):
                await asyncio.wait([self._reading], timeout=left_s)

    async def _read(self, read: Callable[[None], Awaitable[Brand]]) -> None:
        with suppress(StoreUnavailable):
            self.renderer.show_brand(await read(None))

    async def style(self, request: PageRequest) -> AnyContent | None:
        found = accent_style(request.params["file"])
        return None if found is None else self.packer.content([found.encode()])

    async def logo(self, kind: str, request: PageRequest) -> AnyContent | None:
        path = f"{LOGOS}/{kind}/{request.params['file']}"
        if path not in self.renderer.brand.list_files():
            await self.follow(_LOGO_KEPT_S)
        logo = self.renderer.brand.logo
        return self.packer.content([logo.content]) if logo and logo.path == path else None

    def list_paths(self) -> list[str]:
        """Of the legal pages."""
        return [f"/legal/{slug}" for slug, _ in self.renderer.brand.pages]

    async def page(self, request: PageRequest) -> AnyContent | None:
        slug = request.params["slug"]
        if self.legal is None or not is_name(slug):
            return None
        found = await self.legal.find(slug)
        if found is None:
            return None
        html, is_final = await self.markdown.render(found.text, _PAGE_BYTES, "")

        def values() -> dict[str, Any]:
            shown = Markup(_HEADING.sub(_higher, html or ""))  # noqa: S704  As it was.
            return {"page": found, "html": shown, "page_path": f"/legal/{slug}"}

        key, template = f"legal {slug}", "pages/legal.html"
        return self.pages.get(
            key, (found, is_final), template, values, request.language, is_kept=is_final
        )

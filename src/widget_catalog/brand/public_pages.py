"""The brand on public pages: followed as it changes, its files, and legal pages."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from markupsafe import Markup

from widget_contract.names import is_name

from ..core.errors import StoreUnavailable
from ..core.http.branding import ACCENTS, LOGO_TYPES, LOGOS, Brand
from ..core.http.content import AnyContent
from ..core.http.http import NOSNIFF
from ..core.http.public_page import PageRequest, PublicPart, PublicRoute
from ..pages.context import CSS, FOR_GOOD, VARY, PublicContext
from ..pages.store_reads import StoreReads
from .colors import accent_style
from .store import LegalPage, read_brand, read_page

# As of the READMEs of versions.
_PAGE_BYTES = 150_000
# A logo that is not known yet is looked for at once, but not with every request.
_LOGO_KEPT_S = 0.05
_HEADING = re.compile("(?<=<h|/h)[3-6](?=>)")


def _higher(level: re.Match[str]) -> str:
    """The page has one level of headings of its own, and the renderer expects two."""
    return str(int(level[0]) - 1)


class BrandReader(StoreReads[None, Brand]):
    """The brand, for the pages that are rendered from now on."""

    kept_s = 1.0


class LegalPageReader(StoreReads[str, LegalPage | None]):
    """A legal page of the operator, by its slug."""

    kept_s = 1.0


class BrandPages(PublicPart):
    def __init__(self, context: PublicContext) -> None:
        self._context = context
        self._renderer = context.renderer
        self._find = context.access.bind(lambda store, _: read_brand(store))
        self._brand = BrandReader(self._show)
        self._legal = LegalPageReader(context.access.bind(read_page))

    def show_first(self) -> None:
        """So that the first page shows it already."""
        try:
            self._renderer.show_brand(read_brand(self._context.access.store))
        except StoreUnavailable:
            if self._renderer.is_static:  # Which has no later page.
                raise

    async def follow(self) -> None:
        """Show the brand as it was a second ago at most."""
        await self._brand.find(None)

    async def _show(self, _: None) -> Brand:
        # An operator who saves the brand sees it before it is read again; what was being read
        # meanwhile is older.
        shown = self._renderer.brand
        brand = await self._find(None)
        if self._renderer.brand is shown:
            self._renderer.show_brand(brand)
        return brand

    def list_routes(self) -> Sequence[PublicRoute]:
        lasting = (VARY, FOR_GOOD, NOSNIFF)
        # Whoever opens the file of a logo gets no page of ours.
        rules = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        logos = [
            PublicRoute(
                f"{LOGOS}/{kind}/{{file}}",
                partial(self._logo, kind),
                [("content-type", content_type), *lasting, ("content-security-policy", rules)],
            )
            for kind, content_type in LOGO_TYPES.items()
        ]
        style = PublicRoute(f"{ACCENTS}/{{file}}", self._style, [("content-type", CSS), *lasting])
        return [PublicRoute("/legal/{slug}", self._page, self._context.html), style, *logos]

    async def list_paths(self) -> Mapping[str, int]:
        return {path: 0 for path, _ in self._renderer.brand.pages}

    async def _style(self, request: PageRequest) -> AnyContent | None:
        found = accent_style(request.params["file"])
        return None if found is None else self._context.catalog.packer.content([found.encode()])

    async def _logo(self, kind: str, request: PageRequest) -> AnyContent | None:
        path = f"{LOGOS}/{kind}/{request.params['file']}"
        if path not in self._renderer.brand.list_files():
            await self._brand.find(None, _LOGO_KEPT_S)
        logo = self._renderer.brand.logo
        if logo is None or logo.path != path:
            return None
        return self._context.catalog.packer.content([logo.content])

    async def _page(self, request: PageRequest) -> AnyContent | None:
        slug, context = request.params["slug"], self._context
        found = await self._legal.find(slug) if is_name(slug) else None
        if found is None:
            return None
        html, is_final = await context.markdown.render(found.text, _PAGE_BYTES, "")

        def values() -> dict[str, Any]:
            shown = Markup(_HEADING.sub(_higher, html or ""))  # noqa: S704  As it was.
            return {"page": found, "html": shown, "page_path": f"/legal/{slug}"}

        key, template = f"legal {slug}", "brand/public/legal.html"
        return context.pages.get(
            key, (found, is_final), template, values, request.language, is_kept=is_final
        )


def build(context: PublicContext) -> BrandPages:
    pages = BrandPages(context)
    pages.show_first()
    return pages

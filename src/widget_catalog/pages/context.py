"""PublicContext: what public pages are made with, of a service or of a static site."""

from dataclasses import dataclass, field

from ..catalog.reading.catalog import CatalogReader
from ..core.files.contract import Bundles
from ..core.http.http import Headers
from ..core.http.language_choice import Languages
from ..core.http.rendering import HTML, PageRenderer
from .cards import Cards, official_mark
from .icons import Icons
from .markdown import MarkdownRenderer
from .preview import panel_security_headers
from .rendered_pages import RenderedPages
from .store_reads import StoreAccess
from .views import Views

VARY = ("vary", "accept-encoding")
# Of pages in several languages; the cookie remembers the one that a visitor has chosen.
VARY_BY_LANGUAGE = ("vary", "accept-encoding, accept-language, cookie")
REVALIDATED = ("cache-control", "no-cache")
A_MINUTE = ("cache-control", "public, max-age=60")
A_WHILE = ("cache-control", "public, max-age=300")
A_DAY = ("cache-control", "public, max-age=86400")
FOR_GOOD = ("cache-control", "public, max-age=31536000, immutable")

CSS = "text/css; charset=utf-8"


@dataclass(eq=False)
class PublicContext:
    catalog: CatalogReader
    renderer: PageRenderer
    cdn_url: str
    bundles: Bundles
    access: StoreAccess
    icons: Icons = field(default_factory=Icons)
    languages: Languages = field(default_factory=Languages)

    def __post_init__(self) -> None:
        renderer, icons, offered = self.renderer, self.icons, self.languages.offered
        self.views = Views(self.catalog)
        self.pages = RenderedPages(renderer, self.catalog.packer, offered)
        self.markdown = MarkdownRenderer()
        # A static site whose bundles are elsewhere has none of their files.
        has_files = not renderer.is_static or self.cdn_url == f"{renderer.public_url}/cdn"
        cards = self.cards = Cards(renderer.root, icons, self.cdn_url, has_pictures=has_files)
        renderer.templates.globals.update(
            tile=icons.tile,
            avatar=icons.avatar,
            card_list=cards.list_in_language,
            thumbnail=cards.thumbnail,
            still_picture=cards.still,
            official_mark=official_mark,
        )
        vary = VARY_BY_LANGUAGE if len(offered) > 1 else VARY
        policy = renderer.security_headers(has_script=True, more="connect-src 'self'")
        panel = panel_security_headers(renderer, self.cdn_url)
        self.html: Headers = [HTML, vary, REVALIDATED, *policy]
        """The headers of a page in the reader's language,"""
        self.english: Headers = [HTML, VARY, REVALIDATED, *policy]
        """of one that is not translated,"""
        self.panel: Headers = [HTML, vary, REVALIDATED, *panel]
        """and of one on which a widget can run."""

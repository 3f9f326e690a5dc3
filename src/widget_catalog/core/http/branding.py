"""Brand: how the operator wants pages to look. The room `brand` sets it."""

import base64
from typing import NamedTuple

from markupsafe import Markup

from .content import Content

ACCENTS, LOGOS = "/static/accent", "/static/logo"
LOGO_TYPES = {"svg": "image/svg+xml", "png": "image/png", "webp": "image/webp"}
_LOGO_HEIGHT, _LOGO_WIDTH = 26, 156


class Logo(NamedTuple):
    content: bytes
    kind: str
    width: int
    height: int

    @property
    def path(self) -> str:
        return f"{LOGOS}/{self.kind}/{Content(self.content).tag}.{self.kind}"

    @property
    def inline(self) -> str:
        """As an address, for a page that shows it before it is saved."""
        return f"data:{LOGO_TYPES[self.kind]};base64,{base64.b64encode(self.content).decode()}"

    @property
    def shown_width(self) -> int:
        """Beside the name, where its height is 26 pixels."""
        return min(max(round(_LOGO_HEIGHT * self.width / self.height), 1), _LOGO_WIDTH)


class Brand(NamedTuple):
    """What is empty is as it is without a brand."""

    name: str = ""
    logo: Logo | None = None
    accent: tuple[str, str] | None = None
    """The colours in the light and in the dark theme, as `#rrggbb`."""
    links: tuple[tuple[str, str], ...] = ()
    """Label and address of links in the footer; a path is one of this site."""
    pages: tuple[tuple[str, str], ...] = ()
    """Path and title of pages in the footer, behind the links."""
    announcement: Markup = Markup()
    contact: str = ""
    """Whom to ask about this catalog: an e-mail address, or the address of a page."""

    @property
    def contact_link(self) -> str:
        return self.contact if self.contact.startswith("https://") else f"mailto:{self.contact}"

    @property
    def accent_path(self) -> str:
        return f"{ACCENTS}/{self.accent[0][1:]}-{self.accent[1][1:]}.css" if self.accent else ""

    def list_files(self) -> list[str]:
        """The paths of its static files."""
        logo = "" if self.logo is None else self.logo.path
        return [it for it in (self.accent_path, logo) if it]

"""Events of the brand, which are in no scope."""

from ..catalog.events import Event


class BrandChanged(Event, frozen=True):
    """The fields are what has changed."""

    kind, action = "brand_changed", "change brand"
    display_name: str | None = None
    accent_light: str | None = None
    accent_dark: str | None = None
    links: tuple[str, ...] | None = None
    announcement: str | None = None
    until: str | None = None
    logo: str | None = None


class LegalPageSaved(Event, frozen=True):
    kind, action = "legal_page_saved", "save legal page"
    page: str
    title: str


class LegalPageDeleted(Event, frozen=True):
    kind, action = "legal_page_deleted", "delete legal page"
    page: str
    title: str

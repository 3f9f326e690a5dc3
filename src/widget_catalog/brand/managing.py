"""What an operator does with the brand, and what the audit log says about it. Every change is
public at once.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from urllib.parse import urlsplit

from widget_contract.names import is_name
from widget_contract.texts import fold, line_error, name_error, text_error
from widget_contract.version_files import MAX_README_BYTES

from ..accounts.permissions import require_operator_now
from ..catalog.model.events import Event
from ..catalog.store.events import append
from ..core import clock
from ..core.actors import Actor
from ..core.db.engine import Store
from ..core.errors import Conflict, InvalidRequest, NotFound
from ..core.http.branding import Logo
from . import store as stored
from .colors import contrast_error, parse_color
from .store import LegalPage, Settings

MAX_NAME = 60
MAX_ANNOUNCEMENT = 500
MAX_LINKS = 8
MAX_LABEL = 40
MAX_TITLE = 80
MAX_PAGES = 10
_MAX_ADDRESS = 300
_MAX_SLUG = 64
# As in a link of Markdown, and what no browser reads in another way.
_ADDRESS = re.compile(r"[!#-;=?-\[\]_a-z~]+")


class BrandChanged(Event, frozen=True):
    """The fields are what has changed."""

    kind, action = "brand_changed", "change brand"
    display_name: str | None = None
    accent_light: str | None = None
    accent_dark: str | None = None
    links: tuple[str, ...] | None = None
    contact: str | None = None
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


def check_brand(
    typed: Mapping[str, str], logo: Logo | None, errors: Mapping[str, str], old: Settings
) -> Settings:
    """The brand that a form or a program sends; `errors` are those found already. A link is a
    line, with its label before its address. Raises InvalidRequest.
    """
    name, announcement = typed["name"].strip(), " ".join(typed["announcement"].split())
    links, link_error = _read_links(typed["links"])
    light, light_error = _read_accent(typed["accentLight"], 0)
    dark, dark_error = _read_accent(typed["accentDark"], 1)
    if dark and not light and not light_error:
        light_error = "is needed if there is one for the dark theme."
    until, contact = typed["until"].strip(), typed["contact"].strip()
    found = {
        **errors,
        "name": name_error(name, MAX_NAME) if name else None,
        "accentLight": light_error,
        "accentDark": dark_error,
        "links": link_error,
        "contact": _contact_error(contact) if contact else None,
        "announcement": line_error(announcement, MAX_ANNOUNCEMENT) if announcement else None,
        "until": _until_error(until) if until and until != old.until else None,
    }
    _raise_all(found)
    return Settings(
        name=name,
        accent_light=light,
        accent_dark=dark,
        links=links,
        contact=contact,
        announcement=announcement,
        until=until,
        logo=logo,
    )


def save_brand(store: Store, actor: Actor, change: Callable[[Settings], Settings]) -> Settings:
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        old = stored.find_settings(tx.connection)
        new = change(old)
        stored.save_settings(tx, new)
        if new == old:
            return new
        changed = {
            field: getattr(new, field)
            for field in ("accent_light", "accent_dark", "contact", "announcement", "until")
            if getattr(new, field) != getattr(old, field)
        }
        if new.name != old.name:
            changed["display_name"] = new.name
        if new.links != old.links:
            changed["links"] = tuple(map(" ".join, new.links))
        if new.logo != old.logo:
            changed["logo"] = "removed" if new.logo is None else "replaced"
        append(tx, actor, BrandChanged(**changed))
    return new


def keep_draft(store: Store, actor: Actor, logo: Logo) -> None:
    """A form cannot send a file again that was chosen before."""
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        stored.save_draft(tx, logo)


def check_page(wanted: LegalPage) -> LegalPage:
    """Without a slug, it is made from the title. Raises InvalidRequest."""
    title, text = wanted.title.strip(), wanted.text.replace("\r\n", "\n").strip()
    slug = wanted.slug.strip()
    slug = slug or re.sub("[^a-z0-9]+", "-", fold(title))[:_MAX_SLUG].strip("-")
    size = len(text.encode(errors="replace"))
    too_long = f"has {size:,} bytes; at most {MAX_README_BYTES:,} are allowed."
    errors = {
        "title": name_error(title, MAX_TITLE),
        "slug": None
        if is_name(slug)
        else "use 1 to 64 lowercase letters, digits and hyphens, beginning with a letter or digit.",
        "text": too_long if size > MAX_README_BYTES else text_error(text, size) or _empty(text),
    }
    _raise_all(errors)
    return LegalPage(slug, title, text)


def save_page(
    store: Store,
    actor: Actor,
    wanted: LegalPage,
    check: Callable[[LegalPage | None], None] | None = None,
    *,
    is_new: bool,
) -> LegalPage:
    """`check` may refuse to replace the page that is there."""
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        page = check_page(wanted)
        slugs = [slug for slug, _ in stored.list_pages(tx.connection)]
        if is_new and page.slug in slugs:
            _raise_all({"slug": f"there is a page at /legal/{page.slug} already."})
        if page.slug not in slugs and len(slugs) >= MAX_PAGES:
            raise Conflict(f"There are {MAX_PAGES} legal pages, which is the most.")
        old = stored.find_page(tx.connection, page.slug)
        if check is not None:
            check(old)
        if old != page:
            stored.save_page(tx, page)
            append(tx, actor, LegalPageSaved(page=page.slug, title=page.title))
    return page


def delete_page(store: Store, actor: Actor, slug: str) -> None:
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        found = stored.find_page(tx.connection, slug) if is_name(slug) else None
        if found is None:
            raise NotFound("There is no such page.")
        stored.remove_page(tx, slug)
        append(tx, actor, LegalPageDeleted(page=slug, title=found.title))


def typed_values(settings: Settings) -> dict[str, str]:
    """As the form has them, with the names that they have in the API."""
    return {
        "name": settings.name,
        "accentLight": settings.accent_light,
        "accentDark": settings.accent_dark,
        "links": "\n".join(map(" ".join, settings.links)),
        "contact": settings.contact,
        "announcement": settings.announcement,
        "until": settings.until,
    }


def _raise_all(errors: Mapping[str, str | None]) -> None:
    """All errors at once, by field."""
    if found := [f"{field}: {error}" for field, error in errors.items() if error]:
        raise InvalidRequest(*found)


def _empty(text: str) -> str | None:
    return None if text else "must not be empty."


def _read_accent(text: str, theme: int) -> tuple[str, str | None]:
    if not text.strip():
        return "", None
    color = parse_color(text)
    if color is None:
        return "", "must be a color as #rrggbb, for example #11685a."
    return color, contrast_error(color, theme)


def _read_links(text: str) -> tuple[tuple[tuple[str, str], ...], str | None]:
    lines = [it.split() for it in text.splitlines() if it.strip()]
    if len(lines) > MAX_LINKS:
        return (), f"there are {len(lines)}, and at most {MAX_LINKS} are taken."
    links = [(" ".join(words[:-1]), words[-1]) for words in lines]
    for number, (label, address) in enumerate(links, 1):
        if error := name_error(label, MAX_LABEL):
            return (), f"line {number}: the label before the address {error}"
        if error := _address_error(address):
            return (), f"line {number}: {error}"
    return tuple(links), None


def _address_error(address: str) -> str | None:
    if len(address) > _MAX_ADDRESS or not _ADDRESS.fullmatch(address.lower()):
        return f"an address has at most {_MAX_ADDRESS} characters, all of them ASCII."
    if address.startswith("/") and not address.startswith("//"):
        return None
    try:
        found = urlsplit(address)
        is_link = found.scheme in ("http", "https") and bool(found.hostname) and "@" not in address
    except ValueError:
        is_link = False
    if is_link or re.fullmatch("mailto:[^:@/?]+@[^:@/?]+", address):
        return None
    return "the address must begin with https://, http://, mailto: or, for a page here, with /."


def _contact_error(text: str) -> str | None:
    address = text if "://" in text else f"mailto:{text}"
    if address.startswith(("https://", "mailto:")) and _address_error(address) is None:
        return None
    return (
        "must be an e-mail address, or the address of a page, which begins with https://, of at "
        f"most {_MAX_ADDRESS - len('mailto:')} characters, all of them ASCII."
    )


def _until_error(text: str) -> str | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return "must be a day as YYYY-MM-DD."
    if f"{day}" != text:
        return "must be a day as YYYY-MM-DD."
    return "is in the past." if day < clock.now().date() else None

"""Handlers of the internal API: the brand and its legal pages, for operators."""

import base64
import binascii
from typing import Any

import msgspec

from widget_contract.names import is_name

from ..accounts.permissions import read_as_operator
from ..catalog.brand import LegalPage
from ..core.errors import NotFound
from ..core.http.call import Call, Services, done, reply
from ..core.http.http import Response
from . import managing
from . import store as stored
from .logo import LogoRefused, read_logo
from .store import Settings


class BrandBody(msgspec.Struct, rename="camel", kw_only=True):
    """`links` are label and address, separated by a space; `logo` is a file in base64: null keeps
    it, an empty text removes it.
    """

    name: str = ""
    accent_light: str = ""
    accent_dark: str = ""
    links: list[str] = []
    announcement: str = ""
    until: str = ""
    logo: str | None = None


class PageBody(msgspec.Struct):
    title: str
    text: str


def get_brand(services: Services, call: Call) -> Response:
    settings = read_as_operator(services.store, call.actor, stored.find_settings)
    pages = read_as_operator(services.store, call.actor, stored.list_pages)
    listed = [{"slug": slug, "title": title} for slug, title in pages]
    return reply(_shown(settings) | {"pages": listed})


def put_brand(services: Services, call: Call) -> Response:
    body = call.json(BrandBody)
    old = read_as_operator(services.store, call.actor, stored.find_settings)
    logo, errors = old.logo, {}
    if body.logo is not None:
        try:
            logo = read_logo(base64.b64decode(body.logo, validate=True)) if body.logo else None
        except (LogoRefused, binascii.Error) as error:
            errors["logo"] = error.message if isinstance(error, LogoRefused) else "is not base64."
    typed = {
        "name": body.name,
        "accent_light": body.accent_light,
        "accent_dark": body.accent_dark,
        "links": "\n".join(" ".join(it.split()) for it in body.links),
        "announcement": body.announcement,
        "until": body.until,
    }
    new = managing.check_brand(typed, logo, errors, old)
    managing.save_brand(services.store, call.actor, new)
    return reply(_shown(new))


def get_page(services: Services, call: Call) -> Response:
    return reply(find_page(services, call)._asdict())


def put_page(services: Services, call: Call) -> Response:
    body = call.json(PageBody)
    wanted = LegalPage(call.params["slug"], body.title, body.text)
    saved = managing.save_page(services.store, call.actor, wanted, is_new=False)
    return reply(saved._asdict())


def delete_page(services: Services, call: Call) -> Response:
    managing.delete_page(services.store, call.actor, call.params["slug"])
    return done()


def find_page(services: Services, call: Call) -> LegalPage:
    """The page that the path names. Raises NotFound."""
    slug = call.params["slug"]
    found = read_as_operator(services.store, call.actor, stored.find_page, slug)
    if found is None or not is_name(slug):
        raise NotFound("There is no such page.")
    return found


def _shown(it: Settings) -> dict[str, Any]:
    logo = "" if it.logo is None else base64.b64encode(it.logo.content).decode()
    return {
        "name": it.name,
        "accentLight": it.accent_light,
        "accentDark": it.accent_dark,
        "links": [" ".join(link) for link in it.links],
        "announcement": it.announcement,
        "until": it.until,
        "logo": logo,
    }

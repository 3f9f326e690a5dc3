"""The brand and its legal pages for operators: handlers of the internal API, and pages. A form is
sent to preview or to save what it has.
"""

import base64
import binascii
import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
from markupsafe import Markup

from widget_contract.names import is_name
from widget_contract.version_files import MAX_README_BYTES

from ..accounts.permissions import read_as_operator
from ..core.db.engine import Snapshot
from ..core.errors import Conflict, InvalidRequest, NotFound, StoreUnavailable
from ..core.http.branding import Logo
from ..core.http.call import Call
from ..core.http.content import Content
from ..core.http.http import Response
from ..core.http.replies import done, reply
from ..core.http.routing import Route, Who, page
from ..core.http.sent_form import (
    NOT_SENT,
    SentForm,
    own_form_page,
    require_unchanged,
    seen_in,
    tag_of,
)
from ..core.http.services import Services
from ..core.jobs.bounded_work import BoundedProcess
from ..pages.markdown import render_markdown
from . import managing
from . import store as stored
from .logo import MAX_BYTES, LogoRefused, read_logo
from .managing import MAX_ANNOUNCEMENT, MAX_NAME, MAX_TITLE
from .store import LegalPage, Settings

_API = "/api/brand"
_ONE = _API + "/pages/{slug}"
BRAND = "/operate/brand"
_PAGE = BRAND + "/pages/{slug}"
# The logo in base64, and everything else.
_MAX_BRAND = 2 * MAX_BYTES + 32_768
# Each byte may take three in a form, and six in JSON.
_MAX_PAGE = 6 * MAX_README_BYTES + 16_384
_PREVIEW_BYTES = 150_000
_DONE = {
    "save": "The brand was saved. All pages show it within a second.",
    "page": "The page was saved.",
    "delete": "The page was deleted.",
}
_rendering: BoundedProcess[tuple[str, int], str] = BoundedProcess(render_markdown)
_lock = threading.Lock()


class BrandBody(msgspec.Struct, rename="camel", kw_only=True):
    """`links` are label and address, separated by a space; `logo` is a file in base64: null keeps
    it, an empty text removes it.
    """

    name: str = ""
    accent_light: str = ""
    accent_dark: str = ""
    links: list[str] = []
    contact: str = ""
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
    logo, errors = None, {}
    if body.logo:
        try:
            logo = read_logo(base64.b64decode(body.logo, validate=True))
        except (LogoRefused, binascii.Error) as error:
            errors["logo"] = error.message if isinstance(error, LogoRefused) else "is not base64."
    links = "\n".join(" ".join(it.split()) for it in body.links)
    typed = msgspec.to_builtins(body) | {"links": links}

    def changed(old: Settings) -> Settings:
        return managing.check_brand(typed, old.logo if body.logo is None else logo, errors, old)

    return reply(_shown(managing.save_brand(services.store, call.actor, changed)))


def _shown(settings: Settings) -> dict[str, Any]:
    links = [" ".join(link) for link in settings.links]
    logo = "" if settings.logo is None else base64.b64encode(settings.logo.content).decode()
    body = BrandBody(**msgspec.structs.asdict(settings) | {"links": links, "logo": logo})
    shown: dict[str, Any] = msgspec.to_builtins(body)
    return shown


def get_page(services: Services, call: Call) -> Response:
    return reply(_find_page(services, call)._asdict())


def put_page(services: Services, call: Call) -> Response:
    body = call.json(PageBody)
    wanted = LegalPage(call.params["slug"], body.title, body.text)
    saved = managing.save_page(services.store, call.actor, wanted, is_new=False)
    return reply(saved._asdict())


def delete_page(services: Services, call: Call) -> Response:
    managing.delete_page(services.store, call.actor, call.params["slug"])
    return done()


def _find_page(services: Services, call: Call) -> LegalPage:
    """The page that the path names. Raises NotFound."""
    slug = call.params["slug"]
    found = read_as_operator(services.store, call.actor, stored.find_page, slug)
    if found is None or not is_name(slug):
        raise NotFound("There is no such page.")
    return found


def get_brand_page(services: Services, call: Call) -> Response:
    settings = read_as_operator(services.store, call.actor, stored.find_settings)
    return _brand_page(services, call, managing.typed_values(settings), settings.logo)


def post_brand_form(services: Services, call: Call) -> Response:
    """A logo that is not saved yet is kept, also if another field is wrong."""
    fields = call.form()
    names = managing.typed_values(Settings())
    typed = {it: fields.get(it, "").replace("\r\n", "\n") for it in names}

    def read(connection: Snapshot) -> tuple[Settings, Logo | None]:
        return stored.find_settings(connection), stored.find_draft(connection)

    old, draft = read_as_operator(services.store, call.actor, read)
    logo, errors = old.logo, {}
    file = next((it for it in call.files if it.field == "logo"), None)
    seen = {"seen": fields.get("seen") or tag_of(old)}
    is_preview = fields.get("do") == "preview"
    try:
        if file is not None:
            try:
                logo = read_logo(file.content.read(MAX_BYTES + 1))
                managing.keep_draft(services.store, call.actor, logo)
            except LogoRefused as error:
                errors["logo"] = error.message
        elif fields.get("logo_tag") and fields["logo_tag"] != _tag(old.logo):
            if _tag(draft) != fields["logo_tag"]:
                errors["logo"] = "was replaced by somebody else meanwhile. Choose the file again."
            else:
                logo = draft
        if "remove_logo" in fields and file is None:
            logo = None
        # A lost logo is reported first: saving again would not bring it back.
        if not is_preview and not errors:
            require_unchanged(seen, tag_of(old), "the brand")
        new = managing.check_brand(typed, logo, errors, old)
        if is_preview:
            return _brand_page(services, call, typed, logo, preview=new)

        def changed(now: Settings) -> Settings:
            require_unchanged(seen, tag_of(now), "the brand")
            return new

        managing.save_brand(services.store, call.actor, changed)
    except (InvalidRequest, Conflict, StoreUnavailable) as error:
        sent = SentForm("brand", fields, error, {"logo": "logo"})
        return _brand_page(services, call, typed, logo, sent)
    return services.renderer.redirect(f"{BRAND}?done=save")


def _brand_page(
    services: Services,
    call: Call,
    typed: Mapping[str, str],
    logo: Logo | None,
    sent: SentForm = NOT_SENT,
    preview: Settings | None = None,
) -> Response:
    """Around the form, everything looks as it was saved; or, in the preview, as it would."""
    settings = read_as_operator(services.store, call.actor, stored.find_settings)
    brand = read_as_operator(services.store, call.actor, stored.find_shown)
    services.renderer.show_brand(brand)
    if preview is not None:
        brand = preview.shown._replace(pages=brand.pages)
    values: dict[str, Any] = {
        **services.renderer.values_of(brand, is_saved=preview is None),
        "seen": seen_in(call, sent, tag_of(settings)),
        "typed": typed,
        "logo": logo,
        "logo_tag": _tag(logo),
        "removes_logo": logo is None and "remove_logo" in call.form(),
        "is_preview": preview is not None,
        "own_name": services.settings.service_name,
        "max_name": MAX_NAME,
        "max_announcement": MAX_ANNOUNCEMENT,
        "max_logo": MAX_BYTES,
    }
    return own_form_page(services, call, "brand/brand.html", sent, _DONE, **values)


def get_new_page_form(services: Services, call: Call) -> Response:
    read_as_operator(services.store, call.actor, stored.find_settings)
    return _legal_page(services, call, LegalPage("", "", ""), is_new=True)


def get_page_form(services: Services, call: Call) -> Response:
    return _legal_page(services, call, _find_page(services, call), is_new=False)


def post_new_page_form(services: Services, call: Call) -> Response:
    return _take_page(services, call, call.form().get("slug", ""), is_new=True)


def post_page_form(services: Services, call: Call) -> Response:
    return _take_page(services, call, call.params["slug"], is_new=False)


def post_delete_form(services: Services, call: Call) -> Response:
    if "sure" not in call.form():
        sent = SentForm("delete", {}, InvalidRequest("must be ticked."), {"": "sure"})
        return _legal_page(services, call, _find_page(services, call), sent, is_new=False)
    managing.delete_page(services.store, call.actor, call.params["slug"])
    return services.renderer.redirect(f"{BRAND}?done=delete")


def _take_page(services: Services, call: Call, slug: str, *, is_new: bool) -> Response:
    read_as_operator(services.store, call.actor, stored.find_settings)
    fields = call.form()
    wanted = LegalPage(slug, fields.get("title", ""), fields.get("text", ""))

    def check(old: LegalPage | None) -> None:
        if not is_new and old is None:
            raise Conflict("Somebody else has deleted this page meanwhile. Save to add it again.")
        if not is_new:
            require_unchanged(fields, tag_of(old), "this page")

    try:
        if fields.get("do") == "preview":
            managing.check_page(wanted)
            html = _preview(wanted.text)
            return _legal_page(services, call, wanted, is_new=is_new, html=html)
        saved = managing.save_page(services.store, call.actor, wanted, check, is_new=is_new)
    except (InvalidRequest, Conflict) as error:
        sent = SentForm("page", fields, error, {"": "title", "slug": "slug"})
        return _legal_page(services, call, wanted, sent, is_new=is_new)
    return services.renderer.redirect(f"{BRAND}/pages/{saved.slug}?done=page")


def _legal_page(
    services: Services,
    call: Call,
    page: LegalPage,
    sent: SentForm = NOT_SENT,
    *,
    is_new: bool,
    html: Markup | None = None,
) -> Response:
    old = read_as_operator(services.store, call.actor, stored.find_page, page.slug)
    services.renderer.show_brand(read_as_operator(services.store, call.actor, stored.find_shown))
    is_new = is_new or old is None  # It may have been deleted meanwhile.
    seen = "" if is_new else seen_in(call, sent, tag_of(old))
    values = {"page": page, "is_new": is_new, "html": html, "seen": seen}
    template, most = "brand/page.html", MAX_TITLE
    return own_form_page(services, call, template, sent, _DONE, **values, max_title=most)


def _preview(text: str) -> Markup:
    """As the public page shows it. A text that takes very long is shown as it is."""
    with _lock:
        html = _rendering.ask((text, _PREVIEW_BYTES))
    if html is None:
        return Markup('<pre tabindex="0">{}</pre>').format(text)
    return Markup(html)  # noqa: S704  Sanitized.


def _tag(logo: Logo | None) -> str:
    return "" if logo is None else Content(logo.content).tag


_route = partial(Route, needs=Who.OPERATOR)
_page = partial(page, needs=Who.OPERATOR)

ROUTES = (
    _route("GET", _API, get_brand),
    _route("PUT", _API, put_brand, max_body=_MAX_BRAND),
    _route("GET", _ONE, get_page),
    _route("PUT", _ONE, put_page, max_body=_MAX_PAGE),
    _route("DELETE", _ONE, delete_page),
    _page("GET", BRAND, get_brand_page),
    _page("POST", BRAND, post_brand_form, max_body=_MAX_BRAND, takes_files=True),
    _page("GET", BRAND + "/page", get_new_page_form),
    _page("POST", BRAND + "/page", post_new_page_form, max_body=_MAX_PAGE),
    _page("GET", _PAGE, get_page_form),
    _page("POST", _PAGE, post_page_form, max_body=_MAX_PAGE),
    _page("POST", _PAGE + "/delete", post_delete_form),
)

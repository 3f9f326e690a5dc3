"""Pages to manage second factors: passkeys, an authenticator app, recovery codes; and the page to
re-authenticate before sensitive changes.

The fields of a passkey are filled in by the page's script. What a page has offered is in a signed
hidden field.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from ...core.errors import Conflict, InvalidRequest, NotAllowed, NotSignedIn, TooOften
from ...core.features import installed
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.rendering import local_path
from ...core.http.sent_form import NOT_SENT, SentForm, forms_of, own_page
from ...core.http.services import Services
from ...core.keys import read_signed, sign_value
from ..services import AccountServices
from . import managing
from .managing import AppOffered, PasskeyOffered
from .passkeys import new_challenge
from .proving import FactorPolicy, setup_address
from .signing_in import Given, PasskeyAsked, confirm, ways_with

T = TypeVar("T")

_HERE = "/account/second-factor"


def _policy(services: Services) -> FactorPolicy:
    return services.of(AccountServices).factor_policy


def credential_in(form: Mapping[str, str]) -> dict[str, Any] | None:
    """The browser's response, if the form has one."""
    text = form.get("credential", "")
    if not text:
        return None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidRequest("The browser did not send a passkey. Try again.")
    return found


def _signed_field(services: Services, value: msgspec.Struct) -> str:
    """For a hidden field of a form: the value is returned unchanged, within some minutes."""
    return sign_value(services.signing_key, value, services.store.now_ms())


def _read_signed_field(services: Services, form: Mapping[str, str], shape: type[T]) -> T:
    text = form.get("asked", "")
    found = read_signed(services.signing_key, text, shape, services.store.now_ms())
    if found is None:
        raise InvalidRequest("This page has expired. Reload it.")
    return found


def _next(call: Call) -> str:
    """The original target of a person who had to do something here first."""
    given = call.query() if call.request.method in ("GET", "HEAD") else call.form()
    return local_path(given.get("next", "")) or ""


def get_factors(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    policy = _policy(services)
    shown = {
        "sent_id": call.params.get("id"),
        "factors": managing.list_factors(services.store, call.visitor),
        "is_required": managing.needs_factor(services.store, policy, call.visitor),
        "site": policy.site,
        "next": _next(call),
    }
    return own_page(services, call, "accounts/second_factor.html", sent=sent, **shown)


def _here(_call: Call) -> str:
    return _HERE


_form = forms_of(get_factors, _here, (InvalidRequest, Conflict))


def get_new_passkey(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    policy = _policy(services)
    offered, options = managing.offer_passkey(services.store, policy, call.visitor)
    shown = {
        "has_script": True,
        "asked": _signed_field(services, offered),
        "options": options,
        "site": policy.site,
        "next": _next(call),
    }
    return own_page(services, call, "accounts/new_passkey.html", sent=sent, **shown)


@forms_of(get_new_passkey, _here, (InvalidRequest, Conflict))("")
def post_new_passkey(services: Services, call: Call, form: Mapping[str, str]) -> Response:
    offered = _read_signed_field(services, form, PasskeyOffered)
    what = (offered, credential_in(form) or {}, form.get("name", "").strip())
    codes = managing.add_own_passkey(services.store, _policy(services), call.visitor, *what)
    return _added(services, call, codes)


@_form("")
def post_passkey(services: Services, call: Call, form: Mapping[str, str]) -> None:
    """Rename a passkey, or remove it."""
    store, id_ = services.store, call.params["id"]
    if form.get("do") == "remove":
        managing.remove_own_passkey(store, _policy(services), call.visitor, id_)
    else:
        managing.rename_own_passkey(store, call.visitor, id_, form.get("name", "").strip())


def get_new_app(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    offered = managing.offer_app(call.visitor)
    if sent.error is not None:
        offered = _read_signed_field(services, sent.fields, AppOffered)
    address = setup_address(offered.secret, call.actor.name, services.settings.service_name)
    shown = {
        "asked": _signed_field(services, offered),
        "secret": offered.secret,
        "next": _next(call),
        "qr": qr_code(address),
    }
    return own_page(services, call, "accounts/new_app.html", sent=sent, **shown)


def qr_code(text: str) -> str:
    """A QR code as a data URL (SVG)."""
    import segno  # Slow to load, and rarely needed.

    address: str = segno.make(text, error="m").svg_data_uri(scale=5, border=3, light="#fff")
    return address


@forms_of(get_new_app, _here, (InvalidRequest, TooOften))("", {"": "code"})
def post_new_app(services: Services, call: Call, form: Mapping[str, str]) -> Response:
    offered, code = _read_signed_field(services, form, AppOffered), form.get("code", "").strip()
    policy = _policy(services)
    codes = managing.add_own_app(services.store, policy, call.visitor, offered, code)
    return _added(services, call, codes)


@_form("")
def post_remove_app(services: Services, call: Call, _fields: Mapping[str, str]) -> None:
    managing.remove_own_app(services.store, _policy(services), call.visitor)


@_form("")
def post_recovery_codes(services: Services, call: Call, _fields: Mapping[str, str]) -> Response:
    return _added(services, call, managing.make_recovery_codes(services.store, call.visitor))


def _added(services: Services, call: Call, codes: list[str]) -> Response:
    """New recovery codes are shown only once."""
    next_ = _next(call) or _HERE
    if not codes:
        return services.renderer.redirect(next_)
    return own_page(services, call, "accounts/recovery_codes.html", codes=codes, next=next_)


def get_confirm(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    asked = PasskeyAsked(new_challenge(), call.actor.account_id)
    factors, policy = managing.list_factors(services.store, call.visitor), _policy(services)
    ways = ways_with(policy, factors, asked.challenge, verifies_user=True)
    error = sent.error
    shown = {
        "status": 429 if isinstance(error, TooOften) else 400 if error is not None else 200,
        "has_script": ways.passkey_options is not None,
        "asked": _signed_field(services, asked),
        "ways": ways,
        "needs_code": factors.has_any,
        "account": call.actor.account,
        "provider": services.of(AccountServices).provider_name,
        "origin": policy.site.origin,
        "next": _next(call),
        "purpose": _purpose(services, call),
    }
    field = "password" if isinstance(error, NotAllowed) else "code" if factors.has_any else ""
    sent = sent._replace(at={"": "" if sent.fields.get("credential") else field})
    return own_page(services, call, "accounts/confirm.html", sent=sent, **shown)


def _purpose(services: Services, call: Call) -> str:
    """What the person wants to do, by the page that led here."""
    session = call.visitor.session
    is_weak = session is not None and not session.is_two_factor
    if is_weak and managing.needs_factor(services.store, _policy(services), call.visitor):
        return "use this catalog, which requires a second factor"
    path = _next(call).partition("?")[0] or _HERE
    place = "/".join(path.split("/")[:3])
    return next((it.purposes[place] for it in installed() if place in it.purposes), "continue")


@forms_of(get_confirm, _here, (NotSignedIn, NotAllowed, InvalidRequest, TooOften))("")
def post_confirm(services: Services, call: Call, form: Mapping[str, str]) -> Response:
    asked = _read_signed_field(services, form, PasskeyAsked)
    given = Given(form.get("code", "").strip(), credential_in(form))
    password = form.get("password", "")
    confirm(services.store, _policy(services), call.visitor, asked, given, password)
    return services.renderer.redirect(_next(call) or _HERE)

"""Pages of sign-in through an OpenID Connect provider: redirect, callback, name of a newcomer."""

from typing import TYPE_CHECKING, TypeVar

import msgspec

from widget_contract.errors import CatalogError

from ...core.errors import Conflict, InvalidAccount, InvalidRequest, NotFound
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.rendering import Header, leave, local_path
from ...core.http.sent_form import SentForm, form_page, own_page
from ...core.http.services import Services
from ...core.http.signed_cookies import (
    delete_cookie,
    find_signed,
    set_signed,
)
from ...core.keys import LIFETIME_S
from ..services import AccountServices, browser_of
from ..settings import AccountSettings
from ..sign_in_endpoints import welcome
from . import account_linking as linking
from .account_linking import Person, SignInBegun

if TYPE_CHECKING:
    from .provider import Provider

T = TypeVar("T")

_COOKIE = "signing-in"
_TOO_LATE = "The sign-in has expired, or cookies are blocked. Start again."


def get_start(services: Services, call: Call) -> Response:
    query = call.query()
    next_ = local_path(query.get("next", "")) or ""
    address, begun = provider_of(services).begin(next_, asks_again="again" in query)
    return leave(address, _kept(services, begun), status=302)


def post_connect(services: Services, call: Call) -> Response:
    """A form with a CSRF token, so that another site cannot connect its own identity to this
    account. It responds with a link, because browsers do not let a form redirect to the provider.
    """
    provider = provider_of(services)
    address, begun = provider.begin("/account", call.actor.account_id)
    kept, name = _kept(services, begun), provider.name
    return own_page(services, call, "accounts/connect.html", kept, address=address, provider=name)


def get_callback(services: Services, call: Call) -> Response:
    provider = provider_of(services)
    begun = _read_kept(services, call, SignInBegun)
    person = provider.finish(begun, call.query())
    if begun.connects is not None:
        if not call.is_signed_in or call.actor.account_id != begun.connects:
            raise InvalidRequest("Your session has changed. Start again.")
        linking.connect_identity(services.store, call.visitor, person)
        return services.renderer.redirect("/account", delete_cookie(services, _COOKIE))
    ours = services.of(AccountServices)
    came = linking.sign_in_identity(
        services.store,
        person,
        browser_of(services, call),
        may_create=services.settings.of(AccountSettings).oidc_creates_accounts or ours.is_open,
        reserved=ours.reserved,
        next_=begun.next,
    )
    if isinstance(came, Person):
        return services.renderer.redirect("/join/name", _kept(services, came))
    next_ = local_path(begun.next) or ""
    return welcome(services, came, next_, delete_cookie(services, _COOKIE))


def get_name(services: Services, call: Call) -> Response:
    return _ask_for_name(services, _read_kept(services, call, Person))


def post_name(services: Services, call: Call) -> Response:
    form, reserved = call.form(), services.of(AccountServices).reserved
    newcomer = msgspec.structs.replace(
        _read_kept(services, call, Person),
        username=form.get("username", "").strip(),
        email=form.get("email", "").strip(),
    )
    try:
        browser = browser_of(services, call)
        signed_in = linking.sign_in_newcomer(services.store, newcomer, browser, reserved)
    except (InvalidAccount, Conflict) as error:
        return _ask_for_name(services, newcomer, error)
    next_ = local_path(newcomer.next) or ""
    return welcome(services, signed_in, next_, delete_cookie(services, _COOKIE))


def _ask_for_name(
    services: Services, newcomer: Person, error: CatalogError | None = None
) -> Response:
    typed = {"username": newcomer.username, "email": newcomer.email}
    return form_page(
        services,
        "accounts/join_name.html",
        sent=SentForm("", typed, error, {"": "username"}),
        provider=provider_of(services).name,
        invited="",
    )


def provider_of(services: Services) -> "Provider":
    """Without a configured provider, its routes do not exist."""
    provider = services.of(AccountServices).provider
    if provider is None:
        raise NotFound("This catalog has no sign-in provider.")
    return provider


def _kept(services: Services, value: SignInBegun | Person) -> Header:
    return set_signed(services, _COOKIE, value, LIFETIME_S)


def _read_kept(services: Services, call: Call, shape: type[T]) -> T:
    found = find_signed(services, call, _COOKIE, shape)
    if found is None:
        raise InvalidRequest(_TOO_LATE)
    return found

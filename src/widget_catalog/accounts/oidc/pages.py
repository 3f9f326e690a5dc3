"""Pages of sign-in through an OpenID Connect provider: redirect, callback, and a name for
newcomers.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ...accounts.services import AccountServices
from ...core.errors import Conflict, InvalidAccount, InvalidRequest, NotFound
from ...core.http.call import Call
from ...core.http.cookies import delete_cookie, find_signed, set_signed
from ...core.http.dispatcher import refuse_other_sites
from ...core.http.errors import status_of
from ...core.http.http import Response
from ...core.http.rendering import Header, leave, local_path
from ...core.http.routing import Handler
from ...core.http.services import Services
from ...core.keys import LIFETIME_S
from ..browsers import browser_of
from ..pages.own_page import own_page
from ..pages.sign_in import welcome
from ..settings import AccountSettings
from .account_linking import Newcomer, connect_identity, sign_in_identity, sign_in_newcomer
from .identities import Begun

if TYPE_CHECKING:
    from .provider import Provider

T = TypeVar("T")

_COOKIE = "signing-in"
_TOO_LATE = "The sign-in has expired, or cookies are blocked. Start again."


def only_with_provider(handler: Handler) -> Handler:
    """Without a configured provider, its routes do not exist."""

    def handle(services: Services, call: Call) -> Response:
        _provider(services)
        return handler(services, call)

    return handle


def get_start(services: Services, call: Call) -> Response:
    query = call.query()
    next_ = local_path(query.get("next", "")) or ""
    address, begun = _provider(services).begin(next_, asks_again="again" in query)
    return leave(address, _kept(services, begun), status=302)


def post_connect(services: Services, call: Call) -> Response:
    """A form with a CSRF token, so that another site cannot connect its own identity to this
    account. It responds with a link, because browsers do not let a form redirect to the provider.
    """
    address, begun = _provider(services).begin("/account", call.actor.account_id)
    name = _provider(services).name
    kept = _kept(services, begun)
    return own_page(services, call, "accounts/connect.html", kept, address=address, provider=name)


def get_callback(services: Services, call: Call) -> Response:
    provider = _provider(services)
    begun = _read_kept(services, call, Begun)
    person = provider.finish(begun, call.query())
    if begun.connects is not None:
        if not call.is_signed_in or call.actor.account_id != begun.connects:
            raise InvalidRequest("Your session has changed. Start again.")
        connect_identity(services.store, call.visitor, person)
        return services.renderer.redirect("/account", _forgotten(services))
    settings = services.settings.of(AccountSettings)
    came = sign_in_identity(
        services.store,
        person,
        services.of(AccountServices).lifetimes,
        address=call.address,
        may_create=settings.oidc_creates_accounts or settings.registration == "open",
        next_=begun.next,
        browser=browser_of(call),
        reserved=services.of(AccountServices).reserved,
    )
    if isinstance(came, Newcomer):
        return services.renderer.redirect("/join/name", _kept(services, came))
    return welcome(services, came, local_path(begun.next), _forgotten(services))


def get_name(services: Services, call: Call) -> Response:
    return _ask(services, _read_kept(services, call, Newcomer))


def post_name(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    form = call.form()
    newcomer = msgspec.structs.replace(
        _read_kept(services, call, Newcomer),
        username=form.get("username", "").strip(),
        email=form.get("email", "").strip(),
    )
    try:
        signed_in = sign_in_newcomer(
            services.store,
            newcomer,
            services.of(AccountServices).lifetimes,
            address=call.address,
            browser=browser_of(call),
            reserved=services.of(AccountServices).reserved,
        )
    except InvalidAccount as fault:
        return _ask(services, newcomer, fault.faults, status_of(fault))
    except Conflict as fault:
        return _ask(services, newcomer, [fault.message], status_of(fault))
    return welcome(services, signed_in, local_path(newcomer.next), _forgotten(services))


def _ask(
    services: Services, newcomer: Newcomer, faults: Sequence[str] = (), status: int = 200
) -> Response:
    return services.renderer.page(
        "accounts/join_name.html",
        status=status,
        provider=_provider(services).name,
        username=newcomer.username,
        email=newcomer.email,
        faults=faults,
    )


def _provider(services: Services) -> "Provider":
    provider = services.of(AccountServices).provider
    if provider is None:
        raise NotFound("This catalog has no sign-in provider.")
    return provider


def _kept(services: Services, value: Begun | Newcomer) -> Header:
    return set_signed(services, _COOKIE, value, LIFETIME_S)


def _forgotten(services: Services) -> Header:
    return delete_cookie(services, _COOKIE)


def _read_kept(services: Services, call: Call, shape: type[T]) -> T:
    found = find_signed(services, call, _COOKIE, shape)
    if found is None:
        raise InvalidRequest(_TOO_LATE)
    return found

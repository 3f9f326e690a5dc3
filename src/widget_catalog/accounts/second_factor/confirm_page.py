"""The page to re-authenticate before sensitive changes."""

from widget_contract.errors import CatalogError

from ...accounts.services import AccountServices
from ...core.errors import InvalidRequest, NotAllowed, NotSignedIn, TooOften
from ...core.http.call import Call
from ...core.http.errors import headers_of
from ...core.http.http import Response
from ...core.http.rendering import local_path
from ...core.http.services import Services
from ..pages.own_page import own_page
from .managing import list_factors, needs_factor
from .passkey_form import credential_in, read_signed_field, signed_field
from .passkeys import new_challenge
from .signing_in import Given, PasskeyAsked, confirm, ways_with

_NEXT = "/account/second-factor"
# By the first two segments of the page to return to.
_PURPOSES = {
    "/api/auth": "sign in a program that acts as you",
    "/device": "sign in a device that acts as you",
    "/account": "connect another way to sign in",
    "/account/tokens": "create an access token",
    "/account/token": "confirm an access token",
    "/account/password": "change your password",
    "/account/close": "close your account",
    "/account/second-factor": "change how you sign in",
    "/account/publish": "publish a version",
    "/account/widgets": "change who can publish a widget",
    "/account/organizations": "create an organization or change its members",
    "/account/webhooks": "create a webhook or a new secret for it",
    "/operate/accounts": "change what an account can do",
    "/operate/scopes": "assign a scope",
    "/operate/invitations": "invite somebody",
    "/operate/webhooks": "create a webhook",
}


def get_confirm(services: Services, call: Call) -> Response:
    return _ask(services, call, local_path(call.query().get("next", "")) or "")


def post_confirm(services: Services, call: Call) -> Response:
    form = call.form()
    next_ = local_path(form.get("next", "")) or ""
    try:
        confirm(
            services.store,
            services.of(AccountServices).factor_policy,
            call.visitor,
            read_signed_field(services, form, PasskeyAsked),
            Given(form.get("code", "").strip(), credential_in(form)),
            form.get("password", ""),
            call.address,
        )
    except (NotSignedIn, NotAllowed, InvalidRequest, TooOften) as fault:
        return _ask(services, call, next_, fault)
    return services.renderer.redirect(next_ or _NEXT)


def _purpose(services: Services, call: Call, next_: str) -> str:
    """What the person wants to do, by the page that led here."""
    session = call.visitor.session
    is_weak = session is not None and not session.is_two_factor
    if is_weak and needs_factor(
        services.store, services.of(AccountServices).factor_policy, call.visitor
    ):
        return "use this catalog, which requires a second factor"
    path = next_.partition("?")[0] or _NEXT
    return _PURPOSES.get("/".join(path.split("/")[:3]), "continue")


def _ask(services: Services, call: Call, next_: str, fault: CatalogError | None = None) -> Response:
    asked = PasskeyAsked(new_challenge(), call.actor.account_id)
    factors = list_factors(services.store, call.visitor)
    ways = ways_with(
        services.of(AccountServices).factor_policy, factors, asked.challenge, verifies_user=True
    )
    return own_page(
        services,
        call,
        "accounts/confirm.html",
        *(headers_of(fault) if fault is not None else []),
        status=429 if isinstance(fault, TooOften) else 400 if fault is not None else 200,
        has_script=ways.passkey_options is not None,
        asked=signed_field(services, asked),
        ways=ways,
        needs_code=factors.has_any,
        account=call.actor.account,
        provider=services.of(AccountServices).provider_name,
        origin=services.of(AccountServices).factor_policy.site.origin,
        next=next_,
        purpose=_purpose(services, call, next_),
        faults=[fault.message] if fault is not None else [],
    )

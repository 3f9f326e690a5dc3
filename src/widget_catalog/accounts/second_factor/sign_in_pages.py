"""Sign-in pages beyond the password: the second factor, and a passkey instead of both."""

from widget_contract.errors import CatalogError

from ...accounts.services import AccountServices
from ...core.errors import InvalidRequest, NotSignedIn, TooOften
from ...core.http.call import Call
from ...core.http.cookies import delete_cookie
from ...core.http.dispatcher import refuse_other_sites
from ...core.http.errors import headers_of, status_of
from ...core.http.http import Response
from ...core.http.rendering import local_path
from ...core.http.services import Services
from ..pages.sign_in import sign_in_form, welcome
from ..sign_in_api import (
    HALF_COOKIE,
    PASSKEY_COOKIE,
    ask_for_passkey,
    finish,
    get_half,
    keep_half,
    sign_in_by_passkey,
)
from .passkey_form import credential_in
from .signing_in import Given, asked_again, ways_of


def get_second_step(services: Services, call: Call) -> Response:
    return _ask(services, call, local_path(call.query().get("next", "")) or "")


def post_second_step(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    form = call.form()
    next_ = local_path(form.get("next", "")) or ""
    try:
        given = Given(form.get("code", "").strip(), credential_in(form))
        signed_in = finish(services, call, given)
    except (NotSignedIn, InvalidRequest, TooOften) as fault:
        return _ask(services, call, next_, fault)
    return welcome(services, signed_in, next_, delete_cookie(services, HALF_COOKIE))


def get_passkey(services: Services, call: Call) -> Response:
    return _ask_for_passkey(services, local_path(call.query().get("next", "")) or "")


def post_passkey(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    form = call.form()
    next_ = local_path(form.get("next", "")) or ""
    try:
        signed_in = sign_in_by_passkey(services, call, credential_in(form) or {})
    except (NotSignedIn, TooOften) as fault:
        return _ask_for_passkey(services, next_, fault)
    return welcome(services, signed_in, next_, delete_cookie(services, PASSKEY_COOKIE))


def _ask(services: Services, call: Call, next_: str, fault: CatalogError | None = None) -> Response:
    """The page again; after the time limit, the sign-in starts again with the password."""
    try:
        half = asked_again(get_half(services, call))
        ways = ways_of(services.store, services.of(AccountServices).factor_policy, half)
    except NotSignedIn as late:
        gone = delete_cookie(services, HALF_COOKIE)
        return sign_in_form(services, next_, "", [late.message], gone, status=400)
    return services.renderer.page(
        "accounts/second_step.html",
        keep_half(services, half),
        *(headers_of(fault) if fault is not None else []),
        status=_status(fault),
        has_script=ways.passkey_options is not None,
        ways=ways,
        next=next_,
        origin=services.of(AccountServices).factor_policy.site.origin,
        faults=[fault.message] if fault is not None else [],
    )


def _ask_for_passkey(services: Services, next_: str, fault: CatalogError | None = None) -> Response:
    options, cookie = ask_for_passkey(services)
    return services.renderer.page(
        "accounts/sign_in_passkey.html",
        cookie,
        *(headers_of(fault) if fault is not None else []),
        status=_status(fault),
        has_script=True,
        options=options,
        origin=services.of(AccountServices).factor_policy.site.origin,
        next=next_,
        faults=[fault.message] if fault is not None else [],
    )


def _status(fault: CatalogError | None) -> int:
    """As on the previous page: the form itself reports a failed sign-in."""
    if fault is None:
        return 200
    return 400 if isinstance(fault, NotSignedIn) else status_of(fault)

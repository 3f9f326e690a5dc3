"""Pages to manage second factors: passkeys, an authenticator app, recovery codes."""

from widget_contract.errors import CatalogError

from ...accounts.services import AccountServices
from ...core.errors import Conflict, InvalidRequest, TooOften
from ...core.http.call import Call
from ...core.http.errors import headers_of, status_of
from ...core.http.http import Response
from ...core.http.rendering import local_path
from ...core.http.services import Services
from ..pages.own_page import own_page
from .codes import qr_code, setup_address
from .managing import (
    AppOffered,
    PasskeyOffered,
    add_own_app,
    add_own_passkey,
    list_factors,
    make_recovery_codes,
    needs_factor,
    offer_app,
    offer_passkey,
    remove_own_app,
    remove_own_passkey,
    rename_own_passkey,
)
from .passkey_form import credential_in, read_signed_field, signed_field

HERE = "/account/second-factor"


def get_factors(services: Services, call: Call) -> Response:
    return _show(services, call)


def get_new_passkey(services: Services, call: Call) -> Response:
    return _offer_passkey(services, call)


def post_new_passkey(services: Services, call: Call) -> Response:
    form = call.form()
    name = form.get("name", "").strip()
    try:
        codes = add_own_passkey(
            services.store,
            services.of(AccountServices).factor_policy,
            call.visitor,
            read_signed_field(services, form, PasskeyOffered),
            credential_in(form) or {},
            name,
        )
    except (InvalidRequest, Conflict) as fault:
        return _offer_passkey(services, call, name, fault)
    return _added(services, call, codes)


def post_passkey(services: Services, call: Call) -> Response:
    """Rename a passkey, or remove it."""
    form, id_ = call.form(), call.params["id"]
    try:
        if form.get("do") == "remove":
            remove_own_passkey(
                services.store, services.of(AccountServices).factor_policy, call.visitor, id_
            )
        else:
            rename_own_passkey(services.store, call.visitor, id_, form.get("name", "").strip())
    except (InvalidRequest, Conflict) as fault:
        return _show(services, call, fault)
    return services.renderer.redirect(HERE)


def get_new_app(services: Services, call: Call) -> Response:
    return _offer_app(services, call, offer_app(call.visitor))


def post_new_app(services: Services, call: Call) -> Response:
    form = call.form()
    offered = read_signed_field(services, form, AppOffered)
    try:
        codes = add_own_app(
            services.store,
            services.of(AccountServices).factor_policy,
            call.visitor,
            offered,
            form.get("code", "").strip(),
        )
    except (InvalidRequest, TooOften) as fault:
        return _offer_app(services, call, offered, fault)
    return _added(services, call, codes)


def post_remove_app(services: Services, call: Call) -> Response:
    try:
        remove_own_app(services.store, services.of(AccountServices).factor_policy, call.visitor)
    except Conflict as fault:
        return _show(services, call, fault)
    return services.renderer.redirect(HERE)


def post_recovery_codes(services: Services, call: Call) -> Response:
    try:
        codes = make_recovery_codes(services.store, call.visitor)
    except Conflict as fault:
        return _show(services, call, fault)
    return _added(services, call, codes)


def _show(services: Services, call: Call, fault: CatalogError | None = None) -> Response:
    return own_page(
        services,
        call,
        "accounts/second_factor.html",
        status=status_of(fault) if fault is not None else 200,
        factors=list_factors(services.store, call.visitor),
        is_required=needs_factor(
            services.store, services.of(AccountServices).factor_policy, call.visitor
        ),
        site=services.of(AccountServices).factor_policy.site,
        next=_next(call),
        faults=[fault.message] if fault is not None else [],
    )


def _added(services: Services, call: Call, codes: list[str]) -> Response:
    """New recovery codes are shown only once."""
    next_ = _next(call) or HERE
    if not codes:
        return services.renderer.redirect(next_)
    return own_page(services, call, "accounts/recovery_codes.html", codes=codes, next=next_)


def _next(call: Call) -> str:
    """The original target of a person who had to set up a second factor first."""
    given = call.query() if call.request.method in ("GET", "HEAD") else call.form()
    return local_path(given.get("next", "")) or ""


def _offer_passkey(
    services: Services, call: Call, name: str = "", fault: CatalogError | None = None
) -> Response:
    offered, options = offer_passkey(
        services.store, services.of(AccountServices).factor_policy, call.visitor
    )
    return own_page(
        services,
        call,
        "accounts/new_passkey.html",
        status=status_of(fault) if fault is not None else 200,
        has_script=True,
        asked=signed_field(services, offered),
        options=options,
        site=services.of(AccountServices).factor_policy.site,
        name=name,
        next=_next(call),
        faults=[fault.message] if fault is not None else [],
    )


def _offer_app(
    services: Services, call: Call, offered: AppOffered, fault: CatalogError | None = None
) -> Response:
    service_name = services.settings.service_name
    return own_page(
        services,
        call,
        "accounts/new_app.html",
        *(headers_of(fault) if fault is not None else []),
        status=status_of(fault) if fault is not None else 200,
        asked=signed_field(services, offered),
        secret=offered.secret,
        next=_next(call),
        qr=qr_code(setup_address(offered.secret, call.actor.name, service_name)),
        faults=[fault.message] if fault is not None else [],
    )

"""The registration page: by invitation, or open to anyone."""

from collections.abc import Sequence

from widget_contract.errors import CatalogError

from ...accounts.services import AccountServices
from ...core.errors import Conflict, InvalidAccount, NotAllowed
from ...core.http.call import Call
from ...core.http.dispatcher import refuse_other_sites
from ...core.http.errors import status_of
from ...core.http.http import Response
from ...core.http.rendering import local_path
from ...core.http.services import Services
from ..browsers import browser_of
from ..create_account import OPERATOR, check_may_register, register
from ..settings import AccountSettings
from .sign_in import welcome


def get_join(services: Services, call: Call) -> Response:
    query = call.query()
    return _form(services, query.get("invitation", ""), local_path(query.get("next", "")) or "", {})


def post_join(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    form = call.form()
    secret, next_ = form.get("invitation", ""), local_path(form.get("next", ""))
    try:
        signed_in = register(
            services.store,
            services.settings.of(AccountSettings).registration,
            services.of(AccountServices).lifetimes,
            username=form.get("username", "").strip(),
            email=form.get("email", "").strip(),
            password=form.get("password", ""),
            address=call.address,
            secret=secret,
            browser=browser_of(call),
            reserved=services.of(AccountServices).reserved,
        )
    except InvalidAccount as fault:
        return _form(services, secret, next_ or "", form, fault.faults, status_of(fault))
    except Conflict as fault:
        return _form(services, secret, next_ or "", form, [fault.message], status_of(fault))
    except NotAllowed as fault:
        return _refused(services, secret, fault)
    return welcome(services, signed_in, next_)


def _form(
    services: Services,
    secret: str,
    next_: str,
    typed: dict[str, str],
    faults: Sequence[str] = (),
    status: int = 200,
) -> Response:
    try:
        invitation = check_may_register(
            services.store, services.settings.of(AccountSettings).registration, secret
        )
    except NotAllowed as fault:
        return _refused(services, secret, fault)
    invited = invitation.email if invitation is not None else None
    return services.renderer.page(
        "accounts/join.html",
        status=status,
        invitation=secret,
        next=next_,
        username=typed.get("username", ""),
        email=typed.get("email", invited or ""),
        faults=faults,
        is_operator=invitation is not None and invitation.role == OPERATOR,
    )


def _refused(services: Services, secret: str, fault: CatalogError) -> Response:
    title = "Invitation not valid" if secret else "Invitation required"
    return services.renderer.message(status_of(fault), title, fault.message)

"""The page of a password reset link."""

from collections.abc import Sequence

from ...core.errors import InvalidAccount
from ...core.http.call import Call
from ...core.http.dispatcher import refuse_other_sites
from ...core.http.errors import status_of
from ...core.http.http import Response
from ...core.http.services import Services
from ..reset_link import check_reset_link, use_reset_link


def get_reset(services: Services, call: Call) -> Response:
    return _form(services, call.query().get("link", ""))


def post_reset(services: Services, call: Call) -> Response:
    refuse_other_sites(services, call)
    form = call.form()
    link, new = form.get("link", ""), form.get("password", "")
    try:
        use_reset_link(services.store, services.signing_key, link, new, call.address)
    except InvalidAccount as fault:
        return _form(services, link, fault.faults, status_of(fault))
    return services.renderer.redirect("/sign-in?next=/account")


def _form(services: Services, link: str, faults: Sequence[str] = (), status: int = 200) -> Response:
    account = check_reset_link(services.store, services.signing_key, link)
    return services.renderer.page(
        "accounts/reset_password.html",
        status=status,
        link=link,
        username=account.username,
        faults=faults,
    )

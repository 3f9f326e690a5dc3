"""The page to authorize a device without a browser, by the code it shows."""

from ...accounts.services import AccountServices
from ...core.errors import NotFound, TooOften
from ...core.http.call import Call
from ...core.http.errors import headers_of, status_of
from ...core.http.http import Response
from ...core.http.services import Services
from ..pages.own_page import done_page, own_page
from .devices import decide_device, find_device_request


def get_device(services: Services, call: Call) -> Response:
    return _ask(services, call, call.query().get("user_code", ""))


def post_device(services: Services, call: Call) -> Response:
    """First the code, then the decision."""
    form = call.form()
    code, decision = form.get("user_code", ""), form.get("decision")
    try:
        if decision is None:
            found = find_device_request(
                services.store, services.of(AccountServices).oauth, call.visitor, code
            )
            return own_page(
                services,
                call,
                "accounts/device_consent.html",
                device=found,
            )
        is_agreed = decision == "continue"
        found = decide_device(
            services.store,
            services.of(AccountServices).oauth,
            call.visitor,
            code,
            is_agreed=is_agreed,
        )
    except (NotFound, TooOften) as fault:
        return _ask(services, call, code, fault)
    title = "Device signed in" if is_agreed else "Sign-in denied"
    sentence = (
        f"{found.client_name} goes on by itself now. You can close this page."
        if is_agreed
        else f"{found.client_name} has been refused access."
    )
    return done_page(services, call, title, sentence)


def _ask(
    services: Services, call: Call, code: str, fault: NotFound | TooOften | None = None
) -> Response:
    return own_page(
        services,
        call,
        "accounts/code.html",
        *(headers_of(fault) if fault is not None else []),
        status=status_of(fault) if fault is not None else 200,
        heading="Sign in a device",
        lead="Enter the code shown on the device.",
        action="/device",
        user_code=code[:40],
        faults=[fault.message] if fault is not None else [],
    )

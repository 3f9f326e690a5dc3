"""The page where an invitation to an organization is accepted or declined."""

from ..accounts.pages.own_page import done_page, own_page
from ..accounts.settings import AccountSettings
from ..core.http.call import Call
from ..core.http.http import Response
from ..core.http.services import Services
from .invite_member import answer_invitation, preview_invitation, view_invitation
from .settings import max_owned


def get_invitation(services: Services, call: Call) -> Response:
    if not call.is_signed_in:
        invitation = preview_invitation(services.store, *_named(call))
        if invitation is None:
            return services.renderer.sign_in_first(call.address_here)
        return services.renderer.page(
            "organizations/invited.html",
            invitation=invitation,
            next=call.address_here,
            registration=services.settings.of(AccountSettings).registration,
        )
    invitation = view_invitation(services.store, call.actor, *_named(call))
    return own_page(
        services,
        call,
        "organizations/invitation.html",
        invitation=invitation,
        here=call.address_here,
    )


def post_invitation(services: Services, call: Call) -> Response:
    is_accepted = call.form().get("decision") == "accept"
    id_, secret = _named(call)
    organization = answer_invitation(
        services.store,
        call.actor,
        id_,
        secret,
        max_owned(services),
        is_accepted=is_accepted,
    )
    if is_accepted:
        return done_page(services, call, "Welcome", f"You are now a member of {organization}.")
    return done_page(services, call, "Declined", "Nothing was changed.")


def _named(call: Call) -> tuple[str, str]:
    query = call.query()
    return query.get("id", ""), query.get("secret", "")

"""Every page that knows people, by what they come for. What is for everybody is in `web/pages/`."""

from ..internal.call import OAUTH_BASE
from ..internal.routing import Door, Handler, Route, Who
from . import account, consent, devices, invitations, joining, provider, sign_in, tokens


def _page(
    method: str,
    path: str,
    handler: Handler,
    needs: Who,
    door: Door = Door.PAGE,
    *,
    hashes: bool = False,
) -> Route:
    return Route(method, path, handler, needs, door=door, hashes=hashes)


COMING_IN = (
    _page("GET", "/sign-in", sign_in.get_sign_in, Who.ANYONE),
    _page("POST", "/sign-in", sign_in.post_sign_in, Who.ANYONE, Door.ENTRANCE, hashes=True),
    _page("POST", "/sign-out", sign_in.post_sign_out, Who.ANYONE),
    _page("GET", "/join", joining.get_join, Who.ANYONE, Door.ENTRANCE),
    _page("POST", "/join", joining.post_join, Who.ANYONE, Door.ENTRANCE, hashes=True),
)

THROUGH_A_PROVIDER = (
    _page("GET", "/api/auth/oidc", provider.get_start, Who.ANYONE, Door.ENTRANCE),
    _page("GET", "/api/auth/oidc/callback", provider.get_callback, Who.ANYONE),
    _page("GET", "/join/name", provider.get_name, Who.ANYONE, Door.ENTRANCE),
    _page("POST", "/join/name", provider.post_name, Who.ANYONE, Door.ENTRANCE),
    _page("POST", "/account/connect", provider.post_connect, Who.PERSON),
)

BEING_HERE = (
    _page("GET", "/account", account.get_account, Who.PERSON),
    _page("POST", "/account", account.post_account, Who.PERSON),
    _page("GET", "/account/token", tokens.get_token_request, Who.PERSON),
    _page("POST", "/account/token", tokens.post_token_request, Who.PERSON),
    _page("GET", "/invitation", invitations.get_invitation, Who.ANYONE),
    _page("POST", "/invitation", invitations.post_invitation, Who.PERSON),
)

AGREEING = (
    _page("GET", OAUTH_BASE + "/authorize", consent.get_authorize, Who.ANYONE),
    _page("POST", OAUTH_BASE + "/authorize", consent.post_authorize, Who.PERSON),
    _page("GET", "/device", devices.get_device, Who.PERSON),
    _page("POST", "/device", devices.post_device, Who.PERSON),
)

PEOPLE = (*COMING_IN, *THROUGH_A_PROVIDER, *BEING_HERE, *AGREEING)

"""Handlers: access tokens for machines."""

import msgspec

from ...core.clock import from_ms, iso
from ...core.credentials import shown_code
from ...core.http.call import Call, done, reply
from ...core.http.http import Response
from ...core.http.services import Services
from ..permissions import require_person
from .issue_token import (
    REQUEST_S,
    IssuedToken,
    claim_token,
    issue_token,
    list_own_tokens,
    parse_wanted,
    request_token,
    revoke_token,
)
from .store import Token

_INTERVAL_S = 3


class TokenBody(msgspec.Struct, rename="camel", kw_only=True):
    name: str
    actions: list[str]
    scopes: list[str] = []
    widgets: list[str] = []
    expires_in_days: int = 90


def post_token(services: Services, call: Call) -> Response:
    """With a session: the token. With a program's sign-in: a request for the person to confirm."""
    require_person(call.actor)
    body = call.json(TokenBody)
    where, days = (body.scopes, body.widgets), body.expires_in_days
    wanted = parse_wanted(services.store, call.actor, body.name, body.actions, *where, days)
    if call.visitor.grant_id is None:
        return _made(issue_token(services.store, call.visitor, wanted))
    request = request_token(services.store, call.visitor, wanted)
    place, code = f"{services.settings.public_url}/account/token", shown_code(request.user_code)
    shown = {
        "requestId": request.id,
        "userCode": code,
        "confirmUrl": place,
        "confirmUrlComplete": f"{place}?code={code}",
        "expiresInSeconds": REQUEST_S,
        "intervalSeconds": _INTERVAL_S,
    }
    return reply(shown, status=202)


def post_token_request(services: Services, call: Call) -> Response:
    """A program polls for the person's decision."""
    issued = claim_token(services.store, call.visitor, call.params["id"])
    return reply({"status": "pending"}, status=202) if issued is None else _made(issued)


def get_tokens(services: Services, call: Call) -> Response:
    tokens = list_own_tokens(services.store, call.actor)
    return reply({"tokens": [_shown(token) for token in tokens]})


def delete_token(services: Services, call: Call) -> Response:
    revoke_token(services.store, call.actor, call.params["id"])
    return done()


def _made(issued: IssuedToken) -> Response:
    return reply({**_shown(issued.token), "token": issued.secret}, status=201)


def _shown(token: Token) -> dict[str, object]:
    used = token.last_used_at
    return {
        "id": token.id,
        "name": token.name,
        "actions": [right.value for right in token.limits.rights],
        "scopes": token.limits.scopes,
        "widgets": token.limits.widgets,
        "createdAt": iso(from_ms(token.created_at)),
        "expiresAt": iso(from_ms(token.expires_at)),
        "lastUsedAt": None if used is None else iso(from_ms(used)),
    }

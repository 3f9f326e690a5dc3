"""Handlers: access tokens for machines."""

import msgspec

from ...actions.issue_token import issue_token, list_own_tokens, revoke_token
from ...domain.clock import from_ms, iso
from ...store.tokens import Token
from ..http import Response
from .call import Call, Services, done, reply


class TokenBody(msgspec.Struct, rename="camel", kw_only=True):
    name: str
    actions: list[str]
    scopes: list[str] = []
    widgets: list[str] = []
    expires_in_days: int = 90


def post_token(services: Services, call: Call) -> Response:
    body = call.json(TokenBody)
    issued = issue_token(
        services.store,
        call.actor,
        name=body.name,
        actions=body.actions,
        scopes=body.scopes,
        widgets=body.widgets,
        days=body.expires_in_days,
    )
    return reply({**_shown(issued.token), "token": issued.secret}, status=201)


def get_tokens(services: Services, call: Call) -> Response:
    tokens = list_own_tokens(services.store, call.actor)
    return reply({"tokens": [_shown(token) for token in tokens]})


def delete_token(services: Services, call: Call) -> Response:
    revoke_token(services.store, call.actor, call.params["id"])
    return done()


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

"""Access tokens for machines: create, describe, revoke."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from widget_contract.errors import InvalidName
from widget_contract.names import Scope
from widget_contract.texts import name_error

from ...catalog.model.widgets import parse_key
from ...catalog.store.events import append
from ...core.actors import TOKEN_RIGHTS, Account, Actor, Limits, Visitor
from ...core.clock import from_ms, iso
from ...core.credentials import TOKEN_PREFIX, hash_secret, new_id, new_secret
from ...core.db import rows
from ...core.db.engine import Store, Transaction
from ...core.errors import InvalidRequest, NotFound, TooOften
from .. import events
from ..permissions import list_publishing_scopes, require_person
from ..sign_in import changing_own
from ..tables import access_tokens
from . import store as tokens
from .store import Token, WantedToken, decode_wanted

MAX_DAYS = 366
MAX_TOKENS = 100
_DAY_MS = 86_400_000
_MAX_NAME = 100
_MAX_PLACES = 100


class TokenForm(msgspec.Struct, rename="camel", kw_only=True):
    """What a person asks for, not checked yet."""

    name: str
    actions: list[str]
    scopes: list[str] = []
    widgets: list[str] = []
    expires_in_days: int = 90


class FieldNames(NamedTuple):
    """The names of the fields of a request in error messages."""

    name: str = "name"
    actions: str = "actions"
    days: str = "expiresInDays"
    scopes: str = "scopes"
    widgets: str = "widgets"


class IssuedToken(NamedTuple):
    """A token and its secret, which is shown once."""

    secret: str
    token: Token


_IN_API = FieldNames()


def issue_token(store: Store, visitor: Visitor, wanted: WantedToken) -> IssuedToken:
    """By a person with a session. A program has to request it, and the person confirms."""
    with changing_own(store, visitor) as (tx, account):
        return _add(tx, visitor.actor, account, wanted, None)


def issue_requested(
    tx: Transaction, program: Actor, account: Account, wanted: str, grant_id: str
) -> IssuedToken:
    """For a program whose user has confirmed it; the account is locked."""
    return _add(tx, program, account, decode_wanted(wanted), grant_id)


def describe_token(token: Token) -> dict[str, object]:
    """A token as the API shows it, without its secret."""
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


def _add(
    tx: Transaction, actor: Actor, account: Account, wanted: WantedToken, grant_id: str | None
) -> IssuedToken:
    if len(tokens.list_tokens(tx.connection, account.id, tx.at_ms)) >= MAX_TOKENS:
        sentence = f"You have {MAX_TOKENS} access tokens, which is the limit. Revoke one first."
        raise TooOften(sentence, wait_s=60)
    secret = new_secret(TOKEN_PREFIX)
    expires_at = tx.at_ms + wanted.days * _DAY_MS
    token = Token(
        new_id(), account.id, wanted.name, wanted.limits, tx.at_ms, expires_at, None, grant_id
    )
    tokens.add_token(tx, token, hash_secret(secret))
    append(tx, actor, events.TokenCreated(scope=account.username, token=token.name, id=token.id))
    return IssuedToken(secret, token)


def revoke_token(store: Store, actor: Actor, id_: str) -> None:
    account = require_person(actor)
    with store.writing() as tx:
        revoke_token_of(tx, actor, account, id_)


def revoke_token_of(tx: Transaction, actor: Actor, account: Account, id_: str) -> None:
    if not tokens.remove_token(tx, account.id, id_):
        raise NotFound("There is no such token.")
    append(tx, actor, events.TokenRevoked(scope=account.username, id=id_))


def forget_tokens(store: Store) -> None:
    """Remove expired tokens of all accounts."""
    rows.remove_if_any(store, access_tokens, access_tokens.c.expires_at <= store.now_ms())


def parse_wanted(
    store: Store, actor: Actor, form: TokenForm, called: FieldNames = _IN_API
) -> WantedToken:
    """What a person wants, or InvalidRequest with all errors.

    Only for scopes and widgets that the account may publish to. A widget need not exist yet. An
    operator's token may be for any.
    """
    errors, days = [], form.expires_in_days
    if error := name_error(form.name, _MAX_NAME):
        errors.append(f"{called.name}: {error}")
    known = [right.value for right in TOKEN_RIGHTS]
    if not form.actions or not set(form.actions) <= set(known):
        errors.append(f"{called.actions}: must be some of {', '.join(known)}.")
    if not 1 <= days <= MAX_DAYS:
        errors.append(f"{called.days}: must be a whole number from 1 to {MAX_DAYS}.")
    if len(form.scopes) + len(form.widgets) > _MAX_PLACES:
        errors.append(f"{called.scopes}: at most {_MAX_PLACES} scopes and widgets can be named.")
    places = _parsed(called.scopes, Scope.parse, form.scopes, errors)
    keys = _parsed(called.widgets, lambda key: "/".join(parse_key(key)), form.widgets, errors)
    if not actor.is_operator and (places or keys):
        own = {str(scope.name) for scope in list_publishing_scopes(store, actor)}
        errors += _foreign(called.scopes, places, own)
        errors += _foreign(called.widgets, keys, own)
    if errors:
        raise InvalidRequest(*errors)
    rights = tuple(right for right in TOKEN_RIGHTS if right.value in form.actions)
    return WantedToken(form.name.strip(), Limits(rights=rights, scopes=places, widgets=keys), days)


def _foreign(field: str, places: tuple[str, ...], own: set[str]) -> list[str]:
    foreign = [place for place in places if place.partition("/")[0] not in own]
    return [f"{field}: you cannot publish to {', '.join(foreign[:5])}."] if foreign else []


def _parsed(
    field: str, parse: Callable[[str], str], texts: list[str], errors: list[str]
) -> tuple[str, ...]:
    parsed = []
    for text in texts:
        try:
            parsed.append(parse(text))
        except InvalidName as error:
            errors.append(f"{field}: {error.message}")
    return tuple(parsed)

"""Access tokens for machines: create, list, revoke.

A program requests a token; its user confirms it in a browser; the program gets it. Otherwise a
program signed in with OAuth could turn an hour of access into a year, and keep it after it is
signed out.
"""

import secrets
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from widget_contract.errors import InvalidName
from widget_contract.names import Scope
from widget_contract.texts import name_error

from ...catalog.store.events import append
from ...catalog.widgets import parse_key
from ...core.actors import TOKEN_RIGHTS, Account, Actor, Limits, Visitor
from ...core.credentials import TOKEN_PREFIX, hash_secret, new_id, new_secret, plain_code
from ...core.db import rows
from ...core.db.engine import Snapshot, Store, Transaction
from ...core.errors import InvalidRequest, NotAllowed, NotFound, NotSignedIn, TooOften
from .. import events
from ..oauth.store import find_grant
from ..permissions import list_publishing_scopes, require_person
from ..sign_in import changing_own
from ..store import lock_account
from ..tables import access_tokens
from . import store as tokens
from .store import Token, TokenRequest, WantedToken

MAX_DAYS = 366
MAX_TOKENS = 100
REQUEST_S = 600
_DAY_MS = 86_400_000
_MAX_NAME = 100
_MAX_PLACES = 100
_GONE = "There is no such request for a token, or it has expired."
# No vowels, so that codes never form words, and no letters that are easily confused.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


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


def request_token(store: Store, visitor: Visitor, wanted: WantedToken) -> TokenRequest:
    """By a program. One request per sign-in: the last."""
    account = require_person(visitor.actor)
    if visitor.grant_id is None:
        raise NotAllowed("Only a program that was signed in by OAuth asks for confirmation.")
    with store.writing() as tx:
        lock_account(tx, account.id)
        if find_grant(tx.connection, visitor.grant_id) is None:
            raise NotSignedIn("The program has just been signed out. Sign in again.")
        code = "".join(secrets.choice(_LETTERS) for _ in range(8))
        expires_at = tx.at_ms + REQUEST_S * 1000
        request = TokenRequest(new_id(), visitor.grant_id, account.id, code, wanted, expires_at)
        tokens.add_token_request(tx, request)
        event = events.TokenRequested(scope=account.username, token=wanted.name)
        append(tx, visitor.actor, event)
    return request


def view_token_request(store: Store, visitor: Visitor, code: str) -> tuple[TokenRequest, str]:
    """The request with this code for this person, and the client id of the program; or NotFound.

    A code finds only a person's own requests, so guessing is useless.
    """
    account = require_person(visitor.actor)
    with store.reading() as connection:
        request = _find_request(connection, account, code, store.now_ms())
        grant = find_grant(connection, request.grant_id) if request is not None else None
    if request is None or grant is None:
        raise NotFound(
            f"No program waits for @{account.username} with this code. Check the code, and that "
            "you are signed in as the account that the program uses; or start again there."
        )
    return request, grant.client_id


def decide_token(store: Store, visitor: Visitor, code: str, *, is_agreed: bool) -> TokenRequest:
    """The person confirms or refuses, with a session: a program cannot do that for them."""
    require_person(visitor.actor)
    if visitor.session is None:
        raise NotAllowed("Confirm this in a browser, where you are signed in.")
    with changing_own(store, visitor) as (tx, account):
        request = _find_request(tx.connection, account, code, tx.at_ms)
        if request is None or not tokens.decide_token_request(tx, request.id, is_agreed=is_agreed):
            raise NotFound("This request has just been answered, or has expired.")
        kind = events.TokenConfirmed if is_agreed else events.TokenRefused
        append(tx, visitor.actor, kind(scope=account.username, token=request.wanted.name))
    return request


def claim_token(store: Store, visitor: Visitor, id_: str) -> IssuedToken | None:
    """The token, once the person has confirmed; None until they have decided.

    Raises NotAllowed if they refused. Only the sign-in that requested it gets a response.
    """
    account = require_person(visitor.actor)
    with store.writing() as tx:
        # Serializes requests of the account, because the number of its tokens is limited.
        lock_account(tx, account.id)
        request = tokens.find_token_request(tx.connection, id_, tx.at_ms)
        if request is None or request.grant_id != visitor.grant_id:
            raise NotFound(_GONE)
        if request.is_agreed is None:
            return None
        if not tokens.remove_token_request(tx, id_):
            raise NotFound(_GONE)
        if request.is_agreed:
            return _add(tx, visitor.actor, account, request.wanted, request.grant_id)
    raise NotAllowed("The token was refused in the browser.")


def _find_request(
    connection: Snapshot, account: Account, code: str, now_ms: int
) -> TokenRequest | None:
    return tokens.find_token_request_by_code(connection, account.id, plain_code(code), now_ms)

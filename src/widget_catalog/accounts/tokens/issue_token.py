"""Access tokens for machines: create, list, revoke."""

from collections.abc import Callable
from typing import NamedTuple

from widget_contract.errors import InvalidName
from widget_contract.names import Scope
from widget_contract.texts import name_fault

from ...catalog.store.events import append
from ...catalog.widgets import parse_key
from ...core.actors import TOKEN_RIGHTS, Account, Actor, Limits, Visitor
from ...core.credentials import TOKEN_PREFIX, hash_secret, new_id, new_secret
from ...core.db.engine import Store, Transaction
from ...core.errors import InvalidRequest, NotFound, TooOften
from ..events import TokenCreated, TokenRevoked
from ..memberships import list_publishing_scopes
from ..permissions import require_person
from ..sign_in import hold_session
from .store import (
    Token,
    add_token,
    has_expired_tokens,
    list_tokens,
    remove_expired_tokens,
    remove_token,
)

MAX_DAYS = 366
MAX_TOKENS = 100
_DAY_MS = 86_400_000
_MAX_NAME = 100
_MAX_PLACES = 100


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


def issue_token(
    store: Store, visitor: Visitor, *, name: str, limits: Limits, days: int
) -> IssuedToken:
    """By a person with a session. A program has to ask for confirmation: `confirm_token.py`."""
    account = require_person(visitor.actor)
    with store.writing() as tx:
        hold_session(tx, visitor)
        return add_new_token(tx, visitor.actor, account, name=name, limits=limits, days=days)


def add_new_token(
    tx: Transaction,
    actor: Actor,
    account: Account,
    *,
    name: str,
    limits: Limits,
    days: int,
    grant_id: str | None = None,
) -> IssuedToken:
    if len(list_tokens(tx.connection, account.id, tx.at_ms)) >= MAX_TOKENS:
        sentence = f"You have {MAX_TOKENS} access tokens, which is the limit. Revoke one first."
        raise TooOften(sentence, wait_s=60)
    secret = new_secret(TOKEN_PREFIX)
    token = add_token(
        tx,
        id_=new_id(),
        secret_hash=hash_secret(secret),
        account_id=account.id,
        name=name,
        limits=limits,
        expires_at=tx.at_ms + days * _DAY_MS,
        grant_id=grant_id,
    )
    append(tx, actor, TokenCreated(scope=account.username, token=name, id=token.id))
    return IssuedToken(secret, token)


def list_own_tokens(store: Store, actor: Actor) -> list[Token]:
    account = require_person(actor)
    with store.reading() as connection:
        return list_tokens(connection, account.id, store.now_ms())


def revoke_token(store: Store, actor: Actor, id_: str) -> None:
    account = require_person(actor)
    with store.writing() as tx:
        if not remove_token(tx, account.id, id_):
            raise NotFound("There is no such token.")
        append(tx, actor, TokenRevoked(scope=account.username, id=id_))


def forget_tokens(store: Store) -> None:
    """Remove expired tokens of all accounts."""
    with store.reading() as connection:
        if not has_expired_tokens(connection, store.now_ms()):
            return
    with store.writing() as tx:
        remove_expired_tokens(tx)


def parse_limits(
    store: Store,
    actor: Actor,
    name: str,
    actions: list[str],
    scopes: list[str],
    widgets: list[str],
    days: int,
    called: FieldNames = _IN_API,
) -> Limits:
    """The permissions of a token, or InvalidRequest with all errors.

    Only for scopes and widgets that the account may publish to. A widget need not exist yet. An
    operator's token may be for any.
    """
    faults = []
    if fault := name_fault(name, _MAX_NAME):
        faults.append(f"{called.name}: {fault}")
    known = [right.value for right in TOKEN_RIGHTS]
    if not actions or not set(actions) <= set(known):
        faults.append(f"{called.actions}: must be some of {', '.join(known)}.")
    if not 1 <= days <= MAX_DAYS:
        faults.append(f"{called.days}: must be a whole number from 1 to {MAX_DAYS}.")
    if len(scopes) + len(widgets) > _MAX_PLACES:
        faults.append(f"{called.scopes}: at most {_MAX_PLACES} scopes and widgets can be named.")
    places = _parsed(called.scopes, Scope.parse, scopes, faults)
    keys = _parsed(called.widgets, lambda key: "/".join(parse_key(key)), widgets, faults)
    if not actor.is_operator and (places or keys):
        own = {str(it.name) for it in list_publishing_scopes(store, actor)}
        faults += _foreign(called.scopes, places, own)
        faults += _foreign(called.widgets, keys, own)
    if faults:
        raise InvalidRequest(" ".join(faults))
    rights = tuple(right for right in TOKEN_RIGHTS if right.value in actions)
    return Limits(rights=rights, scopes=places, widgets=keys)


def _foreign(field: str, places: tuple[str, ...], own: set[str]) -> list[str]:
    foreign = [it for it in places if it.partition("/")[0] not in own]
    return [f"{field}: you cannot publish to {', '.join(foreign[:5])}."] if foreign else []


def _parsed(
    field: str, parse: Callable[[str], str], texts: list[str], faults: list[str]
) -> tuple[str, ...]:
    parsed = []
    for text in texts:
        try:
            parsed.append(parse(text))
        except InvalidName as error:
            faults.append(f"{field}: {error.message}")
    return tuple(parsed)

"""A person's own second factors: list, add, rename, remove; new recovery codes."""

from collections.abc import Mapping
from typing import Any

import msgspec

from widget_contract.texts import name_error

from ...catalog.store.events import append
from ...core.actors import Account, Visitor
from ...core.credentials import new_id
from ...core.db.engine import Store, Transaction
from ...core.errors import Conflict, FieldMessage, InvalidRequest, NotFound
from ...core.keys import SecretBox
from .. import events
from ..attempts import count_attempt, remember_network
from ..permissions import require_person
from ..sign_in import changing_own
from ..store import confirm_session
from . import store as factors
from .passkeys import check_new, creation_options, new_challenge
from .proving import (
    WRONG_CODE,
    FactorPolicy,
    find_step,
    hash_recovery_code,
    is_required,
    new_app_secret,
    new_recovery_codes,
)
from .store import Factors, Passkey, find_factors

MAX_PASSKEYS = 20
_MAX_NAME = 60
_TRIES = 20


class PasskeyOffered(msgspec.Struct, frozen=True):
    """A passkey to be added; stored in the page, signed, until the browser has created it."""

    account_id: int
    challenge: str


class AppOffered(msgspec.Struct, frozen=True):
    """An app to be set up; stored in the page, signed, until its code is entered."""

    account_id: int
    secret: str


def passkey_name_error(name: str) -> str | None:
    """What is wrong with the name of a passkey."""
    error = name_error(name, _MAX_NAME)
    return f"The name {error}" if error else None


def list_factors(store: Store, visitor: Visitor) -> Factors:
    account = require_person(visitor.actor)
    with store.reading() as connection:
        return find_factors(connection, account.id)


def needs_factor(store: Store, policy: FactorPolicy, visitor: Visitor) -> bool:
    """Whether this catalog requires a second factor of this person."""
    account = require_person(visitor.actor)
    with store.reading() as connection:
        return is_required(connection, policy, account)


def offer_passkey(
    store: Store, policy: FactorPolicy, visitor: Visitor
) -> tuple[PasskeyOffered, str]:
    """A new passkey, and the options for the browser to create it, as JSON."""
    account = require_person(visitor.actor)
    offered = PasskeyOffered(account.id, new_challenge())
    known = list_factors(store, visitor).passkeys
    return offered, creation_options(policy.site, account, offered.challenge, known)


def add_own_passkey(
    store: Store,
    policy: FactorPolicy,
    visitor: Visitor,
    offered: PasskeyOffered,
    credential: Mapping[str, Any],
    name: str,
) -> list[str]:
    """Add a passkey; returns new recovery codes if it is the first second factor."""
    _require_offered(visitor, offered.account_id)
    if policy.site.passkey_error:
        raise InvalidRequest(policy.site.passkey_error)
    _check_name(name)
    made = check_new(policy.site, offered.challenge, credential)
    with changing_own(store, visitor) as (tx, account):
        if factors.find_passkey(tx.connection, made.credential_id) is not None:
            raise Conflict("This passkey is known here already.")
        if len(find_factors(tx.connection, account.id).passkeys) >= MAX_PASSKEYS:
            raise Conflict(f"You have {MAX_PASSKEYS} passkeys. Remove one first.")
        host, at_ms = policy.site.host, tx.at_ms
        passkey = Passkey(new_id(), account.id, host, *made, name, at_ms, last_used_at=None)
        factors.add_passkey(tx, passkey)
        append(tx, visitor.actor, events.PasskeyAdded(scope=account.username, passkey=name))
        return _with_first_codes(tx, visitor, account)


def _check_name(name: str) -> None:
    if error := passkey_name_error(name):
        raise InvalidRequest(FieldMessage("name", error))


def rename_own_passkey(store: Store, visitor: Visitor, id_: str, name: str) -> None:
    account = require_person(visitor.actor)
    _check_name(name)
    with store.writing() as tx:
        if not factors.rename_passkey(tx, account.id, id_, name):
            raise NotFound("There is no such passkey.")
        append(tx, visitor.actor, events.PasskeyRenamed(scope=account.username, passkey=name))


def remove_own_passkey(store: Store, policy: FactorPolicy, visitor: Visitor, id_: str) -> None:
    with changing_own(store, visitor) as (tx, account):
        passkeys = find_factors(tx.connection, account.id).passkeys
        name = next((passkey.name for passkey in passkeys if passkey.id == id_), None)
        if name is None or not factors.remove_passkey(tx, account.id, id_):
            raise NotFound("There is no such passkey.")
        append(tx, visitor.actor, events.PasskeyRemoved(scope=account.username, passkey=name))
        _after_removal(tx, policy, account)


def offer_app(visitor: Visitor) -> AppOffered:
    return AppOffered(require_person(visitor.actor).id, new_app_secret())


def add_own_app(
    store: Store, policy: FactorPolicy, visitor: Visitor, offered: AppOffered, code: str
) -> list[str]:
    """Set up the app, if its code is right; returns new recovery codes if it is the first second
    factor. The code is used up.
    """
    _require_offered(visitor, offered.account_id)
    count_attempt(store, {f"app of {offered.account_id}": _TRIES}, "Too many wrong codes.")
    step = find_step(offered.secret, code, store.now_ms())
    if step is None:
        raise InvalidRequest(WRONG_CODE)
    sealed = policy.box.seal(offered.secret)
    with changing_own(store, visitor) as (tx, account):
        factors.put_app(tx, account.id, sealed, step)
        append(tx, visitor.actor, events.AppAdded(scope=account.username))
        return _with_first_codes(tx, visitor, account)


def remove_own_app(store: Store, policy: FactorPolicy, visitor: Visitor) -> None:
    with changing_own(store, visitor) as (tx, account):
        if not factors.remove_app(tx, account.id):
            raise NotFound("There is no authenticator app.")
        append(tx, visitor.actor, events.AppRemoved(scope=account.username))
        _after_removal(tx, policy, account)


def make_recovery_codes(store: Store, visitor: Visitor) -> list[str]:
    """New codes, replacing all old ones. Only their hashes are stored."""
    with changing_own(store, visitor) as (tx, account):
        if not find_factors(tx.connection, account.id).has_any:
            raise Conflict("Recovery codes replace a second factor. Add one first.")
        return _new_codes(tx, visitor, account)


def find_app_errors(store: Store, box: SecretBox) -> list[str]:
    """For doctor: whether the codes of all authenticator apps can be checked."""
    with store.reading() as connection:
        apps = factors.list_apps(connection)
    unreadable = sum(1 for app in apps if box.open(app.sealed_secret) is None)
    if not unreadable:
        return []
    error = f"{unreadable} of {len(apps)} authenticator apps cannot be used, because"
    return [f"second factor: {error} second-factor.key is missing or is another one."]


def _require_offered(visitor: Visitor, offered_to: int) -> None:
    if offered_to != require_person(visitor.actor).id:
        raise InvalidRequest("This page was made for another account. Load it again.")


def _with_first_codes(tx: Transaction, visitor: Visitor, account: Account) -> list[str]:
    # This browser has just used the factor.
    remember_network(tx, account.id, visitor.actor.address or "")
    if visitor.session is not None:
        confirm_session(tx, visitor.session.id, is_two_factor=True)
    if find_factors(tx.connection, account.id).recovery_codes:
        return []
    return _new_codes(tx, visitor, account)


def _new_codes(tx: Transaction, visitor: Visitor, account: Account) -> list[str]:
    codes = new_recovery_codes()
    factors.set_recovery_codes(tx, account.id, [hash_recovery_code(code) for code in codes])
    append(tx, visitor.actor, events.RecoveryCodesMade(scope=account.username))
    return codes


def _after_removal(tx: Transaction, policy: FactorPolicy, account: Account) -> None:
    """Without a factor there is nothing to recover. The last required one cannot be removed."""
    if find_factors(tx.connection, account.id).has_any:
        return
    if is_required(tx.connection, policy, account):
        raise Conflict("This catalog requires you to have a second factor. Add another one first.")
    factors.set_recovery_codes(tx, account.id, [])

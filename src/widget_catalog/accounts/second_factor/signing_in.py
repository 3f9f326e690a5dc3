"""Signs in with a second factor after the password, or with a passkey alone; re-authenticates."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ...catalog.store.events import append
from ...core.actors import Account, Actor, Via, Visitor
from ...core.credentials import hash_secret
from ...core.db.engine import Snapshot, Store, Transaction
from ...core.errors import InvalidRequest, NotSignedIn, TooOften
from ...core.networks import network_of
from .. import sign_in as signing_in
from ..attempts import count_attempt, forgive_attempts, record_failed_sign_in, remember_network
from ..events import RecoveryCodeUsed
from ..manage_account import check_password
from ..permissions import require_person
from ..sign_in import Browser, FactorNeeded, SignInResult
from ..store import confirm_session, find_account_by_id, find_credentials, lock_account
from .passkeys import new_challenge, request_options
from .proving import Factor, FactorPolicy, Proof, prove_by_code, prove_by_passkey
from .store import Factors, find_factors, has_factor

_HALF_SIGNED_IN_MS = 5 * 60_000
_WRONG_TOGETHER = (
    "The username, the password or the code is wrong. If codes of your app were refused before, "
    "use a recovery code."
)
_BEGIN_AGAIN = "This sign-in has expired, or was started elsewhere. Start again."


class HalfSignedIn(msgspec.Struct, frozen=True):
    """A person whose password was right; stored in the browser, signed, for some minutes."""

    account_id: int
    password_mark: str
    challenge: str
    ends_at: int


class PasskeyAsked(msgspec.Struct, frozen=True):
    """A challenge for one browser, which stores it, signed, so that no other can respond."""

    challenge: str
    account_id: int | None = None


class Ways(NamedTuple):
    """The available second factors. `passkey_options` is JSON for the browser."""

    passkey_options: str | None
    has_app: bool
    has_recovery_codes: bool


class Given(msgspec.Struct, frozen=True):
    """A second factor as entered: a code, or the browser's response."""

    code: str = ""
    passkey: dict[str, Any] | None = None


def half_signed_in(store: Store, needed: FactorNeeded) -> HalfSignedIn:
    ends_at = store.now_ms() + _HALF_SIGNED_IN_MS
    mark = _password_mark(needed.password_hash)
    return HalfSignedIn(needed.account.id, mark, new_challenge(), ends_at)


def asked_again(half: HalfSignedIn) -> HalfSignedIn:
    """For another attempt with a passkey. The expiry does not change."""
    return msgspec.structs.replace(half, challenge=new_challenge())


def ways_of(store: Store, policy: FactorPolicy, half: HalfSignedIn) -> Ways:
    """How this sign-in can continue; raises NotSignedIn if it has expired."""
    with store.reading() as connection:
        account = _get_half(connection, half)
        factors = find_factors(connection, account.id)
    return ways_with(policy, factors, half.challenge, verifies_user=False)


def ways_with(
    policy: FactorPolicy, factors: Factors, challenge: str, *, verifies_user: bool
) -> Ways:
    usable = [passkey for passkey in factors.passkeys if passkey.host == policy.site.host]
    options = None
    if usable and policy.site.passkey_error is None:
        options = request_options(policy.site, challenge, usable, verifies_user=verifies_user)
    return Ways(options, factors.app is not None, factors.recovery_codes > 0)


def finish_sign_in(
    store: Store, policy: FactorPolicy, half: HalfSignedIn, given: Given, browser: Browser
) -> SignInResult:
    """The session, replacing the browser's old one, once the second factor is verified."""
    with store.reading() as connection:
        account = _get_half(connection, half)
    if given.passkey is not None:
        what = (given.passkey, half.challenge, browser.address)
        proof = prove_by_passkey(store, policy, *what, account=account, verifies_user=False)
    else:
        proof = prove_by_code(store, policy, account, given.code, browser.address)
    with store.writing() as tx:
        # The password may have been changed meanwhile, to lock an attacker out.
        lock_account(tx, account.id)
        _get_half(tx.connection, half)
        return _open(tx, proof, browser, way=f"password and {proof.factor}")


def sign_in_at_once(
    store: Store, policy: FactorPolicy, username: str, password: str, code: str, browser: Browser
) -> SignInResult:
    """With the password and a code together, also while the account is locked: nobody learns which
    of the two was wrong, so this does not help to guess either.

    Codes are counted only with the right password, so that others cannot use up the owner's.
    """
    address, too_often = browser.address, signing_in.TOO_OFTEN
    limits = signing_in.limits_near(username, address)
    own, *others = limits
    counted = count_attempt(store, limits, too_often)
    with store.reading() as connection:
        found = find_credentials(connection, username)
    try:
        if not signing_in.is_right_password(found, password):
            account = found.account if found is not None else None
            record_failed_sign_in(store, account, address, counted[own][0], limits[own])
            # Takes as long as a wrong code.
            count_attempt(store, {f"code of nobody {network_of(address)}": 1}, too_often)
            raise NotSignedIn(_WRONG_TOGETHER)
        proof = prove_by_code(store, policy, found.account, code, address)
    except (InvalidRequest, NotSignedIn, TooOften):
        raise NotSignedIn(_WRONG_TOGETHER) from None
    with store.writing() as tx:
        signing_in.hold_credentials(tx, found)
        forgive_attempts(tx, own, others)
        return _open(tx, proof, browser, way=f"password and {proof.factor}")


def sign_in_with_passkey(
    store: Store,
    policy: FactorPolicy,
    asked: PasskeyAsked,
    credential: Mapping[str, Any],
    browser: Browser,
) -> SignInResult:
    """Without a password: a passkey with user verification is two factors in one."""
    proof = prove_by_passkey(store, policy, credential, asked.challenge, browser.address)
    with store.writing() as tx:
        lock_account(tx, proof.account.id)
        account = find_account_by_id(tx.connection, proof.account.id)
        if account is None or account.is_disabled:
            raise NotSignedIn(_BEGIN_AGAIN)
        return _open(tx, proof, browser, way=str(proof.factor))


def confirm(
    store: Store,
    policy: FactorPolicy,
    visitor: Visitor,
    asked: PasskeyAsked,
    given: Given,
    password: str,
) -> None:
    """Re-authenticate: with a passkey, or with the password and a code if there is a factor."""
    account, session = require_person(visitor.actor), visitor.session
    address = visitor.actor.address or ""
    if session is None or asked.account_id != account.id:
        raise NotSignedIn(_BEGIN_AGAIN)
    proof = None
    if given.passkey is not None:
        what = (given.passkey, asked.challenge, address)
        proof = prove_by_passkey(store, policy, *what, account=account)
    else:
        with store.reading() as connection:
            needs_code = has_factor(connection, account.id)
        if not account.has_password and not needs_code:
            raise NotSignedIn("Sign in once more the way you did before.")
        if account.has_password:
            check_password(store, visitor, account, password)
        if needs_code:
            proof = prove_by_code(store, policy, account, given.code, address, session=session)
    with store.writing() as tx:
        if proof is not None:
            _take(tx, visitor.actor, proof)
        is_two_factor = session.is_two_factor or proof is not None
        confirm_session(tx, session.id, is_two_factor=is_two_factor)


def _open(tx: Transaction, proof: Proof, browser: Browser, *, way: str) -> SignInResult:
    _take(tx, Actor(via=Via.SESSION, account=proof.account, address=browser.address), proof)
    return signing_in.open_session(tx, proof.account, browser, way=way, is_two_factor=True)


def _take(tx: Transaction, actor: Actor, proof: Proof) -> None:
    """Use the factor up, and remember from where it was used."""
    proof.taken(tx)
    remember_network(tx, proof.account.id, actor.address or "")
    if proof.factor is Factor.RECOVERY_CODE:
        left = find_factors(tx.connection, proof.account.id).recovery_codes
        append(tx, actor, RecoveryCodeUsed(scope=proof.account.username, left=left))


def _get_half(connection: Snapshot, half: HalfSignedIn) -> Account:
    account = find_account_by_id(connection, half.account_id)
    found = find_credentials(connection, account.username) if account is not None else None
    if (
        found is None
        or found.account.is_disabled
        or found.password_hash is None
        or _password_mark(found.password_hash) != half.password_mark
        or not has_factor(connection, found.account.id)
    ):
        raise NotSignedIn(_BEGIN_AGAIN)
    return found.account


def _password_mark(password_hash: str) -> str:
    """A fingerprint that shows whether the password has changed, and nothing else."""
    return hash_secret(f"password mark {password_hash}")[:32]

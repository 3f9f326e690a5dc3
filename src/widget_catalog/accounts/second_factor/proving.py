"""Verifies a second factor, with limited attempts: a passkey, a TOTP code of an authenticator app
(RFC 6238), or a recovery code. And the policy: the relying party of passkeys, and who needs a
factor.
"""

import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import pyotp

from ...core.actors import Account, Session, Via, Visitor
from ...core.credentials import hash_secret
from ...core.db.engine import Snapshot, Store, Transaction
from ...core.errors import (
    ConfirmationNeeded,
    InvalidRequest,
    NotAllowed,
    NotSignedIn,
    SecondFactorMissing,
    TooOften,
)
from ...core.http.routing import StepUp
from ...core.keys import SecretBox
from ...core.networks import network_of
from ..attempts import count_attempt, forgive_attempts, is_known_network, record_failed_sign_in
from ..permissions import owns_organization
from ..settings import RequiredOf
from ..sign_in import is_fresh
from ..store import find_account_by_id
from . import store as factors
from .passkeys import NOT_ACCEPTED, PasskeySite, check_use, credential_id_of, names_user
from .store import has_factor

_WHO = {
    RequiredOf.OPERATORS: "operators",
    RequiredOf.OWNERS: "operators and of owners of organizations",
    RequiredOf.EVERYBODY: "everybody",
}


class FactorPolicy(NamedTuple):
    site: PasskeySite
    box: SecretBox
    required_of: RequiredOf


def is_required(connection: Snapshot, policy: FactorPolicy, account: Account) -> bool:
    whom = policy.required_of
    if whom is RequiredOf.OWNERS and owns_organization(connection, account.id):
        return True
    is_of_operators = whom in (RequiredOf.OPERATORS, RequiredOf.OWNERS)
    return whom is RequiredOf.EVERYBODY or (is_of_operators and account.is_operator)


def require_second_factor(store: Store, policy: FactorPolicy, visitor: Visitor) -> None:
    """Raises SecondFactorMissing for an account that must have one; ConfirmationNeeded for a
    session that was opened without it, such as through a provider.
    """
    account = visitor.actor.account
    if policy.required_of is RequiredOf.NOBODY or account is None:
        return
    with store.reading() as connection:
        if not is_required(connection, policy, account):
            return
        is_set_up = has_factor(connection, account.id)
    if not is_set_up:
        raise SecondFactorMissing(
            f"This catalog requires a second factor of {_WHO[policy.required_of]}. Set one up at "
            f"{policy.site.origin}/account/second-factor, then try again."
        )
    session = visitor.session
    if visitor.actor.via is Via.SESSION and session is not None and not session.is_two_factor:
        raise ConfirmationNeeded("Confirm with your second factor that it is you, then try again.")


def require_step_up(store: Store, visitor: Visitor, needed: StepUp) -> None:
    """Raises ConfirmationNeeded for a session that has not proved recently what is needed."""
    session = visitor.session
    if needed is StepUp.NONE or session is None:
        return
    with store.reading() as connection:
        is_set_up = has_factor(connection, session.account_id)
    if needed is StepUp.FACTOR and not is_set_up:
        return
    if is_set_up and not session.is_two_factor:
        raise ConfirmationNeeded(
            "Confirm with your second factor at /account/confirm that it is you, then try again."
        )
    if not is_fresh(store, visitor):
        raise ConfirmationNeeded("Confirm at /account/confirm that it is you, then try again.")


def refuse_program(store: Store, visitor: Visitor) -> None:
    """Raises NotAllowed for a program of a person with a second factor: it cannot show that."""
    if visitor.session is not None or visitor.actor.account is None:
        return
    with store.reading() as connection:
        is_set_up = has_factor(connection, visitor.actor.account.id)
    if is_set_up:
        raise NotAllowed(
            "You have a second factor, so a program cannot do this. Use the account page in a "
            "browser."
        )


RECOVERY_CODES = 10
_STEP_MS = 30_000
# The previous and the next code are valid, too: clocks differ, and people need time to type.
_TOLERANCE = 1
_DIGITS = re.compile(r"[0-9]{6}\Z")
# 31 letters and digits that are not easily confused, so a code has 79 bits.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_LENGTH = 16
_GROUP = 4

# A code has six digits, and three codes are valid at a time: 10 guesses succeed once in 33,000
# times.
_CODES_PER_ACCOUNT_AND_ADDRESS = 5
_CODES_PER_ACCOUNT = 10
_CODES_PER_SESSION = 5
# Recovery codes cannot be guessed. Wrong ones are counted by address, so that an attacker
# elsewhere cannot lock out the owner.
_RECOVERY_CODES_PER_ACCOUNT_AND_ADDRESS = 5
_PASSKEYS_PER_ADDRESS = 50
_TOO_OFTEN = "Too many failed attempts."
_TOO_MANY_CODES = "Too many wrong codes. You can use a passkey or a recovery code instead."

WRONG_CODE = "The code is wrong, or was used before. Wait for the next one, and try again."
_WRONG_RECOVERY_CODE = "This is not one of your recovery codes, or it was used before."
_UNREADABLE = (
    "Codes of authenticator apps can no longer be checked here. Use a passkey or a recovery "
    "code, or ask the operator."
)

_Take = Callable[[Transaction], bool]


class Factor(StrEnum):
    """A second factor besides the password."""

    PASSKEY = "passkey"
    APP = "authenticator app"
    RECOVERY_CODE = "recovery code"


class Proof(NamedTuple):
    """A verified factor. It counts only when `take` has recorded its use, once."""

    factor: Factor
    account: Account
    take: _Take

    def taken(self, tx: Transaction) -> None:
        """Raises NotSignedIn if the factor was used or removed meanwhile."""
        if not self.take(tx):
            raise NotSignedIn(WRONG_CODE if self.factor is Factor.APP else NOT_ACCEPTED)


def new_app_secret() -> str:
    return pyotp.random_base32()


def setup_address(secret: str, username: str, service_name: str) -> str:
    """The `otpauth:` URI that an authenticator app reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=username, issuer_name=service_name)


def is_app_code(code: str) -> bool:
    """Whether it looks like a code of an app; anything else can only be a recovery code."""
    return _DIGITS.match(plain_code(code)) is not None


def find_step(secret: str, code: str, now_ms: int, after: int = -1) -> int | None:
    """The time step that a code belongs to; None if it is wrong, or the step was used."""
    app, current = pyotp.TOTP(secret), now_ms // _STEP_MS
    given = plain_code(code).encode("utf-8", "surrogatepass")
    for step in range(current - _TOLERANCE, current + _TOLERANCE + 1):
        if hmac.compare_digest(app.generate_otp(step).encode(), given) and step > after:
            return step
    return None


def new_recovery_codes() -> list[str]:
    return [_new_recovery_code() for _ in range(RECOVERY_CODES)]


def _new_recovery_code() -> str:
    text = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return "-".join(text[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))


def hash_recovery_code(code: str) -> str:
    """Each has 79 random bits, so a plain hash protects it."""
    return hash_secret(f"recovery code {plain_code(code)}")


def plain_code(code: str) -> str:
    """In normal form: people type spaces, hyphens and capitals as they like."""
    return "".join(letter for letter in code[:64] if letter not in " -\t").lower()


def prove_by_code(
    store: Store,
    policy: FactorPolicy,
    account: Account,
    code: str,
    address: str,
    *,
    session: Session | None = None,
) -> Proof:
    """With a code of the app or a recovery code; raises NotSignedIn or TooOften.

    Attempts of a session that was opened with the second factor are counted for that session:
    others cannot use them up. Anybody who gets past the first factor can open other sessions, so
    their attempts are counted like those of a sign-in.
    """
    if not plain_code(code):
        raise InvalidRequest("Enter a code.")
    is_of_app = is_app_code(code)
    limits = _limits(store, account, address, session, is_of_app=is_of_app)
    own, *shared = limits
    counted = count_attempt(store, limits, _TOO_MANY_CODES if is_of_app else _TOO_OFTEN)
    find = _find_app_code if is_of_app else _find_recovery_code
    try:
        take = find(store, policy, account, code)
    except NotSignedIn:
        record_failed_sign_in(store, account, address, counted[own][0], limits[own])
        raise

    def take_and_forgive(tx: Transaction) -> bool:
        forgive_attempts(tx, own, shared)
        return take(tx)

    return Proof(Factor.APP if is_of_app else Factor.RECOVERY_CODE, account, take_and_forgive)


def _limits(
    store: Store, account: Account, address: str, session: Session | None, *, is_of_app: bool
) -> dict[str, int]:
    """The keys by which wrong codes are counted, and the limit of each.

    An attacker who knows the password can exhaust the account's limit. So it does not apply to
    networks from which the owner has used a factor; these have only the limit per network.
    """
    network = network_of(address)
    if not is_of_app:
        return {f"recovery code {account.id} {network}": _RECOVERY_CODES_PER_ACCOUNT_AND_ADDRESS}
    if session is not None and session.is_two_factor:
        return {f"code by {session.id}": _CODES_PER_SESSION}
    own = {f"code {account.id} {network}": _CODES_PER_ACCOUNT_AND_ADDRESS}
    is_known = is_known_network(store, account.id, address)
    return own if is_known else {**own, f"code {account.id}": _CODES_PER_ACCOUNT}


def prove_by_passkey(
    store: Store,
    policy: FactorPolicy,
    credential: Mapping[str, Any],
    challenge: str,
    address: str,
    *,
    account: Account | None = None,
    verifies_user: bool = True,
) -> Proof:
    """With a passkey of this account; without one, of the account that the passkey names.

    A challenge is valid for one attempt, which is recorded for as long as it lasts.
    """
    shared = f"passkey {network_of(address)}"
    count_attempt(store, {shared: _PASSKEYS_PER_ADDRESS}, _TOO_OFTEN)
    try:
        count_attempt(store, {f"challenge {hash_secret(challenge)}": 1}, _TOO_OFTEN)
    except TooOften:
        raise NotSignedIn(NOT_ACCEPTED) from None
    id_ = credential_id_of(credential)
    with store.reading() as connection:
        passkey = factors.find_passkey(connection, id_) if id_ is not None else None
        owner = find_account_by_id(connection, passkey.account_id) if passkey is not None else None
    if passkey is None or owner is None or owner.is_disabled:
        raise NotSignedIn(NOT_ACCEPTED)
    if owner.id != account.id if account is not None else not names_user(credential, owner):
        raise NotSignedIn(NOT_ACCEPTED)
    used = check_use(policy.site, challenge, credential, passkey, verifies_user=verifies_user)

    def take(tx: Transaction) -> bool:
        forgive_attempts(tx, None, [shared])
        return factors.use_passkey(tx, passkey, used.sign_count, is_backed_up=used.is_backed_up)

    return Proof(Factor.PASSKEY, owner, take)


def _find_app_code(store: Store, policy: FactorPolicy, account: Account, code: str) -> _Take:
    with store.reading() as connection:
        app = factors.find_app(connection, account.id)
    if app is None:
        raise NotSignedIn(WRONG_CODE)
    secret = policy.box.open(app.sealed_secret)
    if secret is None:
        raise InvalidRequest(_UNREADABLE)
    step = find_step(secret, code, store.now_ms(), after=app.last_step)
    if step is None:
        raise NotSignedIn(WRONG_CODE)
    return lambda tx: factors.use_step(tx, account.id, step)


def _find_recovery_code(store: Store, _policy: FactorPolicy, account: Account, code: str) -> _Take:
    code_hash = hash_recovery_code(code)
    with store.reading() as connection:
        is_known = factors.has_recovery_code(connection, account.id, code_hash)
    if not is_known:
        raise NotSignedIn(_WRONG_RECOVERY_CODE)
    return lambda tx: factors.use_recovery_code(tx, account.id, code_hash)

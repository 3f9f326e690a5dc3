"""Codes that people type at /device: of devices that want to sign in, and of programs that request
an access token.

A program signed in with OAuth cannot create an access token by itself. Otherwise it could turn an
hour of access into a year, and keep it after it is signed out.
"""

import secrets
from typing import NamedTuple

from ...catalog.store.events import append
from ...core.actors import Account, Visitor
from ...core.credentials import (
    DEVICE_PREFIX,
    hash_secret,
    new_secret,
    plain_code,
    shown_code,
)
from ...core.db.engine import Snapshot, Store
from ...core.errors import InvalidRequest, NotFound, NotSignedIn
from ..attempts import count_attempt, forgive_attempts
from ..events import TokenConfirmed, TokenRefused, TokenRequested
from ..permissions import require_person
from ..sign_in import changing_own
from ..store import lock_account
from ..tokens.store import WantedToken, decode_wanted, encode_wanted
from .serving import OAuthConfig
from .store import (
    DEVICE_S,
    INTERVAL_S,
    Device,
    add_device,
    decide_waiting,
    find_device_by_user_code,
    find_grant,
    remove_token_requests,
)

# No vowels, so that codes never form words, and no letters that are easily confused.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_CODES_PER_ACCOUNT = 10
_TOO_OFTEN = "Too many wrong codes."


class DeviceRequest(NamedTuple):
    """What waits for a decision: its code, the program, and the access token if it requests one."""

    user_code: str
    client_name: str
    wanted: WantedToken | None


def request_token(
    store: Store, config: OAuthConfig, visitor: Visitor, wanted: WantedToken
) -> dict[str, object]:
    """The response of the device grant (RFC 8628) for an access token. One request per sign-in: the
    last.
    """
    account = require_person(visitor.actor)
    if visitor.grant_id is None:
        raise InvalidRequest(
            "Only a program that was signed in with OAuth requests a token. With a session, create "
            "it: POST /api/tokens."
        )
    device_code = new_secret(DEVICE_PREFIX)
    user_code = "".join(secrets.choice(_LETTERS) for _ in range(8))
    with store.writing() as tx:
        lock_account(tx, account.id)
        grant = find_grant(tx.connection, visitor.grant_id)
        if grant is None:
            raise NotSignedIn("The program has just been signed out. Sign in again.")
        remove_token_requests(tx, grant.id)
        waiting = Device(
            device_hash=hash_secret(device_code),
            user_code=user_code,
            client_id=grant.client_id,
            scope="",
            expires_at=tx.at_ms + DEVICE_S * 1000,
            last_polled_at=None,
            account_id=None,
            is_denied=False,
            wanted_token=encode_wanted(wanted),
            grant_id=grant.id,
        )
        add_device(tx, waiting)
        append(tx, visitor.actor, TokenRequested(scope=account.username, token=wanted.name))
    page, shown = f"{config.issuer}/device", shown_code(user_code)
    return {
        "device_code": device_code,
        "user_code": shown,
        "verification_uri": page,
        "verification_uri_complete": f"{page}?user_code={shown}",
        "expires_in": DEVICE_S,
        "interval": INTERVAL_S,
    }


def find_device_request(
    store: Store, config: OAuthConfig, visitor: Visitor, user_code: str
) -> DeviceRequest:
    """What waits with this code, or NotFound; guesses are rate limited."""
    account = require_person(visitor.actor)
    limits = {f"device {account.id}": _CODES_PER_ACCOUNT}
    count_attempt(store, limits, _TOO_OFTEN)
    with store.reading() as connection:
        device = _find_pending(connection, account, user_code, store.now_ms())
    client = config.clients.get(device.client_id) if device is not None else None
    if device is None or client is None:
        raise NotFound(
            f"Nothing waits for @{account.username} with this code. Check the code, and that you "
            "are signed in as the account that the program uses; or have a new code shown."
        )
    with store.writing() as tx:
        forgive_attempts(tx, None, list(limits))
    return DeviceRequest(shown_code(device.user_code), client.name, _wanted_of(device))


def decide_device(
    store: Store, config: OAuthConfig, visitor: Visitor, user_code: str, *, is_agreed: bool
) -> DeviceRequest:
    """Authorize or deny the device, confirm or refuse the token."""
    found = find_device_request(store, config, visitor, user_code)
    with changing_own(store, visitor) as (tx, account):
        decision = {"account_id": account.id} if is_agreed else {"is_denied": True}
        device = _find_pending(tx.connection, account, user_code, tx.at_ms)
        if device is None or not decide_waiting(tx, device.device_hash, **decision):
            raise NotFound("This code has just been used or has expired.")
        if found.wanted is not None:
            kind = TokenConfirmed if is_agreed else TokenRefused
            append(tx, visitor.actor, kind(scope=account.username, token=found.wanted.name))
    return found


def _find_pending(
    connection: Snapshot, account: Account, user_code: str, now_ms: int
) -> Device | None:
    """A decision is final. A token is confirmed by the account whose program requests it."""
    device = find_device_by_user_code(connection, plain_code(user_code))
    if device is None or device.expires_at <= now_ms:
        return None
    if device.is_denied or device.account_id is not None:
        return None
    if device.grant_id is not None:
        grant = find_grant(connection, device.grant_id)
        if grant is None or grant.account_id != account.id:
            return None
    return device


def _wanted_of(device: Device) -> WantedToken | None:
    return None if device.wanted_token is None else decode_wanted(device.wanted_token)

"""The device grant: a person authorizes a device without a browser, by the code it shows."""

from typing import NamedTuple

from ...core.actors import Visitor
from ...core.credentials import plain_code, shown_code
from ...core.db.engine import Snapshot, Store
from ...core.errors import NotFound
from ..attempts import count_attempt
from ..permissions import require_person
from ..session_store import forgive_attempts
from ..sign_in import hold_session
from .server import OAuthConfig
from .store import Device, decide_waiting, find_device_by_user_code

_PER_ACCOUNT = 10
_TOO_OFTEN = "Too many wrong codes."


class DeviceRequest(NamedTuple):
    """A device that waits for authorization: its code, and the program that runs on it."""

    user_code: str
    client_name: str


def find_device_request(
    store: Store, config: OAuthConfig, visitor: Visitor, user_code: str
) -> DeviceRequest:
    """The device with this code, or NotFound; guesses are rate limited."""
    account = require_person(visitor.actor)
    limits = {f"device {account.id}": _PER_ACCOUNT}
    count_attempt(store, limits, _TOO_OFTEN)
    with store.reading() as connection:
        device = _find(connection, user_code, store.now_ms())
    client = config.clients.get(device.client_id) if device is not None else None
    if device is None or client is None:
        raise NotFound("Nothing waits with this code. Look again, or have a new one shown.")
    with store.writing() as tx:
        forgive_attempts(tx, None, list(limits))
    return DeviceRequest(shown_code(device.user_code), client.name)


def decide_device(
    store: Store, config: OAuthConfig, visitor: Visitor, user_code: str, *, is_agreed: bool
) -> DeviceRequest:
    """Authorize or deny the device."""
    found = find_device_request(store, config, visitor, user_code)
    decision = {"account_id": visitor.actor.account_id} if is_agreed else {"is_denied": True}
    with store.writing() as tx:
        hold_session(tx, visitor)
        device = _find(tx.connection, user_code, tx.at_ms)
        if device is None or not decide_waiting(tx, device.device_hash, **decision):
            raise NotFound("This code has just been used or has expired.")
    return found


def _find(connection: Snapshot, user_code: str, now_ms: int) -> Device | None:
    """A pending device: a decision is final."""
    device = find_device_by_user_code(connection, plain_code(user_code))
    if device is None or device.expires_at <= now_ms:
        return None
    return None if device.is_denied or device.account_id is not None else device

"""What the OAuth server does, in one transaction each: consent, exchange, revoke; and the device
grant, where a person authorizes a device without a browser, by the code it shows.
"""

from typing import NamedTuple

from authlib.oauth2 import OAuth2Error

from ...core.actors import Visitor
from ...core.credentials import plain_code, shown_code
from ...core.db.engine import Snapshot, Store, Transaction
from ...core.errors import NotFound
from ...core.networks import network_of
from ..attempts import count_attempt, forgive_attempts
from ..permissions import require_person
from ..sign_in import changing_own, hold_session
from .grants import S256, CodeGrant, DeviceEndpoint, DeviceGrant, RefreshGrant, Revocation
from .server import (
    NO_CLIENT_ID,
    OAuthConfig,
    OAuthResponse,
    Pairs,
    Parameters,
    Server,
    message_of,
    shown_id,
)
from .store import Device, decide_waiting, find_device_by_user_code

_DEVICES_PER_ADDRESS = 30
_CODES_PER_ACCOUNT = 10
_TOO_OFTEN = "Too many wrong codes."
_TOO_MANY = "Too many devices from this address are waiting for authorization."


class Consent(NamedTuple):
    """The permission that a person is asked for."""

    client_name: str
    redirect_uri: str


class Refused(NamedTuple):
    """A request that cannot be redirected back, because its client is unknown or invalid.

    `is_unknown_client`: the operator has not registered it.
    """

    sentence: str
    is_unknown_client: bool = False


class DeviceRequest(NamedTuple):
    """A device that waits for authorization: its code, and the program that runs on it."""

    user_code: str
    client_name: str


def check_authorization(config: OAuthConfig, pairs: Pairs) -> Consent | OAuthResponse | Refused:
    """What to ask the person; or where to redirect them, or what error to show."""
    try:
        grant = _server(config).get_consent_grant(Parameters("GET", pairs))
    except OAuth2Error as error:
        return _refusal(config, error, pairs)
    return Consent(grant.client.name, grant.redirect_uri)


def authorize(
    store: Store, config: OAuthConfig, pairs: Pairs, visitor: Visitor | None
) -> OAuthResponse | Refused:
    """Redirect the person back with a code, or with an error if they refused."""
    account = visitor.actor.account if visitor is not None else None
    with store.writing() as tx:
        if visitor is not None:
            hold_session(tx, visitor)
        server = _server(config, tx)
        try:
            request = server.create_oauth2_request(Parameters("GET", pairs))
            grant = server.get_consent_grant(request, account)
        except OAuth2Error as error:
            return _refusal(config, error, pairs)
        response: OAuthResponse = server.create_authorization_response(request, account, grant)
        return response


def exchange(store: Store, config: OAuthConfig, pairs: Pairs, address: str) -> OAuthResponse:
    """Tokens for a code, a refresh token or a device code."""
    return _respond(store, config, pairs, address, None)


def revoke(store: Store, config: OAuthConfig, pairs: Pairs, address: str) -> OAuthResponse:
    return _respond(store, config, pairs, address, Revocation.ENDPOINT_NAME)


def start_device(store: Store, config: OAuthConfig, pairs: Pairs, address: str) -> OAuthResponse:
    """Start the device grant. More codes are easier to guess, so each client may have few."""
    count_attempt(store, {f"devices {network_of(address)}": _DEVICES_PER_ADDRESS}, _TOO_MANY)
    return _respond(store, config, pairs, address, DeviceEndpoint.ENDPOINT_NAME)


def _respond(
    store: Store, config: OAuthConfig, pairs: Pairs, address: str, endpoint: str | None
) -> OAuthResponse:
    """Of an endpoint; of that for tokens, if none is named.

    Errors are ordinary responses here, so their changes are committed: reuse of a code or token
    has ended its sign-in.
    """
    given = Parameters("POST", pairs)
    with store.writing() as tx:
        server = _server(config, tx, address)
        try:
            response: OAuthResponse = (
                server.create_token_response(given)
                if endpoint is None
                else server.create_endpoint_response(endpoint, given)
            )
        except OAuth2Error as error:
            return server.handle_error_response(given, error)
        return response


def _server(config: OAuthConfig, tx: Transaction | None = None, address: str = "") -> Server:
    server = Server(config, tx, address)
    server.register_grant(CodeGrant, [S256(required=True)])
    server.register_grant(RefreshGrant)
    server.register_grant(DeviceGrant)
    server.register_endpoint(DeviceEndpoint)
    server.register_endpoint(Revocation)
    return server


def _refusal(config: OAuthConfig, error: OAuth2Error, pairs: Pairs) -> OAuthResponse | Refused:
    if error.redirect_uri:
        return Server(config).handle_error_response(None, error)
    if error.error != "invalid_client":
        return Refused(message_of(error))
    client_id = dict(pairs).get("client_id")
    if not client_id:
        return Refused(NO_CLIENT_ID)
    return Refused(
        f"The program that sent you here calls itself {shown_id(client_id)}, and no program "
        "with this client id is registered. If you operate this catalog, register it with "
        "the setting oauth_clients: its id, its name and its redirect address.",
        is_unknown_client=True,
    )


def find_device_request(
    store: Store, config: OAuthConfig, visitor: Visitor, user_code: str
) -> DeviceRequest:
    """The device with this code, or NotFound; guesses are rate limited."""
    account = require_person(visitor.actor)
    limits = {f"device {account.id}": _CODES_PER_ACCOUNT}
    count_attempt(store, limits, _TOO_OFTEN)
    with store.reading() as connection:
        device = _find_pending(connection, user_code, store.now_ms())
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
    with changing_own(store, visitor) as (tx, account):
        decision = {"account_id": account.id} if is_agreed else {"is_denied": True}
        device = _find_pending(tx.connection, user_code, tx.at_ms)
        if device is None or not decide_waiting(tx, device.device_hash, **decision):
            raise NotFound("This code has just been used or has expired.")
    return found


def _find_pending(connection: Snapshot, user_code: str, now_ms: int) -> Device | None:
    """A decision is final."""
    device = find_device_by_user_code(connection, plain_code(user_code))
    if device is None or device.expires_at <= now_ms:
        return None
    return None if device.is_denied or device.account_id is not None else device

"""Endpoints of the OAuth server: consent, exchange, revoke, device. One transaction each."""

from typing import NamedTuple

from authlib.oauth2 import OAuth2Error

from ...core.actors import Visitor
from ...core.db.engine import Store, Transaction
from ...core.networks import network_of
from ..attempts import count_attempt
from ..sign_in import hold_session
from .grants import S256, CodeGrant, DeviceEndpoint, DeviceGrant, RefreshGrant, Revocation
from .server import (
    ACCESS_SECONDS,
    NO_CLIENT_ID,
    Answer,
    OAuthConfig,
    Pairs,
    Parameters,
    Server,
    message_of,
    shown_id,
)

__all__ = ["ACCESS_SECONDS", "Answer", "OAuthConfig"]

_DEVICES_PER_ADDRESS = 30


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


def check_authorization(config: OAuthConfig, pairs: Pairs) -> Consent | Answer | Refused:
    """What to ask the person; or where to redirect them, or what error to show."""
    try:
        grant = _server(config).get_consent_grant(Parameters("GET", pairs))
    except OAuth2Error as error:
        return _refusal(config, error, pairs)
    return Consent(grant.client.about.name, grant.redirect_uri)


def authorize(
    store: Store, config: OAuthConfig, pairs: Pairs, visitor: Visitor | None
) -> Answer | Refused:
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
        answer: Answer = server.create_authorization_response(request, account, grant)
        return answer


def exchange(store: Store, config: OAuthConfig, pairs: Pairs, address: str) -> Answer:
    """Tokens for a code, a refresh token or a device code.

    Errors are ordinary responses here, so their changes are committed: reuse of a code or token
    has ended its sign-in.
    """
    with store.writing() as tx:
        server = _server(config, tx, address)
        try:
            answer: Answer = server.create_token_response(Parameters("POST", pairs))
        except OAuth2Error as error:
            return server.refusal(error)
        return answer


def revoke(store: Store, config: OAuthConfig, pairs: Pairs, address: str) -> Answer:
    return _at_endpoint(store, config, Revocation.ENDPOINT_NAME, pairs, address)


def start_device(store: Store, config: OAuthConfig, pairs: Pairs, address: str) -> Answer:
    """Start the device grant. More codes are easier to guess, so each client may have few."""
    limits = {f"devices {network_of(address)}": _DEVICES_PER_ADDRESS}
    count_attempt(
        store, limits, "Too many devices from this address are waiting for authorization."
    )
    return _at_endpoint(store, config, DeviceEndpoint.ENDPOINT_NAME, pairs, address)


def _at_endpoint(
    store: Store, config: OAuthConfig, name: str, pairs: Pairs, address: str
) -> Answer:
    with store.writing() as tx:
        server = _server(config, tx, address)
        try:
            answer: Answer = server.create_endpoint_response(name, Parameters("POST", pairs))
        except OAuth2Error as error:
            return server.refusal(error)
        return answer


def _server(config: OAuthConfig, tx: Transaction | None = None, address: str = "") -> Server:
    server = Server(config, tx, address)
    server.register_grant(CodeGrant, [S256(required=True)])
    server.register_grant(RefreshGrant)
    server.register_grant(DeviceGrant)
    server.register_endpoint(DeviceEndpoint)
    server.register_endpoint(Revocation)
    return server


def _refusal(config: OAuthConfig, error: OAuth2Error, pairs: Pairs) -> Answer | Refused:
    if error.redirect_uri:
        return Server(config).refusal(error)
    client_id = dict(pairs).get("client_id")
    if error.error == "invalid_client" and not client_id:
        return Refused(NO_CLIENT_ID)
    if error.error == "invalid_client" and client_id:
        return Refused(
            f"The program that sent you here calls itself {shown_id(client_id)}, and no program "
            "with this client id is registered. If you operate this catalog, register it with "
            "the setting oauth_clients: its id, its name and its redirect address.",
            is_unknown_client=True,
        )
    return Refused(message_of(error))

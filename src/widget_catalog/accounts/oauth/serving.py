"""Server: Authlib's interface to this service, one instance per request; and what it does, in one
transaction each: consent, exchange, revoke, and the start of the device grant.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from authlib.common.urls import add_params_to_uri
from authlib.oauth2 import OAuth2Error, rfc6749
from authlib.oauth2.rfc6749 import InvalidRequestError, InvalidScopeError, OAuth2Request
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator

from ...catalog.model.events import Event
from ...catalog.store.events import append
from ...core.actors import Account, Visitor
from ...core.credentials import (
    OAUTH_PREFIX,
    REFRESH_PREFIX,
    hash_secret,
    new_id,
    new_secret,
)
from ...core.db.engine import Store, Transaction
from ...core.networks import network_of
from ..attempts import count_attempt
from ..events import AccessEnded, AccessGranted
from ..settings import GRANTS, SCOPES, OAuthClient
from ..sign_in import hold_session, program_of
from ..store import find_account_by_id
from .grants import S256, CodeGrant, DeviceEndpoint, DeviceGrant, RefreshGrant, TokenRevocation
from .store import Grant, TokenPair, add_grant, add_pair, find_grant, remove_device, remove_grant

Pairs = Sequence[tuple[str, str]]

ACCESS_SECONDS = 3600
_REFRESH_MS = 60 * 86_400_000

_SHOWN_CHARACTERS = 80

# If these parameters were repeated, it would be ambiguous which value counts.
_ONCE = frozenset(
    "client_id client_secret code code_challenge code_challenge_method code_verifier device_code "
    "grant_type redirect_uri refresh_token response_type scope state token".split()
)
NO_CLIENT_ID = "client_id is missing."
_SENTENCES = {
    "access_denied": "The person has not agreed.",
    "authorization_pending": "The person has not agreed yet. Ask again later.",
    "expired_token": "This device code has expired. Start again.",
    "invalid_client": "There is no such client here.",
    "invalid_grant": "This code or token is unknown, expired, used or revoked, or what was sent "
    "along does not belong to it. Sign in again.",
    "invalid_scope": "This is more than was agreed to.",
    "slow_down": "You ask too often. Wait longer between two questions.",
    "unauthorized_client": "This code or token was given to another client.",
    "unsupported_grant_type": f"grant_type must be one of {', '.join(GRANTS)}.",
    "unsupported_response_type": "response_type must be code.",
}


class OAuthConfig(NamedTuple):
    """Registered clients, the issuer URL, and the maximum lifetime of a program's sign-in."""

    clients: Mapping[str, OAuthClient]
    issuer: str
    grant_ms: int


class OAuthResponse(NamedTuple):
    """The response to the client; `location`, if set, is where to redirect the person."""

    status: int
    body: dict[str, Any]
    location: str | None = None


class UnknownScope(InvalidScopeError):
    description = f"scope has nothing that is known here: {', '.join(SCOPES)}."


class Server(rfc6749.AuthorizationServer):
    def __init__(
        self, config: OAuthConfig, tx: Transaction | None = None, address: str = ""
    ) -> None:
        """`address` is where the request comes from, for the audit log."""
        super().__init__()
        self.config = config
        self.address = address
        self._tx = tx
        self._client_id: str | None = None
        generator = BearerTokenGenerator(
            lambda **_: new_secret(OAUTH_PREFIX),
            lambda **_: new_secret(REFRESH_PREFIX),
            ACCESS_SECONDS,
        )
        self.register_token_generator("default", generator)

    @property
    def tx(self) -> Transaction:
        if self._tx is None:
            raise RuntimeError("Nothing can be written here.")
        return self._tx

    def query_client(self, client_id: str) -> OAuthClient | None:
        return self.config.clients.get(client_id)

    def validate_requested_scope(self, scope: str | None) -> None:
        """Unknown scopes are ignored, as in OpenID Connect, unless there are no others."""
        wanted = (scope or "").split()
        if wanted and not set(SCOPES).intersection(wanted):
            raise UnknownScope

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        grant = self._grant(token, request)
        ends_at = grant.created_at + self.config.grant_ms
        pair = TokenPair(
            access_hash=hash_secret(token["access_token"]),
            refresh_hash=hash_secret(token["refresh_token"]),
            grant_id=grant.id,
            issued_at=self.tx.at_ms,
            access_expires_at=self.tx.at_ms + ACCESS_SECONDS * 1000,
            refresh_expires_at=min(self.tx.at_ms + _REFRESH_MS, ends_at),
            rotated_at=None,
        )
        add_pair(self.tx, pair)

    def _grant(self, token: dict[str, Any], request: Any) -> Grant:
        """The sign-in of a new pair, created here for the first pair."""
        if request.refresh_token is not None:
            known: Grant = request.refresh_token.grant
            return known
        code, device = request.authorization_code, request.credential
        if device is not None:
            remove_device(self.tx, device.device.device_hash)
        grant_id = code.grant_id if code is not None else new_id()
        user: Account = request.user
        client_id, scope = request.client.get_client_id(), token.get("scope", "")
        grant = Grant(grant_id, user.id, client_id, scope, self.tx.at_ms)
        add_grant(self.tx, grant)
        way = "device" if device is not None else "browser"
        self._record(grant, user, AccessGranted(scope=user.username, grant=grant.id, way=way))
        return grant

    def end_grant(self, grant_id: str, reason: str) -> None:
        """End a sign-in with all its tokens."""
        grant = find_grant(self.tx.connection, grant_id)
        user = find_account_by_id(self.tx.connection, grant.account_id) if grant else None
        if grant is not None and user is not None:
            remove_grant(self.tx, grant_id)
            event = AccessEnded(scope=user.username, grant=grant.id, reason=reason)
            self._record(grant, user, event)

    def _record(self, grant: Grant, user: Account, event: Event) -> None:
        append(self.tx, program_of(user, grant.client_id, self.address), event)

    def send_signal(self, name: str, *args: object, **values: object) -> None:
        pass

    def create_oauth2_request(self, request: "OAuth2Request | Parameters") -> OAuth2Request:
        if isinstance(request, OAuth2Request):
            return request
        self._client_id = dict(request.pairs).get("client_id")
        return _Request(request)

    def handle_response(self, status: int, body: Any, headers: Pairs) -> OAuthResponse:
        location = dict(headers).get("Location")
        if location is None:
            return OAuthResponse(status, body if isinstance(body, dict) else {})
        return OAuthResponse(status, {}, add_params_to_uri(location, [("iss", self.config.issuer)]))

    def handle_error_response(self, _request: Any, error: OAuth2Error) -> OAuthResponse:
        """An OAuth error with a message, for the client directly or by redirect."""
        sentence = self._sentence_of(error)
        if not error.redirect_uri:
            return OAuthResponse(400, {"error": error.error, "error_description": sentence})
        parameters = [("error", error.error), ("error_description", sentence)]
        if error.state:
            parameters.append(("state", error.state))
        location = add_params_to_uri(error.redirect_uri, parameters)
        return self.handle_response(302, "", [("Location", location)])

    def _sentence_of(self, error: OAuth2Error) -> str:
        client_id = self._client_id
        if error.error != "invalid_client" or client_id in self.config.clients:
            return message_of(error)
        if not client_id:
            return NO_CLIENT_ID
        return (
            f"No program with the client id {shown_id(client_id)} is registered here. "
            "The operator registers programs with the setting oauth_clients."
        )


class Parameters(NamedTuple):
    method: str
    pairs: Pairs


class _Payload(BasicOAuth2Payload):
    @property
    def response_type(self) -> str:
        """Only what is allowed in an error: Authlib quotes it there, and fails otherwise."""
        return "code" if self.data.get("response_type") == "code" else "another"


class _Request(OAuth2Request):
    """The parameters of a request, from its query or body, and nothing else."""

    def __init__(self, given: Parameters) -> None:
        # Authlib rejects addresses without TLS, but only the proxy in front knows whether TLS is
        # used.
        super().__init__(given.method, "https://catalog.invalid/")
        counted = Counter(name for name, _ in given.pairs)
        for name in sorted(_ONCE):
            if counted[name] > 1:
                raise InvalidRequestError(f"{name} is there more than once.")
        # A parameter without a value is treated as omitted (RFC 6749, 3.1).
        self._fields = {name: value for name, value in given.pairs if value}
        self.payload = _Payload(self._fields)

    @property
    def form(self) -> dict[str, str]:
        return self._fields


def shown_id(client_id: str) -> str:
    """Short, and without characters that could deceive a reader."""
    shown = ascii(client_id)
    if len(shown) <= _SHOWN_CHARACTERS:
        return shown
    return f"{shown[:_SHOWN_CHARACTERS]}…{shown[-1]}"


def message_of(error: OAuth2Error) -> str:
    """Our own message, except for invalid requests, where Authlib's is more specific."""
    if isinstance(error, UnknownScope):
        return UnknownScope.description
    return str(_SENTENCES.get(error.error) or error.description or "This cannot be understood.")


_DEVICES_PER_ADDRESS = 30
_TOO_MANY = "Too many devices from this address are waiting for authorization."


class Consent(NamedTuple):
    """The permission that a person is asked for."""

    client_name: str
    redirect_uri: str


class Refused(NamedTuple):
    """A request that cannot be redirected back, because its client is unknown or invalid."""

    sentence: str
    is_unknown_client: bool = False


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
    return _respond(store, config, pairs, address, TokenRevocation.ENDPOINT_NAME)


def start_device(store: Store, config: OAuthConfig, pairs: Pairs, address: str) -> OAuthResponse:
    """Start the device grant. More codes are easier to guess, so each client may have few."""
    count_attempt(store, {f"devices {network_of(address)}": _DEVICES_PER_ADDRESS}, _TOO_MANY)
    return _respond(store, config, pairs, address, DeviceEndpoint.ENDPOINT_NAME)


def _respond(
    store: Store, config: OAuthConfig, pairs: Pairs, address: str, endpoint: str | None
) -> OAuthResponse:
    """Of an endpoint; of that for tokens, if none is named. Errors are ordinary responses here, so
    their changes are committed: reuse of a code or token has ended its sign-in.
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
    server.register_endpoint(TokenRevocation)
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

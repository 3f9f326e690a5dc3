"""Authlib's grants, with our store behind them. Reuse of a code or token is treated as theft.

The response to a refresh is kept for some seconds for a client that sends the same token again: two
processes of one person may refresh concurrently, and both must get the same new pair. It is
encrypted with a key derived from the old refresh token, of which the catalog stores only a hash,
so only the holder of the token can read the pair.
"""

import base64
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError, grants
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ...core import credentials
from ...core.actors import Account
from ...core.credentials import hash_secret, new_id, new_secret
from ...core.db.engine import Store, Transaction
from ..settings import OAuthClient
from ..sign_in import program_of
from ..store import find_account_by_id, lock_account
from ..tokens.issue_token import describe_token, issue_requested
from . import store as oauth_store
from .store import DEVICE_S, GRACE_MS, INTERVAL_S, Code, Device, Grant, TokenPair

_CODE_MS = 120_000
# Tolerance for clients that poll every five seconds over a network with jitter.
_TOLERANCE_MS = 500
_NO_SECRET = ["none"]
_NO_ADDRESS = "redirect_uri is not an address of this client."
_SHOWN_CHARACTERS = 120
_PURPOSE = b"widget-catalog: successor of a refresh token"


class StoredPair(NamedTuple):
    """A token pair with Authlib's interface."""

    pair: TokenPair
    grant: Grant

    def check_client(self, client: OAuthClient) -> bool:
        return self.grant.client_id == client.get_client_id()

    def get_scope(self) -> str:
        return self.grant.scope


class StoredDevice(NamedTuple):
    """A pending device with Authlib's interface."""

    device: Device
    now_ms: int

    def get_client_id(self) -> str:
        return self.device.client_id

    def get_scope(self) -> str:
        return self.device.scope

    def get_user_code(self) -> str:
        return self.device.user_code

    def is_expired(self) -> bool:
        return self.device.expires_at <= self.now_ms


class S256(CodeChallenge):
    """PKCE is required, and never `plain`."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ["S256"]  # noqa: RUF012

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        given = grant.request.payload.data
        if not given.get("code_challenge"):
            raise InvalidRequestError("code_challenge is missing: PKCE is needed here.")
        if given.get("code_challenge_method") != "S256":
            raise InvalidRequestError("code_challenge_method must be S256.")
        super().validate_code_challenge(grant, redirect_uri)

    def validate_code_verifier(self, grant: Any, result: Any) -> None:
        """A wrong verifier uses up the code: whoever sends it has the code from somebody else."""
        try:
            super().validate_code_verifier(grant, result)
        except OAuth2Error:
            if grant.request.form.get("code_verifier"):
                grant.delete_authorization_code(grant.request.authorization_code)
            raise


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = _NO_SECRET

    @staticmethod
    def validate_authorization_redirect_uri(request: Any, client: OAuthClient) -> str:
        wanted: str | None = request.payload.redirect_uri
        # Never redirect to an unregistered address, not even with an error.
        if not wanted:
            raise InvalidRequestError(f"{_NO_ADDRESS} It is missing.")
        if not client.check_redirect_uri(wanted):
            raise InvalidRequestError(
                f"{_NO_ADDRESS} It is {_shown(wanted)} - the operator registers addresses with the "
                "setting oauth_clients."
            )
        return wanted

    def generate_authorization_code(self) -> str:
        return new_secret(credentials.CODE_PREFIX)

    def save_authorization_code(self, code: str, request: Any) -> None:
        tx: Transaction = self.server.tx
        oauth_store.remove_expired(tx)
        stored = Code(
            code_hash=hash_secret(code),
            grant_id=new_id(),
            account_id=request.user.id,
            client_id=request.client.get_client_id(),
            redirect_uri=request.payload.redirect_uri,
            code_challenge=request.payload.data["code_challenge"],
            scope=request.scope,
            expires_at=tx.at_ms + _CODE_MS,
            used_at=None,
        )
        oauth_store.add_code(tx, stored)

    def query_authorization_code(self, code: str, client: OAuthClient) -> Code | None:
        tx: Transaction = self.server.tx
        found = oauth_store.find_code(tx.connection, hash_secret(code))
        if found is None or found.client_id != client.get_client_id():
            return None
        if found.used_at is not None:
            self.server.end_grant(found.grant_id, "The code was used twice.")
            return None
        if found.expires_at <= tx.at_ms:
            return None
        # OAuth 2.1 does not require the address a second time; if it is sent, it must be the same.
        return found if self.request.payload.redirect_uri else found._replace(redirect_uri="")

    def delete_authorization_code(self, authorization_code: Code) -> None:
        oauth_store.use_code(self.server.tx, authorization_code.code_hash)

    def authenticate_user(self, authorization_code: Code) -> Account | None:
        return _enabled(self.server.tx, authorization_code.account_id)


class RefreshGrant(grants.RefreshTokenGrant):
    """Rotates refresh tokens. Reuse after some seconds means theft, and ends the sign-in."""

    TOKEN_ENDPOINT_AUTH_METHODS = _NO_SECRET

    def authenticate_refresh_token(self, refresh_token: str) -> StoredPair | None:
        tx: Transaction = self.server.tx
        pair = oauth_store.find_pair_by_refresh(tx.connection, hash_secret(refresh_token))
        grant = oauth_store.find_grant(tx.connection, pair.grant_id) if pair is not None else None
        if pair is None or grant is None:
            return None
        if pair.rotated_at is not None and tx.at_ms - pair.rotated_at > GRACE_MS:
            self.server.end_grant(grant.id, "A refresh token was used twice.")
            return None
        if pair.rotated_at is not None and pair.successor is None:
            return None
        # The setting may have been lowered since the pair was issued.
        ends_at = min(pair.refresh_expires_at, grant.created_at + self.server.config.grant_ms)
        if ends_at <= tx.at_ms or not _enabled(tx, grant.account_id):
            return None
        return StoredPair(pair, grant)

    def authenticate_user(self, refresh_token: StoredPair) -> Account | None:
        return _enabled(self.server.tx, refresh_token.grant.account_id)

    def issue_token(self, user: Account, refresh_token: StoredPair) -> dict[str, Any]:
        """Scopes belong to the sign-in: a refresh that asks for fewer is told that it has all."""
        token: dict[str, Any] = self.generate_token(
            user=user, scope=refresh_token.get_scope(), include_refresh_token=True
        )
        return token

    def revoke_old_credential(self, refresh_token: StoredPair) -> None:
        oauth_store.rotate_pair(self.server.tx, refresh_token.pair.access_hash)

    def create_token_response(self) -> tuple[int, dict[str, Any], Any]:
        tx: Transaction = self.server.tx
        presented, old = self.request.form["refresh_token"], self.request.refresh_token.pair
        oauth_store.remove_successors(tx, rotated_before=tx.at_ms - GRACE_MS)
        if old.successor is not None:
            body = _open_successor(presented, old.successor)
            body["expires_in"] -= (tx.at_ms - old.rotated_at) // 1000
            return 200, body, self.TOKEN_RESPONSE_HEADER
        status, body, headers = super().create_token_response()
        oauth_store.keep_successor(tx, old.access_hash, _seal_successor(presented, body))
        return status, body, headers


class DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = _NO_SECRET

    def query_device_credential(self, device_code: str) -> StoredDevice:
        tx: Transaction = self.server.tx
        device_hash = hash_secret(device_code)
        requester_id = oauth_store.find_token_requester(tx.connection, device_hash)
        if requester_id is not None:
            # Before the device, as in every decision: the number of an account's tokens is limited.
            lock_account(tx, requester_id)
        device = oauth_store.find_device(tx.connection, device_hash)
        if device is None:
            raise InvalidGrantError
        return StoredDevice(device, tx.at_ms)

    def query_user_grant(self, user_code: str) -> tuple[Account | None, bool] | None:
        """The person and their decision; None until they have decided."""
        device = oauth_store.find_device_by_user_code(self.server.tx.connection, user_code)
        if device is None or device.is_denied:
            return None, False
        if device.account_id is None:
            return None
        account = _enabled(self.server.tx, device.account_id)
        return account, account is not None

    def should_slow_down(self, credential: StoredDevice) -> bool:
        tx: Transaction = self.server.tx
        last = credential.device.last_polled_at
        oauth_store.update_device(tx, credential.device.device_hash, last_polled_at=tx.at_ms)
        return last is not None and tx.at_ms - last < INTERVAL_S * 1000 - _TOLERANCE_MS

    def create_token_response(self) -> tuple[int, dict[str, Any], Any]:
        """The access token that was requested and confirmed; otherwise those of a sign-in."""
        tx: Transaction = self.server.tx
        device: Device = self.request.credential.device
        if device.wanted_token is None:
            response: tuple[int, dict[str, Any], Any] = super().create_token_response()
            return response
        user: Account = self.request.user
        # Locked, so that ending the sign-in waits, and ends this token, too.
        grant = oauth_store.find_grant(tx.connection, device.grant_id or "", locks=True)
        if grant is None or grant.account_id != user.id:
            raise InvalidGrantError
        oauth_store.remove_device(tx, device.device_hash)
        program = program_of(user, grant.client_id, self.server.address)
        issued = issue_requested(tx, program, user, device.wanted_token, grant.id)
        lifetime_ms = issued.token.expires_at - issued.token.created_at
        body = {
            "access_token": issued.secret,
            "token_type": "Bearer",
            "expires_in": lifetime_ms // 1000,
            "details": describe_token(issued.token),
        }
        return 200, body, self.TOKEN_RESPONSE_HEADER


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS = _NO_SECRET
    EXPIRES_IN = DEVICE_S
    INTERVAL = INTERVAL_S

    def generate_device_code(self) -> str:
        return new_secret(credentials.DEVICE_PREFIX)

    def get_verification_uri(self) -> str:
        return f"{self.server.config.issuer}/device"

    def save_device_credential(self, client_id: str, scope: str | None, data: Any) -> None:
        tx: Transaction = self.server.tx
        oauth_store.remove_expired(tx)
        waiting = Device(
            device_hash=hash_secret(data["device_code"]),
            user_code=credentials.plain_code(data["user_code"]),
            client_id=client_id,
            scope=self.server.query_client(client_id).get_allowed_scope(scope),
            expires_at=tx.at_ms + DEVICE_S * 1000,
            last_polled_at=None,
            account_id=None,
            is_denied=False,
        )
        oauth_store.add_device(tx, waiting)


class TokenRevocation(RevocationEndpoint):
    """Either token ends the whole sign-in. Another client's token is ignored."""

    CLIENT_AUTH_METHODS = _NO_SECRET

    def check_params(self, request: Any, _client: OAuthClient) -> None:
        if "token" not in request.form:
            raise InvalidRequestError("token is missing.")

    def authenticate_token(self, request: Any, client: OAuthClient) -> StoredPair | None:
        self.check_params(request, client)
        tx: Transaction = self.server.tx
        pair = oauth_store.find_pair(tx.connection, hash_secret(request.form["token"]))
        grant = oauth_store.find_grant(tx.connection, pair.grant_id) if pair is not None else None
        if pair is None or grant is None or grant.client_id != client.get_client_id():
            return None
        return StoredPair(pair, grant)

    def revoke_token(self, token: StoredPair, _request: Any) -> None:
        self.server.end_grant(token.grant.id, "The program signed out.")


def _enabled(tx: Transaction, account_id: int) -> Account | None:
    account = find_account_by_id(tx.connection, account_id)
    return account if account is not None and not account.is_disabled else None


def _shown(address: str) -> str:
    """Short, and with only the characters allowed in an OAuth error."""
    shown = quote(address, safe=":/?#[]@!$&()*+,;=%")
    return shown if len(shown) <= _SHOWN_CHARACTERS else f"{shown[:_SHOWN_CHARACTERS]}..."


def _seal_successor(refresh_token: str, body: dict[str, Any]) -> str:
    return _cipher(refresh_token).encrypt(msgspec.json.encode(body)).decode()


def _open_successor(refresh_token: str, sealed: str) -> dict[str, Any]:
    return msgspec.json.decode(_cipher(refresh_token).decrypt(sealed), type=dict[str, Any])


def forget_successors(store: Store) -> None:
    """Remove expired ones. Every refresh does so, too, but there may be no further one."""
    rotated_before = store.now_ms() - GRACE_MS
    with store.reading() as connection:
        if not oauth_store.has_successors(connection, rotated_before):
            return
    with store.writing() as tx:
        oauth_store.remove_successors(tx, rotated_before)


def _cipher(refresh_token: str) -> Fernet:
    # The token has 256 random bits, so no slow derivation is needed.
    derived = HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(refresh_token.encode())
    return Fernet(base64.urlsafe_b64encode(derived))

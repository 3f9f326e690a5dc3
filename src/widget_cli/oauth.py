"""The OAuth endpoints: obtains, refreshes and revokes tokens."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from .credentials import SignIn
from .responses import decoded, not_a_catalog, refusal, shaped
from .transport import SMALL_BYTES, Reply, Transport

SCOPE = "openid profile email"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"

Clock = Callable[[], datetime]


def now() -> datetime:
    """The current time; tests replace it."""
    return datetime.now(UTC)


class OAuthError(Exception):
    """An OAuth error: `code` for programs, `sentence` for people."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class Tokens(msgspec.Struct, frozen=True):
    access_token: str
    refresh_token: str
    expires_in: int

    def signed_in(self, username: str, client_id: str, clock: Clock = now) -> SignIn:
        return SignIn(
            username=username,
            client_id=client_id,
            access_token=self.access_token,
            refresh_token=self.refresh_token,
            expires_at_s=int(clock().timestamp()) + self.expires_in,
        )


class DeviceCode(msgspec.Struct, frozen=True):
    device_code: str
    user_code: str
    verification_uri: str
    expires_in: int
    verification_uri_complete: str | None = None
    interval: int = 5


class OAuth:
    """Form-encoded POST requests, never retried: codes and refresh tokens are single-use."""

    def __init__(self, transport: Transport, url: str, client_id: str) -> None:
        self._transport = transport
        self.url = url
        self.client_id = client_id

    def tokens(self, grant_type: str, **fields: str) -> Tokens:
        found = self._post("token", grant_type=grant_type, **fields)
        return shaped(found, Tokens, self.url)

    def device_code(self) -> DeviceCode:
        return shaped(self._post("device", scope=SCOPE), DeviceCode, self.url)

    def revoke(self, token: str) -> None:
        self._post("revoke", token=token)

    def username(self, access_token: str) -> str:
        address = f"{self.url}/api/auth/oauth2/userinfo"
        reply = self._transport.send(
            "GET", address, token=access_token, is_repeatable=True, max_bytes=SMALL_BYTES
        )
        name = self._object(reply).get("username")
        if not isinstance(name, str):
            raise not_a_catalog(self.url)
        return name

    def _post(self, endpoint: str, **fields: str) -> dict[str, Any]:
        address = f"{self.url}/api/auth/oauth2/{endpoint}"
        form = {**fields, "client_id": self.client_id}
        reply = self._transport.send(
            "POST", address, data=form, is_repeatable=False, max_bytes=SMALL_BYTES
        )
        return self._object(reply)

    def _object(self, reply: Reply) -> dict[str, Any]:
        found = decoded(reply)
        is_object = isinstance(found, dict)
        if reply.status < 300 and is_object:
            return dict(found)
        if reply.status in (400, 401, 403) and is_object and isinstance(found.get("error"), str):
            raise OAuthError(found["error"], str(found.get("error_description") or found["error"]))
        raise refusal(reply, self.url)

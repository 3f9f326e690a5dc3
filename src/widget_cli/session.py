"""An authenticated connection to a catalog; and its OAuth endpoints, for tokens."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from .addresses import is_private, parse_url
from .credentials import Credentials, SignIn
from .errors import (
    ExitCode,
    ToolError,
    not_private,
    not_signed_in,
    sign_in_ended,
    sign_in_needed,
    token_refused,
    wrong_usage,
)
from .responses import decoded, not_a_catalog, object_in, refusal, shaped
from .transport import DOCUMENT_BYTES, SMALL_BYTES, Reply, Transport

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
        return shaped(self.exchange(grant_type, **fields), Tokens, self.url)

    def exchange(self, grant_type: str, **fields: str) -> dict[str, Any]:
        return self._post("token", grant_type=grant_type, **fields)

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


_EARLY_S = 30  # Refreshed this long before it expires.


class Session:
    """Sends requests to one catalog. Paths start with a slash; responses are JSON objects."""

    def __init__(
        self,
        url: str,
        transport: Transport,
        credentials: Credentials,
        machine_token: str | None = None,
        clock: Clock = now,
        *,
        is_insecure: bool = False,
    ) -> None:
        self.url = url
        self.transport = transport
        self.credentials = credentials
        self._machine_token = machine_token
        self._clock = clock
        self._is_insecure = is_insecure

    @property
    def is_machine(self) -> bool:
        """Whether WIDGET_TOKEN is used."""
        return self._machine_token is not None

    @property
    def is_signed_in(self) -> bool:
        """Whether there is a token, which the catalog may still reject."""
        return self.is_machine or self.credentials.find(self.url) is not None

    def ask_openly(
        self, path: str, params: Mapping[str, Any] | None = None, max_bytes: int = DOCUMENT_BYTES
    ) -> dict[str, Any]:
        """A GET request without a token."""
        address = f"{self.url}{path}"
        reply = self.transport.send(
            "GET", address, is_repeatable=True, params=params, max_bytes=max_bytes
        )
        return object_in(reply, self.url)

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._ask("GET", path, is_repeatable=True, params=params)

    def post(
        self, path: str, body: Mapping[str, Any] | None = None, *, is_repeatable: bool = False
    ) -> dict[str, Any]:
        return self._ask("POST", path, is_repeatable=is_repeatable, json=dict(body or {}))

    def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._ask("PUT", path, is_repeatable=True, json=dict(body))

    def delete(self, path: str) -> dict[str, Any]:
        return self._ask("DELETE", path, is_repeatable=False)

    def oauth(self) -> OAuth:
        """The OAuth endpoints for the client of this sign-in."""
        kept = self.credentials.find(self.url)
        if kept is None:
            raise not_signed_in(self.url)
        return OAuth(self.transport, self.url, kept.client_id)

    def forget(self) -> None:
        """Remove the stored sign-in, which has ended."""
        with self.credentials.writing() as writer:
            writer.remove(self.url)

    def _ask(
        self, method: str, path: str, *, is_repeatable: bool, **options: Any
    ) -> dict[str, Any]:
        def send(token: str) -> Reply:
            address = f"{self.url}{path}"
            return self.transport.send(
                method, address, is_repeatable=is_repeatable, token=token, **options
            )

        if self._machine_token is not None:
            if not (self._is_insecure or is_private(self.url)):
                raise not_private(self.url, "WIDGET_TOKEN", "pass --insecure")
            reply = send(self._machine_token)
            if reply.status == 401:
                raise token_refused(self.url)
            return _as_machine(reply, self.url)
        token = self._current_token()
        reply = send(token)
        if reply.status == 401:
            reply = send(self._renewed(token).access_token)
        return object_in(reply, self.url)

    def is_insecure(self) -> bool:
        """Whether the user has allowed plain http, now or when signing in."""
        kept = None if self._machine_token is not None else self.credentials.find(self.url)
        return self._is_insecure or (kept is not None and kept.is_insecure)

    def _current_token(self) -> str:
        kept = self.credentials.find(self.url)
        if kept is None:
            raise not_signed_in(self.url)
        if not (self._is_insecure or kept.is_insecure or is_private(self.url)):
            again = f"sign in again with: widget login {self.url} --insecure"
            raise not_private(self.url, "your sign-in", again)
        if kept.expires_at_s - _EARLY_S > self._clock().timestamp():
            return kept.access_token
        return self._renewed(kept.access_token).access_token

    def _renewed(self, old: str) -> SignIn:
        """A sign-in with an access token other than `old`.

        A refresh token is single-use, and using it twice revokes the sign-in. So only one process
        refreshes at a time, and after waiting checks first whether another one has refreshed.
        """
        with self.credentials.writing() as writer:
            kept = self.credentials.find(self.url)
            if kept is None:
                raise not_signed_in(self.url)
            if kept.access_token != old:
                return kept
            oauth = OAuth(self.transport, self.url, kept.client_id)
            try:
                tokens = oauth.tokens("refresh_token", refresh_token=kept.refresh_token)
            except OAuthError:
                raise sign_in_ended(self.url) from None
            renewed = tokens.signed_in(kept.username, kept.client_id, self._clock)
            # Stored like the old one.
            renewed = msgspec.structs.replace(
                renewed, is_in_keyring=kept.is_in_keyring, is_insecure=kept.is_insecure
            )
            writer.save(self.url, renewed)
            return renewed


def _as_machine(reply: Reply, url: str) -> dict[str, Any]:
    """The response to a token, with a hint about other tokens on 403."""
    try:
        return object_in(reply, url)
    except ToolError as error:
        if error.exit_code is ExitCode.NOT_ALLOWED:
            error.suggest(
                "Use a token that has permission, or unset WIDGET_TOKEN and run: widget login"
            )
        raise


@contextlib.contextmanager
def opened(
    catalog: str | None, *, transport: Transport | None = None, is_insecure: bool = False
) -> Iterator[Session]:
    """The catalog to use: --catalog, WIDGET_CATALOG_URL, or the last one signed in to.

    `is_insecure`: the user has allowed plain http.
    """
    credentials = Credentials()
    url = find_url(catalog, credentials)
    if url is None:
        raise wrong_usage(
            "No catalog is configured.",
            "Sign in with: widget login URL (or pass --catalog URL, or set WIDGET_CATALOG_URL).",
        )
    with transport or Transport() as open_transport:
        yield Session(url, open_transport, credentials, machine_token(), is_insecure=is_insecure)


def find_url(catalog: str | None, credentials: Credentials) -> str | None:
    given = catalog or os.environ.get("WIDGET_CATALOG_URL", "").strip()
    return parse_url(given) if given else credentials.default_url


def machine_token() -> str | None:
    token = os.environ.get("WIDGET_TOKEN", "").strip()
    if not token:
        return None
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise sign_in_needed(
            "WIDGET_TOKEN contains characters that are not valid in a token.",
            "Set it to the token only, without quotes or line breaks.",
        )
    return token

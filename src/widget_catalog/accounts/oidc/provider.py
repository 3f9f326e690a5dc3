"""Provider: the OpenID Connect client; trusts only what the provider has signed.

Authlib builds the requests, httpx sends them, joserfc verifies the token. Importing them takes a
tenth of the startup time, so this is imported only if a provider is configured.
"""

import hmac
import secrets
import threading
from collections.abc import Mapping
from typing import Any

import httpx
import msgspec
import structlog
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from ...core.clock import now, to_ms
from ...core.errors import InvalidRequest, ProviderFailed
from ..settings import AccountSettings
from .account_linking import Person, SignInBegun

_TIMEOUT_S = 10
_LINES = 4
_SCOPE = "openid profile email"
_FORM = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
# Tolerated difference between the provider's clock and ours.
_LEEWAY_S = 60
# Asymmetric only: with HS256, any holder of the client secret could sign; with none, anybody.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
               "EdDSA", "Ed25519"]  # fmt: skip

_log = structlog.get_logger("widget_catalog.oidc")


class _Discovery(msgspec.Struct):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class Provider:
    def __init__(self, settings: AccountSettings, public_url: str) -> None:
        self.name = settings.oidc_name
        self._issuer = settings.oidc_issuer
        self._client_id = settings.oidc_client_id
        self._client_secret = settings.oidc_client_secret
        self._redirect_uri = f"{public_url}/api/auth/oidc/callback"
        self._known: _Discovery | None = None
        self._lines = threading.BoundedSemaphore(_LINES)
        self._tls = httpx.create_ssl_context()  # Slow to create, so there is only one.

    def begin(
        self, next_: str, connects: int | None = None, *, asks_again: bool = False
    ) -> tuple[str, SignInBegun]:
        """Where to redirect the person, and the state needed for the callback.

        With `asks_again`, the provider must re-authenticate the person.
        """
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        address = prepare_grant_uri(
            self._discovered().authorization_endpoint,
            client_id=self._client_id,
            response_type="code",
            redirect_uri=self._redirect_uri,
            scope=_SCOPE,
            state=state,
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),
            code_challenge_method="S256",
            **({"prompt": "login"} if asks_again else {}),
        )
        return str(address), SignInBegun(state, nonce, verifier, next_, connects)

    def finish(self, begun: SignInBegun, query: Mapping[str, str]) -> Person:
        """The person who signed in; raises an error if that failed."""
        if "error" in query:
            raise InvalidRequest(f"{self.name} has not signed you in.")
        if not hmac.compare_digest(begun.state.encode(), query.get("state", "").encode()):
            raise InvalidRequest("This sign-in was started elsewhere. Start again.")
        if query.get("iss", self._issuer) != self._issuer:
            raise InvalidRequest("The response came from another provider. Start again.")
        tokens = self._exchange(query.get("code", ""), begun.verifier)
        claims = self._verified(tokens.get("id_token"), begun.nonce)
        if "email" not in claims or "preferred_username" not in claims:
            claims = {**self._userinfo(tokens.get("access_token"), claims["sub"]), **claims}
        given = (claims.get("preferred_username"), claims.get("email"))
        username, email = (text if isinstance(text, str) else "" for text in given)
        return Person(self._issuer, claims["sub"], username, email)

    def _discovered(self) -> _Discovery:
        if self._known is None:
            place = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
            try:
                found = msgspec.convert(self._ask("GET", place), _Discovery)
            except msgspec.ValidationError as error:
                raise self._failed(f"discovery: {error}") from None
            if found.issuer != self._issuer:
                raise self._failed(f"discovery names another issuer, {found.issuer}")
            self._known = found
        return self._known

    def _exchange(self, code: str, verifier: str) -> dict[str, Any]:
        known = self._discovered()
        method = "client_secret_basic" if self._client_secret else "none"
        offered = known.token_endpoint_auth_methods_supported
        if method not in offered and "client_secret_post" in offered and self._client_secret:
            method = "client_secret_post"
        body = prepare_token_request(
            "authorization_code", redirect_uri=self._redirect_uri, code=code, code_verifier=verifier
        )
        address, headers, body = ClientAuth(self._client_id, self._client_secret, method).prepare(
            "POST", known.token_endpoint, dict(_FORM), body
        )
        return self._ask("POST", address, headers=headers, content=body)

    def _verified(self, token: object, nonce: str) -> dict[str, Any]:
        """The claims of the ID token. Keys are fetched each time: they change, and this is rare."""
        keys = self._ask("GET", self._discovered().jwks_uri)
        rules = jwt.JWTClaimsRegistry(
            now=to_ms(now()) // 1000,
            leeway=_LEEWAY_S,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self._client_id},
            exp={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            key_set = KeySet.import_key_set(keys)  # type: ignore[arg-type]
            claims = jwt.decode(str(token), key_set, algorithms=_ALGORITHMS).claims
            rules.validate(claims)
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise self._failed(f"ID token: {error}") from None
        is_ours = claims.get("azp", self._client_id) == self._client_id
        if not isinstance(claims["sub"], str) or not is_ours:
            raise self._failed("ID token: issued to another client")
        return claims

    def _userinfo(self, access_token: object, subject: str) -> dict[str, Any]:
        """Claims missing from the ID token; only used if they are about the same subject."""
        place = self._discovered().userinfo_endpoint
        if place is None:
            return {}
        claims = self._ask("GET", place, headers={"authorization": f"Bearer {access_token}"})
        return claims if claims.get("sub") == subject else {}

    def _ask(self, method: str, address: str, **more: Any) -> dict[str, Any]:
        # A provider that hangs must not occupy all threads.
        if not self._lines.acquire(timeout=1):
            raise self._failed(f"{method} {address}: others wait for it already")
        try:
            response = httpx.request(method, address, timeout=_TIMEOUT_S, verify=self._tls, **more)
            body = response.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise self._failed(f"{method} {address}: {error!r}") from None
        finally:
            self._lines.release()
        if response.status_code != 200 or not isinstance(body, dict):
            raise self._failed(f"{method} {address}: {response.status_code} {body!r:.200}")
        return body

    def _failed(self, reason: str) -> ProviderFailed:
        """The person only learns that it failed; the log has the reason."""
        _log.error("The OpenID Connect provider failed.", provider=self._issuer, reason=reason)
        return ProviderFailed(
            f"{self.name} cannot sign you in just now. Try again later, or sign in with a password."
        )

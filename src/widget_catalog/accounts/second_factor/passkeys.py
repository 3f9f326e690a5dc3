"""Passkeys (WebAuthn): options for the browser, and verification of its response.

The library does the verification. It takes a quarter of a second to import, so that happens on
first use.
"""

import base64
import ipaddress
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import structlog

from widget_contract.errors import CatalogError

from ...core.actors import Account
from ...core.errors import InvalidRequest, NotSignedIn
from .store import Passkey

if TYPE_CHECKING:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

_log = structlog.get_logger("widget_catalog.passkeys")

_TIMEOUT_MS = 120_000
_CHALLENGE_BYTES = 32
_CREDENTIAL_ID = re.compile(r"[A-Za-z0-9_-]{1,1400}\Z")  # The standard allows at most 1023 bytes.
_MAX_TRANSPORTS = 10

NOT_ACCEPTED = "This passkey was not accepted. Try again, or use another way to sign in."


class PasskeySite(NamedTuple):
    """What passkeys are bound to: a host name (WebAuthn's relying party id) and an origin."""

    name: str
    host: str
    origin: str

    @property
    def passkey_error(self) -> str | None:
        """Why browsers cannot create passkeys here; None if they can."""
        if _is_address(self.host):
            return (
                f"Passkeys need a host name, and this catalog is reached by the address "
                f"{self.host}. The operator can set base_url to a host name."
            )
        is_local = self.host == "localhost" or self.host.endswith(".localhost")
        if not is_local and not self.origin.startswith("https:"):
            return (
                f"Passkeys need https, and this catalog is reached at {self.origin}. The "
                "operator can set base_url to an https address."
            )
        return None


def site_at(public_url: str, name: str) -> PasskeySite:
    parts = urlsplit(public_url)
    return PasskeySite(name, parts.hostname or "", f"{parts.scheme}://{parts.netloc.lower()}")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class NewPasskey(NamedTuple):
    """A new passkey, verified."""

    credential_id: str
    public_key: str
    sign_count: int
    transports: tuple[str, ...]
    is_backed_up: bool


class Used(NamedTuple):
    """The state of a passkey after its use."""

    sign_count: int
    is_backed_up: bool


def new_challenge() -> str:
    return secrets.token_urlsafe(_CHALLENGE_BYTES)


def user_handle(account: Account) -> bytes:
    """The account's identifier for authenticators: never its name or e-mail address."""
    return f"account {account.id}".encode()


def creation_options(
    site: PasskeySite, account: Account, challenge: str, known: Sequence[Passkey]
) -> str:
    """The argument of `navigator.credentials.create`, as JSON."""
    import webauthn
    from webauthn.helpers import structs

    selection = structs.AuthenticatorSelectionCriteria(
        # Preferred, because it allows sign-in without a password; other security keys still work
        # as a factor.
        resident_key=structs.ResidentKeyRequirement.PREFERRED,
        user_verification=structs.UserVerificationRequirement.PREFERRED,
    )
    options = webauthn.generate_registration_options(
        rp_id=site.host,
        rp_name=site.name,
        user_id=user_handle(account),
        user_name=account.username,
        challenge=_bytes(challenge),
        timeout=_TIMEOUT_MS,
        authenticator_selection=selection,
        exclude_credentials=_descriptors(site, known),
    )
    return webauthn.options_to_json(options)


def request_options(
    site: PasskeySite, challenge: str, known: Sequence[Passkey] = (), *, verifies_user: bool
) -> str:
    """The argument of `navigator.credentials.get`, as JSON; without `known`, for any passkey."""
    import webauthn
    from webauthn.helpers.structs import UserVerificationRequirement as wanted  # noqa: N813

    options = webauthn.generate_authentication_options(
        rp_id=site.host,
        challenge=_bytes(challenge),
        timeout=_TIMEOUT_MS,
        allow_credentials=_descriptors(site, known),
        user_verification=wanted.REQUIRED if verifies_user else wanted.PREFERRED,
    )
    return webauthn.options_to_json(options)


def check_new(site: PasskeySite, challenge: str, credential: Mapping[str, Any]) -> NewPasskey:
    """The new passkey, or InvalidRequest."""
    import webauthn
    from webauthn.helpers import bytes_to_base64url

    try:
        made = webauthn.verify_registration_response(
            credential=dict(credential),
            expected_challenge=_bytes(challenge),
            expected_rp_id=site.host,
            expected_origin=site.origin,
        )
    except Exception as error:
        raise _refused(error, InvalidRequest("This passkey was not accepted. Try again.")) from None
    return NewPasskey(
        bytes_to_base64url(made.credential_id),
        bytes_to_base64url(made.credential_public_key),
        made.sign_count,
        _transports(credential),
        made.credential_backed_up,
    )


def check_use(
    site: PasskeySite,
    challenge: str,
    credential: Mapping[str, Any],
    passkey: Passkey,
    *,
    verifies_user: bool,
) -> Used:
    """The new state of the passkey, or NotSignedIn."""
    import webauthn

    try:
        used = webauthn.verify_authentication_response(
            credential=dict(credential),
            expected_challenge=_bytes(challenge),
            expected_rp_id=site.host,
            expected_origin=site.origin,
            credential_public_key=_bytes(passkey.public_key),
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=verifies_user,
        )
    except Exception as error:
        raise _refused(error, NotSignedIn(NOT_ACCEPTED)) from None
    return Used(used.new_sign_count, used.credential_backed_up)


def credential_id_of(credential: Mapping[str, Any]) -> str | None:
    """The credential id in the browser's response, if it is a possible one."""
    id_ = credential.get("id")
    return id_ if isinstance(id_, str) and _CREDENTIAL_ID.match(id_) else None


def names_user(credential: Mapping[str, Any], account: Account) -> bool:
    """Whether the authenticator's response names this account."""
    response = credential.get("response")
    handle = response.get("userHandle") if isinstance(response, dict) else None
    try:
        return isinstance(handle, str) and _bytes(handle) == user_handle(account)
    except ValueError:
        return False


def _refused(error: Exception, response: CatalogError) -> CatalogError:
    """The person only learns that it failed; the log has the reason. For input that is not a
    passkey at all, the library raises errors of many types.
    """
    _log.warning("A passkey was refused.", reason=f"{type(error).__name__}: {error}"[:300])
    return response


def _transports(credential: Mapping[str, Any]) -> tuple[str, ...]:
    """How the browser reached it, if known: a hint for the next time."""
    from webauthn.helpers.structs import AuthenticatorTransport

    response = credential.get("response")
    given = response.get("transports") if isinstance(response, dict) else None
    known = {transport.value for transport in AuthenticatorTransport}
    said = given[:_MAX_TRANSPORTS] if isinstance(given, list) else []
    return tuple(dict.fromkeys(name for name in said if isinstance(name, str) and name in known))


def _descriptors(
    site: PasskeySite, known: Sequence[Passkey]
) -> "list[PublicKeyCredentialDescriptor]":
    from webauthn.helpers import structs

    return [
        structs.PublicKeyCredentialDescriptor(
            id=_bytes(passkey.credential_id),
            transports=[structs.AuthenticatorTransport(name) for name in passkey.transports],
        )
        for passkey in known
        if passkey.host == site.host
    ]


def _bytes(base64url: str) -> bytes:
    return base64.urlsafe_b64decode(f"{base64url}===")  # Too much padding is ignored.

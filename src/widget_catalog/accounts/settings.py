"""The settings of accounts and signing in, with registered OAuth clients and the rule for their
redirect URIs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from ..core.actors import reserved_names
from ..core.setting_rules import between, check_url, not_empty, one_of, parsed_by
from ..core.settings import FeatureSettings, setting

OWN_CLIENT = "widget-cli"
OWN_CLIENTS = (
    f"{OWN_CLIENT} Widget CLI "
    "http://127.0.0.1/callback http://[::1]/callback http://localhost/callback"
)

SCOPES = ("openid", "profile", "email")
GRANTS = ("authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code")

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_PORT = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]|localhost)):([0-9]{1,5})(?=/|\Z)")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class OAuthClient(NamedTuple):
    """A public client with its id and its redirect URIs; it may use all grants. The methods are
    those that Authlib calls.
    """

    id: str
    name: str
    redirect_uris: tuple[str, ...]

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """An exact match, except for the port of a loopback address (RFC 8252, 7.3)."""
        return any(_portless(known) == _portless(redirect_uri) for known in self.redirect_uris)

    def get_client_id(self) -> str:
        return self.id

    def get_default_redirect_uri(self) -> None:
        return None

    def get_allowed_scope(self, scope: str | None) -> str:
        """The known ones among the requested scopes; all of them if none was requested."""
        wanted = (scope or "").split() or SCOPES
        return " ".join(known for known in SCOPES if known in wanted)

    def check_endpoint_auth_method(self, method: str, _endpoint: str) -> bool:
        return method == "none"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in GRANTS


def parse_clients(text: str) -> dict[str, OAuthClient]:
    """`id Name of it http://127.0.0.1/callback …; id …` by id; ValueError says what is wrong."""
    clients: dict[str, OAuthClient] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        id_, *words = part.split()
        addresses = tuple(word for word in words if "://" in word)
        name = " ".join(word for word in words if "://" not in word)
        if not _ID.match(id_):
            raise ValueError(f"{id_!r} is not a client id: use letters, digits, '.', '_' and '-'.")
        if id_ in clients:
            raise ValueError(f"{id_} is there twice.")
        if not name or not addresses:
            raise ValueError(f"{id_} needs a name and at least one address to return to.")
        for address in addresses:
            if not _is_address(address):
                raise ValueError(
                    f"{id_}: {address!r} must be https, or http on a loopback address, without "
                    "fragment or username."
                )
        clients[id_] = OAuthClient(id_, name, addresses)
    return clients


def _portless(address: str) -> str:
    found = _PORT.match(address)
    is_port = found is not None and 1 <= int(found[2]) <= 65_535
    return _PORT.sub(r"\1", address, count=1) if is_port else address


def _is_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    is_plain = address.isascii() and address.isprintable() and not set(address) & set("#@\\\"'<>")
    is_reached = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    return is_plain and is_reached and bool(host)


class RequiredOf(StrEnum):
    """Who must have a second factor. `owners` are owners of an organization, and operators."""

    NOBODY = "nobody"
    OPERATORS = "operators"
    OWNERS = "owners"
    EVERYBODY = "everybody"


@dataclass(frozen=True, kw_only=True)
class AccountSettings(FeatureSettings):
    removed: ClassVar[Mapping[str, str]] = {
        "oauth_max_days": "a program's sign-in ends after 180 days.",
        "session_idle_hours": "a session ends after 14 days without use.",
    }

    registration: str = setting(
        "closed",
        "Who may create an account: `closed` (people whom an operator invites) or `open` "
        "(everyone). `invitation`, from earlier releases, means the same as `closed`.",
        rule=one_of("closed", "invitation", "open"),
    )
    reserved_names: str = setting(
        "",
        "Additional reserved names. See [below](#notes-on-some-of-them).",
        rule=parsed_by(reserved_names),
    )
    session_max_days: int = setting(
        90,
        "Maximum lifetime of a session, in days; it ends after 14 days without use in any case.",
        rule=between(1, 366),
    )
    second_factor_required: str = setting(
        RequiredOf.NOBODY.value,
        "Who must have a second factor: `nobody`, `operators`, `owners` (owners of "
        "organizations, and operators) or `everybody`. See [two-factor "
        "sign-in](administering.md#two-factor-sign-in).",
        rule=one_of(*RequiredOf),
    )
    oauth_clients: str = setting(
        OWN_CLIENTS,
        "OAuth clients: programs that may sign people in. See [below](#notes-on-some-of-them).",
        rule=parsed_by(parse_clients),
    )
    oidc_issuer: str = setting(
        "",
        "The issuer URL of the OpenID Connect provider that people may sign in through. "
        "Empty: none. See [signing in](administering.md#signing-in).",
        rule=check_url,
    )
    oidc_client_id: str = setting(
        "", "The client id of this catalog at the provider. Required with `oidc_issuer`."
    )
    oidc_client_secret: str = setting(
        "", "The client secret, if the provider issued one.", is_secret=True
    )
    oidc_name: str = setting(
        "OpenID Connect",
        "The display name of the provider: the button says `Sign in with …`.",
        rule=not_empty,
    )
    oidc_creates_accounts: bool = setting(
        True,
        "People who sign in through the provider may create an account, whatever "
        "`registration` says.",
    )

    @classmethod
    def check(cls, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        if values["oidc_issuer"] and not values["oidc_client_id"]:
            yield "oidc_client_id", "is required with oidc_issuer."

    @property
    def reserved(self) -> frozenset[str]:
        return reserved_names(self.reserved_names)

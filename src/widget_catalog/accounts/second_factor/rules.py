"""Second factors: who needs one, and the relying party of passkeys."""

import ipaddress
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urlsplit

from widget_contract.texts import name_fault

MAX_PASSKEYS = 20
_MAX_NAME = 60


class RequiredOf(StrEnum):
    """Who must have a second factor. `owners` are owners of an organization, and operators."""

    NOBODY = "nobody"
    OPERATORS = "operators"
    OWNERS = "owners"
    EVERYBODY = "everybody"


class Factor(StrEnum):
    """A second factor besides the password."""

    PASSKEY = "passkey"
    APP = "authenticator app"
    RECOVERY_CODE = "recovery code"


class Site(NamedTuple):
    """What passkeys are bound to: a host name (WebAuthn's relying party id) and an origin."""

    name: str
    host: str
    origin: str

    @property
    def passkey_fault(self) -> str | None:
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


def site_at(public_url: str, name: str) -> Site:
    parts = urlsplit(public_url)
    return Site(name, parts.hostname or "", f"{parts.scheme}://{parts.netloc.lower()}")


def passkey_name_fault(name: str) -> str | None:
    """What is wrong with the name of a passkey."""
    fault = name_fault(name, _MAX_NAME)
    return f"The name {fault}" if fault else None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True

"""The settings of accounts and signing in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..core.actors import reserved_names
from ..core.setting_rules import between, check_url, not_empty, one_of, parsed_by
from ..core.settings import FeatureSettings, setting
from .oauth.clients import OWN_CLIENTS, parse_clients


class RequiredOf(StrEnum):
    """Who must have a second factor. `owners` are owners of an organization, and operators."""

    NOBODY = "nobody"
    OPERATORS = "operators"
    OWNERS = "owners"
    EVERYBODY = "everybody"


@dataclass(frozen=True, kw_only=True)
class AccountSettings(FeatureSettings):
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
    session_idle_hours: int = setting(
        336, "Idle timeout of a session, in hours.", rule=between(1, 24 * 366)
    )
    session_max_days: int = setting(
        90, "Maximum lifetime of a session, in days.", rule=between(1, 366)
    )
    oauth_max_days: int = setting(
        180,
        "Maximum lifetime of a program's sign-in, in days, however often it is refreshed.",
        rule=between(1, 3660),
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

"""Accounts: sessions, passwords, second factors, OAuth, OpenID Connect, access tokens."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.commands import PEOPLE, Command
from ..core.features import Feature, Job, call_of, value_of
from .commands import accounts, secrets
from .settings import OWN_CLIENT, AccountSettings

if TYPE_CHECKING:
    from ..core.hooks import Hooks
    from ..core.http.services import Services
    from ..core.settings import Settings


def _services(services: "Services") -> Sequence[object]:
    from .services import build_account_services

    return (build_account_services(services),)


def _jobs(services: "Services") -> Sequence[Job]:
    from .oauth.grants import forget_successors
    from .tokens.issue_token import forget_tokens

    return (partial(forget_successors, services.store), partial(forget_tokens, services.store))


def _public_settings(settings: "Settings") -> Mapping[str, Any]:
    ours = settings.of(AccountSettings)
    return {
        "sign_in": ("password", "oidc") if ours.oidc_issuer else ("password",),
        "cli_client_id": OWN_CLIENT,
        "registration_open": ours.registration == "open",
    }


def _hooks() -> "Hooks":
    from ..catalog.node.opening import has_people
    from .store import has_accounts

    return {has_people: has_accounts}


FEATURE = Feature(
    name="accounts",
    templates=Path(__file__).parent / "templates",
    links={"account": (("/account", "Account"),)},
    purposes={
        "/api/auth": "sign in a program that acts as you",
        "/device": "let a program or device act as you",
        "/account": "connect another way to sign in",
        "/account/tokens": "create an access token",
        "/account/password": "change your password",
        "/account/close": "close your account",
        "/account/second-factor": "change how you sign in",
    },
    tables=("widget_catalog.accounts.tables",),
    settings=AccountSettings,
    commands=(Command(accounts, PEOPLE), Command(secrets, PEOPLE)),
    hooks=_hooks,
    routes=value_of("widget_catalog.accounts.routes:ROUTES"),
    services=_services,
    authentication=call_of("widget_catalog.accounts.services:SessionsAndTokens"),
    jobs=_jobs,
    invite_first=call_of("widget_catalog.accounts.create_account:invite_first_operator"),
    public_settings=_public_settings,
)

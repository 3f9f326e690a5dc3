"""What handlers of accounts work with, and how requests are authenticated."""

from typing import TYPE_CHECKING, NamedTuple

from ..catalog.node.opening import open_secret_box
from ..core.actors import Visitor
from ..core.data_folder import DataFolder
from ..core.http.call import Call, cookie_of
from ..core.http.routing import Route
from ..core.http.services import Services
from .browsers import browser_label
from .oauth.clients import parse_clients
from .oauth.server import OAuthConfig
from .second_factor.passkeys import site_at
from .second_factor.policy import FactorPolicy, require_second_factor, require_step_up
from .settings import AccountSettings, RequiredOf
from .sign_in import Browser, Lifetimes, identify_bearer, identify_session

if TYPE_CHECKING:
    from .oidc.provider import Provider

_DAY_MS = 86_400_000


class AccountServices(NamedTuple):
    lifetimes: Lifetimes
    oauth: OAuthConfig
    provider: "Provider | None"
    factor_policy: FactorPolicy
    is_open: bool
    """Whether everybody may register."""
    reserved: frozenset[str]
    """Names that nobody may take."""

    @property
    def provider_name(self) -> str | None:
        return None if self.provider is None else self.provider.name


def build_account_services(services: Services) -> AccountServices:
    settings = services.settings
    ours = settings.of(AccountSettings)
    return AccountServices(
        lifetimes=Lifetimes(ours.session_idle_hours * 3_600_000, ours.session_max_days * _DAY_MS),
        oauth=OAuthConfig(
            parse_clients(ours.oauth_clients), settings.public_url, ours.oauth_max_days * _DAY_MS
        ),
        provider=_open_provider(ours, settings.public_url),
        factor_policy=FactorPolicy(
            site_at(settings.public_url, settings.service_name),
            open_secret_box(DataFolder(settings.data), settings),
            RequiredOf(ours.second_factor_required),
        ),
        is_open=ours.registration == "open",
        reserved=ours.reserved,
    )


def browser_of(services: Services, call: Call) -> Browser:
    """The client that signs in, and the session it replaces."""
    label = browser_label(call.request.headers.get("user-agent"))
    lifetimes = services.of(AccountServices).lifetimes
    return Browser(call.address, lifetimes, label, cookie_of(call.request))


def _open_provider(settings: AccountSettings, public_url: str) -> "Provider | None":
    if not settings.oidc_issuer:
        return None
    # Slow to load, so only imported if used.
    from .oidc.provider import Provider

    return Provider(settings, public_url)


class SessionsAndTokens:
    """Authenticates requests by access token, OAuth token or session."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._services = services.of(AccountServices)

    def by_token(self, token: str, address: str) -> Visitor:
        """Raises NotSignedIn if it is invalid or has expired."""
        return identify_bearer(self._store, token, address)

    def by_session(self, secret: str, address: str) -> Visitor | None:
        return identify_session(self._store, secret, self._services.lifetimes, address)

    def check(self, visitor: Visitor, route: Route) -> None:
        """Raises SecondFactorMissing or ConfirmationNeeded if this route needs more proof."""
        if not route.without_factor:
            require_second_factor(self._store, self._services.factor_policy, visitor)
        require_step_up(self._store, visitor, route.step_up)

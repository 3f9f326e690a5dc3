"""What handlers of accounts work with, how requests are authenticated, and the names of browsers,
from the User-Agent header.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

from ..catalog.node.opening import open_secret_box
from ..core.actors import Visitor
from ..core.data_folder import DataFolder
from ..core.http.call import Call
from ..core.http.cookies import COOKIE
from ..core.http.routing import Route
from ..core.http.services import Services
from .oauth.serving import OAuthConfig
from .second_factor.passkeys import site_at
from .second_factor.proving import FactorPolicy, require_second_factor, require_step_up
from .settings import AccountSettings, RequiredOf, parse_clients
from .sign_in import Browser, Lifetimes, identify_bearer, identify_session

if TYPE_CHECKING:
    from .oidc.provider import Provider


# The first match wins: most browsers also include the names of those below them.
_BROWSERS = (
    (r"\bEdg(?:A|iOS)?/", "Edge"),
    (r"\b(?:OPR|OPX|Opera)/", "Opera"),
    (r"\bVivaldi/", "Vivaldi"),
    (r"\bSamsungBrowser/", "Samsung Internet"),
    (r"\bDuckDuckGo/|\bDdg/", "DuckDuckGo"),
    (r"\bYaBrowser/", "Yandex Browser"),
    (r"\b(?:Firefox|FxiOS)/", "Firefox"),
    (r"\bChromium/", "Chromium"),
    (r"\b(?:Headless)?Chrome/|\bCriOS/", "Chrome"),
    (r"\bVersion/\S+ (?:Mobile/\S+ )?Safari/", "Safari"),
)
_SYSTEMS = (
    (r"\bWindows\b", "Windows"),
    (r"\biPhone\b", "iPhone"),
    (r"\biPad\b", "iPad"),
    (r"\bAndroid\b", "Android"),
    (r"\bCrOS\b", "ChromeOS"),
    (r"\bMac OS X\b|\bMacintosh\b", "macOS"),
    (r"\bLinux\b|\bX11\b", "Linux"),
)
# A program starts with its own name: `curl/8.5.0`. All browsers start with `Mozilla`.
_PROGRAM = re.compile(r"(?!Mozilla/)([A-Za-z][A-Za-z0-9._-]{0,29})/")
_MAX_READ = 400


def browser_label(user_agent: str | None) -> str | None:
    """Such as "Firefox on Windows"; None if nothing known is found.

    It helps people to tell their sessions apart, and proves nothing: clients can send any header.
    The result is short, and consists of known words or a program's plain name.
    """
    text = (user_agent or "")[:_MAX_READ]
    browser, system = _first(_BROWSERS, text), _first(_SYSTEMS, text)
    if browser is None and (program := _PROGRAM.match(text)):
        return program[1]
    if browser is None or system is None:
        return browser or (f"A browser on {system}" if system else None)
    return f"{browser} on {system}"


def _first(known: tuple[tuple[str, str], ...], text: str) -> str | None:
    return next((name for mark, name in known if re.search(mark, text)), None)


_DAY_MS = 86_400_000
# A browser that was closed for a holiday is still signed in afterwards.
_SESSION_IDLE_MS = 14 * _DAY_MS
# A program that nobody signed in to for half a year, however often it was refreshed.
_PROGRAM_MS = 180 * _DAY_MS


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
        lifetimes=Lifetimes(_SESSION_IDLE_MS, ours.session_max_days * _DAY_MS),
        oauth=OAuthConfig(parse_clients(ours.oauth_clients), settings.public_url, _PROGRAM_MS),
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
    return Browser(call.address, lifetimes, label, call.cookies.get(COOKIE))


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

"""Parses catalog URLs and widget names from the command line."""

import ipaddress
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from widget_contract.errors import InvalidName
from widget_contract.names import Scope, WidgetName

from .errors import ToolError, wrong_usage


class WidgetKey(NamedTuple):
    """A widget: `scope/name`."""

    scope: Scope
    name: WidgetName

    def __str__(self) -> str:
        return f"{self.scope}/{self.name}"


def parse_url(text: str) -> str:
    """The normalized URL of a catalog: `catalog.example/` is `https://catalog.example`."""
    given = text.strip()
    if "://" not in given:
        guess = urlsplit(f"//{given}")
        given = f"{'http' if _is_loopback_host(guess.hostname) else 'https'}://{given}"
    try:
        parts = urlsplit(given)
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        raise _not_an_address(text) from None
    is_usable = parts.scheme in ("http", "https") and parts.hostname and given.isprintable()
    if not is_usable or parts.username or parts.query or parts.fragment or " " in given:
        raise _not_an_address(text)
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else str(parts.hostname)
    return urlunsplit((parts.scheme, f"{host}{port}", parts.path.rstrip("/"), "", ""))


def is_private(url: str) -> bool:
    """Whether the connection cannot be read by others: https, or loopback."""
    parts = urlsplit(url)
    return parts.scheme == "https" or _is_loopback_host(parts.hostname)


def login_command(url: str) -> str:
    """The command that signs in there."""
    return f"widget login {url}" + ("" if is_private(url) else " --insecure")


def is_same_origin(one: str, other: str) -> bool:
    """Whether both are the same server. All loopback names are equal."""
    return _origin(one) == _origin(other)


def parse_key(text: str) -> WidgetKey:
    """Parse `scope/name`, or `@scope/name` as in URLs."""
    scope, slash, name = text.removeprefix("@").partition("/")
    if not slash:
        raise wrong_usage(
            f"{text!r} is not a widget.", "Write it as scope/name, such as ann/clock."
        )
    try:
        return WidgetKey(Scope.parse(scope), WidgetName.parse(name))
    except InvalidName as error:
        raise wrong_usage(error.message, "Write it as scope/name, such as ann/clock.") from None


def parse_scope(text: str) -> Scope:
    """Parse `scope`, or `@scope`."""
    try:
        return Scope.parse(text.removeprefix("@"))
    except InvalidName as error:
        raise wrong_usage(error.message, "Name a scope, such as ann.") from None


def path_part(text: str) -> str:
    """User input as one segment of a path."""
    return quote(text, safe="")


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    host = "localhost" if _is_loopback_host(parts.hostname) else parts.hostname
    try:
        port = parts.port
    except ValueError:
        port = -1  # No port at all.
    return parts.scheme, host, port or {"http": 80, "https": 443}.get(parts.scheme)


def _is_loopback_host(host: str | None) -> bool:
    if host is None or host == "localhost":
        return host is not None
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _not_an_address(text: str) -> ToolError:
    return wrong_usage(
        f"{text!r} is not a valid catalog URL.", "Write it like https://catalog.example."
    )

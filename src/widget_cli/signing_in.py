"""Signing in: with a browser on this machine (PKCE), or with one anywhere else (device code).
Access tokens are confirmed in a browser, too.
"""

import base64
import hashlib
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from .addresses import login_command
from .console import plain, say
from .errors import ExitCode, ToolError, not_allowed, sign_in_needed
from .loopback import waiting_for_browser
from .responses import shaped
from .session import DEVICE_GRANT, SCOPE, DeviceCode, OAuth, OAuthError, Tokens

_BROWSER_TIMEOUT_S = 300.0
# Upper limits for the total wait and for the polling interval, whatever the catalog says.
_LONGEST_WAIT_S = 3_600
_LONGEST_PAUSE_S = 60
_EXPIRED = "expired_token"
_SLOWER_S = 5  # The increment for slow_down, from RFC 8628.


def sign_in_with_browser(
    url: str, oauth: OAuth, *, opens_browser: bool, timeout_s: float = _BROWSER_TIMEOUT_S
) -> Tokens:
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    digest = hashlib.sha256(verifier.encode()).digest()
    challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    with waiting_for_browser(state) as callback:
        query = {
            "client_id": oauth.client_id,
            "redirect_uri": callback.redirect_uri,
            "response_type": "code",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "state": state,
            "scope": SCOPE,
        }
        address = f"{url}/api/auth/oauth2/authorize?{urlencode(query)}"
        is_opened = opens_browser and open_browser(address)
        say.print("Sign in with your browser" + (", which should open now:" if is_opened else ":"))
        say.print(f"\n  [cyan]{plain(address)}[/]\n")
        say.print(
            "[dim]Waiting for confirmation … Press Ctrl-C to cancel. "
            f"No browser? Use: {plain(login_command(url))} --device[/]"
        )
        code = callback.wait(timeout_s, login_command(url))
        try:
            return oauth.tokens(
                "authorization_code",
                code=code,
                redirect_uri=callback.redirect_uri,
                code_verifier=verifier,
            )
        except OAuthError as error:
            raise _refused(error, oauth.url) from None


def sign_in_with_device(
    oauth: OAuth,
    pause: Callable[[float], None] = time.sleep,
    clock_s: Callable[[], float] = time.monotonic,
) -> Tokens:
    try:
        device = oauth.device_code()
    except OAuthError as error:
        raise _refused(error, oauth.url) from None
    say.print("On any device, open this page and enter the code:\n")
    _show_code(device, device.verification_uri)
    if device.verification_uri_complete:
        say.print(
            "[dim]Or open this link, which includes the code: "
            f"{plain(device.verification_uri_complete)}[/]"
        )
    try:
        found = _wait_for_decision(oauth, device, pause, clock_s)
    except OAuthError as error:
        raise _refused(error, oauth.url) from None
    return shaped(found, Tokens, oauth.url)


def wait_for_token(
    oauth: OAuth,
    device: DeviceCode,
    *,
    opens_browser: bool,
    pause: Callable[[float], None] = time.sleep,
    clock_s: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Wait until the person has confirmed the access token; returns it."""
    complete = device.verification_uri_complete or device.verification_uri
    # The URL comes from the catalog, and browsers open more than web pages.
    is_page = complete.startswith(("https://", "http://"))
    is_opened = opens_browser and is_page and open_browser(complete)
    where = "in your browser, which should open now" if is_opened else "in any browser"
    say.print(f"Confirm the token {where}. It must show the same code:\n")
    _show_code(device, complete)
    try:
        return _wait_for_decision(oauth, device, pause, clock_s)
    except OAuthError as error:
        sentences = {
            "access_denied": "The token was refused in the browser.",
            _EXPIRED: "The code expired before the token was confirmed.",
        }
        hint = "No token was created. Try again: widget tokens create"
        raise not_allowed(sentences.get(error.code, error.sentence), hint) from None


def _show_code(device: DeviceCode, page: str) -> None:
    say.print(f"  [cyan]{plain(page)}[/]")
    say.print(f"  code [bold]{plain(device.user_code)}[/]\n")


def _wait_for_decision(
    oauth: OAuth,
    device: DeviceCode,
    pause: Callable[[float], None],
    clock_s: Callable[[], float],
) -> dict[str, Any]:
    """The response once the person has agreed. Raises OAuthError if they have not, in time."""
    say.print("[dim]Waiting for confirmation … Press Ctrl-C to cancel.[/]")
    interval_s = _pause_between(device.interval)
    deadline_s = clock_s() + min(device.expires_in, _LONGEST_WAIT_S)
    while clock_s() < deadline_s:
        pause(interval_s)
        try:
            return oauth.exchange(DEVICE_GRANT, device_code=device.device_code)
        except OAuthError as error:
            match error.code:
                case "authorization_pending":
                    pass
                case "slow_down":
                    interval_s += _SLOWER_S
                case _:
                    raise
        except ToolError as error:
            if error.exit_code not in (ExitCode.UNREACHABLE, ExitCode.LIMITED):
                raise
            interval_s += _SLOWER_S  # A temporary failure; the code is still valid.
    raise OAuthError(_EXPIRED, "The code expired before it was entered.")


def _pause_between(seconds: int) -> int:
    """The polling interval, from the catalog's response."""
    return min(max(1, seconds), _LONGEST_PAUSE_S)


def has_browser() -> bool:
    """Whether a browser can open here. Not over SSH, unless the connection brings a display.

    Without a display, Python would choose a browser that runs in the terminal.
    """
    if any(os.environ.get(it) for it in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")):
        return True
    if os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("WSL_DISTRO_NAME"))


def open_browser(address: str) -> bool:
    """Open a browser in a separate process, without its output; False if there is none."""
    if not has_browser():
        return False
    command = [sys.executable, "-P", "-m", "webbrowser", address]
    quiet = subprocess.DEVNULL
    try:
        subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)  # noqa: S603
    except OSError:
        return False
    return True


def _refused(error: OAuthError, url: str) -> ToolError:
    if error.code == _EXPIRED:
        again = f"Try again: {login_command(url)} --device"
        return sign_in_needed("The code expired before it was entered.", again)
    if error.code == "access_denied":
        sentence = "The sign-in was denied in the browser."
    else:
        sentence = f"The catalog did not accept the sign-in: {error.sentence}"
    return sign_in_needed(sentence, f"Try again: {login_command(url)}")

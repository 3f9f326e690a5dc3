"""Waits until a person has confirmed an access token in a browser."""

import time
from collections.abc import Callable
from typing import Any

import msgspec

from .addresses import path_part
from .console import plain, say
from .errors import ToolError
from .exits import ExitCode
from .session import Session
from .signing_in import LONGEST_WAIT_S, open_browser, pause_between


class TokenRequest(msgspec.Struct, frozen=True, rename="camel"):
    """The response of the catalog if the token must be confirmed."""

    request_id: str
    user_code: str
    confirm_url: str
    expires_in_seconds: int
    confirm_url_complete: str | None = None
    interval_seconds: int = 3


def wait_for_confirmation(
    session: Session,
    request: TokenRequest,
    *,
    opens_browser: bool,
    pause: Callable[[float], None] = time.sleep,
    clock_s: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Wait for the confirmation; returns the token."""
    complete = request.confirm_url_complete or request.confirm_url
    # The URL comes from the catalog, and browsers open more than web pages.
    is_page = complete.startswith(("https://", "http://"))
    is_opened = opens_browser and is_page and open_browser(complete)
    where = "in your browser, which should open now" if is_opened else "in any browser"
    say.print(f"Confirm the token {where}. It must show the same code:\n")
    say.print(f"  [cyan]{plain(complete)}[/]")
    say.print(f"  code [bold]{plain(request.user_code)}[/]\n")
    say.print("[dim]Waiting for confirmation … Press Ctrl-C to cancel.[/]")
    path = f"/api/tokens/requests/{path_part(request.request_id)}"
    deadline_s = clock_s() + min(request.expires_in_seconds, LONGEST_WAIT_S)
    while clock_s() < deadline_s:
        pause(pause_between(request.interval_seconds))
        try:
            answer = session.post(path)
        except ToolError as error:
            match error.exit_code:
                case ExitCode.UNREACHABLE | ExitCode.LIMITED:  # Possibly temporary.
                    continue
                case ExitCode.NOT_FOUND:
                    break
                case ExitCode.NOT_ALLOWED:
                    error.suggest("No token was created. Try again: widget tokens create")
            raise
        if "token" in answer:
            return answer
    raise ToolError(
        "The token request expired before it was confirmed.",
        "Try again: widget tokens create",
        ExitCode.NOT_ALLOWED,
    )

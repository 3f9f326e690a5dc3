"""Messages of the operator's command on success."""

import structlog
from rich.console import Console
from rich.markup import escape

from ..core.settings import Settings


def greet(
    console: Console, settings: Settings, invitation: str | None, *, has_sockets: bool = False
) -> None:
    """Print the URLs; for machines as one log line.

    `invitation` is set while there is no account: it creates the operator's, once. `has_sockets`:
    it listens on sockets passed by its parent, whose addresses are unknown.
    """
    url = settings.public_url
    local_url = None if has_sockets or url == settings.local_url else settings.local_url
    first = _first_account(settings, invitation) if invitation else None
    if settings.log_format == "json":
        log = structlog.get_logger("widget_catalog")
        more = {"first_account": first} if first else {}
        more |= {"local_url": local_url} if local_url else {}
        log.info("The service is ready.", url=url, data=str(settings.data.resolve()), **more)
        return
    name, url = escape(settings.service_name), escape(url)
    console.print(f"\n[bold]{name}[/] is running at [bold cyan]{url}[/]")
    if local_url:
        console.print(f"  here   {escape(local_url)}, for your proxy or load balancer")
    console.print(f"  try    curl '{url}/api/v1/widgets/search?limit=3'")
    console.print(f"  read   {url}/docs/api")
    console.print(f"  data   {escape(str(settings.data.resolve()))}")
    if first:
        _print_first(console, first)
    console.print("  stop   Ctrl-C\n")


def greet_first(console: Console, settings: Settings, invitation: str) -> None:
    """Print how to create the first account, if that was not possible at startup."""
    first = _first_account(settings, invitation)
    if settings.log_format == "json":
        log = structlog.get_logger("widget_catalog")
        log.info("The first account can be created.", first_account=first)
    else:
        _print_first(console, first)


def _first_account(settings: Settings, invitation: str) -> str:
    return f"{settings.public_url}/join?invitation={invitation}"


def _print_first(console: Console, first: str) -> None:
    console.print("  first  create the operator's account at")
    console.print(f"         {escape(first)}")

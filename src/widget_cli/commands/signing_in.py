"""`widget login`, `logout`, `whoami`."""

from typing import Annotated

import msgspec
import typer

from ..addresses import is_private, parse_url
from ..answers import shaped
from ..catalog import check_cli_version, get_settings, list_scopes
from ..console import out, plain, say, show_json, warn
from ..credentials import Credentials
from ..errors import ToolError, not_private, not_signed_in
from ..exits import ExitCode
from ..oauth import OAuth, OAuthError
from ..options import CatalogOption, InsecureOption, JsonOption
from ..session import machine_token, opened
from ..shapes import Account
from ..transport import Transport

_WAYS = {"oauth": "with widget login", "token": "with an access token"}


def login(
    url: Annotated[
        str | None,
        typer.Argument(metavar="URL", help="The catalog, such as https://catalog.example."),
    ] = None,
    device: Annotated[
        bool,
        typer.Option("--device", help="Sign in by entering a code in a browser on any device."),
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the URL.")
    ] = True,
    keyring: Annotated[
        bool, typer.Option("--keyring", help="Store the token in the system's keyring.")
    ] = False,
    insecure: InsecureOption = False,
    json: JsonOption = False,
) -> None:
    """Sign in to a catalog and make it the default."""
    from ..signing_in import sign_in_with_browser, sign_in_with_device

    with opened(parse_url(url) if url else None) as session:
        if not (insecure or is_private(session.url)):
            raise not_private(session.url, "your sign-in", "pass --insecure")
        if newer := check_cli_version(session):
            warn(f"A newer release of widget is available: {newer}.")
        settings = get_settings(session)
        oauth = OAuth(session.transport, session.url, settings.cli_client_id)
        if device:
            tokens = sign_in_with_device(oauth)
        else:
            tokens = sign_in_with_browser(session.url, oauth, opens_browser=browser)
        username = oauth.username(tokens.access_token)
        sign_in = tokens.signed_in(username, oauth.client_id)
        sign_in = msgspec.structs.replace(sign_in, is_in_keyring=keyring, is_insecure=insecure)
        with session.credentials.writing() as writer:
            writer.save(session.url, sign_in, becomes_default=True)
    if json:
        show_json({"catalog": session.url, "username": username})
        return
    say.print(f"[green]Signed in[/] to {plain(session.url)} as [bold]{plain(username)}[/].")
    if machine_token() is not None:
        warn("WIDGET_TOKEN is set and overrides this sign-in until you unset it.")


def logout(
    catalog: CatalogOption = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Sign out of all catalogs.")] = False,
    json: JsonOption = False,
) -> None:
    """Sign out. This also revokes the access tokens created with this sign-in."""
    has_token = machine_token() is not None
    credentials = Credentials()
    urls = credentials.urls if everywhere else [_signed_in_url(catalog, credentials)]
    with Transport(attempts=1, timeout_s=10) as transport:
        for url in urls:
            is_told = _revoke(url, credentials, transport)
            with credentials.writing() as writer:
                writer.remove(url)
            if not is_told:
                warn(f"{url} could not be reached; the session there will expire.")
            say.print(f"Signed out of {plain(url)}.")
    if not urls:
        say.print("You were not signed in to any catalog.")
    if has_token:
        warn("WIDGET_TOKEN is still set. To sign out completely: unset WIDGET_TOKEN")
    if json:
        show_json({"signedOut": urls})


def whoami(
    catalog: CatalogOption = None, insecure: InsecureOption = False, json: JsonOption = False
) -> None:
    """Show your account and the scopes you can publish to."""
    with opened(catalog, is_insecure=insecure) as session:
        account = shaped(session.get("/api/auth/session"), Account, session.url)
        scopes = list_scopes(session)
    if json:
        known = msgspec.to_builtins(account)
        if account.token is None:
            del known["token"]
        show_json({"catalog": session.url, **known, "scopes": msgspec.to_builtins(scopes)})
        return
    way = _WAYS.get(account.via, f"by {account.via}")
    email = f" ({plain(account.email)})" if account.email else ""
    out.print(f"[bold]{plain(account.username)}[/]{email} at {plain(session.url)}")
    out.print(f"signed in {plain(way)}" + (", operator" if account.is_operator else ""))
    allowed = [it.name for it in scopes]
    if account.token is not None and account.token.widgets:
        # The scopes of these widgets are listed too, but the token is not for all of their widgets.
        in_whole = [it for it in account.token.scopes if it in allowed]
        allowed = [*in_whole, *(it for it in account.token.widgets if it.split("/")[0] in allowed)]
    names = ", ".join(plain(it) for it in allowed)
    out.print(f"can publish to {names}" if names else "cannot publish to any scope yet")


def _signed_in_url(catalog: str | None, credentials: Credentials) -> str:
    with opened(catalog) as session:
        if credentials.find(session.url) is not None:
            return session.url
        if session.is_machine:
            raise ToolError(
                f"No sign-in to {session.url} is stored: you use WIDGET_TOKEN.",
                "To sign out: unset WIDGET_TOKEN",
                ExitCode.NOT_SIGNED_IN,
            )
        raise not_signed_in(session.url)


def _revoke(url: str, credentials: Credentials, transport: Transport) -> bool:
    """Revoke the tokens at the catalog; False if that failed, which does not prevent sign-out."""
    try:
        kept = credentials.find(url)
        if kept is not None and not (kept.is_insecure or is_private(url)):
            return False
        if kept is not None:
            OAuth(transport, url, kept.client_id).revoke(kept.refresh_token)
    except (ToolError, OAuthError):
        return False
    return True


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Account")(login)
    app.command(rich_help_panel="Account")(logout)
    app.command(rich_help_panel="Account")(whoami)

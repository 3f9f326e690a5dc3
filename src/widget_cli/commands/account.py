"""`widget login`, `logout`, `whoami`; `widget account`: change the password, close the account."""

from typing import Annotated, Any

import msgspec
import typer

from ..addresses import is_private, login_command, parse_url
from ..catalog import check_cli_version, get_account, get_settings, list_scopes
from ..console import ask_line, ask_secret, out, plain, say, shows_json, warn
from ..credentials import Credentials
from ..errors import (
    ExitCode,
    ToolError,
    not_allowed,
    not_private,
    not_signed_in,
    sign_in_needed,
    wrong_usage,
)
from ..options import (
    App,
    CatalogOption,
    InsecureOption,
    JsonOption,
    in_insecure_session,
    in_session,
)
from ..session import OAuth, OAuthError, Session, machine_token, opened
from ..transport import Transport

app = App(help="Manage your account: change the password, or close it.")

_WAYS = {"oauth": "with widget login", "token": "with an access token"}


def login(
    url: Annotated[
        str | None,
        typer.Argument(metavar="URL", help="The catalog, such as https://catalog.example."),
    ] = None,
    device: Annotated[
        bool,
        typer.Option(
            "--device",
            help="Sign in by entering a code in a browser on any device. The default over SSH, and "
            "without a display.",
        ),
    ] = False,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the URL.")
    ] = True,
    keyring: Annotated[
        bool, typer.Option("--keyring", help="Store the token in the system's keyring.")
    ] = False,
    insecure: InsecureOption = False,
    _json: JsonOption = False,
) -> None:
    """Sign in to a catalog and make it the default."""
    from ..signing_in import has_browser, sign_in_with_browser, sign_in_with_device

    with opened(parse_url(url) if url else None) as session:
        if not (insecure or is_private(session.url)):
            raise not_private(session.url, "your sign-in", "pass --insecure")
        if newer := check_cli_version(session):
            warn(f"A newer release of widget is available: {newer}.")
        settings = get_settings(session)
        oauth = OAuth(session.transport, session.url, settings.cli_client_id)
        # A browser elsewhere could not be redirected to this machine.
        if device or (browser and not has_browser()):
            tokens = sign_in_with_device(oauth)
        else:
            tokens = sign_in_with_browser(session.url, oauth, opens_browser=browser)
        username = oauth.username(tokens.access_token)
        sign_in = tokens.signed_in(username, oauth.client_id)
        sign_in = msgspec.structs.replace(sign_in, is_in_keyring=keyring, is_insecure=insecure)
        with session.credentials.writing() as writer:
            writer.save(session.url, sign_in, becomes_default=True)
    if shows_json({"catalog": session.url, "username": username}):
        return
    say.print(f"[green]Signed in[/] to {plain(session.url)} as [bold]{plain(username)}[/].")
    if machine_token() is not None:
        warn("WIDGET_TOKEN is set and overrides this sign-in until you unset it.")


def logout(
    catalog: CatalogOption = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Sign out of all catalogs.")] = False,
    _json: JsonOption = False,
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
    shows_json({"signedOut": urls})


@in_insecure_session
def whoami(session: Session) -> None:
    """Show your account and the scopes you can publish to."""
    account, scopes = get_account(session), list_scopes(session)
    known = msgspec.to_builtins(account)
    if account.token is None:
        del known["token"]
    if shows_json({"catalog": session.url, **known, "scopes": msgspec.to_builtins(scopes)}):
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
            raise sign_in_needed(
                f"No sign-in to {session.url} is stored: you use WIDGET_TOKEN.",
                "To sign out: unset WIDGET_TOKEN",
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


@app.command()
@in_session
def password(
    session: Session,
    keep_tokens: Annotated[
        bool, typer.Option("--keep-tokens", help="Do not revoke your access tokens.")
    ] = False,
) -> None:
    """Change your password and sign out everywhere.

    This also revokes your access tokens, unless you pass --keep-tokens.
    """
    username = _username(session)
    say.print(f"Change the password of [bold]{plain(username)}[/] at {plain(session.url)}.")
    current, new = ask_secret("Current password"), ask_secret("New password")
    if ask_secret("New password again") != new:
        raise wrong_usage("The new passwords do not match.", "Nothing was changed. Try again.")
    body = {"currentPassword": current, "newPassword": new, "keepTokens": keep_tokens}
    _end_session(session, "/api/auth/password", body)
    if not shows_json({"success": True, "catalog": session.url, "username": username}):
        say.print("[green]Changed.[/] You are signed out everywhere.")
        say.print(f"Sign in again: {plain(login_command(session.url))}")


@app.command()
@in_session
def close(session: Session) -> None:
    """Close your account permanently. Published bundles remain available."""
    username = _username(session)
    name = f"[bold]{plain(username)}[/]"
    say.print(f"This closes the account {name} at {plain(session.url)}. This cannot be undone:")
    say.print("  - its widgets are unlisted; dashboards that use them keep working")
    say.print("  - it leaves its organizations; all sessions and access tokens are revoked")
    say.print(f"  - the name {name} cannot be used again; your e-mail address can")
    if ask_line(f"Type {username} to continue: ") != username:
        say.print("Nothing was changed.")
        raise typer.Exit(ExitCode.FAILED)
    _end_session(session, "/api/account/close", {"password": ask_secret("Password")})
    if not shows_json({"success": True, "catalog": session.url, "username": username}):
        say.print(f"The account {name} is closed.")


def _username(session: Session) -> str:
    """The username of the account; raises for an access token."""
    if session.is_machine:
        raise not_allowed(
            "WIDGET_TOKEN is set, and an access token cannot change an account.",
            "Unset WIDGET_TOKEN and sign in: widget login",
        )
    return get_account(session).username


def _end_session(session: Session, path: str, body: dict[str, Any]) -> None:
    """Make a change after which the sign-in is no longer valid."""
    try:
        session.post(path, body)
    except ToolError as error:
        if error.exit_code is ExitCode.NOT_ALLOWED:  # A wrong password.
            error.hint = "Nothing was changed. Try again."
        raise
    session.forget()


def register(main: typer.Typer) -> None:
    for command in (login, logout, whoami):
        main.command(rich_help_panel="Account")(command)
    main.add_typer(app, name="account", rich_help_panel="Account")

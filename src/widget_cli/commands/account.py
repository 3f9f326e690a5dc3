"""`widget account`: change the password, close the account."""

import contextlib
from collections.abc import Iterator
from typing import Annotated

import typer

from ..answers import shaped
from ..app import App
from ..console import ask_line, ask_secret, plain, say, show_json
from ..errors import ToolError, wrong_usage
from ..exits import ExitCode
from ..options import CatalogOption, JsonOption
from ..session import Session, opened
from ..shapes import Account

app = App(help="Manage your account: change the password, or close it.")


@app.command()
def password(
    keep_tokens: Annotated[
        bool, typer.Option("--keep-tokens", help="Do not revoke your access tokens.")
    ] = False,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Change your password and sign out everywhere.

    This also revokes your access tokens, unless you pass --keep-tokens.
    """
    with opened(catalog) as session:
        username = _username(session)
        say.print(f"Change the password of [bold]{plain(username)}[/] at {plain(session.url)}.")
        current, new = ask_secret("Current password"), ask_secret("New password")
        if ask_secret("New password again") != new:
            raise wrong_usage("The new passwords do not match.", "Nothing was changed. Try again.")
        body = {"currentPassword": current, "newPassword": new, "keepTokens": keep_tokens}
        with _trying():
            session.post("/api/auth/password", body)
        session.forget()
    if json:
        show_json({"success": True, "catalog": session.url, "username": username})
        return
    say.print("[green]Changed.[/] You are signed out everywhere.")
    say.print(f"Sign in again: widget login {plain(session.url)}")


@app.command()
def close(catalog: CatalogOption = None, json: JsonOption = False) -> None:
    """Close your account permanently. Published bundles remain available."""
    with opened(catalog) as session:
        username = _username(session)
        name = f"[bold]{plain(username)}[/]"
        say.print(f"This closes the account {name} at {plain(session.url)}. This cannot be undone:")
        say.print("  - its widgets are unlisted; dashboards that use them keep working")
        say.print("  - it leaves its organizations; all sessions and access tokens are revoked")
        say.print(f"  - the name {name} cannot be used again; your e-mail address can")
        if ask_line(f"Type {username} to continue: ") != username:
            say.print("Nothing was changed.")
            raise typer.Exit(ExitCode.FAILED)
        with _trying():
            session.post("/api/account/close", {"password": ask_secret("Password")})
        session.forget()
    if json:
        show_json({"success": True, "catalog": session.url, "username": username})
        return
    say.print(f"The account {name} is closed.")


def _username(session: Session) -> str:
    """The username of the account; raises for an access token."""
    if session.is_machine:
        raise ToolError(
            "WIDGET_TOKEN is set, and an access token cannot change an account.",
            "Unset WIDGET_TOKEN and sign in: widget login",
            ExitCode.NOT_ALLOWED,
        )
    return shaped(session.get("/api/auth/session"), Account, session.url).username


@contextlib.contextmanager
def _trying() -> Iterator[None]:
    """A wrong password gets its own hint."""
    try:
        yield
    except ToolError as error:
        if error.exit_code is ExitCode.NOT_ALLOWED:
            error.hint = "Nothing was changed. Try again."
        raise

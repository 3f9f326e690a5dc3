"""`widget account`: what people do with their own account."""

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

app = App(help="Your own account: change its password, close it.")


@app.command()
def password(
    keep_tokens: Annotated[
        bool, typer.Option("--keep-tokens", help="Keep your access tokens valid.")
    ] = False,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Change your password, and be signed out everywhere.

    Your access tokens end, too, unless you keep them.
    """
    with opened(catalog) as session:
        username = _username(session)
        say.print(f"A new password for [bold]{plain(username)}[/] at {plain(session.url)}.")
        current, new = ask_secret("Current password"), ask_secret("New password")
        if ask_secret("New password again") != new:
            raise wrong_usage("The new passwords differ.", "Nothing was changed. Try again.")
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
    """Close your account, for good. What you published stays loadable."""
    with opened(catalog) as session:
        username = _username(session)
        name = f"[bold]{plain(username)}[/]"
        say.print(f"This closes the account {name} at {plain(session.url)}, for good:")
        say.print("  - its widgets are unlisted; dashboards that have them keep them")
        say.print("  - it leaves its organizations; every sign-in and access token ends")
        say.print(f"  - nobody gets the name {name} again; your e-mail address is free again")
        if ask_line(f"Type {username} to go on: ") != username:
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
    """Whose account it is. A token for machines is nobody's sign-in."""
    if session.is_machine:
        raise ToolError(
            "WIDGET_TOKEN is set, and an access token cannot change an account.",
            "Unset WIDGET_TOKEN and sign in: widget login",
            ExitCode.NOT_ALLOWED,
        )
    return shaped(session.get("/api/auth/session"), Account, session.url).username


@contextlib.contextmanager
def _trying() -> Iterator[None]:
    """A password that is wrong is no matter of rights."""
    try:
        yield
    except ToolError as error:
        if error.exit_code is ExitCode.NOT_ALLOWED:
            error.hint = "Nothing was changed. Try again."
        raise

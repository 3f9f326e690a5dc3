"""`widget tokens`: access tokens for machines that publish."""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
import typer

from ..addresses import parse_key, parse_scope, path_part
from ..answers import not_a_catalog, shaped
from ..app import App
from ..catalog import require_scopes
from ..console import counted, plain, say, show_json, show_table
from ..options import CatalogOption, JsonOption
from ..session import opened

app = App(help="Access tokens, for machines that publish.")


class TokenAction(StrEnum):
    PUBLISH = "publish"
    YANK = "yank"
    DEPRECATE = "deprecate"
    LIST = "list"


class Token(msgspec.Struct, rename="camel"):
    id: str | int
    name: str
    actions: list[str] = []
    scopes: list[str] = []
    widgets: list[str] = []
    expires_at: str | None = None
    last_used_at: str | None = None


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for, such as ci.")],
    action: Annotated[
        list[TokenAction] | None,
        typer.Option(
            metavar="|".join(TokenAction),
            help="What it may do; may be given again.",
            show_default="publish",
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help="Only in this scope; may be given again."),
    ] = None,
    widget: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE/NAME", help="Only this widget; may be given again."),
    ] = None,
    days: Annotated[
        int, typer.Option(metavar="N", min=1, help="Days until it expires, at least 1.")
    ] = 90,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open it, or print the address only.")
    ] = True,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Create a token and print it to standard output. It is shown only once.

    You confirm it in a browser. `widget logout` also ends the tokens made with this sign-in.
    """
    body: dict[str, Any] = {
        "name": name,
        "actions": [it.value for it in action or [TokenAction.PUBLISH]],
        "scopes": [parse_scope(it) for it in scope or []],
        "widgets": ["/".join(parse_key(it)) for it in widget or []],
        "expiresInDays": days,
    }
    with opened(catalog) as session:
        require_scopes(session, body["scopes"])
        made = session.post("/api/tokens", body)
        if "requestId" in made:
            from ..confirming import TokenRequest, wait_for_confirmation

            request = shaped(made, TokenRequest, session.url)
            made = wait_for_confirmation(session, request, opens_browser=browser)
        secret = made.get("token")
        if not isinstance(secret, str):
            raise not_a_catalog(session.url)
    if json:
        show_json(made)
        return
    good = f"Good for {counted(days, 'day')}, as WIDGET_TOKEN:"
    say.print(f"Keep this; it cannot be shown again. {good}")
    typer.echo(secret if secret.isprintable() else ascii(secret))


@app.command("list")
def list_(catalog: CatalogOption = None, json: JsonOption = False) -> None:
    """Your tokens, without their secrets."""
    with opened(catalog) as session:
        found = session.get("/api/tokens")
        tokens = shaped(found.get("tokens"), list[Token], session.url)
    if json:
        show_json(found)
        return
    rows = [(it.id, it.name, _day(it.last_used_at), _day(it.expires_at), _may(it)) for it in tokens]
    show_table(("id", "name", "last used", "ends", "may"), rows)
    if not rows:
        say.print("You have no tokens.")


@app.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="As widget tokens list shows it.")],
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Revoke a token."""
    with opened(catalog) as session:
        session.delete(f"/api/tokens/{path_part(token_id)}")
    if json:
        show_json({"success": True, "id": token_id})
        return
    say.print(f"The token {plain(token_id)} is revoked.")


def _may(token: Token) -> str:
    where = ", ".join([*token.scopes, *token.widgets])
    return ", ".join(token.actions) + (f" in {where}" if where else "")


def _day(instant: str | None) -> str:
    return instant[:10] if instant else "never"

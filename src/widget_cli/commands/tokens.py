"""`widget tokens`: access tokens, for publishing from CI."""

from enum import StrEnum
from typing import Annotated, Any

import msgspec
import typer

from ..addresses import parse_key, parse_scope, path_part
from ..catalog import require_scopes
from ..console import counted, say, show_done, show_table, shows_json
from ..options import App, in_session
from ..responses import not_a_catalog, shaped
from ..session import DeviceCode, Session

app = App(help="Manage access tokens, for publishing from CI.")


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
@in_session
def create(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name for the token, such as ci.")],
    action: Annotated[
        list[TokenAction] | None,
        typer.Option(
            metavar="|".join(TokenAction),
            help="An allowed action; repeatable.",
            show_default="publish",
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help="Restrict it to this scope; repeatable."),
    ] = None,
    widget: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE/NAME", help="Restrict it to this widget; repeatable."),
    ] = None,
    days: Annotated[
        int, typer.Option(metavar="N", min=1, help="Days until it expires, at least 1.")
    ] = 90,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the URL.")
    ] = True,
) -> None:
    """Create a token and print it to standard output. It is shown only once.

    You confirm it in a browser. `widget logout` revokes the tokens created with this sign-in.
    """
    from ..signing_in import wait_for_token

    body: dict[str, Any] = {
        "name": name,
        "actions": [it.value for it in action or [TokenAction.PUBLISH]],
        "scopes": [parse_scope(it) for it in scope or []],
        "widgets": ["/".join(parse_key(it)) for it in widget or []],
        "expiresInDays": days,
    }
    require_scopes(session, body["scopes"])
    device = shaped(session.post("/api/tokens/device", body), DeviceCode, session.url)
    made = wait_for_token(session.oauth(), device, opens_browser=browser)
    secret, details = made.get("access_token"), made.get("details")
    if not isinstance(secret, str) or not isinstance(details, dict):
        raise not_a_catalog(session.url)
    if shows_json({**details, "token": secret}):
        return
    good = f"Valid for {counted(days, 'day')}; use it as WIDGET_TOKEN:"
    say.print(f"Store this token; it is shown only once. {good}")
    typer.echo(secret if secret.isprintable() else ascii(secret))


@app.command("list")
@in_session
def list_(session: Session) -> None:
    """List your tokens."""
    found = session.get("/api/tokens")
    tokens = shaped(found.get("tokens"), list[Token], session.url)
    if shows_json(found):
        return
    rows = [(it.id, it.name, _day(it.last_used_at), _day(it.expires_at), _may(it)) for it in tokens]
    show_table(("id", "name", "last used", "expires", "permissions"), rows)
    if not rows:
        say.print("You have no tokens.")


@app.command()
@in_session
def revoke(
    session: Session,
    token_id: Annotated[
        str, typer.Argument(metavar="ID", help="The id shown by: widget tokens list")
    ],
) -> None:
    """Revoke a token."""
    session.delete(f"/api/tokens/{path_part(token_id)}")
    show_done(f"The token {token_id} is revoked.", id=token_id)


def _may(token: Token) -> str:
    where = ", ".join([*token.scopes, *token.widgets])
    return ", ".join(token.actions) + (f" in {where}" if where else "")


def _day(instant: str | None) -> str:
    return instant[:10] if instant else "never"


def register(main: typer.Typer) -> None:
    main.add_typer(app, name="tokens", rich_help_panel="Account")

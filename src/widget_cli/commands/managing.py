"""`widget yank`, `deprecate`, `unlist` and their opposites."""

from contextlib import AbstractContextManager
from typing import Annotated

import typer

from widget_contract.semver import InvalidVersion, SemVer

from ..addresses import parse_key, path_part
from ..console import plain, say, show_json
from ..errors import wrong_usage
from ..options import (
    CatalogOption,
    InsecureOption,
    JsonOption,
    VersionArgument,
    WidgetArgument,
)
from ..session import Session, opened

ReasonOption = Annotated[
    str, typer.Option("--reason", "-r", metavar="TEXT", help="The reason, shown to its users.")
]
MessageOption = Annotated[
    str,
    typer.Option(
        "--message",
        "-m",
        metavar="TEXT",
        help="A message for its users, such as what to use instead.",
    ),
]
OwnReasonOption = Annotated[
    str | None,
    typer.Option(
        "--reason", "-r", metavar="TEXT", help="The reason, for the audit log.", show_default=False
    ),
]


def yank(
    widget: WidgetArgument,
    version: VersionArgument,
    reason: ReasonOption,
    catalog: CatalogOption = None,
    insecure: InsecureOption = False,
    json: JsonOption = False,
) -> None:
    """Yank a version: it is no longer offered, but its bundle remains available."""
    _change(
        widget,
        version,
        "yank",
        {"reason": reason},
        opened(catalog, is_insecure=insecure),
        json,
        "is yanked",
    )


def unyank(
    widget: WidgetArgument,
    version: VersionArgument,
    catalog: CatalogOption = None,
    insecure: InsecureOption = False,
    json: JsonOption = False,
) -> None:
    """Undo a yank: offer the version again."""
    _change(
        widget,
        version,
        "unyank",
        {},
        opened(catalog, is_insecure=insecure),
        json,
        "is offered again",
    )


def deprecate(
    widget: WidgetArgument,
    version: VersionArgument,
    message: MessageOption,
    catalog: CatalogOption = None,
    insecure: InsecureOption = False,
    json: JsonOption = False,
) -> None:
    """Mark a version as deprecated. Users see a warning; it is still offered."""
    _change(
        widget,
        version,
        "deprecate",
        {"message": message},
        opened(catalog, is_insecure=insecure),
        json,
        "is deprecated",
    )


def undeprecate(
    widget: WidgetArgument,
    version: VersionArgument,
    catalog: CatalogOption = None,
    insecure: InsecureOption = False,
    json: JsonOption = False,
) -> None:
    """Undo a deprecation."""
    _change(
        widget,
        version,
        "undeprecate",
        {},
        opened(catalog, is_insecure=insecure),
        json,
        "is no longer deprecated",
    )


def unlist(
    widget: WidgetArgument,
    reason: OwnReasonOption = None,
    catalog: CatalogOption = None,
    insecure: InsecureOption = False,
    json: JsonOption = False,
) -> None:
    """Hide a widget from search and its page. Its bundles remain available."""
    _change(
        widget,
        None,
        "unlist",
        {"reason": reason},
        opened(catalog, is_insecure=insecure),
        json,
        "is no longer listed",
    )


def list_(
    widget: WidgetArgument,
    reason: OwnReasonOption = None,
    catalog: CatalogOption = None,
    insecure: InsecureOption = False,
    json: JsonOption = False,
) -> None:
    """List an unlisted widget again. To find widgets, use search."""
    _change(
        widget,
        None,
        "list",
        {"reason": reason},
        opened(catalog, is_insecure=insecure),
        json,
        "is listed",
    )


def _change(
    widget: str,
    version: str | None,
    action: str,
    body: dict[str, str | None],
    opening: AbstractContextManager[Session],
    json: bool,
    outcome: str,
) -> None:
    key = parse_key(widget)
    path, thing = f"/api/widgets/{key}/{action}", str(key)
    if version is not None:
        number = _number(version)
        path, thing = f"/api/widgets/{key}/versions/{path_part(number)}/{action}", f"{key} {number}"
    given = {name: value for name, value in body.items() if value is not None}
    with opening as session:
        # Idempotent.
        session.post(path, given, is_repeatable=True)
    if json:
        about = {"scope": key.scope, "name": key.name, "version": version}
        show_json({"success": True, "action": action, **about})
        return
    say.print(f"[bold]{plain(thing)}[/] {outcome}.")


def _number(text: str) -> str:
    try:
        return SemVer.parse(text).text
    except InvalidVersion as error:
        raise wrong_usage(str(error), "List its versions with: widget versions") from None


def register(app: typer.Typer) -> None:
    for command in (yank, unyank, deprecate, undeprecate, unlist):
        app.command(rich_help_panel="After publishing")(command)
    app.command("list", rich_help_panel="After publishing")(list_)

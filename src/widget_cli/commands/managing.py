"""`widget yank`, `deprecate`, `unlist` and their opposites."""

from typing import Annotated

import typer

from widget_contract.semver import InvalidVersion, SemVer

from ..addresses import parse_key, path_part
from ..console import plain, say, shows_json
from ..errors import wrong_usage
from ..options import VersionArgument, WidgetArgument, in_insecure_session
from ..session import Session

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


@in_insecure_session
def yank(
    session: Session, widget: WidgetArgument, version: VersionArgument, reason: ReasonOption
) -> None:
    """Yank a version: it is no longer offered, but its bundle remains available."""
    _change(session, widget, version, "yank", {"reason": reason}, "is yanked")


@in_insecure_session
def unyank(session: Session, widget: WidgetArgument, version: VersionArgument) -> None:
    """Undo a yank: offer the version again."""
    _change(session, widget, version, "unyank", {}, "is offered again")


@in_insecure_session
def deprecate(
    session: Session, widget: WidgetArgument, version: VersionArgument, message: MessageOption
) -> None:
    """Mark a version as deprecated. Users see a warning; it is still offered."""
    _change(session, widget, version, "deprecate", {"message": message}, "is deprecated")


@in_insecure_session
def undeprecate(session: Session, widget: WidgetArgument, version: VersionArgument) -> None:
    """Undo a deprecation."""
    _change(session, widget, version, "undeprecate", {}, "is no longer deprecated")


@in_insecure_session
def unlist(session: Session, widget: WidgetArgument, reason: OwnReasonOption = None) -> None:
    """Hide a widget from search and its page. Its bundles remain available."""
    _change(session, widget, None, "unlist", {"reason": reason}, "is no longer listed")


@in_insecure_session
def list_(session: Session, widget: WidgetArgument, reason: OwnReasonOption = None) -> None:
    """List an unlisted widget again. To find widgets, use search."""
    _change(session, widget, None, "list", {"reason": reason}, "is listed")


def _change(
    session: Session,
    widget: str,
    version: str | None,
    action: str,
    body: dict[str, str | None],
    outcome: str,
) -> None:
    key = parse_key(widget)
    path, thing = f"/api/widgets/{key}/{action}", str(key)
    if version is not None:
        number = _number(version)
        path, thing = f"/api/widgets/{key}/versions/{path_part(number)}/{action}", f"{key} {number}"
    given = {name: value for name, value in body.items() if value is not None}
    session.post(path, given, is_repeatable=True)  # Idempotent.
    about = {"scope": key.scope, "name": key.name, "version": version}
    if not shows_json({"success": True, "action": action, **about}):
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

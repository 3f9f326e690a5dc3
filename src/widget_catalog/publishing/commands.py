"""`widget-catalog widget …` and `version …`: changes by the operator to published widgets."""

from typing import Annotated

import typer

from ..catalog.node.context import ConfigOption, DataOption, command_group, open_existing, report
from ..core import release
from ..core.actors import COMMAND_LINE

widgets = command_group("widget", "Manage published widgets.")
versions = command_group(
    "version",
    "Print the version, or manage published versions: yank, revoke, and undo both.",
    is_a_command=True,
)

Key = Annotated[str, typer.Argument(metavar="SCOPE/NAME", help="The widget.")]
Number = Annotated[str, typer.Argument(metavar="VERSION", help="The version, such as 1.0.0.")]
Reason = Annotated[str | None, typer.Option(help="The reason, for the audit log.")]


@widgets.command()
def official(
    widget: Key,
    is_official: Annotated[
        bool, typer.Option("--yes/--no", help="Whether the widget is official.")
    ] = True,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Mark a widget as official (maintained by the operator of this catalog), or not."""
    from .change_widget import set_official

    set_official(open_existing(data, config).store, COMMAND_LINE, widget, is_official)
    report(f"{widget} is {'official' if is_official else 'not official'}.")


@widgets.command()
def unlist(
    widget: Key, reason: Reason = None, data: DataOption = None, config: ConfigOption = None
) -> None:
    """Hide a widget from search, detail and registry. Dashboards that use it keep working."""
    from .change_widget import unlist_widget

    unlist_widget(open_existing(data, config).store, COMMAND_LINE, widget, reason)
    report(f"{widget} is no longer listed.")


@widgets.command("list")
def list_(
    widget: Key, reason: Reason = None, data: DataOption = None, config: ConfigOption = None
) -> None:
    """List an unlisted widget again."""
    from .change_widget import list_widget

    list_widget(open_existing(data, config).store, COMMAND_LINE, widget, reason)
    report(f"{widget} is listed.")


@versions.callback()
def version(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(release.VERSION)  # noqa: T201


@versions.command()
def yank(
    widget: Key,
    number: Number,
    reason: Annotated[str, typer.Option(help="The reason, shown to users.")],
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Yank a version: it is no longer offered. Dashboards that use it keep working."""
    from .change_widget import yank_version

    yank_version(open_existing(data, config).store, COMMAND_LINE, widget, number, reason)
    report(f"{widget} {number} is yanked.")


@versions.command()
def redate(widget: Key, data: DataOption = None, config: ConfigOption = None) -> None:
    """Change publish dates in the future to the current time, after the server's clock was wrong.

    The order of the versions stays the same. Check the clock first.
    """
    from ..core.clock import counted
    from .change_widget import redate_widget

    redated = redate_widget(open_existing(data, config).store, widget)
    if redated:
        report(f"{widget}: {counted(redated, 'version')} changed to the current time.")
    else:
        report(f"No version of {widget} has a date in the future. Nothing was changed.")


@versions.command()
def unyank(
    widget: Key, number: Number, data: DataOption = None, config: ConfigOption = None
) -> None:
    """Undo a yank: offer the version again."""
    from .change_widget import unyank_version

    unyank_version(open_existing(data, config).store, COMMAND_LINE, widget, number)
    report(f"{widget} {number} is offered again.")

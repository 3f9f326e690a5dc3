"""`widget dev`: a widget runs in a browser while its author works on it."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import plain, say
from ..options import AnyModuleOption, NoCheckOption, module_check
from .making import FolderArgument

if TYPE_CHECKING:  # Loaded when it runs: a web server takes a while.
    from ..trial import State, Trial

_LOOK_EVERY_S = 0.3
_NO_BROWSER = "Do not open a browser."


def dev(
    folder: FolderArgument = Path(),
    port: Annotated[
        int,
        typer.Option(metavar="PORT", min=0, max=65535, help="The port.", show_default="a free one"),
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help=_NO_BROWSER)] = False,
    no_check: NoCheckOption = False,
    any_module: AnyModuleOption = False,
) -> None:
    """Show a widget in a browser, and run it again at every change. Ctrl-C ends it."""
    from ..preview_server import showing
    from ..signing_in import open_browser
    from ..trial import Trial
    from ..widget_folder import read_manifest_text

    read_manifest_text(folder)  # Where there is no widget at all, there is nothing to wait for.
    trial = Trial(folder, module_check(no_check=no_check, any_module=any_module))
    with showing(trial, port) as address:
        say.print(f"The widget runs at [bold]{plain(address)}[/]. Ctrl-C ends it.")
        if not no_browser:
            open_browser(address)
        try:
            _report_changes(trial)
        except KeyboardInterrupt:
            say.print("Ended.")


def _report_changes(trial: "Trial") -> None:
    printed = 0
    while True:
        state = trial.state()
        if state.revision != printed:
            printed = state.revision
            _report(state)
        time.sleep(_LOOK_EVERY_S)


def _report(state: "State") -> None:
    if not state.faults:
        say.print("[green]Fine.[/]" if not state.warnings else "[green]Fine[/], but:")
    else:
        say.print("[red]Not yet:[/]")
    for sentence in (*state.faults, *state.warnings):
        say.print(f"  - {plain(sentence)}")


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Make and publish")(dev)

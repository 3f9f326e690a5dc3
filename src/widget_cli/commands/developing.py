"""`widget dev`: a live preview in the browser."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import plain, say
from ..options import AnyModuleOption, NoCheckOption, module_check
from .making import FolderArgument

if TYPE_CHECKING:  # Loaded when needed: the web server is slow to import.
    from ..trial import State, Trial

_LOOK_EVERY_S = 0.3
_NO_BROWSER = "Do not open a browser."


def dev(
    folder: FolderArgument = Path(),
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            min=0,
            max=65535,
            help="The port to listen on.",
            show_default="a free one",
        ),
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help=_NO_BROWSER)] = False,
    no_check: NoCheckOption = False,
    any_module: AnyModuleOption = False,
) -> None:
    """Preview a widget in a browser, and reload it on every change. Press Ctrl-C to stop."""
    from ..preview_server import showing
    from ..signing_in import open_browser
    from ..trial import Trial
    from ..widget_folder import read_manifest_text

    read_manifest_text(folder)  # Raises if there is no widget.
    trial = Trial(folder, module_check(no_check=no_check, any_module=any_module))
    with showing(trial, port) as address:
        say.print(f"The widget runs at [bold]{plain(address)}[/]. Press Ctrl-C to stop.")
        if not no_browser:
            open_browser(address)
        try:
            _report_changes(trial)
        except KeyboardInterrupt:
            say.print("Stopped.")


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
        say.print("[green]OK.[/]" if not state.warnings else "[green]OK[/], with warnings:")
    else:
        say.print("[red]Errors:[/]")
    for sentence in (*state.faults, *state.warnings):
        say.print(f"  - {plain(sentence)}")


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Create and publish")(dev)

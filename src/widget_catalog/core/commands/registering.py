"""Command: a subcommand of `widget-catalog`, as a feature declares it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import typer

from .help import examples

DATA = "Catalog data"
PEOPLE = "Accounts and widgets"


@dataclass(frozen=True)
class Command:
    """A function, or a group of commands, and its examples in `--help`."""

    run: Callable[..., Any] | typer.Typer
    panel: str
    examples: tuple[str, ...] = ()
    name: str | None = None
    """If it is not that of the function."""


def register(app: typer.Typer, command: Command) -> None:
    if isinstance(command.run, typer.Typer):
        app.add_typer(command.run, rich_help_panel=command.panel)
        return
    epilog = examples(*command.examples) if command.examples else None
    app.command(command.name, rich_help_panel=command.panel, epilog=epilog)(command.run)

"""Commands of `widget-catalog`: how a feature declares one, the format of `--help`, and values.

Typer converts every value with pydantic, which takes longer to load than most commands run. Valid
strings, paths, whole numbers and choices do not need it; Typer handles the rest, with its error
messages.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from widget_contract.command_values import convert_plainly

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


HELP_OPTIONS = ["-h", "--help"]


class _Argument(TyperArgument):
    """`FILE` in the usage line and in the list, not `{FILE}` and `<str>`."""

    def display_type_rich(self, ctx: Any) -> str | None:  # noqa: ARG002
        return None

    def _usage_display_name(self) -> str:
        return self.display_name_raw if self.required else f"[{self.display_name_raw}]"


class _Option(TyperOption):
    """`--port PORT … [default: 8080]`, not `--port <int> … [default: (8080)]`."""

    def display_type_rich(self, ctx: Any) -> str | None:  # noqa: ARG002
        return None if self.is_flag else self.metavar or self.name.upper()

    def _get_number_range_help_str(self) -> str | None:
        return None  # The help text states the allowed range.

    def _get_default_string(self, **how: Any) -> str:
        if isinstance(self.show_default, str):
            return self.show_default
        return super()._get_default_string(**how)


def examples(*arguments: str) -> str:
    """The text below the help of a command."""
    return "\n".join(["Examples:", *(f"widget-catalog {it}" for it in arguments)])


def build_command(app: typer.Typer) -> Any:
    """The command, with readable help for all subcommands."""
    command = get_command(app)
    _make_readable(command)
    return command


def _make_readable(command: Any) -> None:
    # Typer has no option to choose the classes of parameters and of --help.
    help_option = command.get_help_option(typer.Context(command, help_option_names=HELP_OPTIONS))
    for parameter in (*command.params, help_option):
        parameter.__class__ = _Argument if isinstance(parameter, TyperArgument) else _Option
        convert_plainly(parameter)
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(it.split()) for it in paragraphs)
    if isinstance(command, TyperGroup):
        for part in command.commands.values():
            _make_readable(part)

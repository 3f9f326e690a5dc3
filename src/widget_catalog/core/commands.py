"""Commands of `widget-catalog`: how a feature declares one, the format of `--help`, and values.

Typer converts every value with pydantic, which takes longer to load than most commands run. Valid
strings, paths, whole numbers and choices do not need it; Typer handles the rest, with its error
messages.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

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


_NOT_PLAIN = object()


def convert_plainly(parameter: Any) -> None:
    """Let a Typer parameter convert simple values without pydantic."""
    if "get_runtime_param" not in vars(parameter):
        parameter.get_runtime_param = partial(_Plain, parameter.get_runtime_param)


class _Plain:
    """Replaces Typer's converter, which is created only when needed."""

    def __init__(self, typers_own: Callable[[], Any]) -> None:
        self._typers_own = typers_own

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        is_list = param.multiple or param.nargs == -1
        if value is None:
            return () if is_list else None
        kind, rules = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        plain = _texts(value, kind) if is_list else _plain(value, kind, rules)
        if plain is _NOT_PLAIN:
            return self._typers_own().coerce(value, param=param, ctx=ctx)
        return plain


def _texts(values: Any, kind: Any) -> Any:
    is_plain = kind == list[str] and all(type(it) is str for it in values)
    return list(values) if is_plain else _NOT_PLAIN


def _plain(value: Any, kind: Any, rules: Any) -> Any:
    if rules.parser is not None or not isinstance(kind, type):
        return _NOT_PLAIN
    if kind is str and type(value) is str:
        return value
    if kind is int and (type(value) is int or (type(value) is str and _is_number(value))):
        number = int(value)
        least, most = rules.min, rules.max
        is_allowed = (least is None or number >= least) and (most is None or number <= most)
        return number if is_allowed else _NOT_PLAIN
    if kind is Path and isinstance(value, str | Path):
        is_fine = os.access(value, os.R_OK) or not os.path.lexists(value)
        return Path(value) if is_fine else _NOT_PLAIN
    if issubclass(kind, Enum) and type(value) is str and value in {it.value for it in kind}:
        return kind(value)
    return _NOT_PLAIN


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()

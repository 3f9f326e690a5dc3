"""Groups of commands, with readable help.

Typer shows the Python type of every parameter, such as `<bool>` for a flag. Here, parameters with a
value show its name instead.
"""

import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from widget_contract.command_values import convert_plainly


class App(typer.Typer):
    """A group of commands. Without a command it prints its help."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            cls=_Group,
            no_args_is_help=True,
            context_settings={"help_option_names": ["-h", "--help"]},
            **options,
        )

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        return super().command(name, cls=_Command, **options)


class _Readable:
    """A command with readable parameters in its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [_readable(it) for it in super().get_params(ctx)]  # type: ignore[misc]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [re.sub(r"^\{(.+)\}", r"\1", it) for it in pieces]


class _Command(_Readable, TyperCommand):
    pass


class _Group(_Readable, TyperGroup):
    pass


def _readable(parameter: Any) -> Any:
    convert_plainly(parameter)
    if parameter.param_type_name == "argument":
        parameter.display_type_rich = lambda ctx: ""  # noqa: ARG005
    elif parameter.is_flag:
        parameter.metavar = ""
    # The help text states the allowed range.
    parameter._get_number_range_help_str = lambda: None  # noqa: SLF001
    if isinstance(parameter.show_default, str):  # Typer puts it in parentheses inside brackets.
        parameter.help = f"{parameter.help} Default: {parameter.show_default}."
        parameter.show_default = False
    return parameter

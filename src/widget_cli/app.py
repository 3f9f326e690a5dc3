"""Groups of commands, and help that shows what people need.

Typer shows the Python type of every parameter, such as `<bool>` for a flag. Here a value that is to
be typed shows its name, and nothing else shows a type.
"""

import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .values import convert_plainly


class App(typer.Typer):
    """A group of commands. Alone it shows its help."""

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
    """A command whose parameters are shown as people would write them."""

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
    # What is allowed is said in words.
    parameter._get_number_range_help_str = lambda: None  # noqa: SLF001
    if isinstance(parameter.show_default, str):  # Typer puts it in parentheses inside brackets.
        parameter.help = f"{parameter.help} Default: {parameter.show_default}."
        parameter.show_default = False
    return parameter

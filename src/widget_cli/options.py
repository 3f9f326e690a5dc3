"""The application of Typer, with readable help; and the options that commands share."""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from widget_contract.command_values import convert_plainly

from .console import mode
from .javascript import ModuleCheck
from .session import opened


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


def _speak_json(is_wanted: bool) -> bool:
    mode.is_json = is_wanted
    return is_wanted


CatalogOption = Annotated[
    str | None,
    typer.Option(
        "--catalog",
        metavar="URL",
        help="URL of the catalog. Default: $WIDGET_CATALOG_URL, or the last one signed in to.",
        show_default=False,
    ),
]
# Eager: errors of other options are then printed as JSON, too.
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print a JSON document.", callback=_speak_json, is_eager=True)
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Allow plain http for tokens, sign-in and uploads.")
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
WidgetArgument = Annotated[
    str, typer.Argument(metavar="SCOPE/NAME", help="The widget, such as ann/clock.")
]
VersionArgument = Annotated[
    str, typer.Argument(metavar="VERSION", help="A version of it, such as 1.0.0.")
]
NoCheckOption = Annotated[bool, typer.Option("--no-check", help="Do not check the module.")]
AnyModuleOption = Annotated[
    bool, typer.Option("--any-module", help="Do not require the module to export mount.")
]


def module_check(*, no_check: bool, any_module: bool) -> ModuleCheck:
    if no_check:
        return ModuleCheck.NONE
    return ModuleCheck.SYNTAX if any_module else ModuleCheck.FULL


def in_session(
    command: Callable[..., None], *, takes_insecure: bool = False
) -> Callable[..., None]:
    """A command whose first parameter is a session with the catalog of --catalog; it gets that
    option and --json. `takes_insecure`: and --insecure.
    """

    @functools.wraps(command)
    def run(*, catalog: str | None, insecure: bool = False, _json: bool, **values: Any) -> None:
        with opened(catalog, is_insecure=insecure) as session:
            command(session, **values)

    _, *own = inspect.signature(command, eval_str=True).parameters.values()
    added: dict[str, Any] = {"catalog": (None, CatalogOption)}
    if takes_insecure:
        added["insecure"] = (False, InsecureOption)
    added["_json"] = (False, JsonOption)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (default, kind) in added.items()
    ]
    run.__signature__ = inspect.Signature([*own, *parameters])  # type: ignore[attr-defined]
    return run


in_insecure_session = functools.partial(in_session, takes_insecure=True)
"""Of commands that are used with access tokens, which --insecure sends over plain http."""

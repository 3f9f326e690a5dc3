"""Options and arguments that several commands share, and commands that work in a session."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .console import mode
from .javascript import ModuleCheck
from .session import opened


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

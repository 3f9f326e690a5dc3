"""Options and arguments that several commands share."""

from typing import Annotated

import typer

from .console import mode
from .javascript import ModuleCheck


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
    bool,
    typer.Option("--json", help="Print a JSON document.", callback=_speak_json, is_eager=True),
]
InsecureOption = Annotated[
    bool,
    typer.Option("--insecure", help="Allow plain http for tokens, sign-in and uploads."),
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
    bool,
    typer.Option("--any-module", help="Do not require the module to export mount."),
]


def module_check(*, no_check: bool, any_module: bool) -> ModuleCheck:
    if no_check:
        return ModuleCheck.NONE
    return ModuleCheck.SYNTAX if any_module else ModuleCheck.FULL

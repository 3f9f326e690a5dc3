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
        help="The catalog. Default: $WIDGET_CATALOG_URL, else the last sign-in.",
        show_default=False,
    ),
]
# Eager: faults of the other options are then reported to a script, too.
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document.", callback=_speak_json, is_eager=True),
]
InsecureOption = Annotated[
    bool,
    typer.Option("--insecure", help="Send your token, sign-in and files without https."),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Go ahead without a question.")]
WidgetArgument = Annotated[
    str, typer.Argument(metavar="SCOPE/NAME", help="The widget, such as ann/clock.")
]
VersionArgument = Annotated[
    str, typer.Argument(metavar="VERSION", help="One of its versions, such as 1.0.0.")
]
NoCheckOption = Annotated[bool, typer.Option("--no-check", help="Skip the checks of the module.")]
AnyModuleOption = Annotated[
    bool,
    typer.Option("--any-module", help="Do not require the export mount."),
]


def module_check(*, no_check: bool, any_module: bool) -> ModuleCheck:
    if no_check:
        return ModuleCheck.NONE
    return ModuleCheck.SYNTAX if any_module else ModuleCheck.FULL

"""`widget init`, `dev` and `validate`, which need no catalog."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..bundle_sizes import find_parts, show_parts
from ..catalog import get_settings
from ..console import out, plain, say, show_explanations, shows_json, sized, warn
from ..credentials import Credentials
from ..errors import ToolError, wrong_usage
from ..explanations import explain
from ..options import AnyModuleOption, CatalogOption, JsonOption, NoCheckOption, module_check
from ..scaffold import Template, begin_widget
from ..session import find_url, opened
from ..transport import Transport
from ..widget_folder import MAX_BUNDLE_BYTES, LocalWidget, command_for, read_widget

if TYPE_CHECKING:
    from ..preview_server import PreviewedWidget

FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="The widget's folder.", show_default="here")
]

_NEXT = {
    "dev": "run it in your browser and reload it on every change",
    "validate": "check whether it can be published",
    "publish": "publish it, after confirmation",
}


def init(
    folder: FolderArgument = Path(),
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The widget's name.", show_default="the folder's name"),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="SCOPE", help="The scope to publish to.", show_default="chosen when publishing"
        ),
    ] = None,
    template: Annotated[
        str,
        typer.Option(
            metavar="TEMPLATE",
            help="The template: bare, or progress, a complete widget with settings.",
            show_default="bare",
        ),
    ] = Template.BARE.value,
    _json: JsonOption = False,
) -> None:
    """Create a working widget from a template."""
    begun = begin_widget(folder, name, scope, _template(template), _find_catalog())
    if shows_json({"name": begun.name, "files": [str(folder / it) for it in begun.files]}):
        return
    say.print(f"[green]Created[/] the widget [bold]{plain(begun.name)}[/]:")
    widest = max(map(len, begun.files))
    for file, about in begun.files.items():
        say.print(f"  {plain(folder / file)}{' ' * (widest - len(file))}  {about}")
    say.print("Next:")
    commands = {command_for(folder, f"widget {it}"): about for it, about in _NEXT.items()}
    widest = max(map(len, commands))
    for command, about in commands.items():
        say.print(f"  {plain(command)}{' ' * (widest - len(command))}  {about}")


def _find_catalog() -> str | None:
    """The catalog that is used by default, if any."""
    try:
        return find_url(None, Credentials())
    except ToolError:  # No catalog is needed here.
        return None


def _template(name: str) -> Template:
    try:
        return Template(name)
    except ValueError:
        known = ", ".join(Template)
        raise wrong_usage(f"There is no template {name}.", f"Choose one of: {known}.") from None


def validate(
    folder: FolderArgument = Path(),
    no_check: NoCheckOption = False,
    any_module: AnyModuleOption = False,
    with_explanations: Annotated[
        bool,
        typer.Option(
            "--explain", help="Explain each message, and show what takes the room in the module."
        ),
    ] = False,
    catalog: CatalogOption = None,
    _json: JsonOption = False,
) -> None:
    """Check a widget and report all errors at once."""
    check = module_check(no_check=no_check, any_module=any_module)
    try:
        local = read_widget(folder, max_bundle_bytes=_find_limit(catalog), check=check)
    except ToolError as error:
        error.explanations = explain(error.details) if with_explanations else []
        raise
    for warning in local.warnings:
        warn(warning)
    explanations = explain(local.warnings) if with_explanations else []
    show_explanations(explanations)
    parts = find_parts(folder, local.bundle.path, local.bundle.content) if with_explanations else []
    document = {"valid": True, **_described(local), "warnings": list(local.warnings)}
    if with_explanations:
        document |= {"explanations": explanations, "parts": [it._asdict() for it in parts]}
    if shows_json(document):
        return
    for line in show_parts(parts):
        say.print(f"  {plain(line)}")
    manifest = local.manifest
    name = f"{manifest.scope}/{manifest.name}" if manifest.scope else str(manifest.name)
    size = sized(local.bundle.size_bytes)
    out.print(f"[green]Valid:[/] {plain(name)} {plain(manifest.version)}, {size}.")


def _described(local: LocalWidget) -> dict[str, object]:
    """A local widget as a JSON document."""
    manifest = local.manifest
    return {
        "name": manifest.name,
        "version": manifest.version.text,
        "bundleSize": local.bundle.size_bytes,
        "sha256Hash": local.bundle.sha256_hash,
        "cssSize": local.style.size_bytes if local.style else None,
        "cssSha256Hash": local.style.sha256_hash if local.style else None,
        "sdkVersion": manifest.sdk_version,
        "permissions": list(manifest.permissions),
    }


def _find_limit(catalog: str | None) -> int:
    """The catalog's limit, if it responds soon; otherwise the default."""
    if find_url(catalog, Credentials()) is None:
        return MAX_BUNDLE_BYTES
    try:
        with opened(catalog, transport=Transport(attempts=1, timeout_s=3)) as session:
            return get_settings(session).max_bundle_bytes
    except ToolError:
        return MAX_BUNDLE_BYTES


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
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser.")
    ] = False,
    no_check: NoCheckOption = False,
    any_module: AnyModuleOption = False,
) -> None:
    """Preview a widget in a browser, and reload it on every change. Press Ctrl-C to stop."""
    from ..preview_server import LOOK_EVERY_S, PreviewedWidget, showing
    from ..signing_in import open_browser
    from ..widget_folder import read_manifest_text

    read_manifest_text(folder)  # Raises if there is no widget.
    widget = PreviewedWidget(folder, module_check(no_check=no_check, any_module=any_module))
    with showing(widget, port) as address:
        say.print(f"The widget runs at [bold]{plain(address)}[/]. Press Ctrl-C to stop.")
        if not no_browser:
            open_browser(address)
        try:
            _report_changes(widget, LOOK_EVERY_S)
        except KeyboardInterrupt:
            say.print("Stopped.")


def _report_changes(widget: "PreviewedWidget", look_every_s: float) -> None:
    printed = 0
    while True:
        state = widget.state()
        if state.revision != printed:
            printed = state.revision
            if state.errors:
                say.print("[red]Errors:[/]")
            else:
                say.print("[green]OK[/], with warnings:" if state.warnings else "[green]OK.[/]")
            for sentence in (*state.errors, *state.warnings):
                say.print(f"  - {plain(sentence)}")
        time.sleep(look_every_s)


def register(app: typer.Typer) -> None:
    for command in (init, validate, dev):
        app.command(rich_help_panel="Create and publish")(command)

"""`widget init`, `dev` and `validate`, which need no catalog."""

import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..bundle_sizes import find_parts, show_parts
from ..catalog import get_settings
from ..console import (
    ask_line,
    is_person,
    mode,
    out,
    plain,
    say,
    show_details,
    show_explanations,
    shows_json,
    sized,
    warn,
)
from ..credentials import Credentials
from ..errors import ToolError, wrong_usage
from ..explanations import explain
from ..options import AnyModuleOption, CatalogOption, JsonOption, NoCheckOption, module_check
from ..publish_all import validate_all
from ..scaffold import NewWidget, Template, begin_widget, default_template, find_template
from ..session import find_url, opened
from ..transport import Transport
from ..widget_folder import MAX_BUNDLE_BYTES, LocalWidget, command_for, read_widget

if TYPE_CHECKING:
    from ..preview_server import PreviewedWidget

FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="The widget's folder.", show_default="here")
]

_PUBLISH = {
    "widget validate": "check whether it can be published",
    "widget screenshot": "take pictures for its page, with Chromium or Chrome",
    "widget publish": "publish it, after confirmation",
}
_NEXT = {"widget dev": "run it in your browser, and again after every change", **_PUBLISH}
_NEXT_IN_FOLDER = {
    "npm install": "install the dependencies",
    "npm run dev": "run it in your browser, and again after every change",
    "npm run build": "write the module that is published",
    **_PUBLISH,
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
        str | None,
        typer.Option(
            metavar="TEMPLATE",
            help=f"The template: {', '.join(Template)}.",
            show_default="ts if npm is installed, otherwise plain; in a terminal, you are asked",
        ),
    ] = None,
    _json: JsonOption = False,
) -> None:
    """Create a working widget from a template."""
    chosen = _ask_template() if template is None else find_template(template)
    begun = begin_widget(folder, name, scope, chosen, _find_catalog())
    files = [str(folder / it) for it in begun.files]
    if shows_json({"name": begun.name, "template": begun.template, "files": files}):
        return
    where = "" if folder == Path() else f" in {plain(str(folder))}"
    say.print(f"[green]Created[/] the widget [bold]{plain(begun.name)}[/]{where}.")
    for title, group in begun.groups.items():
        say.print(f"{title}:")
        _print_aligned(group)
    say.print("Next:")
    _print_aligned(_next(folder, begun))


def _find_catalog() -> str | None:
    """The catalog that is used by default, if any."""
    try:
        return find_url(None, Credentials())
    except ToolError:  # No catalog is needed here.
        return None


def _ask_template() -> Template:
    """The default, unless a person chooses another."""
    default = default_template()
    if mode.is_json or not is_person():
        return default
    say.print("Which template?")
    if default is Template.PLAIN:
        say.print("npm is not installed; only plain and progress work without it.")
    _print_aligned({it.value: it.about for it in Template})
    while response := ask_line(f"Template [{default}]: "):
        if response in list(Template):
            return Template(response)
        say.print(f"There is no template {plain(response)}.")
    return default


def _next(folder: Path, begun: NewWidget) -> dict[str, str]:
    if not begun.template.is_built:
        return {command_for(folder, it): about for it, about in _NEXT.items()}
    enter = {} if folder == Path() else {command_for(folder, "cd"): "go to its folder"}
    return enter | _NEXT_IN_FOLDER


def _print_aligned(rows: dict[str, str]) -> None:
    widest = max(map(len, rows))
    for first, about in rows.items():
        say.print(f"  {plain(first)}{' ' * (widest - len(first))}  {about}")


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
    every: Annotated[bool, typer.Option("--all", help="Check every widget below DIR.")] = False,
    catalog: CatalogOption = None,
    _json: JsonOption = False,
) -> None:
    """Check a widget and report all errors at once."""
    check = module_check(no_check=no_check, any_module=any_module)
    if every:
        if with_explanations:
            raise wrong_usage("--explain is for one widget.", "Leave it out, or leave out --all.")
        limit = _find_limit(catalog)
        read = functools.partial(read_widget, max_bundle_bytes=limit, check=check)
        raise typer.Exit(validate_all(folder, read))
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
    """Preview a widget in a browser, and reload it on every change. Press Ctrl-C to stop.

    If package.json has a script named watch, it runs meanwhile, to build the widget.
    """
    from ..npm_project import watching
    from ..preview_server import LOOK_EVERY_S, PreviewedWidget, showing
    from ..signing_in import open_browser
    from ..widget_folder import read_manifest_text

    read_manifest_text(folder)  # Raises if there is no widget.
    widget = PreviewedWidget(folder, module_check(no_check=no_check, any_module=any_module))
    with watching(folder, widget.built_at), showing(widget, port) as address:
        say.print(f"The widget runs at [bold]{plain(address)}[/]. Press Ctrl-C to stop.")
        if not no_browser:
            open_browser(address)
        try:
            _report_changes(widget, LOOK_EVERY_S)
        except KeyboardInterrupt:
            say.print("Stopped.")


def _report_changes(widget: "PreviewedWidget", look_every_s: float) -> None:
    printed, warned = 0, list[str]()
    while True:
        state = widget.state()
        if state.revision != printed:
            printed = state.revision
            if state.errors:
                say.print("[red]Errors:[/]")
                show_details(state.errors)
            elif state.warnings and state.warnings == warned:
                say.print("[green]OK[/], with the same warnings.")
            else:
                say.print("[green]OK[/], with warnings:" if state.warnings else "[green]OK.[/]")
                show_details(state.warnings)
            warned = state.warnings
        time.sleep(look_every_s)


def register(app: typer.Typer) -> None:
    for command in (init, validate, dev):
        app.command(rich_help_panel="Create and publish")(command)

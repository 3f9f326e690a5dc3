"""`widget migrate`: converts the manifest of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from widget_contract.errors import InvalidManifest
from widget_contract.manifests import parse_manifest
from widget_contract.names import is_name

from ..console import out, plain, require_agreement, say, shows_json
from ..dialect import find_foreign
from ..documents import read_file
from ..errors import ToolError, invalid_widget, wrong_usage
from ..options import JsonOption, YesOption
from ..widget_folder import MANIFEST, OTHER_MANIFEST, command_for, read_manifest_text
from .developing import FolderArgument

_MAX_BYTES = 1 << 20


def migrate(
    folder: FolderArgument = Path(),
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The widget's name.",
            show_default="from package.json, or made of the display name",
        ),
    ] = None,
    yes: YesOption = False,
    _json: JsonOption = False,
) -> None:
    """Convert the manifest of another tool to widget.json."""
    if name is not None and not is_name(name):
        hint = "Use 1 to 64 lowercase letters, digits and hyphens."
        raise wrong_usage(f"{name} is not a widget name.", hint)
    source, text = _read(folder)
    foreign = find_foreign(folder, text, name)
    ours, found = (text, ()) if foreign is None else (foreign.text, foreign.found)
    if found:
        say.print(f"{plain(source)} is a manifest of another tool:")
    for line in found:
        say.print(f"  - {plain(line)}")
    try:
        parse_manifest(ours)
    except InvalidManifest as error:
        hint = f"Correct them in {source}, then run the command again."
        raise invalid_widget("The manifest has errors.", hint, error.errors) from None
    if foreign is None and source == MANIFEST:
        if not shows_json({"migrated": False, "found": []}):
            say.print(f"{MANIFEST} needs no migration.")
        return
    if foreign is None:
        say.print(f"{plain(source)} is valid as it is under the name {MANIFEST}.")
    require_agreement(f"Write {folder / MANIFEST}?", is_agreed=yes)
    try:
        (folder / MANIFEST).write_text(ours, encoding="utf-8", newline="\n")
    except OSError as error:
        hint = "Check the permissions of the folder."
        raise ToolError(f"{folder / MANIFEST} cannot be written: {error.strerror}.", hint) from None
    if not shows_json({"migrated": True, "found": list(found)}):
        out.print(f"Wrote {plain(folder / MANIFEST)}.")
        say.print(f"Next: {plain(command_for(folder, 'widget validate'))}")


def _read(folder: Path) -> tuple[str, str]:
    """The name and the text of the manifest: widget.json, or manifest.json."""
    try:
        return MANIFEST, read_manifest_text(folder)
    except ToolError:
        try:
            _, content = read_file(folder / OTHER_MANIFEST, _MAX_BYTES)
            return OTHER_MANIFEST, content.decode()
        except (OSError, UnicodeDecodeError):
            pass
        raise


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Create and publish")(migrate)

"""`widget screenshot`: pictures of the running preview, for `widget publish`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from widget_contract.manifests import Manifest
from widget_contract.version_files import MAX_PICTURE_BYTES, MAX_PICTURES

from ..console import out, plain, say, shows_json, sized
from ..documents import SCREENSHOTS
from ..errors import ToolError
from ..options import AnyModuleOption, JsonOption, NoCheckOption, module_check
from ..widget_folder import read_widget
from .developing import FolderArgument

# As in the preview.
_CELL_PX = 96
_USUAL = (4, 3)
_SCHEMES = ("light", "dark")
_SIZES = ("smallest", "default", "largest")


def screenshot(
    folder: FolderArgument = Path(),
    size: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE",
            help="smallest, default, largest, or cells such as 4x3; repeatable.",
            show_default="default",
        ),
    ] = None,
    scheme: Annotated[
        list[str] | None,
        typer.Option(
            metavar="light|dark", help="The color scheme; repeatable.", show_default="both"
        ),
    ] = None,
    scale: Annotated[
        int, typer.Option(metavar="N", min=1, max=3, help="Pixels of the picture per pixel.")
    ] = 2,
    no_sandbox: Annotated[
        bool,
        typer.Option(
            "--no-sandbox", help="Start the browser without its sandbox, as in containers."
        ),
    ] = False,
    no_check: NoCheckOption = False,
    any_module: AnyModuleOption = False,
    _json: JsonOption = False,
) -> None:
    """Take pictures of the widget, which `widget publish` sends along.

    They are written to the folder screenshots, next to widget.json, and replace those of the same
    name. Needs Chromium, Chrome or Edge. The widget runs as in `widget dev`, with sample data.
    """
    from ..chromium import browser
    from ..preview_server import PreviewedWidget, showing

    check = module_check(no_check=no_check, any_module=any_module)
    manifest = read_widget(folder, check=check).manifest
    sizes = {it: _cells(it, manifest) for it in size or ["default"]}
    schemes = list(dict.fromkeys(scheme or _SCHEMES))
    if unknown := [it for it in schemes if it not in _SCHEMES]:
        raise ToolError(f"There is no color scheme {unknown[0]}.", "Choose light or dark.")
    if len(sizes) * len(schemes) > MAX_PICTURES:
        most = f"A version can have {MAX_PICTURES} pictures at most."
        raise ToolError(most, "Choose fewer sizes, or one color scheme.")
    target = folder / SCREENSHOTS
    written = []
    with (
        showing(PreviewedWidget(folder, check), 0) as address,
        browser(has_sandbox=not no_sandbox) as opened,
    ):
        for name, (width, height) in sizes.items():
            for colors in schemes:
                pixels = (width * _CELL_PX, height * _CELL_PX)
                picture = opened.take_picture(f"{address}shot.html?scheme={colors}", *pixels, scale)
                if len(picture) > MAX_PICTURE_BYTES:
                    raise ToolError(
                        f"The picture of {name} is too large: {sized(len(picture))}.",
                        "Choose a smaller size, or --scale 1.",
                    )
                target.mkdir(exist_ok=True)
                file = target / (f"{colors}.png" if len(sizes) == 1 else f"{name}-{colors}.png")
                file.write_bytes(picture)
                written.append(file)
                about = f"{width} x {height} cells, {sized(len(picture))}"
                say.print(f"  {plain(str(file))}  {about}")
    if shows_json({"screenshots": [str(it) for it in written]}):
        return
    out.print(f"[green]Took[/] {len(written)} picture{'s' * (len(written) != 1)}.")


def _cells(name: str, manifest: Manifest) -> tuple[int, int]:
    """The cells of a size, which the widget must allow."""
    smallest, largest = manifest.min_size, manifest.max_size
    match name:
        case "smallest":
            return smallest.w, smallest.h
        case "largest":
            return largest.w, largest.h
        case "default":
            width, height = _default_size(manifest)
            return (
                min(largest.w, max(smallest.w, width)),
                min(largest.h, max(smallest.h, height)),
            )
    width_text, _, height_text = name.partition("x")
    if not (width_text.isdecimal() and height_text.isdecimal() and len(name) < 8):
        choices = f"{', '.join(_SIZES)}, or cells such as 4x3"
        raise ToolError(f"There is no size {name}.", f"Choose {choices}.")
    width, height = int(width_text), int(height_text)
    if not (smallest.w <= width <= largest.w and smallest.h <= height <= largest.h):
        raise ToolError(
            f"The widget does not allow the size {name}.",
            f"It allows {smallest.w}x{smallest.h} to {largest.w}x{largest.h}.",
        )
    return width, height


def _default_size(manifest: Manifest) -> tuple[int, int]:
    given = json.loads(manifest.text).get("defaultSize")
    found = given if isinstance(given, dict) else {}
    width, height = found.get("w"), found.get("h")
    return (
        width if isinstance(width, int) else _USUAL[0],
        height if isinstance(height, int) else _USUAL[1],
    )


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Create and publish")(screenshot)

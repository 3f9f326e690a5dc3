"""Beginning a widget: a manifest and an ES module that work as they are."""

import json
import re
from importlib import resources
from pathlib import Path

from widget_contract.errors import InvalidName
from widget_contract.names import Scope, WidgetName

from .errors import ToolError, wrong_usage
from .exits import ExitCode
from .widget_folder import MANIFEST, PLACEHOLDER_DESCRIPTION, named

BUNDLE = "index.js"
_MAX_NAME = 64


def begin_widget(folder: Path, name: str | None, scope: str | None) -> WidgetName:
    """Write the two files. What is there already is never touched."""
    try:
        chosen = WidgetName.parse(name) if name else _name_from(folder)
        home = Scope.parse(scope) if scope else None
    except InvalidName as error:
        raise wrong_usage(error.message, "Choose another with --name or --scope.") from None
    in_the_way = [it for it in (MANIFEST, BUNDLE) if (folder / it).exists()]
    if in_the_way:
        are = "is" if len(in_the_way) == 1 else "are"
        raise ToolError(
            f"{' and '.join(in_the_way)} {are} already in {named(folder)}; nothing was written.",
            "Name another folder: widget init FOLDER",
            ExitCode.CONFLICT,
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in ((MANIFEST, _manifest(chosen, home)), (BUNDLE, _module(chosen))):
            with (folder / file).open("x", encoding="utf-8", newline="\n") as opened:
                opened.write(text)
    except OSError as error:
        raise ToolError(
            f"{error.filename or folder} cannot be written: {error.strerror}.",
            "Name a folder of yours: widget init FOLDER",
        ) from None
    return chosen


def _name_from(folder: Path) -> WidgetName:
    """`My Clock!` becomes my-clock."""
    words = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    return WidgetName.parse(words[:_MAX_NAME])


def _manifest(name: WidgetName, scope: Scope | None) -> str:
    manifest: dict[str, object] = {
        "name": name,
        "scope": scope,
        "version": "0.1.0",
        "displayName": _display_name(name),
        "description": PLACEHOLDER_DESCRIPTION,
        "icon": "mdi:puzzle-outline",
        "main": BUNDLE,
        "minSize": {"w": 2, "h": 1},
        "maxSize": {"w": 4, "h": 4},
        "sdkVersion": "^2.0.0",
        "permissions": [],
    }
    kept = {key: value for key, value in manifest.items() if value is not None}
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in kept.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _module(name: WidgetName) -> str:
    template = resources.files(__package__) / "template" / BUNDLE
    text = template.read_text(encoding="utf-8")
    return text.replace("DISPLAY_NAME", json.dumps(_display_name(name)))


def _display_name(name: WidgetName) -> str:
    words = name.replace("-", " ").strip()
    return words[:1].upper() + words[1:]

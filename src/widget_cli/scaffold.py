"""Creates a widget from a template."""

import json
import re
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from widget_contract.errors import InvalidName
from widget_contract.manifest_schema import PATH as SCHEMA_PATH
from widget_contract.manifest_schema import printed
from widget_contract.names import Scope, WidgetName

from .errors import ToolError, conflict, wrong_usage
from .manifest_text import with_first
from .widget_folder import MANIFEST, named

BUNDLE = "index.js"
SCHEMA = "widget.schema.json"
_MAX_NAME = 64


class Template(StrEnum):
    """The templates of new widgets. Their files are in `template/`."""

    BARE = "bare"
    PROGRESS = "progress"


# The purpose of each file, in the order of the output.
_FILES = {
    MANIFEST: "the manifest: write your own description",
    BUNDLE: "the module that dashboards run",
    "README.md": "documentation for users and developers",
    "widget.d.ts": "types for your editor",
    SCHEMA: "checks the manifest in your editor",
}


class NewWidget(NamedTuple):
    """A new widget, and its files with their purpose."""

    name: WidgetName
    files: dict[str, str]


def begin_widget(
    folder: Path,
    name: str | None,
    scope: str | None,
    template: Template = Template.BARE,
    catalog_url: str | None = None,
) -> NewWidget:
    """Write the files of a template. Existing files are never changed. The manifest names the JSON
    Schema of the catalog; if none is known, a copy is written."""
    try:
        chosen = WidgetName.parse(name) if name else _name_from(folder)
        home = Scope.parse(scope) if scope else None
    except InvalidName as error:
        raise wrong_usage(error.message, "Choose another with --name or --scope.") from None
    texts = _texts(template, chosen, home)
    if catalog_url is None:
        texts[SCHEMA] = printed()
    schema = f"./{SCHEMA}" if catalog_url is None else f"{catalog_url}{SCHEMA_PATH}"
    texts[MANIFEST] = with_first(texts[MANIFEST], "$schema", schema)
    in_the_way = [it for it in texts if (folder / it).exists()]
    if in_the_way:
        are = "is" if len(in_the_way) == 1 else "are"
        raise conflict(
            f"{' and '.join(in_the_way)} {are} already in {named(folder)}; nothing was written.",
            "Choose another folder: widget init FOLDER",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            with (folder / file).open("x", encoding="utf-8", newline="\n") as opened:
                opened.write(text)
    except OSError as error:
        raise ToolError(
            f"{error.filename or folder} cannot be written: {error.strerror}.",
            "Choose a folder you can write to: widget init FOLDER",
        ) from None
    return NewWidget(chosen, {file: _FILES[file] for file in texts})


def _name_from(folder: Path) -> WidgetName:
    """`My Clock!` becomes my-clock."""
    words = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    return WidgetName.parse(words[:_MAX_NAME])


def _texts(template: Template, name: WidgetName, scope: Scope | None) -> dict[str, str]:
    """The files of a template, with names filled in."""
    source = resources.files(__package__) / "template" / template
    found = {it: source / it for it in _FILES if (source / it).is_file()}
    texts = {file: path.read_text(encoding="utf-8") for file, path in found.items()}
    words = name.replace("-", " ").strip()
    shown = words[:1].upper() + words[1:]
    home = "" if scope is None else f'\n  "scope": {json.dumps(scope)},'
    manifest = texts[MANIFEST].replace('"WIDGET_NAME",', f"{json.dumps(name)},{home}")
    texts[MANIFEST] = manifest.replace('"DISPLAY_NAME"', json.dumps(shown))
    for file in (BUNDLE, "README.md"):
        if file in texts:
            written = json.dumps(shown) if file == BUNDLE else shown
            texts[file] = texts[file].replace("DISPLAY_NAME", written)
    return texts

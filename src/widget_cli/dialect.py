"""Manifests of other tools: `name` is the name for people, `schema` describes the settings, and the
files are in `dist/`. They are published as they are; `widget migrate` converts them.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from widget_contract.described import NAME_MAX_LENGTH
from widget_contract.manifests import DEFAULT_MAIN
from widget_contract.names import is_name
from widget_contract.texts import fold

_KEYS = {"sdkVersion", "minSize", "maxSize"}  # Of these, any manifest of a widget has some.
_BUILT = "dist"
_MODULES = ("index.js", "widget.js", "main.js", "index.mjs")
_STYLES = ("index.css", "style.css", "styles.css", "widget.css")
_NAMELESS = "no name for addresses can be made of it: choose one with widget migrate --name NAME"


class ForeignManifest(NamedTuple):
    """`stated` is the manifest in our terms; `found` says what it was made from."""

    stated: dict[str, Any]
    found: tuple[str, ...]

    @property
    def text(self) -> str:
        return json.dumps(self.stated, indent=2, ensure_ascii=False) + "\n"


def find_foreign(folder: Path, text: str, name: str | None = None) -> ForeignManifest | None:
    """The manifest, if it is one of another tool. `name` is the widget's name, if it is given."""
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(stated, dict) or not is_foreign(stated):
        return None
    found = [f'name "{stated["name"]}" is the display name']
    slug, source = (name, "--name") if name else _find_name(folder, stated["name"])
    found.append(f"the widget is {slug}, from {source}" if slug else _NAMELESS)
    ours: dict[str, Any] = {"name": slug, "displayName": stated["name"]}
    for key, value in stated.items():
        if key == "schema" and "configSchema" not in stated and isinstance(value, dict):
            ours["configSchema"] = value
            found.append("schema describes its settings")
        elif key != "name":
            ours[key] = value
    if capabilities := stated.get("capabilities"):
        count = len(capabilities) if isinstance(capabilities, list) else 0
        found.append(f"it has {count} {'capability' if count == 1 else 'capabilities'}")
    for key, names, ending in (("main", _MODULES, ".js"), ("style", _STYLES, ".css")):
        file = None if key in stated else _find_built(folder, names, ending)
        if file is not None:
            ours[key] = file
            found.append(f"its {'module' if key == 'main' else 'style sheet'} is {file}")
    if "main" not in ours and not (folder / DEFAULT_MAIN).is_file():
        ours["main"] = f"{_BUILT}/{_MODULES[0]}"
        found.append(f"its module is expected in {_BUILT}, which has none yet")
    return ForeignManifest(ours, tuple(found))


def in_our_terms(folder: Path, text: str) -> str:
    """The text of the manifest, converted if it is one of another tool."""
    foreign = find_foreign(folder, text)
    return text if foreign is None else foreign.text


def is_foreign(stated: dict[str, Any]) -> bool:
    """Without a display name, and `name` is none of ours, or there is a `schema`."""
    name = stated.get("name")
    if not isinstance(name, str) or "displayName" in stated or not stated.keys() & _KEYS:
        return False
    return not is_name(name) or isinstance(stated.get("schema"), dict)


def _find_name(folder: Path, display_name: str) -> tuple[str, str]:
    """The name in package.json without its scope; otherwise made of the display name, or of the
    folder's."""
    try:
        package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        stated = str(package["name"]).rpartition("/")[2]
        if is_name(stated):
            return stated, "package.json"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    if slug := name_of(display_name):
        return slug, "its display name"
    return name_of(folder.resolve().name), "the folder's name"


def name_of(text: str) -> str:
    """`My Café!` becomes my-cafe; empty if the text has no Latin letter or digit."""
    return re.sub(r"[^a-z0-9]+", "-", fold(text)).strip("-")[:NAME_MAX_LENGTH].strip("-")


def _find_built(folder: Path, names: tuple[str, ...], ending: str) -> str | None:
    """A file in `dist`: one with a usual name, or the only one."""
    try:
        files = sorted(it.name for it in (folder / _BUILT).iterdir() if it.name.endswith(ending))
    except OSError:
        return None
    usual = [it for it in names if it in files]
    if usual or len(files) == 1:
        return f"{_BUILT}/{(usual or files)[0]}"
    return None

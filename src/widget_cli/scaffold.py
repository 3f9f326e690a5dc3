"""Creates a widget from a template.

The files of a template are in the folders of `template/` that its `layers` name; a file of a
later folder replaces an earlier one, and JSON files are merged.
"""

import json
import shutil
from collections.abc import Iterator
from enum import StrEnum
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

from widget_contract.errors import InvalidName
from widget_contract.manifest_schema import PATH as SCHEMA_PATH
from widget_contract.manifest_schema import printed
from widget_contract.names import Scope, WidgetName
from widget_contract.version_files import README

from .dialect import name_of
from .errors import ToolError, conflict, wrong_usage
from .manifest_text import with_first
from .vite_plugin_package import PLUGIN, VENDORED, plugin_dependency
from .widget_folder import MANIFEST, named

BUNDLE = "index.js"
SCHEMA = "widget.schema.json"
CONTRIBUTING = "CONTRIBUTING.md"
_PACKAGE = "package.json"


class Template(StrEnum):
    """The templates of new widgets."""

    TS = "ts"
    REACT = "react"
    SVELTE = "svelte"
    LIT = "lit"
    PLAIN = "plain"
    PROGRESS = "progress"

    @property
    def about(self) -> str:
        """What it is for."""
        return _ABOUT[self]

    @property
    def layers(self) -> tuple[str, ...]:
        return (*_SHARED.get(self, ()), self.value)

    @property
    def is_built(self) -> bool:
        """Whether it is an npm project, which has to be built."""
        return "npm" in self.layers


_ABOUT = {
    Template.TS: "TypeScript without a framework: the smallest with a build",
    Template.REACT: "TypeScript and React",
    Template.SVELTE: "TypeScript and Svelte: compiled, so it stays small",
    Template.LIT: "TypeScript and Lit: a web component",
    Template.PLAIN: "one JavaScript file: no npm, no build",
    Template.PROGRESS: "a complete widget in plain JavaScript, to learn from",
}
# The folders that several templates share.
_SHARED = {
    Template.TS: ("npm", "shadow"),
    Template.REACT: ("npm", "shadow"),
    Template.SVELTE: ("npm", "shadow"),
    Template.LIT: ("npm",),
    Template.PROGRESS: ("contract",),
}

_FORMER_NAMES = {"bare": Template.PLAIN}

# The purpose of each file, in groups and in the order of the output. The name of the plugin's file
# contains its version, so its folder stands for it.
_GROUPS = {
    "What you edit": {
        MANIFEST: "the manifest: write your own description",
        BUNDLE: "the module that dashboards run",
        "src/index.ts": "exports mount(), which dashboards call",
        "src/index.tsx": "exports mount(), which dashboards call",
        "src/Widget.tsx": "the component",
        "src/Widget.svelte": "the component",
        "src/widget-element.ts": "the component",
        "src/settings.ts": "reads the widget's settings",
        "src/widget.css": "its style, light and dark",
        README: "describes it to users, on its page",
    },
    "Tests": {"src/index.test.ts": "start with these"},
    "Project files": {
        CONTRIBUTING: "for authors: how to run, check and publish it",
        _PACKAGE: "scripts and dependencies",
        "tsconfig.json": "how TypeScript checks it",
        "vite.config.ts": "how Vite builds it",
        "src/shadow.ts": "its shadow root: no style leaks in or out",
        "src/reactive.svelte.ts": "passes new settings to the component",
        "widget.d.ts": "types for your editor",
        SCHEMA: "checks the manifest in your editor",
        ".gitignore": "what git leaves out",
        VENDORED: "the Vite plugin: commit it",
    },
}
_KNOWN_ORDER = [file for group in _GROUPS.values() for file in group]


class NewWidget(NamedTuple):
    """A new widget and all its files."""

    name: WidgetName
    template: Template
    files: tuple[str, ...]

    @property
    def groups(self) -> dict[str, dict[str, str]]:
        """The files with their purposes, by group."""
        present = {*self.files, *(f"{file.rpartition('/')[0]}/" for file in self.files)}
        found = {
            title: {file: about for file, about in group.items() if file in present}
            for title, group in _GROUPS.items()
        }
        return {title: group for title, group in found.items() if group}


def find_template(name: str) -> Template:
    try:
        return _FORMER_NAMES.get(name) or Template(name)
    except ValueError:
        known = ", ".join(Template)
        raise wrong_usage(f"There is no template {name}.", f"Choose one of: {known}.") from None


def default_template() -> Template:
    """TypeScript where npm is installed."""
    return Template.TS if shutil.which("npm") else Template.PLAIN


def begin_widget(
    folder: Path,
    name: str | None,
    scope: str | None,
    template: Template = Template.PLAIN,
    catalog_url: str | None = None,
) -> NewWidget:
    """Write the files of a template. Existing files are never changed. The manifest names the JSON
    Schema of the catalog; if none is known, a copy is written."""
    try:
        chosen = WidgetName.parse(name or name_of(folder.resolve().name))
        home = Scope.parse(scope) if scope else None
    except InvalidName as error:
        raise wrong_usage(error.message, "Choose another with --name or --scope.") from None
    contents = _contents(template, chosen, home)
    schema = f"{catalog_url}{SCHEMA_PATH}"
    if catalog_url is None:
        contents[SCHEMA] = printed().encode()
        schema = f"./{SCHEMA}"
    manifest = with_first(contents[MANIFEST].decode(), "$schema", schema)
    contents[MANIFEST] = manifest.encode()
    in_the_way = [it for it in contents if (folder / it).exists()]
    if in_the_way:
        are = "is" if len(in_the_way) == 1 else "are"
        raise conflict(
            f"{' and '.join(in_the_way)} {are} already in {named(folder)}; nothing was written.",
            "Choose another folder: widget init FOLDER",
        )
    try:
        for file, content in contents.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            with (folder / file).open("xb") as opened:
                opened.write(content)
    except OSError as error:
        raise ToolError(
            f"{error.filename or folder} cannot be written: {error.strerror}.",
            "Choose a folder you can write to: widget init FOLDER",
        ) from None
    return NewWidget(chosen, template, tuple(contents))


def _contents(template: Template, name: WidgetName, scope: Scope | None) -> dict[str, bytes]:
    """The files of a new widget, in the order of the output."""
    texts = _texts(template)
    words = name.replace("-", " ").strip()
    shown = words[:1].upper() + words[1:]
    home = "" if scope is None else f'\n  "scope": {json.dumps(scope)},'
    manifest = texts[MANIFEST].replace('"WIDGET_NAME",', f"{json.dumps(name)},{home}")
    texts[MANIFEST] = manifest.replace('"DISPLAY_NAME"', json.dumps(shown))
    for file in (BUNDLE, README, CONTRIBUTING):
        if file in texts:
            written = json.dumps(shown) if file == BUNDLE else shown
            texts[file] = texts[file].replace("DISPLAY_NAME", written)
    more: dict[str, bytes] = {}
    if template.is_built:
        package = json.loads(texts[_PACKAGE])
        dependency = plugin_dependency()
        package["devDependencies"][PLUGIN] = dependency.specifier
        texts[_PACKAGE] = _written(package)
        more = dependency.files
    return {it: texts[it].encode() for it in _KNOWN_ORDER if it in texts} | more


def _texts(template: Template) -> dict[str, str]:
    """The files of a template, by their path in the widget's folder."""
    texts: dict[str, str] = {}
    for layer in template.layers:
        for path, text in _files_below(resources.files(__package__) / "template" / layer):
            name = ".gitignore" if path == "gitignore" else path
            if name in texts and name.endswith(".json"):
                text = _written(_merged(json.loads(texts[name]), json.loads(text)))
            texts[name] = text
    return texts


def _files_below(folder: Traversable, above: str = "") -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda it: it.name) if folder.is_dir() else ():
        if entry.is_dir():
            yield from _files_below(entry, f"{above}{entry.name}/")
        else:
            yield f"{above}{entry.name}", entry.read_text(encoding="utf-8")


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], dict) and isinstance(above[key], dict):
            merged[key] = _merged(below[key], above[key])
            if key == "devDependencies":
                merged[key] = dict(sorted(merged[key].items()))
    return merged


def _written(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2) + "\n"

"""A widget in its folder: `widget.json` and the files it names."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

import msgspec

from widget_contract.errors import InvalidManifest
from widget_contract.manifests import (
    DEFAULT_MAIN,
    MAX_MANIFEST_TEXT_BYTES,
    Manifest,
    parse_manifest,
)

from .bundle_sizes import MAX_READ_BYTES, find_parts, show_parts
from .console import sized
from .dialect import find_foreign
from .documents import SourceFile, find_pictures, find_readme, leads_out, read_file
from .errors import Lines, ToolError, invalid_widget, prefixed
from .javascript import ModuleCheck, check_module
from .manifest_text import misspelled_keys
from .npm_project import BUILD, RUN_BUILD, find_newer_source, npm_scripts

MANIFEST = "widget.json"
OTHER_MANIFEST = "manifest.json"  # Of some other tools.
MAX_BUNDLE_BYTES = 2_097_152  # The default limit of a catalog.
PLACEHOLDER_DESCRIPTION = "Says in one sentence what the widget shows."

_PLACEHOLDER = "still the placeholder that widget init wrote."
# Catalogs have a much lower limit, with their own message.
_MAX_READ_OF_MANIFEST = 2 * MAX_MANIFEST_TEXT_BYTES
_LEADS_OUT = "is a symbolic link to a file outside the widget's folder"
_COPY = "Copy the file into the folder."


class LocalWidget(msgspec.Struct, frozen=True):
    """A widget that was read and checked. `warnings` do not prevent publishing."""

    folder: Path
    manifest: Manifest
    bundle: SourceFile
    style: SourceFile | None
    readme: SourceFile | None = None
    pictures: dict[str, SourceFile] = {}
    """By path, such as screenshots/light.png."""
    warnings: tuple[str, ...] = ()


def command_for(folder: Path, command: str) -> str:
    """A command for this folder, to copy and paste."""
    return command if folder == Path() else f"{command} {shlex.quote(str(folder))}"


def named(folder: Path) -> str:
    """The name of a folder in messages."""
    return "this folder" if folder == Path() else str(folder)


def read_manifest_text(folder: Path) -> str:
    file = folder / MANIFEST
    if leads_out(folder, file):
        raise invalid_widget(f"{file} {_LEADS_OUT}.", _COPY)
    try:
        size, content = read_file(file, _MAX_READ_OF_MANIFEST)
        if size > _MAX_READ_OF_MANIFEST:
            raise invalid_widget(f"{file} is too large: {sized(size)}.", "Make it smaller.")
        return content.decode()
    except FileNotFoundError:
        raise invalid_widget(
            f"There is no {MANIFEST} in {named(folder)}.",
            _advice_without_manifest(folder),
        ) from None
    except NotADirectoryError:
        raise invalid_widget(f"{folder} is not a folder.", "Pass the widget's folder.") from None
    except OSError as error:
        hint = "Check the permissions of the folder."
        raise invalid_widget(f"{file} cannot be read: {error.strerror}.", hint) from None
    except UnicodeDecodeError:
        raise invalid_widget(f"{file} is not UTF-8 text.", "Save it as UTF-8.") from None


def _advice_without_manifest(folder: Path) -> str:
    if (folder / OTHER_MANIFEST).is_file():
        return f"To make one from {OTHER_MANIFEST}: {command_for(folder, 'widget migrate')}"
    return "Pass the widget's folder, or create one with: widget init"


def read_widget(
    folder: Path,
    text: str | None = None,
    max_bundle_bytes: int = MAX_BUNDLE_BYTES,
    check: ModuleCheck = ModuleCheck.FULL,
) -> LocalWidget:
    """Read the widget in this folder, or raise with all errors.

    `text` replaces the content of the manifest.
    """
    errors: list[str] = []
    text = read_manifest_text(folder) if text is None else text
    foreign = find_foreign(folder, text)
    ours = text if foreign is None else foreign.text
    try:
        manifest = parse_local(folder, text)
    except InvalidManifest as error:
        errors += error.errors
        main, style_name = _named_files(ours, error.errors)
    else:
        main, style_name = manifest.main, manifest.style
    remarks = misspelled_keys(ours)
    if foreign is not None:
        command = command_for(folder, "widget migrate")
        about = f"{MANIFEST} is a manifest of another tool: {'; '.join(foreign.found)}."
        remarks.append(f"{about} To convert it, or to choose another name, run: {command}")
    warnings = list(remarks)
    bundle = style = None
    if main is not None:
        bundle = _read(folder, "main", main, max_bundle_bytes, errors)
    if style_name is not None:
        style = _read(folder, "style", style_name, max_bundle_bytes, errors)
    if main is not None and bundle is not None:
        found = check_module(main, bundle.content, check)
        errors += [prefixed("main: ", it) for it in found.errors]
        warnings += found.warnings
        if newer := find_newer_source(folder, bundle.path):
            warnings.append(f"main: {newer} was changed after {main} was built. {RUN_BUILD}")
    if errors or bundle is None:
        raise _faulty(folder, errors, remarks)
    readme = find_readme(folder)
    if readme.problem is not None:
        warnings.append(readme.problem)
    pictures = find_pictures(folder)
    warnings += pictures.problems
    local = LocalWidget(folder, manifest, bundle, style, readme.file, pictures.files)
    placeholders = [f"{it} widget publish rejects it." for it in _find_placeholders(local)]
    warnings[len(remarks) : len(remarks)] = placeholders
    return msgspec.structs.replace(local, warnings=tuple(warnings))


def _find_placeholders(local: LocalWidget) -> dict[str, str]:
    """The texts of the template that nobody has replaced, and how to."""
    found = {}
    if local.manifest.description == PLACEHOLDER_DESCRIPTION:
        advice = "Describe in a sentence what the widget shows, or remove it."
        found[f"description: it is {_PLACEHOLDER}"] = advice
    readme = local.readme
    if readme is not None and PLACEHOLDER_DESCRIPTION.encode() in readme.content:
        advice = f'Replace the line "{PLACEHOLDER_DESCRIPTION}"'
        found[f"{readme.path.name}: its description is {_PLACEHOLDER}"] = advice
    return found


def parse_local(folder: Path, text: str) -> Manifest:
    """The manifest of the widget in this folder; one of another tool is published as it is."""
    foreign = find_foreign(folder, text)
    if foreign is None:
        return parse_manifest(text)
    return msgspec.structs.replace(parse_manifest(foreign.text), text=text)


def _named_files(text: str, errors: Sequence[str]) -> tuple[str | None, str | None]:
    """`main` and `style` of a manifest with these errors, as far as they are valid."""
    try:
        declared = json.loads(text)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(declared, dict):
        return None, None

    def valid(key: str, otherwise: str | None) -> str | None:
        is_wrong = any(it.startswith(f"{key}:") for it in errors)
        return None if is_wrong else declared.get(key) or otherwise

    return valid("main", DEFAULT_MAIN), valid("style", None)


def require_own_description(local: LocalWidget) -> None:
    """Raise if the description in the manifest or in the README is still the template's."""
    errors = [f"{it} {advice}" for it, advice in _find_placeholders(local).items()]
    if errors:
        hint = f"Correct that, then run: {command_for(local.folder, 'widget publish')}"
        raise invalid_widget(_has(local.folder, errors), hint, errors)


def _read(
    folder: Path, key: str, name: str, max_bytes: int, errors: list[str]
) -> SourceFile | None:
    path = folder / name
    if leads_out(folder, path):
        errors.append(f"{key}: {name} {_LEADS_OUT}. {_COPY}")
        return None
    try:
        size, content = read_file(path, max_bytes)
    except FileNotFoundError:
        advice = f" Build it: {BUILD}" if "build" in npm_scripts(folder) else ""
        errors.append(f"{key}: there is no file {name} next to {MANIFEST}.{advice}")
        return None
    except OSError as error:
        errors.append(f"{key}: {name} cannot be read: {error.strerror}.")
        return None
    found = len(errors)
    if size == 0:
        errors.append(f"{key}: {name} is empty.")
    if size > max_bytes:
        sentence = f"{key}: {name} is too large: {sized(size)}; the limit is {sized(max_bytes)}."
        errors.append(Lines(f"{sentence} Minify it, or remove something.", *_parts(folder, path)))
    try:
        content.decode()
    except UnicodeDecodeError as error:
        errors.append(f"{key}: {name} is not UTF-8 text (byte {error.start:,}).")
    return SourceFile(path, content) if len(errors) == found else None


def _parts(folder: Path, path: Path) -> list[str]:
    """The table of what takes the room in a module, if it has a source map."""
    _, content = read_file(path, MAX_READ_BYTES)
    return show_parts(find_parts(folder, path, content)) if content else []


def _faulty(folder: Path, errors: list[str], remarks: Sequence[str] = ()) -> ToolError:
    """`remarks` are printed, too: they may be the cause."""
    command = command_for(folder, "widget validate")
    hint = f"Correct {MANIFEST} or the files it names, then run: {command}"
    if any(", which browsers " in it or " is too large: " in it for it in errors):
        hint = Lines(hint, f"Why, and what to do in your bundler: {command} --explain")
    return invalid_widget(_has(folder, errors, remarks), hint, [*errors, *remarks])


def _has(folder: Path, errors: list[str], remarks: Sequence[str] = ()) -> str:
    what = "an error" if len(errors) == 1 else f"{len(errors)} errors"
    if remarks:
        what += " and a note" if len(remarks) == 1 else f" and {len(remarks)} notes"
    return f"The widget in {named(folder)} has {what}."

"""`widget init` and `widget validate`: a new widget, and all errors of one."""

import json
import os
import re
from pathlib import Path

import jsonschema_rs
import pytest

from support.commands import Said
from support.npm import npm_commands
from support.scripted import Scripted, ScriptedServer
from tool.terminal import typed
from tool.tool import Tool


def test_a_new_widget_is_fine_but_for_its_description(tool: Tool) -> None:
    said = tool.run("init", "My Clock", "--template", "plain")
    assert said == Said(
        0,
        "",
        "Created the widget my-clock in My Clock.\n"
        "What you edit:\n"
        "  widget.json  the manifest: write your own description\n"
        "  index.js     the module that dashboards run\n"
        "Next:\n"
        "  widget dev 'My Clock'         run it in your browser, and again after every change\n"
        "  widget validate 'My Clock'    check whether it can be published\n"
        "  widget screenshot 'My Clock'  take pictures for its page, with Chromium or Chrome\n"
        "  widget publish 'My Clock'     publish it, after confirmation\n",
    )
    assert tool.run("validate", "My Clock") == Said(
        0,
        "Valid: my-clock 0.1.0, 1.6 KiB.\n",
        "Note: description: it is still the placeholder that widget init wrote. "
        "widget publish rejects it.\n",
    )


def test_it_has_the_name_and_scope_that_were_asked_for(tool: Tool) -> None:
    made = tool.json("init", "--name", "bell", "--scope", "ann", "--template", "plain")
    assert made == {"name": "bell", "template": "plain", "files": ["widget.json", "index.js"]}
    manifest = json.loads((tool.home / "widget.json").read_text())
    assert (manifest["name"], manifest["scope"]) == ("bell", "ann")
    assert manifest["displayName"] == "Bell"
    assert 'setAttribute("aria-label", "Bell")' in (tool.home / "index.js").read_text()


def test_the_manifest_names_the_schema_of_the_catalog_or_a_copy(tool: Tool) -> None:
    tool.begin("clock")
    manifest = (tool.home / "clock" / "widget.json").read_text()
    url = tool.environment.pop("WIDGET_CATALOG_URL")
    assert manifest.startswith(f'{{\n  "$schema": "{url}/schema/widget.json",\n  "name": "clock",')

    said = tool.run("init", "sun", "--template", "plain")
    schema = tool.home / "sun" / "widget.schema.json"
    assert f"  {schema.name}  checks the manifest in your editor\n" in said.err
    manifest = (tool.home / "sun" / "widget.json").read_text()
    assert json.loads(manifest)["$schema"] == "./widget.schema.json"
    validator = jsonschema_rs.validator_for(json.loads(schema.read_text()))
    assert validator.is_valid(json.loads(manifest))
    assert tool.run("validate", "sun").err.count("Note:") == 1  # The description.


def test_a_person_is_asked_for_the_template(tool: Tool) -> None:
    said = typed(tool, "init", str(tool.home / "clock"), lines=["vue", "lit"])
    assert said.code == 0
    for name, about in (("ts", "TypeScript without a framework"), ("plain", "one JavaScript file")):
        assert re.search(rf"^  {name} +{about}", said.err, re.MULTILINE)
    assert "There is no template vue." in said.err
    assert (tool.home / "clock" / "src" / "widget-element.ts").exists()


@pytest.mark.parametrize(("has_npm", "template"), [(True, "ts"), (False, "plain")])
def test_the_default_is_typescript_where_npm_is_installed(
    tool: Tool, has_npm: bool, template: str
) -> None:
    path = str(npm_commands()) if has_npm else str(tool.home)
    assert tool.json("init", "clock", environment={"PATH": path})["template"] == template
    assert tool.json("init", "bell", "--template", "bare")["template"] == "plain"


@pytest.mark.parametrize("there", ["widget.json", "index.js"])
def test_what_is_there_is_never_overwritten(tool: Tool, there: str) -> None:
    (tool.home / there).write_text("mine")
    said = tool.run("init", "--name", "bell", "--template", "plain")
    assert (said.code, said.out) == (6, "")
    assert f"{there} is already in this folder" in said.err
    assert [it.name for it in tool.home.iterdir() if it.is_file()] == [there]
    assert (tool.home / there).read_text() == "mine"


@pytest.mark.parametrize("arguments", ["--name Bell", "--name b --scope -", "-- ---"])
def test_a_name_that_is_none_is_wrong_usage(tool: Tool, arguments: str) -> None:
    assert tool.run("init", *arguments.split()).code == 2
    assert list(tool.home.iterdir()) == []


def test_all_errors_are_reported_at_once(tool: Tool, widget: Path) -> None:
    (widget / "widget.json").write_text('{"name": "Clock", "version": "1", "main": "../x.js"}')
    said = tool.run("validate", widget)
    assert (said.code, said.out) == (5, "")
    lines = said.err.splitlines()
    assert lines[0] == f"Error: The widget in {widget} has 7 errors."
    assert [it.split(":")[0] for it in lines[1:8]] == [
        f"  - {key}"
        for key in ("name", "version", "displayName", "minSize", "maxSize", "sdkVersion", "main")
    ]


def test_errors_of_the_files_are_reported_with_those_of_the_manifest(
    tool: Tool, widget: Path
) -> None:
    manifest = json.loads((widget / "widget.json").read_text())
    (widget / "widget.json").write_text(json.dumps(manifest | {"version": "1", "style": "a.css"}))
    (widget / "index.js").write_text("export function {")

    lines = tool.run("validate", widget).err.splitlines()

    assert lines[0] == f"Error: The widget in {widget} has 3 errors."
    assert [it.split(":")[0] for it in lines[1:4]] == ["  - version", "  - style", "  - main"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("permisions", "permissions"),
        ("licence", "license"),
        ("release_notes", "releaseNotes"),
        ("Scope", "scope"),
        ("styles", "style"),
        ("configversion", "configVersion"),
        ("config_schema", "configSchema"),
        ("configScheme", "configSchema"),
        ("default_config", "defaultConfig"),
        ("defualtSize", "defaultSize"),
    ],
)
def test_a_key_that_looks_like_a_known_one_is_a_warning(
    tool: Tool, widget: Path, key: str, meant: str
) -> None:
    manifest = json.loads((widget / "widget.json").read_text())
    manifest.pop(meant, None)
    (widget / "widget.json").write_text(json.dumps({**manifest, key: "x"}))
    warning = f"The catalog does not know the key {key}. Did you mean {meant}?"
    assert tool.json("validate", widget)["warnings"] == [warning]


def test_it_is_a_warning_also_if_the_right_key_is_given(tool: Tool, widget: Path) -> None:
    manifest = json.loads((widget / "widget.json").read_text())
    keys = {"permisions": "permissions", "desciption": "description", "sdkversion": "sdkVersion",
            "minsize": "minSize", "Permissions": "permissions"}  # fmt: skip
    assert set(keys.values()) <= set(manifest)
    (widget / "widget.json").write_text(json.dumps({**manifest, **dict.fromkeys(keys, "x")}))
    assert tool.json("validate", widget)["warnings"] == [
        f"The catalog does not know the key {key}. Did you mean {meant}?"
        for key, meant in keys.items()
    ]


def test_keys_of_other_programs_are_no_warning(tool: Tool, widget: Path) -> None:
    foreign = """$schema schema tag tags capabilities defaultSize defaultConfig examples author
        domain homepage longDescription shortDescription title size sizes min max type module
        private apiVersion schemaVersion manifestVersion iconUrl configSchema icons names
        permission"""
    manifest = json.loads((widget / "widget.json").read_text())
    (widget / "widget.json").write_text(json.dumps({**manifest, **dict.fromkeys(foreign.split())}))
    assert tool.run("validate", widget).err == ""


def test_malformed_capabilities_are_reported_with_every_error(tool: Tool, widget: Path) -> None:
    stated = [{"domain": "lock", "access": "open"}, {"domain": "lock", "access": "control"}, 1]
    manifest = json.loads((widget / "widget.json").read_text())
    (widget / "widget.json").write_text(json.dumps({**manifest, "capabilities": stated}))
    said = tool.run("validate", widget)
    assert said.code == 5
    assert "  - capabilities[0].access: must be read or control.\n" in said.err
    assert "  - capabilities[2]: must be an object such as " in said.err
    (widget / "widget.json").write_text(json.dumps({**manifest, "capabilities": stated[1:2]}))
    assert tool.json("validate", widget)["permissions"] == ["control:lock"]


def test_a_misspelled_key_is_named_beside_the_error_it_causes(tool: Tool, widget: Path) -> None:
    file = widget / "widget.json"
    file.write_text(file.read_text().replace('"sdkVersion"', '"sdkversion"'))
    said = tool.run("validate", widget)
    assert said.code == 5
    assert said.err.splitlines()[:3] == [
        f"Error: The widget in {widget} has an error and a note.",
        "  - sdkVersion: is missing.",
        "  - The catalog does not know the key sdkversion. Did you mean sdkVersion?",
    ]


def test_misspelled_keys_are_named_beside_a_syntax_error(tool: Tool, widget: Path) -> None:
    manifest = json.loads((widget / "widget.json").read_text())
    (widget / "widget.json").write_text(json.dumps({**manifest, "permisions": [], "licence": "x"}))
    (widget / "index.js").write_text("export function mount( {")
    said = tool.run("validate", widget)
    lines = said.err.splitlines()
    assert lines[0] == f"Error: The widget in {widget} has an error and 2 notes."
    assert [it for it in lines if "Did you mean" in it] == [
        "  - The catalog does not know the key permisions. Did you mean permissions?",
        "  - The catalog does not know the key licence. Did you mean license?",
    ]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, "main: there is no file index.js next to widget.json."),
        (b"", "main: index.js is empty."),
        (b"// \xff", "main: index.js is not UTF-8 text (byte 3)."),
        (b"/" * 2_097_153, "main: index.js is too large: 2.0 MiB; the limit is 2.0 MiB."),
    ],
)
def test_a_bundle_that_cannot_be_taken_is_a_error(
    tool: Tool, widget: Path, content: bytes | None, error: str
) -> None:
    bundle = widget / "index.js"
    bundle.unlink() if content is None else bundle.write_bytes(content)
    said = tool.run("validate", widget, "--json")
    assert said.code == 5
    told = json.loads(said.out)
    assert told["exitCode"] == 5
    assert [it[: len(error)] for it in told["details"]] == [error]


def test_a_style_sheet_is_looked_at_too(tool: Tool, widget: Path) -> None:
    file = widget / "widget.json"
    file.write_text(file.read_text().replace('"main"', '"style": "look.css",\n  "main"'))
    assert "style: there is no file look.css" in tool.run("validate", widget).err
    (widget / "look.css").write_text("p {}")
    assert tool.json("validate", widget)["cssSize"] == 4


def test_the_limit_is_the_catalogs_if_it_responses(
    tool: Tool, widget: Path, server: ScriptedServer
) -> None:
    server.on("GET", "/api/settings", Scripted(body={"maxBundleBytes": 100}))
    assert "the limit is 100 bytes" in tool.run("validate", widget).err
    server.on("GET", "/api/settings", Scripted(500, b"<html>"))
    assert tool.run("validate", widget).code == 0


@pytest.mark.parametrize("content", [None, b"\xff", b"[1]", b"{", b'{"a": "\x1b[31m"}'])
def test_no_readable_manifest_is_a_sentence(
    tool: Tool, widget: Path, content: bytes | None
) -> None:
    file = widget / "widget.json"
    file.unlink() if content is None else file.write_bytes(content)
    said = tool.run("validate", widget)
    assert (said.code, said.out) == (5, "")
    assert said.err.startswith("Error: ")
    assert "\x1b" not in said.err


@pytest.mark.parametrize("file", ["widget.json", "index.js"])
def test_a_pipe_is_not_waited_for(tool: Tool, widget: Path, file: str) -> None:
    (widget / file).unlink()
    os.mkfifo(widget / file)
    said = tool.run("validate", widget)
    assert said.code == 5
    assert f"{file} cannot be read: it is not a regular file." in said.err


def test_a_manifest_of_any_size_is_not_read(tool: Tool, widget: Path) -> None:
    with (widget / "widget.json").open("r+b") as file:
        file.truncate(1 << 40)
    said = tool.run("validate", widget)
    assert said.code == 5
    assert "widget.json is too large" in said.err


@pytest.mark.parametrize("file", ["index.js", "look.css"])
def test_a_link_that_leads_out_of_the_folder_is_a_error(
    tool: Tool, widget: Path, file: str
) -> None:
    secret = tool.home / "secret"
    secret.write_text("export function mount() {}")
    manifest = widget / "widget.json"
    manifest.write_text(manifest.read_text().replace('"main"', '"style": "look.css",\n  "main"'))
    (widget / "look.css").write_text("p {}")
    (widget / file).unlink()
    (widget / file).symlink_to(secret)
    said = tool.run("validate", widget)
    key = "main" if file == "index.js" else "style"
    assert said == Said(
        5,
        "",
        f"Error: The widget in {widget} has an error.\n"
        f"  - {key}: {file} is a symbolic link to a file outside the widget's folder. "
        "Copy the file into the folder.\n"
        f"       Correct widget.json or the files it names, then run: widget validate {widget}\n",
    )
    assert tool.run("publish", widget, "--yes").code == 5


def test_a_linked_folder_that_leads_out_is_a_error_too(tool: Tool, widget: Path) -> None:
    (tool.home / "build").mkdir()
    (widget / "index.js").rename(tool.home / "build" / "index.js")
    (widget / "dist").symlink_to("../build")
    manifest = widget / "widget.json"
    manifest.write_text(manifest.read_text().replace('"index.js"', '"dist/index.js"'))
    assert (
        "main: dist/index.js is a symbolic link to a file outside"
        in tool.run("validate", widget).err
    )


def test_a_manifest_that_is_a_link_out_of_the_folder_is_refused(tool: Tool, widget: Path) -> None:
    (widget / "widget.json").rename(tool.home / "elsewhere.json")
    (widget / "widget.json").symlink_to(tool.home / "elsewhere.json")
    said = tool.run("validate", widget)
    assert said == Said(
        5,
        "",
        f"Error: {widget / 'widget.json'} is a symbolic link to a file outside the widget's "
        "folder.\n"
        "       Copy the file into the folder.\n",
    )


def test_links_inside_the_folder_and_to_it_are_followed(tool: Tool, widget: Path) -> None:
    for file, place in (("index.js", "built.js"), ("widget.json", "kept.json")):
        (widget / file).rename(widget / place)
        (widget / file).symlink_to(place)
    (tool.home / "linked").symlink_to(widget)
    for folder in (widget, Path("clock"), Path("linked")):
        assert tool.run("validate", folder) == Said(0, "Valid: clock 0.1.0, 1.6 KiB.\n", "")


def test_a_link_in_a_circle_is_a_error(tool: Tool, widget: Path) -> None:
    (widget / "index.js").unlink()
    (widget / "index.js").symlink_to("index.js")
    said = tool.run("validate", widget)
    assert said.code == 5
    assert "main: index.js cannot be read: " in said.err


def test_a_file_where_a_folder_is_meant_is_reported(tool: Tool, widget: Path) -> None:
    file = widget / "widget.json"
    said = tool.run("validate", file)
    assert said == Said(
        5, "", f"Error: {file} is not a folder.\n       Pass the widget's folder.\n"
    )

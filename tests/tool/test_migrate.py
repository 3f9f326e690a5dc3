"""Manifests of other tools: published as they are, or converted by `widget migrate`."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.service import Service
from tool.tool import Tool
from widget_cli.javascript import ModuleCheck
from widget_cli.preview_server import PreviewedWidget

pytestmark = pytest.mark.slow

THEIRS: dict[str, Any] = {
    "name": "World Clock",
    "version": "1.0.0",
    "description": "Shows the time.",
    "minSize": {"w": 2, "h": 1},
    "maxSize": {"w": 4, "h": 2},
    "sdkVersion": "^1.0.0",
    "schema": {"type": "object", "properties": {"zone": {"type": "string"}}},
    "capabilities": [{"domain": "sensor", "access": "read"}],
    "tag": "time",
}
FOUND = [
    'name "World Clock" is the display name',
    "the widget is world-clock, from its display name",
    "schema describes its settings",
    "it has 1 capability",
    "its module is dist/index.js",
    "its style sheet is dist/style.css",
]


@pytest.fixture
def project(tool: Tool) -> Path:
    return make_project(tool.home)


def make_project(home: Path) -> Path:
    folder = home / "theirs"
    (folder / "dist").mkdir(parents=True)
    (folder / "widget.json").write_text(json.dumps(THEIRS))
    (folder / "dist" / "index.js").write_text("export function mount() {}\n")
    (folder / "dist" / "style.css").write_text("p { color: red }\n")
    return folder


def test_it_is_valid_as_it_is_and_what_was_found_is_said(tool: Tool, project: Path) -> None:
    said = tool.run("validate", project)
    assert (said.code, said.out) == (0, "Valid: world-clock 1.0.0, 27 bytes.\n")
    assert said.err == (
        f"Note: widget.json is a manifest of another tool: {'; '.join(FOUND)}. "
        f"To convert it, or to choose another name, run: widget migrate {project}\n"
    )


def test_its_preview_has_its_settings_and_follows_what_is_built(project: Path) -> None:
    widget = PreviewedWidget(project, ModuleCheck.FULL)
    before = widget.state().document()["version"]
    assert before["manifest"] == {"configSchema": THEIRS["schema"]}
    (project / "dist" / "index.js").write_text("export function mount() {} // Again.\n")
    assert widget.state().document()["version"]["sha256Hash"] != before["sha256Hash"]


def test_the_name_in_package_json_comes_first(tool: Tool, project: Path) -> None:
    (project / "package.json").write_text('{"name": "@acme/uhr"}')
    assert tool.json("validate", project)["name"] == "uhr"


def test_migrating_converts_it_once(tool: Tool, project: Path) -> None:
    assert tool.json("migrate", project, "--yes") == {"migrated": True, "found": FOUND}
    assert json.loads((project / "widget.json").read_text()) == {
        "name": "world-clock",
        "displayName": "World Clock",
        **{key: it for key, it in THEIRS.items() if key not in ("name", "schema")},
        "configSchema": THEIRS["schema"],
        "main": "dist/index.js",
        "style": "dist/style.css",
    }
    assert tool.run("validate", project).err == ""
    said = tool.run("migrate", project, "--yes")
    assert (said.code, said.err) == (0, "widget.json needs no migration.\n")


def test_a_file_of_another_name_is_converted_under_the_given_name(
    tool: Tool, project: Path
) -> None:
    (project / "widget.json").rename(project / "manifest.json")
    said = tool.run("validate", project)
    assert said.err.endswith(f"To make one from manifest.json: widget migrate {project}\n")
    assert tool.run("migrate", project, "--name", "Uhr", "--yes").code == 2
    assert tool.run("migrate", project, "--name", "uhr", "--yes").code == 0
    assert json.loads((project / "widget.json").read_text())["name"] == "uhr"
    assert (project / "manifest.json").exists()


def test_errors_are_reported_and_nothing_is_written(tool: Tool, project: Path) -> None:
    wrong = json.dumps({**THEIRS, "sdkVersion": "*"})
    (project / "widget.json").write_text(wrong)
    said = tool.run("migrate", project, "--yes")
    assert said.code == 5
    assert "sdkVersion: must name the SDK" in said.err
    assert (project / "widget.json").read_text() == wrong


def test_only_what_is_missing_is_reported(tool: Tool, project: Path) -> None:
    incomplete = {key: it for key, it in THEIRS.items() if key != "sdkVersion"}
    (project / "widget.json").write_text(json.dumps(incomplete))
    (project / "dist" / "index.js").unlink()
    (project / "package.json").write_text('{"scripts": {"build": "vite build"}}')
    wrong = tool.run("validate", project).err.splitlines()
    assert wrong[1:3] == [
        "  - sdkVersion: is missing.",
        "  - main: there is no file dist/index.js next to widget.json. Build it: npm run build",
    ]
    assert "its module is expected in dist, which has none yet" in wrong[3]


def test_a_name_without_latin_letters_has_to_be_chosen(tool: Tool, project: Path) -> None:
    project = project.rename(project.with_name("時計"))
    (project / "widget.json").write_text(json.dumps({**THEIRS, "name": "時計"}))
    said = tool.run("migrate", project, "--yes")
    assert said.code == 5
    assert "choose one with widget migrate --name NAME" in said.err
    assert tool.run("migrate", project, "--name", "clock", "--yes").code == 0
    assert json.loads((project / "widget.json").read_text())["displayName"] == "時計"


def test_another_file_that_needs_no_conversion_is_copied_and_a_wrong_one_is_not(
    tool: Tool, widget: Path
) -> None:
    text = (widget / "widget.json").read_text()
    (widget / "widget.json").rename(widget / "manifest.json")
    said = tool.run("migrate", widget, "--yes")
    assert (said.code, (widget / "widget.json").read_text()) == (0, text)
    (widget / "widget.json").write_text('{"name": "app", "short_name": "App"}')
    said = tool.run("migrate", widget, "--yes")
    assert (said.code, "  - sdkVersion: is missing.\n" in said.err) == (5, True)


def test_a_missing_display_name_alone_is_no_other_tool(tool: Tool, widget: Path) -> None:
    manifest = json.loads((widget / "widget.json").read_text())
    del manifest["displayName"]
    (widget / "widget.json").write_text(json.dumps(manifest))
    assert "  - displayName: is missing.\n" in tool.run("validate", widget).err


def test_it_is_published_as_it_is(open_service: Service, ann: Tool) -> None:
    project = make_project(ann.home)

    published = ann.json("publish", project, "--yes", "--bump", "minor")

    assert (published["name"], published["version"]) == ("world-clock", "1.1.0")
    assert len(published["warnings"]) == 1
    with open_service.client() as client:
        detail = client.get("/api/v1/widgets/ann/world-clock/1.1.0").json()
        preview = client.get("/preview/ann/world-clock/1.1.0").text
    assert detail["widget"]["displayName"] == "World Clock"
    assert detail["manifest"] == {**THEIRS, "version": "1.1.0"}
    assert [it["path"] for it in detail["files"]] == ["index.js", "index.css"]
    assert detail["capabilities"] == THEIRS["capabilities"]
    assert "configSchema" in preview
    assert json.loads((project / "widget.json").read_text())["version"] == "1.1.0"

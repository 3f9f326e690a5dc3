"""The complete widget that `widget init` offers: typed, published by the real tool,
and rendered.
"""

import json
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from playwright.sync_api import Browser, expect

from support.archives import extract_all
from support.chromium import complaints_of
from support.commands import Said
from support.npm import check_types
from support.service import running_service
from tool.tool import Tool, register
from widget_cli.scaffold import Template, begin_widget

ROOT = Path(__file__).parents[2]
OPTIONS = {
    "strict": True,
    "module": "nodenext",
    "target": "es2022",
    "lib": ["es2023", "dom", "dom.iterable"],
    "types": [],
    "allowJs": True,
    "checkJs": True,
    "allowImportingTsExtensions": True,
}


def test_its_types_are_those_of_the_client_also_in_distributions(tmp_path: Path) -> None:
    """In the repository, they are a link to them."""
    types = (ROOT / "clients/js/widget.d.ts").read_bytes()
    path = "widget_cli/template/contract/widget.d.ts"
    assert (ROOT / "src" / path).read_bytes() == types
    (source,) = SdistBuilder(str(ROOT / "cli")).build(directory=str(tmp_path))
    with tarfile.open(source) as archive:
        extract_all(archive, tmp_path)
    (unpacked,) = tmp_path.glob("widget_cli-*/")
    assert [it for it in unpacked.rglob("*") if it.is_symlink()] == []
    for project in (ROOT / "cli", unpacked):
        (built,) = WheelBuilder(str(project)).build(directory=str(tmp_path), versions=["standard"])
        with zipfile.ZipFile(built) as wheel:
            assert wheel.read(path) == types


@pytest.mark.slow
def test_its_module_fits_its_types(tmp_path: Path) -> None:
    begin_widget(tmp_path, "my-year", None, Template.PROGRESS)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    config = {"compilerOptions": OPTIONS, "include": ["*.js"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(config))
    assert check_types(tmp_path) == ""


def test_its_settings_and_examples_are_what_its_schema_says(tmp_path: Path) -> None:
    begin_widget(tmp_path, "my-year", None, Template.PROGRESS)
    schema = json.loads((tmp_path / "widget.json").read_text())["configSchema"]
    for example in schema["examples"]:
        assert example.keys() <= schema["properties"].keys()
        assert example["span"] in schema["properties"]["span"]["enum"]
    readme = (tmp_path / "README.md").read_text()
    assert readme.startswith("# My year\n")
    assert all(f"| {it['title']} |" in readme for it in schema["properties"].values())


@pytest.mark.slow
def test_another_template_is_reported_and_files_in_the_way_are_kept(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    said = tool.run("init", "clock", "--template", "fancy")
    known = "ts, react, svelte, lit, plain, progress"
    advice = f"Error: There is no template fancy.\n       Choose one of: {known}.\n"
    assert said == Said(2, "", advice)
    (tmp_path / "README.md").write_text("Mine.")
    said = tool.run("init", ".", "--template", "progress")
    assert (said.code, (tmp_path / "README.md").read_text()) == (6, "Mine.")
    assert not (tmp_path / "widget.json").exists()


def test_it_is_validated_published_and_runs_in_the_preview(
    browser: Browser, tmp_path: Path
) -> None:
    with running_service(tmp_path / "data", "--set", "registration=open") as service:
        tool = Tool(tmp_path, service.url)
        with service.client() as client:
            register(client, "ann")
            wanted = {"name": "ci", "actions": ["publish"], "expiresInDays": 1}
            made = client.post("/api/tokens", json=wanted)
            assert made.status_code == 201, made.text
        tool.environment["WIDGET_TOKEN"] = made.json()["token"]
        files = tool.json("init", "year", "--template", "progress")["files"]
        assert files == [
            f"year/{name}"
            for name in ("widget.json", "index.js", "README.md", "CONTRIBUTING.md", "widget.d.ts")
        ]
        checked = tool.json("validate", "year")
        assert (checked["valid"], checked["warnings"]) == (True, [])
        assert tool.json("publish", "year", "--yes")["version"] == "0.1.0"

        context = browser.new_context(locale="en-GB", timezone_id="UTC")
        page = context.new_page()
        complaints = complaints_of(page)
        page.goto(f"{service.url}/preview/ann/year/0.1.0")
        page.get_by_role("button", name="Run the preview").click()
        frame = page.frame_locator("iframe")
        widget = frame.get_by_role("group")
        expect(widget).to_contain_text("left")
        expect(frame.locator(".dots i").nth(364)).to_be_attached()
        assert frame.locator(".dots i").count() in (365, 366)
        page.get_by_label("Show the").select_option("week")
        expect(frame.locator(".dots i")).to_have_count(7)
        page.get_by_label("Title").fill("<b>Mine</b>")
        expect(frame.get_by_role("group", name="<b>Mine</b>")).to_be_visible()
        page.get_by_label("Draw dots").uncheck()
        expect(frame.locator(".dots")).to_have_count(0)
        page.get_by_role("button", name="Example 1").click()
        expect(frame.locator(".dots i")).to_have_count(24)
        expect(page.get_by_label("Title")).to_have_value("Today")
        page.get_by_label("Smallest").check()
        expect(frame.locator(".bar")).to_be_visible()
        expect(frame.locator(".dots")).to_be_hidden()
        assert complaints == []
        context.close()


@pytest.mark.parametrize("template", list(Template))
def test_a_template_names_no_description_of_another(tmp_path: Path, template: Template) -> None:
    begun = begin_widget(tmp_path, "my-year", "acme", template)
    manifest = json.loads((tmp_path / "widget.json").read_text())
    named = {key: manifest[key] for key in ("name", "scope", "displayName")}
    assert named == {"name": begun.name, "scope": "acme", "displayName": "My year"}
    texts = [(tmp_path / it).read_text() for it in begun.files if not it.endswith(".tgz")]
    assert not any("DISPLAY_NAME" in it or "WIDGET_NAME" in it for it in texts)


@pytest.mark.slow
@pytest.mark.parametrize("template", list(Template))
def test_init_lists_every_file_it_wrote(tmp_path: Path, template: Template) -> None:
    said = Tool(tmp_path).run("init", "clock", "--template", template)
    assert said.code == 0
    listed = {line.split()[0] for line in said.err.splitlines() if line.startswith("  ")}
    written = [it for it in (tmp_path / "clock").rglob("*") if it.is_file()]
    names = {it.relative_to(tmp_path / "clock").as_posix() for it in written}
    assert {"vendor/" if it.startswith("vendor/") else it for it in names} <= listed
    assert max(map(len, said.err.splitlines())) <= 80


@pytest.mark.parametrize("template", [it for it in Template if it is not Template.PLAIN])
def test_the_readme_is_for_users_and_another_file_for_authors(
    tmp_path: Path, template: Template
) -> None:
    """The README is published and shown on the widget's page."""
    begin_widget(tmp_path, "clock", None, template)
    readme, contributing = (tmp_path / it for it in ("README.md", "CONTRIBUTING.md"))
    about = readme.read_text()
    assert {"## Settings", "## Permissions"} <= set(about.splitlines())
    assert not re.search(r"```|npm|widget (dev|publish)|src/|\.json", about)
    commands = re.findall(r"^\$ (.+?)(?:  |$)", contributing.read_text(), re.MULTILINE)
    assert commands[-3:] == ["widget validate", "widget screenshot", "widget publish"]
    if template.is_built:
        scripts = json.loads((tmp_path / "package.json").read_text())["scripts"]
        named = {it.split()[-1] for it in commands if it.startswith("npm") and "install" not in it}
        assert named == scripts.keys() - {"watch"}

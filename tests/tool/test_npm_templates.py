"""The templates that npm builds: typed, tested, built, published by the real tool, and rendered."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, expect

from support.chromium import complaints_of
from support.service import Service, running_service
from tool.npm_projects import BUILT, built, new_project, npm_environment, run_script
from tool.pixels import wait_until_drawn
from tool.tool import Tool, register
from widget_cli.scaffold import Template

pytestmark = pytest.mark.slow

# What docs/publishing.md says, with room for newer releases of the libraries.
MOST_BYTES = {
    Template.TS: 2_000,
    Template.LIT: 20_000,
    Template.SVELTE: 35_000,
    Template.REACT: 240_000,
}
SIZES = {"Smallest": (192, 96), "Default": (288, 192), "Largest": (384, 384)}
GROUNDS = {"Light": [255, 255, 255], "Dark": [27, 31, 41]}


class Author(NamedTuple):
    service: Service
    tool: Tool


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Author]:
    home = tmp_path_factory.mktemp("author")
    with running_service(home / "data", "--set", "registration=open") as service:
        tool = Tool(home, service.url)
        with service.client() as client:
            register(client, "ann")
            wanted = {"name": "ci", "actions": ["publish"], "expiresInDays": 1}
            made = client.post("/api/tokens", json=wanted)
            assert made.status_code == 201, made.text
        tool.environment["WIDGET_TOKEN"] = made.json()["token"]
        yield Author(service, tool)


@pytest.mark.parametrize(
    "template",
    [it if it is Template.TS else pytest.param(it, marks=pytest.mark.machine) for it in BUILT],
)
def test_it_is_built_checked_published_and_rendered_at_all_its_sizes(
    author: Author, browser: Browser, template: Template
) -> None:
    service, tool = author
    folder = new_project(tool.home / template.value, template)
    module = built(folder)
    assert 500 < module.stat().st_size <= MOST_BYTES[template]
    code = module.read_text()
    # A dashboard has neither. The CSS is for browsers that know light-dark().
    assert not re.search(r"process\.env|\brequire\(|lightningcss", code)
    for script in ("check", "test"):
        done = run_script(folder, script)
        assert done.returncode == 0, done.stdout + done.stderr

    checked = tool.json("validate", folder)
    assert (checked["valid"], checked["warnings"]) == (True, [])
    assert tool.json("publish", folder, "--yes")["version"] == "0.1.0"
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, locale="en-GB")
    page, counting = context.new_page(), context.new_page()
    complaints = complaints_of(page)
    page.goto(f"{service.url}/preview/ann/{template}/0.1.0")
    page.get_by_role("button", name="Run the preview").click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("group", name=template.value.capitalize())).to_contain_text("Hello")
    save_to = os.environ.get("SCREENSHOTS")
    for scheme, ground in GROUNDS.items():
        page.get_by_label(scheme).check()
        for size, shape in SIZES.items():
            page.get_by_label(size).check()
            expect(page.locator("iframe")).to_have_css("width", f"{shape[0]}px")
            png = wait_until_drawn(page, shape, ground, counting)
            if save_to:
                Path(save_to, f"{template}-{size}-{scheme}.png").write_bytes(png)
    page.get_by_label("Greeting").fill("<b>Moin</b>")
    expect(frame.get_by_role("group")).to_contain_text("<b>Moin</b>")
    assert complaints == []
    context.close()


def test_the_preview_follows_the_build(author: Author, browser: Browser) -> None:
    """`widget dev` runs the project's own script, which writes the module after every change."""
    tool = author.tool
    folder = new_project(tool.home / "followed", Template.REACT)
    tool.environment["PATH"] = npm_environment()["PATH"]
    page = browser.new_page()
    complaints = complaints_of(page)
    with tool.start("dev", "followed", "--no-browser") as started:
        assert started.stderr is not None
        lines = [started.stderr.readline() for _ in range(3)]
        assert lines[0] == "Building it with npm run watch …\n"
        found = re.search(r"http://127\.0\.0\.1:\d+/", lines[1])
        assert found is not None, lines
        assert lines[2] == "OK.\n"
        page.goto(found[0])
        widget = page.frame_locator("iframe").get_by_role("group")
        expect(widget).to_contain_text("Hello")
        page.get_by_label("Greeting").fill("Moin")
        expect(widget).to_contain_text("Moin")
        component = folder / "src" / "Widget.tsx"
        component.write_text(component.read_text().replace("<p>{", "<p>I am {"))
        expect(widget).to_contain_text("MoinI am React")  # The settings stay.
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=60)
    assert (started.returncode, complaints) == (0, []), said
    page.close()


def test_what_is_not_built_yet_or_older_than_its_source_is_said(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    folder = new_project(tmp_path / "clock", Template.TS)
    said = tool.run("validate", "clock")
    missing = "main: there is no file dist/index.js next to widget.json. Build it: npm run build"
    assert (said.code, missing in said.err) == (5, True)
    (folder / "dist").mkdir()
    (folder / "dist" / "index.js").write_text("export function mount() {}\n")
    assert tool.json("validate", "clock")["warnings"] == []
    os.utime(folder / "src" / "settings.ts")
    newer = "main: src/settings.ts was changed after dist/index.js was built. Run: npm run build"
    assert tool.json("validate", "clock")["warnings"] == [newer]
    assert tool.json("validate", "clock", environment={"CI": "true"})["warnings"] == []


def test_dev_says_that_dependencies_are_missing(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    tool.environment["PATH"] = npm_environment()["PATH"]
    assert tool.run("init", "clock", "--template", "svelte").code == 0
    said = tool.run("dev", "clock", "--no-browser")
    assert (said.code, said.err.splitlines()) == (
        1,
        [
            "Error: The dependencies of this widget are not installed.",
            "       Run in clock: npm install",
        ],
    )

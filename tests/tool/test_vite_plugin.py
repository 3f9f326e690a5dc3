"""The Vite plugin, in real projects: what it builds, what it refuses, and its preview."""

import http.client
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from support.chromium import complaints_of
from support.ending import EndingProcess
from support.npm import node_binary
from tool.npm_projects import built, new_project, npm_environment, run_script
from widget_cli.scaffold import Template
from widget_cli.vite_plugin_package import plugin_files

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "src" / "widget_contract" / "vectors" / "manifests.json"
CHECK = """
import { readFileSync } from "node:fs";
import { checkManifest } from %s;
const { cases } = JSON.parse(readFileSync(process.argv[1], "utf8"));
const own = cases.filter((it) => it.request === null);
console.log(JSON.stringify(own.map((it) => checkManifest(it.manifest).errors)));
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_project(tmp_path_factory.mktemp("project") / "clock", Template.TS)


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    """A project of this test, which links to the same dependencies."""
    folder = tmp_path / "clock"
    shutil.copytree(project, folder, symlinks=True)
    return folder


def test_manifests_have_errors_in_the_fields_that_the_contract_says(tmp_path: Path) -> None:
    for name in ("package.json", "manifest.js", "widget.schema.json"):
        (tmp_path / name).write_bytes(plugin_files()[name])
    module = json.dumps((tmp_path / "manifest.js").as_uri())
    command = [str(node_binary()), "--input-type=module", "-e", CHECK % module, str(VECTORS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cases = [it for it in json.loads(VECTORS.read_text())["cases"] if it["request"] is None]
    for case, found in zip(cases, json.loads(done.stdout), strict=True):
        wanted = case.get("faults", [])
        assert [it.partition(":")[0] for it in found] == [it.partition(":")[0] for it in wanted], (
            case["about"]
        )


def test_a_style_sheet_and_pictures_are_part_of_what_is_published(copy: Path) -> None:
    manifest = json.loads((copy / "widget.json").read_text())
    (copy / "widget.json").write_text(json.dumps(manifest | {"style": "dist/clock.css"}))
    (copy / "src" / "mark.svg").write_text(f"<svg xmlns='x'>{'<g/>' * 3000}</svg>")
    source = 'import mark from "./mark.svg";\nimport "./own.css";\n'
    (copy / "src" / "own.css").write_text(".own { background: url(./mark.svg); }\n")
    index = copy / "src" / "index.ts"
    index.write_text(f"{source}{index.read_text()}console.log(mark);\n")
    module = built(copy)
    assert sorted(it.name for it in (copy / "dist").iterdir()) == ["clock.css", "index.js"]
    assert "data:image/svg+xml" in module.read_text()
    assert "data:image/svg+xml" in (copy / "dist" / "clock.css").read_text()


@pytest.mark.parametrize(
    ("file", "before", "after", "sentence"),
    [
        (
            "src/index.ts",
            "export function mount",
            "export function show",
            "index.js does not export mount, which dashboards call.",
        ),
        (
            "src/index.ts",
            'import css from "./widget.css?inline";',
            'import "./widget.css";\nconst css = "";',
            'would not be published. Import it as text, "./widget.css?inline", or name it in',
        ),
        (
            "vite.config.ts",
            "{ plugins",
            '{ build: { rolldownOptions: { external: ["./settings", /settings/] } }, plugins',
            "which is not in it, and no dashboard has it.",
        ),
        ("widget.json", '"0.1.0"', '"1"', "version: write a semantic version, three numbers"),
        (
            "widget.json",
            '"dist/index.js"',
            '"index.js"',
            "main: must be in a folder that the build",
        ),
        ("widget.json", '"main"', "main", "the manifest is not JSON"),
        (
            "vite.config.ts",
            "widget()",
            'widget({ entry: "src/main.js" })',
            "there is no src/main.js. Export mount from it, or name another file",
        ),
    ],
)
def test_a_build_that_no_dashboard_could_run_fails(
    copy: Path, file: str, before: str, after: str, sentence: str
) -> None:
    text = (copy / file).read_text()
    assert before in text
    (copy / file).write_text(text.replace(before, after))
    done = run_script(copy, "build")
    assert done.returncode == 1, done.stdout
    assert sentence in done.stdout + done.stderr
    assert not (copy / "dist" / "index.js").exists()


def test_a_library_that_asks_for_the_environment_runs_in_a_browser(
    copy: Path, browser: Browser
) -> None:
    """Such as React; Vite's own library build leaves the question in the module."""
    index = copy / "src" / "index.ts"
    question = "process.env.NODE_ENV"
    used = f'greeting.title = {question} === "production" ? "fast" : "slow";'
    declared = "declare const process: { env: { NODE_ENV: string } };\n"
    text = index.read_text().replace("root.append(widget);", f"root.append(widget);\n  {used}")
    index.write_text(declared + text)
    code = built(copy).read_text()
    assert "process" not in code
    page = browser.new_page()
    page.set_content("<div></div>")
    mounted = """async (code) => {
      const module = new Blob([code], { type: "text/javascript" });
      const { mount } = await import(URL.createObjectURL(module));
      const place = document.querySelector("div");
      mount(place);
      return place.firstElementChild.shadowRoot.querySelector("strong").title;
    }"""
    assert page.evaluate(mounted, code) == "fast"
    page.close()


class Preview:
    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url

    def ask(self, path: str, **headers: str) -> int:
        host = self.url.split("/")[2]
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("GET", path, headers={"Host": host, **headers})
        status = connection.getresponse().status
        connection.close()
        return status


@pytest.fixture
def preview(copy: Path) -> Iterator[Preview]:
    """`npm run dev`."""
    command = [
        str(node_binary()),
        "node_modules/vite/bin/vite.js",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
    ]
    with EndingProcess(
        command,
        cwd=copy,
        env=npm_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as started:
        assert started.stdout is not None
        lines: list[str] = []
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/", "".join(lines))):
            lines.append(started.stdout.readline())
            assert lines[-1], "".join(lines)
        yield Preview(copy, found[0])
        started.terminate()


def test_the_development_server_shows_the_widget_and_follows_changes(
    preview: Preview, browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    page = context.new_page()
    complaints = complaints_of(page)
    page.goto(preview.url)
    widget = page.frame_locator("iframe").get_by_role("group")
    expect(widget).to_contain_text("Hello")
    expect(page.get_by_role("heading", name="Ts")).to_be_visible()
    page.get_by_label("Greeting").fill("Moin")
    page.get_by_label("Largest").check()
    expect(widget).to_contain_text("Moin")

    index = preview.folder / "src" / "index.ts"
    text = index.read_text()
    index.write_text(text.replace("name.textContent = displayName", 'name.textContent = "Changed"'))
    expect(widget).to_contain_text("MoinChanged")  # The settings stay, and so does the size.
    expect(page.locator("iframe")).to_have_css("width", "384px")

    index.write_text(text + "export {")
    findings = page.get_by_role("log")
    expect(findings).to_contain_text("This cannot be published yet.")
    expect(findings).to_contain_text("src/index.ts:")
    expect(widget).to_contain_text("MoinChanged")  # The last one without errors keeps running.

    manifest = (preview.folder / "widget.json").read_text()
    (preview.folder / "widget.json").write_text(manifest.replace('"0.1.0"', '"1"'))
    expect(findings).to_contain_text("version: write a semantic version")
    (preview.folder / "widget.json").write_text(manifest)
    index.write_text(text)
    expect(findings).to_be_hidden()
    expect(widget).to_contain_text("MoinTs")
    assert complaints == []
    context.close()


def test_the_development_server_gives_other_sites_nothing(preview: Preview) -> None:
    assert preview.ask("/state") == 200
    assert preview.ask("/state", Host="evil.example") == 403
    for path in ("/state", "/changes", "/dev.js", "/preview/frame.html"):
        assert preview.ask(path, **{"Sec-Fetch-Site": "cross-site"}) == 403
    assert preview.ask("/preview/package.json") == 404
    assert preview.ask(f"/files/{'0' * 64}.js") == 404
    for path in ("//", "//[", "//%"):  # Any site can request it, and it must not end the server.
        assert preview.ask(path, **{"Sec-Fetch-Site": "cross-site"}) in (400, 403, 404)
    assert preview.ask("/state") == 200

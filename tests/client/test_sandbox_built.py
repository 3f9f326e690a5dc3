"""The sandbox in a page that Vite has built from the npm package."""

import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from client.runtimes import CLIENT, JAVASCRIPT, ClientCatalog
from support.chromium import wait_until
from support.npm import node_binary
from support.scripted import Scripted
from tool.npm_projects import link_dependencies

pytestmark = pytest.mark.slow

HTML = """<!doctype html>
<div id="clock"></div>
<script type="module" src="/main.js"></script>
"""
MAIN = """import { Catalog } from "widget-catalog-client";
import { mount } from "widget-catalog-client/sandbox";
mount(document.querySelector("#clock"), {
  catalog: new Catalog(location.hash.slice(1)), id: "acme/clock", sdk: "1.0.0", isCounted: false,
}).then(({ version }) => (window.said = version.version), (error) => (window.said = String(error)));
"""


def test_a_widget_runs_in_the_production_build(
    catalog: ClientCatalog, browser: Browser, tmp_path: Path
) -> None:
    link_dependencies(tmp_path)
    shutil.copytree(CLIENT, tmp_path / "node_modules" / "widget-catalog-client")
    (tmp_path / "index.html").write_text(HTML)
    (tmp_path / "main.js").write_text(MAIN)
    vite = tmp_path / "node_modules" / "vite" / "bin" / "vite.js"
    command = [str(node_binary()), str(vite), "build", "--logLevel", "warn"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    built = tmp_path / "dist"
    files = {f"/{it.relative_to(built)}": it for it in built.rglob("*") if it.is_file()}
    policy = f"script-src 'self'; frame-src {catalog.url}/frame/v1; connect-src {catalog.url}"
    html = {"Content-Type": "text/html", "Content-Security-Policy": policy}
    for path, file in files.items():
        kind = html if path == "/index.html" else JAVASCRIPT
        catalog.dashboard.on("GET", path, Scripted(200, file.read_bytes(), kind))
    page = browser.new_page()
    page.goto(f"{catalog.dashboard.url}/index.html#{catalog.url}")
    wait_until(page, "'said' in window")
    assert page.evaluate("said") == "1.1.0"
    expect(page.frame_locator("iframe").locator("#place")).to_contain_text("1.1.0 of")
    page.close()

"""The code for loading a version in the guides works unchanged."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.chromium import wait_for_page
from support.folders import filled_folder
from support.scripted import Scripted, scripted_server
from support.service import Service, running_service
from support.widgets import version_line, widget_line

# On one worker, so that the browser is started once.
DOCS = Path(__file__).parents[2] / "docs"
GUIDES = ("integrating", "loading-widgets-safely", "public-api")
PAGE = "\n".join((DOCS / f"{it}.md").read_text(encoding="utf-8") for it in GUIDES)
_JOINED = " ".join(PAGE.split())
SHOW = """async (base) => {
  const found = {};
  for (const name of ["styled", "plain"]) {
    const { versions } = await (await fetch(`${base}/api/v1/widgets/acme/${name}`)).json();
    const { mount } = await loadBundle(versions[0]);
    const element = document.createElement("div");
    mount(element);
    const sheet = await loadStyle(versions[0]);
    found[name] = [element.textContent, sheet && sheet.cssRules[0].cssText];
  }
  const { versions } = await (await fetch(`${base}/api/v1/widgets/acme/plain`)).json();
  found.changed = await loadBundle({ ...versions[0], sha256Hash: "0".repeat(64) }).catch(String);
  return found;
}"""


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("styled")
    (folder / "w.js").write_text("export function mount(e) { e.textContent = 'mounted'; }\n")
    (folder / "w.css").write_text(".w { color: red; }\n")
    here = {"bundleFile": "w.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    data = filled_folder(
        folder / "data",
        widget_line("acme/styled", versions=[version_line("1.0.0", **here, cssFile="w.css")]),
        widget_line("acme/plain", versions=[version_line("1.0.0", **here)]),
        base_folder=folder,
    )
    with running_service(data) as service:
        yield service


@pytest.fixture
def dashboard(browser: Browser, catalog: Service) -> Iterator[Page]:
    """A page with the functions that the documentation shows."""
    shown = [
        it for it in _blocks("js") if "function loadBundle" in it or "function loadStyle" in it
    ]
    assert len(shown) == 2
    context = browser.new_context(bypass_csp=True)  # The catalog's own pages allow no scripts.
    page = context.new_page()
    page.goto(catalog.url)
    page.add_script_tag(content="".join(shown).replace("export async function", "async function"))
    yield page
    context.close()


def test_bundle_and_style_sheet_are_loaded_and_checked(catalog: Service, dashboard: Page) -> None:
    assert dashboard.evaluate(SHOW, catalog.url) == {
        "styled": ["mounted", ".w { color: red; }"],
        "plain": ["mounted", None],
        "changed": f"Error: {catalog.url}/cdn/@acme/plain/1.0.0/index.js is not what the catalog "
        "described",
    }


def test_a_widget_runs_in_the_sandboxed_frame(browser: Browser, catalog: Service) -> None:
    (code,) = [it for it in _blocks("js") if 'frame.src = "/frame.html"' in it]
    (document,) = [it for it in _blocks("html") if 'id="place"' in it]
    (policy,) = re.findall(r"`(default-src 'none'; script-src 'unsafe-inline' blob:;.*?)`", _JOINED)
    code = code.replace("widget-catalog-client", f"{catalog.url}/client/v1/client.js")
    code = code.replace("http://127.0.0.1:8080", catalog.url)
    code = code.replace("catalog/clock", "acme/styled").replace("2.1.0", "1.0.0")
    html = {"Content-Type": "text/html"}
    start = b'<!doctype html><body><script type="module" src="/main.js"></script>'
    with scripted_server() as dashboard, contextlib.closing(browser.new_page()) as page:
        module = {"Content-Type": "text/javascript"}
        framed = {**html, "Content-Security-Policy": policy}
        dashboard.on("GET", "/", Scripted(200, start, html))
        dashboard.on("GET", "/main.js", Scripted(200, code.encode(), module))
        dashboard.on("GET", "/frame.html", Scripted(200, document.encode(), framed))
        page.goto(dashboard.url)
        place = page.frame_locator("iframe").locator("#place")
        expect(place).to_have_text("mounted")
        # The style of the frame, and that of the widget.
        wait_for_page(page, lambda: place.evaluate("() => document.styleSheets.length") == 2)
        assert place.evaluate("() => self.origin") == "null"


def test_no_example_takes_the_first_version_without_looking() -> None:
    assert "versions[0]" not in PAGE

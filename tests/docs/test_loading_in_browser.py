"""The code for loading a version in the guides works unchanged."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from support.folders import filled_folder
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


def test_no_example_takes_the_first_version_without_looking() -> None:
    assert "versions[0]" not in PAGE

"""The dashboards in `examples/`, as built, do what the guide says: judged by what is seen."""

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from support.commands import widget_catalog
from support.demo import examples_folder
from support.service import Service, running_service
from support.widgets import ndjson, version_line, widget_line
from tool.npm_projects import link_dependencies, run_script

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_PRINTED = "http://127.0.0.1:8080"
# Each version says what it is, and where it may know to be.
_GREETING = """export async function mount(element, { config, locate }) {
  element.textContent = `Greeting %s, ${config.title ?? "untitled"}`;
  if (locate) element.textContent += `, in ${(await locate()).place}`;
}"""


class Dashboard(NamedTuple):
    page: Page
    catalog: Service
    lines: Path

    def choose(self, name: str, answer: str | None = None) -> None:
        self.page.locator("#results").get_by_role("button", name=name, exact=True).click()
        if answer is not None:
            self.page.get_by_role("dialog").get_by_role("button", name=answer).click()

    def tile(self, name: str) -> Locator:
        heading = self.page.get_by_role("heading", name=name, exact=True)
        return self.page.locator(".tile").filter(has=heading)

    def shown(self, name: str) -> FrameLocator:
        return self.tile(name).frame_locator("iframe")

    def publish(self, number: str, **fields: object) -> None:
        """A version of acme/greeting, while the catalog is running."""
        (self.lines / f"{number}.js").write_text(_GREETING % number)
        line = _greeting(number, **fields)
        (self.lines / "widgets.ndjson").write_bytes(ndjson(line))
        said = widget_catalog("import", self.lines / "widgets.ndjson", "--data", self.catalog.data)
        assert said.code == 0, said.err


def _greeting(number: str, **fields: object) -> dict[str, object]:
    here = {"bundleFile": f"{number}.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    version = version_line(number, **here, sdkVersion="^2.0.0", **fields)
    return widget_line("acme/greeting", versions=[version])


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = examples_folder(tmp_path_factory.mktemp("demo") / "data")
    with running_service(data, "--demo") as service:
        yield service


def _plain(folder: Path, catalog: str) -> Path:
    shutil.copytree(_ROOT / "examples/plain", folder)
    _name_catalog(folder, catalog)
    return folder


def _vite(folder: Path, catalog: str) -> Path:
    ignored = shutil.ignore_patterns("node_modules", "dist")
    shutil.copytree(_ROOT / "examples/vite", folder, ignore=ignored)
    _name_catalog(folder, catalog)
    link_dependencies(folder)
    (folder / "node_modules/widget-catalog-client").symlink_to(_ROOT / "clients/js")
    done = run_script(folder, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "dist"


def _name_catalog(folder: Path, catalog: str) -> None:
    for file in [*folder.glob("*.html"), *folder.glob("*.js"), *folder.glob("src/*.ts")]:
        file.write_text(file.read_text().replace(_PRINTED, catalog))


@pytest.fixture(params=[_plain, _vite], ids=["plain", "vite"])
def dashboard(
    request: pytest.FixtureRequest, browser: Browser, catalog: Service, tmp_path: Path
) -> Iterator[Dashboard]:
    folder = request.param(tmp_path / "dashboard", catalog.url)
    handler = partial(_QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_context(locale="en-GB").new_page()
        # Another site than that of the catalog.
        page.goto(f"http://localhost:{server.server_port}/")
        yield Dashboard(page, catalog, tmp_path)
        server.shutdown()


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def _installs(catalog: Service, key: str) -> int:
    detail = httpx.get(f"{catalog.url}/api/v1/widgets/{key}").json()
    return int(detail["widget"]["downloadCount"])


def test_widgets_are_found_picked_granted_run_arranged_and_kept(dashboard: Dashboard) -> None:
    page, before = dashboard.page, _installs(dashboard.catalog, "home/light-switch")
    picture = page.locator("#results li", has_text="Light switch").locator("img")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("(it) => it.naturalWidth") > 0

    dashboard.choose("Light switch", "Allow what is ticked")
    kitchen = dashboard.shown("Light switch").get_by_role("switch", name="light.kitchen")
    expect(kitchen).to_have_attribute("aria-checked", "true")
    kitchen.click()  # The page acts, and tells the widget.
    expect(kitchen).to_have_attribute("aria-checked", "false")
    dashboard.choose("Notes", "Allow nothing")
    expect(dashboard.shown("Notes").get_by_role("group")).to_be_visible()

    dashboard.tile("Notes").get_by_role("button", name="Move left").click()
    lights, notes = (dashboard.tile(it).bounding_box() for it in ("Light switch", "Notes"))
    assert lights is not None
    assert notes is not None
    assert (notes["x"], notes["y"]) < (lights["x"], lights["y"])
    dashboard.tile("Light switch").get_by_role("button", name="Settings").click()
    page.get_by_role("dialog").get_by_label("Title").fill("Our lights")
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(dashboard.shown("Light switch").get_by_text("Our lights")).to_be_visible()

    page.reload()
    expect(dashboard.shown("Light switch").get_by_text("Our lights")).to_be_visible()
    expect(dashboard.shown("Notes").get_by_role("group")).to_be_visible()
    assert _installs(dashboard.catalog, "home/light-switch") == before + 1
    dashboard.tile("Notes").get_by_role("button", name="Remove").click()
    expect(dashboard.tile("Notes")).to_have_count(0)


def test_an_update_asks_for_consent_and_a_revocation_ends_a_widget(dashboard: Dashboard) -> None:
    page, number = dashboard.page, 1 + len(_versions(dashboard.catalog))
    dashboard.publish(f"{number}.0.0")
    page.reload()
    dashboard.choose("Greeting")
    shown = dashboard.shown("Greeting").get_by_text("Greeting")
    expect(shown).to_have_text(f"Greeting {number}.0.0, untitled")

    dashboard.publish(
        f"{number}.1.0", permissions=["geolocation"], publishedAt="2026-02-01T00:00:00.000Z"
    )
    page.reload()
    update = dashboard.tile("Greeting").get_by_role("button", name="Update")
    expect(update).to_have_attribute("title", f"{number}.1.0: permissions")
    expect(shown).to_have_text(f"Greeting {number}.0.0, untitled")
    update.click()
    page.get_by_role("dialog").get_by_role("button", name="Allow what is ticked").click()
    expect(shown).to_have_text(f"Greeting {number}.1.0, untitled, in Bern")
    expect(update).to_be_hidden()

    widget_catalog(
        *("version", "revoke", "acme/greeting", f"{number}.1.0", "--reason", "It spies."),
        *("--data", str(dashboard.catalog.data)),
    )
    expect(dashboard.tile("Greeting").get_by_role("status")).to_contain_text("revoked")
    expect(dashboard.tile("Greeting").locator("iframe")).to_have_count(0)


def _versions(catalog: Service) -> list[object]:
    answer = httpx.get(f"{catalog.url}/api/v1/widgets/acme/greeting")
    return list(answer.json()["versions"]) if answer.status_code == 200 else []

"""The live preview in a real browser: real widgets run, and malicious ones are contained."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from browser.test_pages import SCHEMES, assert_fits_and_can_be_read
from pages.hostile_widgets import CALM, MODULES
from pages.listener import Listener
from pages.previewed_widgets import publish_modules
from support.chromium import TIMEOUT_MS, complaints_of, wait_until
from support.service import Service, free_port, running_service
from tool.tool import register

Scheme = Literal["light", "dark"]


# No text can be made of this value.
NO_TEXT = {"toString": 1}
ODD_SCHEMA = {
    "properties": {
        "pick": {"title": "Pick", "enum": [NO_TEXT, "b"]},
        "text": {"type": "string", "format": NO_TEXT, "default": NO_TEXT},
        "number": {"type": "number", "multipleOf": NO_TEXT, "default": NO_TEXT},
        "lines": {"type": "array", "items": {"type": "string"}, "default": [NO_TEXT]},
    }
}


@pytest.fixture(scope="module")
def evil() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, evil: Listener) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("samples") / "data"
    modules = {name: text.replace("{evil}", evil.url) for name, text in MODULES.items()}
    publish_modules(data, modules, {})
    with running_service(data, "--set", "registration=open") as running:
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    yield made
    made.close()


def opened(context: BrowserContext, service: Service, key: str) -> Page:
    page = context.new_page()
    page.goto(f"{service.url}/preview/{key}")
    page.get_by_role("button", name="Run the preview").click()
    return page


def status(page: Page) -> Any:
    return page.get_by_role("status")


def test_the_preview_and_the_dashboard_speak_the_language_of_the_page(
    browser: Browser, demo_service: Service
) -> None:
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    complaints = complaints_of(page)
    page.goto(f"{demo_service.url}/preview/home/weather/2.1.0")
    page.get_by_role("button", name="Vorschau starten").click()
    expect(status(page)).to_have_text("Läuft.")
    for name in ("Größte 6 × 6", "Dunkel"):
        expect(page.get_by_role("radio", name=name)).to_be_attached()
    page.get_by_role("button", name="Anhalten").click()
    expect(status(page)).to_have_text("Angehalten.")
    page.goto(f"{demo_service.url}/dashboard")
    page.get_by_role("button", name="Clock hinzufügen", exact=True).click()
    expect(status(page)).to_have_text("Clock wurde hinzugefügt.")
    assert complaints == []
    context.close()


def test_a_widget_runs_at_every_size_in_light_and_dark_and_stops(
    context: BrowserContext, demo_service: Service
) -> None:
    page = context.new_page()
    complaints = complaints_of(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{demo_service.url}/preview/home/weather/2.1.0")
    assert page.locator("iframe").count() == 0  # Nothing runs before it is started.
    # Only its picture is loaded.
    assert {url.rpartition(".")[2] for url in asked if "/cdn/" in url} <= {"webp"}

    page.get_by_role("button", name="Run the preview").click()
    expect(status(page)).to_have_text("Running.")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("group", name="Weather in Zürich")).to_contain_text("14°")
    expect(page.locator("iframe")).to_have_attribute("sandbox", "allow-scripts")

    inside = page.frames[1]
    for size, pixels in (("Smallest", "192,192"), ("Largest", "576,576"), ("Default", "384,288")):
        page.get_by_label(size).check()
        wait_until(inside, f"String([innerWidth, innerHeight]) === '{pixels}'")
    page.get_by_label("Free").check()
    page.get_by_label("Columns").fill("5")
    wait_until(inside, "innerWidth === 480")

    page.get_by_label("Dark").check()
    wait_until(inside, "document.documentElement.style.colorScheme === 'dark'")
    assert inside.evaluate("origin") == "null"

    page.get_by_label("Temperature in").select_option("F")
    expect(frame.get_by_role("group")).to_contain_text("58°")

    page.get_by_role("button", name="Stop").click()
    expect(page.locator("iframe")).to_have_count(0)
    expect(status(page)).to_have_text("Stopped.")
    page.get_by_role("button", name="Run again").click()
    expect(frame.get_by_role("group")).to_contain_text("58°")
    assert complaints == []
    own = (f"{demo_service.url}/", "blob:null/", f"blob:{demo_service.url}/")
    assert all(url.startswith(own) for url in asked), asked


def test_bundles_may_come_from_another_host_of_the_operator(
    context: BrowserContext, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = tmp_path_factory.mktemp("cdn") / "data"
    publish_modules(data, {"settings": MODULES["settings"]}, {})
    port = free_port()
    cdn = f"http://localhost:{port}/cdn"
    service = Service(data, "--cdn-base-url", cdn, port=port)
    try:
        page = opened(context, service, "sample/settings/1.0.0")
        expect(status(page)).to_have_text("Running.")
        expect(page.frame_locator("iframe").locator("#place")).to_have_text("{}")
    finally:
        service.kill()


def test_a_hostile_widget_reaches_nothing(
    context: BrowserContext, service: Service, evil: Listener
) -> None:
    with service.client() as client:
        register(client, "mallory")
        session = [
            {"name": cookie.name, "value": str(cookie.value), "url": service.url}
            for cookie in client.cookies.jar
        ]
    context.add_cookies(session)  # type: ignore[arg-type]
    page = context.new_page()
    asked: list[str] = []
    page.on("response", lambda response: asked.append(response.url))
    page.goto(f"{service.url}/preview/sample/attack/1.0.0", wait_until="networkidle")
    page.evaluate("localStorage.setItem('secret', '1')")
    asked.clear()
    evil.heard.clear()
    page.get_by_role("button", name="Run the preview").click()
    shown = page.frame_locator("iframe").locator("pre")
    shown.wait_for(timeout=TIMEOUT_MS)
    seen = json.loads(shown.inner_text())

    assert {name: it for name, it in seen.items() if it != "refused"} == {}
    assert len(seen) == 23
    page.wait_for_timeout(1500)
    assert evil.heard == []
    assert page.url == f"{service.url}/preview/sample/attack/1.0.0"
    assert context.pages == [page]
    names = {url.rpartition("/")[2] for url in asked if url.startswith(service.url)}
    assert names == {
        "v1",
        "index.js",
        "frame.js",
        "preview.js",
        "sample-host.js",
        "sandbox.js",
        "client.js",
        "capabilities.js",
        "defaults.js",
        "grants.js",
        "settings.js",
        "elements.js",
        "texts.js",
    }


def _with_little_patience(route: Route) -> None:
    """An endless loop uses the CPU until it is ended: fifteen seconds for both."""
    response = route.fetch()
    text, count = re.subn(r"(SILENT|START_WITHIN)_MS = \d+_000", r"\1_MS = 2_000", response.text())
    assert count == 2
    route.fulfill(response=response, body=text)


@pytest.mark.parametrize("name", CALM)
def test_whatever_is_wrong_with_a_widget_is_said_calmly_and_the_page_goes_on(
    context: BrowserContext, service: Service, name: str
) -> None:
    if "endless" in name:
        context.route("**/sandbox.js", _with_little_patience)
    page = opened(context, service, f"sample/{name}/1.0.0")
    page.get_by_label("Dark").check()  # The page is usable while it runs.
    expect(status(page)).to_have_text(CALM[name])
    expect(page.locator("iframe")).to_have_count(0)
    expect(page.get_by_role("button", name="Run the preview")).to_be_visible()


# Where the controls are in every frame that is drawn, from now on.
WATCH_CONTROLS = """() => {
  globalThis.places = [];
  const look = () => {
    const { x, y } = document.querySelector(".preview-choice").getBoundingClientRect();
    places.push([x, y + scrollY]);
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("key", ["home/weather/2.1.0", "sample/form/1.0.0", "sample/foreign/1.0.0"])
def test_the_controls_stay_where_they_are_whatever_a_widget_does(
    context: BrowserContext, service: Service, demo_service: Service, key: str, width: int
) -> None:
    used = service if key.startswith("sample/") else demo_service
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{used.url}/preview/{key}")
    expect(page.get_by_role("button", name="Run the preview")).to_be_visible()
    page.evaluate(WATCH_CONTROLS)
    page.get_by_role("button", name="Run the preview").click()
    if "foreign" in key:
        expect(status(page)).to_have_text(CALM["foreign"])
    else:
        expect(status(page)).to_have_text("Running.")
        page.get_by_role("button", name="Stop").click()
        expect(status(page)).to_have_text("Stopped.")
    wait_until(page, "new Promise((drawn) => requestAnimationFrame(() => drawn(true)))")
    moved = [max(axis) - min(axis) for axis in zip(*page.evaluate("places"), strict=True)]
    assert max(moved) < 1, moved


def test_an_error_of_a_running_widget_is_shown(context: BrowserContext, service: Service) -> None:
    page = opened(context, service, "sample/fails-later/1.0.0")
    sentence = "The widget reported an error. It says: Uncaught Error: Later."
    expect(status(page)).to_have_text(sentence)


def test_a_widget_cannot_freeze_the_page_with_huge_messages(
    context: BrowserContext, service: Service
) -> None:
    page = context.new_page()
    page.add_init_script(
        """globalThis.received = [];
        const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage");
        const watched = { set(listener) {
          set.call(this, (event) => (received.push(event.data), listener(event)));
        } };
        if (top === self) Object.defineProperty(MessagePort.prototype, "onmessage", watched);"""
    )
    page.goto(f"{service.url}/preview/sample/port/1.0.0")
    page.get_by_role("button", name="Run the preview").click()
    page.get_by_text("Settings", exact=True).click()
    page.get_by_label("Settings as JSON").fill('{"changed": true}')
    place = page.frame_locator("iframe").locator("#place")
    expect(place).to_have_text("found: ")
    page.wait_for_timeout(3_000)
    expect(place).to_have_text("found: ")
    sent = page.evaluate("received")
    assert {json.loads(it)["type"] for it in sent} == {"mounted", "pong", "store", "fault"}
    assert len(json.dumps(sent)) < 100_000


def test_settings_that_change_while_a_widget_loads_reach_it(
    context: BrowserContext, service: Service
) -> None:
    page = opened(context, service, "sample/late/1.0.0")
    page.get_by_text("Settings", exact=True).click()
    page.get_by_label("Settings as JSON").fill('{"changed": true}')
    expect(page.frame_locator("iframe").locator("#place")).to_have_text('{"changed":true}')
    expect(status(page)).to_have_text("Running.")


def test_whatever_a_frame_sends_is_no_error_of_the_page(
    context: BrowserContext, service: Service
) -> None:
    body = """<script>onmessage = ({ ports: [port] }) => {
      const odd = { toString: 1 };
      const send = (it) => port.postMessage(JSON.stringify(it));
      for (const it of [null, 7, [], odd]) send(it);
      for (const type of ["mounted", "fault", "store", "ask", "watch", "config", "failed"]) {
        send({ type, reason: odd, message: odd, key: odd, entries: odd, given: odd });
      }
    };
    parent.postMessage({ type: "ready", versions: [1], missing: null }, "*");</script>"""
    context.route("**/frame/v1", lambda it: it.fulfill(body=body, content_type="text/html"))
    page = opened(context, service, "sample/settings/1.0.0")
    expect(status(page)).to_have_text("The widget's module could not be loaded.")


def test_forms_of_widgets_work_and_send_nothing(
    context: BrowserContext, service: Service, evil: Listener
) -> None:
    evil.heard.clear()
    page = opened(context, service, "sample/form/1.0.0")
    place = page.frame_locator("iframe").locator("#place")
    place.get_by_role("button").click()
    expect(place).to_have_text("SendSend!")
    place.get_by_role("textbox").press("Enter")
    expect(place).to_have_text("SendSend!Send!")
    assert evil.heard == []


def test_a_widget_gets_what_it_declares_and_no_more(
    context: BrowserContext, service: Service
) -> None:
    page = opened(context, service, "sample/offers/1.0.0")
    place = page.frame_locator("iframe").locator("#place")
    expect(place).to_have_text(
        "config data fetchImage fetchJson locale now sdkVersion storage watch"
    )


def test_a_widget_looks_at_a_pretended_home_and_operates_it(
    context: BrowserContext, tmp_path: Path
) -> None:
    module = """export async function mount(element, { states, watchStates, call }) {
      const told = element.appendChild(document.createElement("p"));
      const show = async () => {
        const lights = await states("light.*");
        told.textContent = lights.map((it) => `${it.attributes.name} ${it.state}`).join(", ");
      };
      watchStates("light.*", show);
      await show();
      const [{ state }] = await states("lock.front_door");
      await call("lock.unlock", { entity: "lock.front_door" })
        .catch((error) => element.append(`${state}: ${error.message}`));
      const button = element.appendChild(document.createElement("button"));
      button.textContent = "Desk";
      button.onclick = () => call("light.toggle", { entity: "light.desk" });
    }"""
    light, lock = {"domain": "light", "access": "control"}, {"domain": "lock", "access": "read"}
    data = tmp_path / "data"
    publish_modules(data, {"home": module}, {"capabilities": [light, lock]})
    with running_service(data) as service:
        page = opened(context, service, "sample/home/1.0.0")
        place = page.frame_locator("iframe").locator("#place")
        expect(place).to_contain_text("locked: This is not granted to the widget.")
        for state in ("on", "off"):
            place.get_by_role("button", name="Desk").click()
            expect(place).to_contain_text(f"Living room on, Kitchen off, Desk {state}")


def test_a_form_shows_settings_of_which_no_text_can_be_made(
    context: BrowserContext, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    publish_modules(data, {"odd": "export function mount() {}"}, {"configSchema": ODD_SCHEMA})
    with running_service(data) as service:
        page = opened(context, service, "sample/odd/1.0.0")
        expect(status(page)).to_have_text("Running.")
    page.get_by_text("Settings", exact=True).click()
    options = page.get_by_label("Pick").locator("option").all_text_contents()
    assert options == ["—", '{"toString":1}', "b"]


def test_the_panel_fits_its_window_and_can_be_read(
    context: BrowserContext, demo_service: Service
) -> None:
    page = opened(context, demo_service, "catalog/clock/2.0.0")
    expect(status(page)).to_have_text("Running.")
    page.get_by_text("Settings", exact=True).click()
    page.get_by_label("Largest").check()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert_fits_and_can_be_read(page, scheme)


def test_the_panel_is_used_by_keyboard(context: BrowserContext, demo_service: Service) -> None:
    page = context.new_page()
    page.goto(f"{demo_service.url}/preview/catalog/clock/2.0.0")
    page.get_by_role("button", name="Run the preview").focus()
    page.keyboard.press("Enter")
    expect(status(page)).to_have_text("Running.")
    page.get_by_label("Default").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Largest")).to_be_checked()
    wait_until(
        page, "getComputedStyle(document.activeElement.nextSibling).outlineStyle === 'solid'"
    )
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Columns")).to_have_value("5")


def test_without_javascript_the_page_says_what_is_missing(
    browser: Browser, demo_service: Service
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{demo_service.url}/preview/catalog/clock/2.0.0")
    expect(page.get_by_text("it needs JavaScript")).to_be_visible()
    context.close()

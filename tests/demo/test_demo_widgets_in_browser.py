"""The demo widgets in a real browser, on a page with a strict Content-Security-Policy."""

import re
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from demo.widget_host import HOME, LOOK, NOW, TIMER_COUNT, DemoHandler, Host, Version
from support.chromium import wait_until
from support.scripted import Scripted, scripted_server
from support.service import Service


@pytest.fixture(scope="module")
def base_url(demo_folder: Path) -> Iterator[str]:
    def handler(*args: Any) -> DemoHandler:
        return DemoHandler(*args, directory=str(demo_folder))

    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def host_page(browser: Browser) -> Iterator[Page]:
    """One page for all tests, reloaded by each: a new one would cost half a second."""
    context = browser.new_context(locale="en-GB", timezone_id="UTC")
    page = context.new_page()
    page.add_init_script(TIMER_COUNT)
    yield page
    context.close()


@pytest.fixture
def host(host_page: Page, base_url: str) -> Iterator[Host]:
    host = Host(host_page)
    listeners: dict[Any, Any] = {
        "console": host.note_console,
        "pageerror": lambda error: host.errors.append(str(error)),
        "request": lambda request: host.requested.append(request.url),
    }
    for event, listener in listeners.items():
        host_page.on(event, listener)
    host_page.goto(f"{base_url}/")
    yield host
    for event, listener in listeners.items():
        host_page.remove_listener(event, listener)


def find(widgets: list[dict[str, Any]], name: str, number: str) -> Version:
    """The version `number` of the widget called `scope/name`."""
    [found] = [
        version
        for widget in widgets
        if f"{widget['scope']}/{widget['name']}" == name
        for version in widget["versions"]
        if version["version"] == number
    ]
    return dict(found)


def test_every_widget_mounts_changes_its_settings_and_its_look_and_leaves_nothing(
    host: Host, newest: Version, base_url: str
) -> None:
    manifest = host.mount(newest)

    fields = ("scope", "name", "version", "displayName", "sdkVersion")
    assert manifest == {key: newest[key] for key in fields if newest[key] is not None}
    expect(host.widget).to_be_visible()
    has_field = host.widget.get_by_role("textbox").count() > 0
    assert host.widget.inner_text().strip() or has_field

    light, dark = (host.page.evaluate(LOOK, scheme) for scheme in ("light", "dark"))
    assert light[0] != dark[0]
    assert light[1] != dark[1]

    host.page.evaluate("widget.update?.({}); widget.update?.({ unknown: true })")
    assert host.child_count == 1

    host.unmount()
    assert host.child_count == 0
    assert host.page.evaluate("runningTimers.size") == 0

    host.mount(newest, has_context=False)
    expect(host.widget).to_be_visible()
    host.unmount()
    assert host.child_count == 0
    assert host.errors == []
    asked = {url.removeprefix(f"{base_url}/") for url in host.requested if url[:5] != "data:"}
    assert asked == {"", "sample-host.js", newest["bundleFile"]}


def test_text_from_settings_and_data_never_becomes_markup(host: Host, newest: Version) -> None:
    bad = "<img src=data:, onerror='window.caught = true'>"
    moment = "2026-03-14T09:00:00Z"
    config = {
        **dict.fromkeys(("title", "label", "place", "text", "condition", "unit", "alt"), bad),
        "quotes": [bad, {"text": bad, "by": bad}],
        "items": [bad],
        "hosts": [{"name": bad, "isUp": True}],
        "photos": [{"alt": bad, "src": "data:,"}],
    }
    data = {
        "weather": {"place": bad, "temperature": 1, "condition": bad, "days": []},
        "calendar": [{"date": NOW[:10], "time": bad, "title": bad}],
        "sensors": [{"id": "a", "label": bad, "value": 1, "unit": bad, "min": 0, "max": 2}],
        "hosts": [{"name": bad, "state": bad, "cpu": 0.5}],
        "series": [{"id": "a", "label": bad, "points": [{"at": moment, "value": 1}]}],
    }

    host.mount(newest, config=config, data=data)

    made = host.page.evaluate(
        "document.querySelector('#place > div').shadowRoot.querySelectorAll('[onerror]').length"
    )
    assert made == 0
    assert host.page.evaluate("window.caught") is None
    assert [error for error in host.errors if "data:," not in error] == []


def test_the_list_keeps_what_was_written(host: Host, widgets: list[dict[str, Any]]) -> None:
    todo = find(widgets, "home/todo", "2.0.0")
    host.mount(todo)

    host.widget.get_by_label("New item").fill("Buy <b>bread</b>")
    host.widget.get_by_role("button", name="Add").click()
    host.widget.get_by_label("Water the plants").first.check()
    host.unmount()
    host.mount(todo)

    expect(host.widget).to_contain_text("Buy <b>bread</b>")
    expect(host.widget.get_by_role("status")).to_have_text("3 of 4 left")


def test_a_note_is_saved_even_when_it_is_closed_at_once(
    host: Host, widgets: list[dict[str, Any]]
) -> None:
    notes = find(widgets, "home/notes", "2.1.0")
    host.mount(notes)

    host.widget.get_by_role("textbox").fill("Two words")
    host.unmount()
    host.mount(notes)

    expect(host.widget.get_by_role("textbox")).to_have_value("Two words")
    expect(host.widget).to_contain_text("2 words")


def test_units_convert_in_both_directions(host: Host, widgets: list[dict[str, Any]]) -> None:
    host.mount(find(widgets, "catalog/unit-converter", "1.2.0"), config={"kind": "Temperature"})
    left = host.widget.get_by_label("Amount, left")
    right = host.widget.get_by_label("Amount, right")

    left.fill("100")
    expect(right).to_have_value("212")
    right.fill("32")
    expect(left).to_have_value("0")


def test_the_calendar_is_walked_by_keyboard(host: Host, widgets: list[dict[str, Any]]) -> None:
    host.mount(find(widgets, "catalog/calendar", "2.0.0"))
    expect(host.widget).to_contain_text("18:30 · Choir rehearsal")

    host.widget.get_by_role("button", name="14 March").press("ArrowDown")
    host.page.keyboard.press("ArrowDown")
    host.page.keyboard.press("ArrowDown")

    expect(host.widget.get_by_role("heading")).to_have_text("April 2026")
    expect(host.widget.get_by_role("button", name="4 April", exact=True)).to_be_focused()


def test_sunrise_agrees_with_the_almanac(host: Host, widgets: list[dict[str, Any]]) -> None:
    # London at the March equinox: 06:03 and 18:14 UTC, plus or minus two minutes.
    config = {"latitude": 51.51, "longitude": -0.13}
    host.mount(find(widgets, "catalog/sun", "1.1.0"), config=config, now="2026-03-20T12:00:00Z")

    text = host.widget.inner_text()

    assert re.search(r"06:0[1-5]", text)
    assert re.search(r"18:1[2-6]", text)


def test_a_stopwatch_measures_laps(host: Host, widgets: list[dict[str, Any]]) -> None:
    host.mount(find(widgets, "acme/stopwatch", "1.1.0"))

    host.widget.get_by_role("button", name="Start").click()
    expect(host.widget.get_by_role("timer")).not_to_have_text("0:00.00")
    host.widget.get_by_role("button", name="Lap").click()
    host.widget.get_by_role("button", name="Stop").click()

    wait_until(host.page, "runningTimers.size === 0")
    expect(host.widget.locator("li")).to_contain_text("Lap 1")


def test_the_yanked_weather_has_the_error_of_its_reason_and_the_next_one_has_not(
    host: Host, widgets: list[dict[str, Any]]
) -> None:
    for number, shown in (("2.0.0", "14 °F"), ("2.0.1", "58 °F")):
        host.mount(find(widgets, "home/weather", number), config={"unit": "F"})
        expect(host.widget).to_contain_text(shown)
        host.unmount()


def test_the_yanked_calendar_has_the_error_of_its_reason_and_the_latest_has_not(
    host: Host, widgets: list[dict[str, Any]]
) -> None:
    # 1 March 2026 was a Sunday.
    for number, blank_cells in (("2.0.1", 7), ("2.0.0", 0)):
        host.mount(find(widgets, "catalog/calendar", number), config={"firstDay": 0})
        expect(host.widget).to_be_visible()
        first_week = host.widget.get_by_role("row").nth(1).get_by_role("cell")
        assert [cell.strip() for cell in first_week.all_inner_texts()].count("") == blank_cells
        host.unmount()


def test_lights_are_switched_and_a_refusal_is_told(
    host: Host, widgets: list[dict[str, Any]]
) -> None:
    host.page.evaluate(HOME)
    host.mount(find(widgets, "home/light-switch", "2.0.0"))
    desk, shelf = (
        host.widget.get_by_role("switch", name=it) for it in ("light.desk", "light.shelf")
    )

    desk.click()
    expect(desk).to_be_checked()
    shelf.click()
    expect(host.widget.get_by_role("status")).to_have_text(
        "Not switched: The shelf does not answer."
    )
    expect(shelf).to_be_checked()

    assert host.page.evaluate("calls") == [
        ["light.turn_on", "light.desk"],
        ["light.turn_off", "light.shelf"],
    ]
    host.unmount()
    assert host.page.evaluate("listening()") == 0


def test_the_switch_takes_over_the_light_of_its_first_settings(
    host: Host, widgets: list[dict[str, Any]]
) -> None:
    host.page.evaluate(HOME)
    first = {"light": "light.shelf"}
    host.mount(find(widgets, "home/light-switch", "1.0.0"), config=first)
    expect(host.widget.get_by_role("switch")).to_have_text("light.shelf")
    host.unmount()

    newer = find(widgets, "home/light-switch", "2.0.0")
    migrate = "async ([bundle, ...given]) => (await import(`/${bundle}`)).migrate(...given)"
    config = host.page.evaluate(migrate, [newer["bundleFile"], first, 1])
    host.mount(newer, config=config)

    expect(host.widget.get_by_role("switch")).to_have_text("light.shelf")
    assert host.page.evaluate(migrate, [newer["bundleFile"], config, 2]) == config


def test_a_door_is_unlocked_only_after_a_second_word(
    host: Host, widgets: list[dict[str, Any]]
) -> None:
    host.page.evaluate(HOME)
    host.mount(find(widgets, "home/door-lock", "1.1.0"))

    host.widget.get_by_role("button", name="Unlock …").click()
    host.widget.get_by_role("button", name="No").click()
    expect(host.widget).to_contain_text("lock.front_door: locked")
    assert host.page.evaluate("calls") == []
    host.widget.get_by_role("button", name="Unlock …").click()
    host.widget.get_by_role("button", name="Yes, unlock").click()
    expect(host.widget).to_contain_text("lock.front_door: open")
    host.widget.get_by_role("button", name="Lock").click()
    expect(host.widget).to_contain_text("lock.front_door: locked")

    calls = host.page.evaluate("calls.map(([service]) => service)")
    assert calls == ["lock.unlock", "lock.lock"]
    host.unmount()
    assert host.page.evaluate("[listening(), runningTimers.size]") == [0, 0]


def test_the_dashboard_fetches_the_photos(host: Host, widgets: list[dict[str, Any]]) -> None:
    host.page.evaluate(HOME)
    photos = [{"src": f"https://photos.example/{it}", "alt": it} for it in ("sea", "missing")]
    host.mount(find(widgets, "home/photo-frame", "1.2.0"), config={"photos": photos})

    expect(host.widget.locator("img")).to_have_js_property("naturalWidth", 4)
    host.widget.get_by_role("button", name="Next picture").click()
    expect(host.widget).to_contain_text("missing: cannot be shown")
    assert host.errors == []


# A dashboard mounts the first version again, and then, with consent, the second.
UPDATE = """
async (base) => {
  const [{ Catalog }, { mount }] = await Promise.all(
    ["client", "sandbox"].map((it) => import(`${base}/client/v1/${it}.js`)),
  );
  const said = [];
  const states = async () => [{ entity: "light.desk", state: "on" }];
  const options = {
    catalog: new Catalog(base, { cache: null }), id: "home/light-switch", sdk: "2.2.0",
    installed: "1.0.0", config: { light: "light.desk" }, configVersion: 1,
    grants: ["read:light", "control:light"], host: { states },
    onUpdate: (it) => said.push([it.version, ...it.reasons]),
    onConfig: (...it) => said.push(it),
  };
  for (const accept of [undefined, { version: "2.0.0", reasons: ["major", "config"] }]) {
    const { version } = await mount(document.querySelector("#place"), { ...options, accept });
    said.push(version.version);
  }
  return said;
}
"""


def test_the_sandbox_migrates_settings_once_there_is_consent(
    browser: Browser, demo_service: Service
) -> None:
    with scripted_server() as dashboard:
        html = {"Content-Type": "text/html"}
        dashboard.on("GET", "/", Scripted(200, b"<!doctype html><div id=place></div>", html))
        page = browser.new_page()
        page.goto(dashboard.url)
        assert page.evaluate(UPDATE, demo_service.url) == [
            ["2.0.0", "major", "config"],
            "1.0.0",
            [{"lights": ["light.desk"]}, 2],
            "2.0.0",
        ]
        shown = page.frame_locator("#place iframe").get_by_role("switch")
        expect(shown).to_have_text("light.desk")
        page.close()

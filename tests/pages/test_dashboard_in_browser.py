"""The dashboard in a real browser: adding widgets, arranging them by pointer and
keyboard, saving.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from browser.test_pages import SCHEMES, assert_fits_and_can_be_read
from support.chromium import complaints_of, wait_for_page, wait_until
from support.service import Service, run_command, wait_for

NAMES = ["Clock", "Météo", "To-do list"]


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 1000}, locale="en-GB")
    yield made
    made.close()


def opened(context: BrowserContext, service: Service) -> Page:
    page = context.new_page()
    page.goto(f"{service.url}/dashboard")
    page.get_by_role("button", name="Add Clock").wait_for()
    return page


def expect_order(page: Page, *names: str) -> None:
    expect(page.locator(".dash-handle")).to_have_text(names)


def test_three_widgets_are_added_arranged_kept_and_removed(
    context: BrowserContext, demo_service: Service
) -> None:
    page = context.new_page()
    complaints = complaints_of(page)
    asked: list[str] = []
    resolved: list[str] = []

    def note(request: Request) -> None:
        asked.append(f"{request.method} {request.url}")
        if request.url.endswith("/resolve"):
            sent_body: Any = request.post_data_json
            resolved.extend(it["id"] for it in sent_body["widgets"])

    page.on("request", note)
    page.goto(f"{demo_service.url}/dashboard")
    with demo_service.client() as client:
        before = client.get("/api/v1/widgets/home/todo").json()["widget"]["downloadCount"]
    for name in NAMES[:2]:
        page.get_by_role("button", name=f"Add {name}").click()
    page.get_by_label("Find a widget").fill("write down")
    page.get_by_role("button", name="Add To-do list").click()
    expect(page.get_by_role("status")).to_have_text("To-do list was added.")
    expect(page.frame_locator("iframe >> nth=1").get_by_role("group")).to_contain_text("14°")
    todo = page.frame_locator("iframe[title='To-do list']")
    todo.get_by_label("New item").fill("Buy bread")
    todo.get_by_role("button", name="Add").click()
    expect(todo.get_by_role("group")).to_contain_text("Buy bread")
    with demo_service.client() as client:
        address = "/api/v1/widgets/home/todo"
        wait_for(lambda: client.get(address).json()["widget"]["downloadCount"] == before + 1)

    page.get_by_role("button", name="Move Clock", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("status")).to_have_text("Place 2 of 3, 3 by 3 cells.")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.get_by_role("status")).to_have_text("Place 2 of 3, 4 by 3 cells.")
    expect_order(page, "Météo", "Clock", "To-do list")

    page.get_by_role("button", name="Move To-do list", exact=True).hover()
    page.mouse.down()
    page.get_by_role("button", name="Move Météo", exact=True).hover(position={"x": 5, "y": 5})
    page.mouse.up()
    expect_order(page, "To-do list", "Météo", "Clock")
    expect(todo.get_by_role("group")).to_contain_text("Buy bread")  # It was not reloaded.

    page.get_by_label("Dark").check()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-scheme", "dark")
    expect_order(page, "To-do list", "Météo", "Clock")
    expect(todo.get_by_role("group")).to_contain_text("Buy bread")
    page.get_by_role("button", name="Remove Météo").click()
    expect_order(page, "To-do list", "Clock")
    expect(page.get_by_role("button", name="Move Clock", exact=True)).to_be_focused()

    # Each widget once when it is added, and twice after the reload: is there an update, and does
    # the installed version still run? The client may send them in one request or in several.
    expected = sorted(3 * ["catalog/clock", "home/todo", "home/weather"])
    wait_for_page(page, lambda: len(resolved) >= len(expected))
    assert sorted(resolved) == expected
    assert complaints == []
    own = (f"{demo_service.url}/", "blob:")
    assert all(it.partition(" ")[2].startswith(own) for it in asked), asked
    sent = [it.rpartition("/api/v1/widgets/")[2] for it in asked if it.startswith("POST")]
    assert sorted(it for it in sent if it != "resolve") == [
        "catalog/clock", "home/todo", "home/weather",
    ]  # fmt: skip
    assert any(it.endswith("/client.js") for it in asked)
    sandboxes = page.locator("iframe").evaluate_all("all => all.map((it) => it.sandbox.value)")
    assert sandboxes == ["allow-scripts"] * 2


def test_widgets_start_on_a_click_where_they_could_freeze_the_page(
    context: BrowserContext, demo_service: Service
) -> None:
    page = opened(context, demo_service)
    page.get_by_role("button", name="Add Clock").click()
    expect(page.locator("iframe")).to_have_count(1)
    # Browsers without it run frames of the same site in the page's own process.
    missing = "Object.defineProperty(Navigator.prototype, 'userAgentData', { value: undefined })"
    page.add_init_script(missing)
    page.reload()
    start = page.get_by_role("button", name="Run the preview")
    expect(start).to_be_visible()
    expect(page.locator("iframe")).to_have_count(0)
    start.click()
    expect(page.frame_locator("iframe").get_by_role("group")).to_be_visible()


def test_a_widget_that_was_revoked_runs_no_more(
    context: BrowserContext, demo_service: Service
) -> None:
    page = opened(context, demo_service)
    page.get_by_role("button", name="Add Sparkline").click()
    page.get_by_role("button", name="Add Countdown").click()
    expect(page.locator("iframe")).to_have_count(2)
    revoked = run_command(
        "version", "revoke", "labs/sparkline", "2.0.0-beta.1", "--reason", "It spies.",
        "--data", str(demo_service.data),
    )  # fmt: skip
    assert revoked.returncode == 0, revoked
    page.reload()
    expect(page.locator("iframe")).to_have_count(1)
    expect(page.get_by_role("listitem").filter(has_text="was revoked: unload it.")).to_have_count(1)


def test_a_corner_is_dragged_within_the_sizes_of_the_widget(
    context: BrowserContext, demo_service: Service
) -> None:
    page = opened(context, demo_service)
    page.get_by_role("button", name="Add Clock").click()
    page.locator(".dash-corner").hover()
    page.mouse.down()
    page.mouse.move(1200, 980, steps=4)
    page.mouse.move(1270, 1400, steps=2)
    page.mouse.up()
    sizes = "JSON.parse(localStorage['widget-catalog-dashboard']).tiles.map((it) => [it.w, it.h])"
    wait_until(page, f"String({sizes}) === '6,6'")


def test_a_widget_stores_no_more_than_its_share(
    context: BrowserContext, demo_service: Service
) -> None:
    page = opened(context, demo_service)
    page.get_by_label("Find a widget").fill("write down")
    page.get_by_role("button", name="Add To-do list").click()
    todo = page.frame_locator("iframe[title='To-do list']")
    expect(todo.get_by_role("group")).to_be_visible()
    page.evaluate(
        """() => {
          const saved = JSON.parse(localStorage["widget-catalog-dashboard"]);
          saved.tiles[0].kept = { much: JSON.stringify("x".repeat(65_500)) };
          localStorage["widget-catalog-dashboard"] = JSON.stringify(saved);
        }"""
    )
    page.reload()
    todo.get_by_label("New item").fill("Buy bread")
    todo.get_by_role("button", name="Add").click()
    page.get_by_label("Dark").check()  # This is saved, too.
    tiles = "JSON.parse(localStorage['widget-catalog-dashboard']).tiles"
    assert page.evaluate(f"{tiles}.map((it) => Object.keys(it.kept))") == [["much"]]


@pytest.mark.parametrize("kept", ["not JSON", "null", '{"tiles": 7}', '{"tiles": [{}]}'])
def test_a_spoilt_memory_starts_over(
    context: BrowserContext, demo_service: Service, kept: str
) -> None:
    page = opened(context, demo_service)
    page.evaluate("(text) => localStorage.setItem('widget-catalog-dashboard', text)", kept)
    page.reload()
    expect(page.get_by_text("Nothing here yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Add Clock")).to_be_visible()


def test_the_dashboard_fits_its_window_and_can_be_read(
    browser: Browser, demo_service: Service
) -> None:
    for scheme in SCHEMES:
        context = browser.new_context(color_scheme=scheme)  # A dashboard keeps its theme.
        page = opened(context, demo_service)
        page.get_by_role("button", name="Add Clock").click()
        assert_fits_and_can_be_read(page, scheme)
        context.close()

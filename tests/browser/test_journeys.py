"""Typical tasks of visitors, from the first page to the end, in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from support.chromium import complaints_of, quiet_page, wait_for_page, wait_until
from support.scripted import Scripted, ScriptedServer, scripted_server
from support.service import Service

_LIMIT_MS = 60_000
_WEATHER = "/widgets/home/weather"


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[ScriptedServer]:
    """Another site, on its own origin."""
    with scripted_server() as server:
        yield server


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(locale="en-GB")
    made.set_default_timeout(_LIMIT_MS)
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    yield made
    made.close()


def test_a_widget_is_found_run_and_its_settings_are_tried(
    context: BrowserContext, demo_service: Service
) -> None:
    with quiet_page(context, demo_service.url) as page:
        page.goto(demo_service.url)
        page.get_by_label("Search the catalog").fill("analogue")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=analogue")
        page.locator("ol.widgets").get_by_role("link", name="Clock").first.click()
        page.wait_for_url("**/widgets/catalog/clock")
        page.get_by_role("button", name="Run the preview").click()
        clock = page.frame_locator("iframe").get_by_role("group")
        expect(clock.locator("svg")).to_be_visible(timeout=_LIMIT_MS)
        page.get_by_label("Face").select_option("digital")
        expect(clock.locator("svg")).to_be_hidden()
        page.get_by_role("button", name="Example 1").click()
        expect(clock).to_contain_text("Tokyo")
        page.get_by_role("link", name="Open full size").click()
        page.wait_for_url("**/preview/catalog/clock/2.0.0")
        expect(page.get_by_role("button", name="Run the preview")).to_be_visible()


def test_without_javascript_a_widget_is_found_and_its_snippet_is_there_to_select(
    browser: Browser, demo_service: Service
) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(_LIMIT_MS)
    with quiet_page(context, demo_service.url) as page:
        page.goto(demo_service.url)
        page.get_by_label("Search the catalog").fill("analogue")
        page.get_by_role("button", name="Search").click()
        page.get_by_label("Works with SDK").fill("1.2.0")
        page.get_by_label("Sort by").select_option("Name")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_label("Works with SDK")).to_have_value("1.2.0")
        page.locator("ol.widgets").get_by_role("link", name="Clock").first.click()
        page.wait_for_url("**/widgets/catalog/clock")
        expect(page.get_by_text("so it needs JavaScript")).to_be_visible()
        expect(page.locator("pre", has_text="catalog.load")).to_be_visible()
        page.get_by_text("Technical details").last.click()
        expect(page.locator("pre", has_text="integrity=")).to_be_visible()
        page.get_by_role("link", name="Compare two").click()
        page.get_by_label("From").select_option("1.1.0")
        page.get_by_role("button", name="Compare").click()
        expect(page.locator(".diff ins").first).to_be_visible()
    context.close()


def test_settings_without_a_schema_are_tried_as_json(
    context: BrowserContext, demo_service: Service
) -> None:
    with quiet_page(context, demo_service.url) as page:
        page.goto(f"{demo_service.url}/preview/home/weather/2.0.1")
        page.get_by_role("button", name="Run the preview").click()
        weather = page.frame_locator("iframe").locator("body")
        expect(weather).to_contain_text("°C", timeout=_LIMIT_MS)
        page.get_by_text("Settings", exact=True).click()
        page.get_by_label("Settings as JSON").fill('{"unit": "F"}')
        expect(weather).to_contain_text("°F")


@pytest.mark.parametrize(
    ("label", "refusal"),
    [
        ("Copy In a page, in the sandbox", "not what the catalog described"),
        ("Copy In a page, if you trust the author", "not what the catalog described"),
        ("Copy In a page, with Subresource Integrity", "integrity"),
    ],
)
def test_a_copied_snippet_works_on_another_origin_and_refuses_a_changed_byte(
    context: BrowserContext,
    demo_service: Service,
    elsewhere: ScriptedServer,
    label: str,
    refusal: str,
) -> None:
    is_client = refusal != "integrity"
    with quiet_page(context, demo_service.url) as page:
        page.goto(demo_service.url + _WEATHER)
        if not is_client:
            page.locator("summary", has_text="Technical details").click()
        page.evaluate("navigator.clipboard.writeText('')")
        page.get_by_role("button", name=label, exact=True).click()
        wait_until(page, "navigator.clipboard.readText()")
        snippet = page.evaluate("navigator.clipboard.readText()")
    is_sandboxed = "await mount(" in snippet
    assert ("catalog.load(" in snippet) == (is_client and not is_sandboxed)
    page_text = f"<!doctype html><html lang=en><title>Mine</title>\n{snippet}\n"
    html = {"Content-Type": "text/html; charset=utf-8"}
    elsewhere.on("GET", "/", Scripted(200, page_text.encode(), html))
    elsewhere.on("GET", "/favicon.ico", Scripted(204, b""))
    with quiet_page(context, demo_service.url, elsewhere.url) as page:
        page.goto(elsewhere.url)
        place = page.frame_locator("iframe") if is_sandboxed else page
        weather = place.get_by_role("group", name="Weather")
        expect(weather).to_be_visible(timeout=_LIMIT_MS)
        height = "it => it.getBoundingClientRect().height"
        wait_for_page(page, lambda: abs(weather.evaluate(height) - 288) <= 2)
        page.evaluate(
            "caches.keys().then((all) => Promise.all(all.map((it) => caches.delete(it))))"
        )

    changed = context.new_page()
    said = complaints_of(changed)
    with demo_service.client() as client:
        bundle = client.get("/cdn/@home/weather/2.1.0/index.js").content

    def spoil(route: object) -> None:
        body = bundle.replace(b"Weather", b"weather", 1)
        headers = {"access-control-allow-origin": "*", "content-type": "text/javascript"}
        route.fulfill(status=200, body=body, headers=headers)  # type: ignore[attr-defined]

    changed.route("**/cdn/@home/weather/**", spoil)
    changed.goto(elsewhere.url)
    wait_for_page(changed, lambda: any(refusal in it.lower() for it in said))
    assert changed.locator("#widget").inner_html() == ""

"""The pages in a real browser: phone and desktop, light and dark, by keyboard and by click."""

import contextlib
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from support.chromium import complaints_of, quiet_page, wait_until
from support.demo import examples_folder
from support.service import Service, free_port

# On one worker, so that browser and service are started once.
Scheme = Literal["light", "dark"]

SCHEMES: tuple[Scheme, ...] = ("light", "dark")
PHONE, DESKTOP = 360, 1280
PATHS = [
    "/",
    "/search",
    "/search?q=wether",
    "/keywords",
    "/widgets/catalog/clock",
    "/widgets/catalog/clock/1.1.0",
    "/scopes/catalog",
    "/docs/api",
    "/docs/api/searchWidgets",
]

# The contrast of every text with its background, by WCAG; returns everything below AA.
POOR_CONTRAST = """() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = channels(color).map((v) => {
      v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (channels(color)[3] !== 0) return color;
    }
    throw new Error("nothing is behind " + element.outerHTML);
  };
  const poor = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || element.namespaceURI.endsWith("svg")) continue;
    const levels = [getComputedStyle(element).color, behind(element)].map(light);
    const ratio = (Math.max(...levels) + 0.05) / (Math.min(...levels) + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${texts.currentNode.data.trim()}`);
  }
  return poor;
}"""


@contextlib.contextmanager
def opened(
    browser: Browser, service: Service, path: str, width: int, scheme: Scheme = "light"
) -> Iterator[Page]:
    """The page, without console errors and without requests to other hosts."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    with quiet_page(context, service.url, inline=()) as page:
        page.goto(service.url + path)
        yield page
    context.close()


@pytest.mark.parametrize("path", PATHS)
def test_a_page_fits_its_window_and_can_be_read(
    browser: Browser, demo_service: Service, path: str
) -> None:
    with opened(browser, demo_service, path, DESKTOP) as page:
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert_fits_and_can_be_read(page, scheme)


def assert_fits_and_can_be_read(page: Page, scheme: Scheme) -> None:
    for width in (320, PHONE, 390, 768, DESKTOP, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(POOR_CONTRAST) == [], width
    grounds = {"light": "rgb(251, 251, 249)", "dark": "rgb(17, 21, 20)"}
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == grounds[scheme]


MISSING_WIDTH = """() => {
  const select = document.querySelector("select[name=sort]");
  const has = select.offsetWidth;
  select.style.width = "max-content";
  const needs = select.offsetWidth;
  select.style.width = "";
  return Math.max(0, needs - has);
}"""


def test_the_longest_way_to_sort_is_not_cut_off(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service, "/search?q=clock", DESKTOP) as page:
        for width in (320, PHONE, 390, 768, DESKTOP):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(MISSING_WIDTH) == 0, width


BUNDLE = "/cdn/@catalog/clock/1.1.0/index.js"
LOAD_SCRIPT = """(url) => new Promise((done) => {
  const script = document.createElement("script");
  Object.assign(script, { type: "module", src: url });
  script.onload = () => done("loaded");
  script.onerror = () => done("blocked");
  document.head.append(script);
})"""


@pytest.mark.parametrize("root", ["", "/a;b/ca,talog"])
def test_pages_run_our_own_scripts_and_no_bundle_of_the_catalog(
    browser: Browser, tmp_path: Path, root: str
) -> None:
    """Behind a proxy, too, that removes the path of `base_url`."""
    port = free_port()
    address = f"http://127.0.0.1:{port}{root}"
    flags = ("--base-url", address, "--set", "shares_origin=true") if root else ()
    service = Service(examples_folder(tmp_path / "data"), "--demo", *flags, port=port)
    try:
        for path in ("/", "/widgets/catalog/clock", "/preview/catalog/clock/1.1.0"):
            _check_scripts(browser, address, path, root)
    finally:
        service.kill()


def _check_scripts(browser: Browser, address: str, path: str, root: str) -> None:
    page = browser.new_page()
    if root:
        page.route(f"{address}/**", partial(_forward, root=root))
    complaints = complaints_of(page)
    page.goto(address + path)
    script = page.locator("script[src]").first.get_attribute("src")
    assert page.evaluate(LOAD_SCRIPT, script) == "loaded"
    assert complaints == []
    assert page.evaluate("(url) => fetch(url).then((it) => it.status)", root + BUNDLE) == 200
    assert page.evaluate(LOAD_SCRIPT, root + BUNDLE) == "blocked"
    assert "Content Security Policy" in complaints[0]
    page.close()


def _forward(route: Route, root: str) -> None:
    route.fulfill(response=route.fetch(url=route.request.url.replace(root, "", 1)))


@pytest.mark.parametrize(
    ("path", "width"),
    [("/", PHONE), ("/search", DESKTOP), ("/widgets/catalog/clock", PHONE), ("/docs/api", DESKTOP)],
)
def test_whatever_has_the_focus_shows_it(
    browser: Browser, demo_service: Service, path: str, width: int
) -> None:
    with opened(browser, demo_service, path, width) as page:
        if page.locator("[autofocus]").count():
            page.locator(".skip").focus()
        else:
            page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
        seen = 0
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break
            # The focus outline surrounds the whole card.
            outline = page.evaluate(
                """() => {
                    const width = (style) =>
                        style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
                    const parts = [null, "::after"];
                    const focused = document.activeElement;
                    return Math.max(...parts.map((it) => width(getComputedStyle(focused, it))));
                }"""
            )
            assert outline >= 2, page.evaluate("document.activeElement.outerHTML")
            seen += 1
        assert seen > 12


def test_the_skip_link_leads_to_the_content(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service, "/docs/api", DESKTOP) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(r"/docs/api#main$"))


@pytest.mark.parametrize("has_script", [True, False])
def test_one_finds_a_widget_and_its_snippet(
    browser: Browser, demo_service: Service, has_script: bool
) -> None:
    context = browser.new_context(java_script_enabled=has_script)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(demo_service.url)
    expect(page.get_by_label("Search the catalog")).to_be_focused()
    page.keyboard.type("world clock")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=world+clock")
    page.get_by_text("The time in the places that matter").click(force=True)
    page.wait_for_url("**/widgets/catalog/world-clock")
    snippet = page.locator(".copied").first
    expect(snippet.locator("code")).to_contain_text('id: "catalog/world-clock"')
    button = snippet.get_by_role("button")
    expect(button).to_have_count(1 if has_script else 0)
    if has_script:
        page.clock.install(time=0)
        page.clock.pause_at(1_000)  # It says so for two seconds.
        button.click()
        expect(button).to_contain_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == snippet.locator("code").text_content()
    context.close()


def test_results_follow_what_is_typed(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service, "/search", DESKTOP) as page:
        expect(page.locator("[autofocus]")).to_be_focused()
        page.keyboard.type("weather")
        expect(page.locator(".count")).to_contain_text("for weather")
        expect(page).to_have_url(re.compile(r"/search\?q=weather$"))
        page.get_by_label("Official only").check()
        expect(page.locator(".count")).to_contain_text("0 widgets")
        expect(page).to_have_url(re.compile(r"/search\?q=weather&official=true$"))


def test_the_corner_knows_who_is_signed_in(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service, "/widgets/catalog/clock", DESKTOP) as page:
        page.route("**/account/corner", lambda route: route.fulfill(json={"username": "ann"}))
        page.reload()
        corner = page.get_by_role("navigation", name="Site").get_by_role("link", name="@ann")
        expect(corner).to_have_attribute("href", "/account")
        for path in ("/preview/catalog/clock/2.0.0", "/dashboard", "/report/catalog/clock"):
            page.goto(demo_service.url + path)
            expect(corner).to_have_attribute("href", "/account")


def test_versions_are_stacked_on_a_phone_and_nothing_scrolls_sideways(
    browser: Browser, demo_service: Service
) -> None:
    sideways = "it => it.scrollWidth - it.clientWidth"
    with opened(browser, demo_service, "/widgets/catalog/clock", PHONE) as page:
        for path in ("/widgets/catalog/clock", "/widgets/home/weather/versions"):
            page.goto(demo_service.url + path)
            assert page.locator(".scrolls").evaluate(sideways) == 0


def test_the_examples_have_a_chart_of_installs(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service, "/widgets/catalog/clock", DESKTOP) as page:
        chart = page.get_by_role("img", name="Installs a day in the last 90 days")
        expect(chart).to_be_visible()
        expect(page.locator("figcaption")).to_contain_text("in the last 90 days")


def test_one_click_takes_a_whole_command(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service, "/", PHONE) as page:
        command = page.locator(".command code").first
        command.click()
        text = command.inner_text()
        wait_until(page, f"getSelection().toString() === {json.dumps(text)}")


def test_the_contents_stay_in_sight_on_a_desktop(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service, "/docs/api/schemas", DESKTOP) as page:
        contents = page.get_by_role("navigation", name="Contents")
        expect(contents).to_have_count(1)
        contents.get_by_role("link", name="VersionEntry").click()
        wait_until(page, "scrollY > 1000")
        wait_until(
            page, "document.querySelector('.contents.wide').getBoundingClientRect().top === 0"
        )
        heading = page.get_by_role("heading", name="VersionEntry").bounding_box()
        assert heading is not None
        assert 0 <= heading["y"] < 200


def test_the_contents_are_folded_on_a_phone(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service, "/docs/api/schemas", PHONE) as page:
        expect(page.get_by_role("navigation", name="Contents")).to_have_count(0)
        page.get_by_text("Contents", exact=True).click()
        page.get_by_role("navigation", name="Contents").get_by_role("link", name="Size").click()
        expect(page).to_have_url(re.compile("#schema-Size$"))


def test_an_operation_is_tried_on_its_page(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service, "/docs/api/searchWidgets", DESKTOP) as page:
        page.get_by_label("q", exact=True).fill("world clock")
        page.get_by_role("button", name="Send").click()
        tried = page.locator(".tried")
        expect(tried.locator(".status")).to_have_text("200 OK")
        expect(tried.locator(".asked")).to_have_text("/api/v1/widgets/search?q=world+clock")
        expect(tried.locator("dt")).to_contain_text(["content-type", "etag"])
        expect(tried.locator("pre")).to_contain_text('"name": "world-clock"')
        page.goto(f"{demo_service.url}/docs/api/resolveWidgets")
        page.get_by_role("button", name="Send").click()
        expect(tried.locator("pre")).to_contain_text('"results": [')
        expect(page).to_have_url(re.compile("/docs/api/resolveWidgets$"))


def test_an_operation_is_tried_without_javascript(browser: Browser, demo_service: Service) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{demo_service.url}/docs/api/getWidget")
    page.get_by_label("name", exact=True).fill("sun")
    page.get_by_role("button", name="Send").click()
    expect(page).to_have_url(f"{demo_service.url}/api/v1/widgets/catalog/sun")
    expect(page.locator("body")).to_contain_text('"name":"sun"')
    page.goto(f"{demo_service.url}/docs/api/resolveWidgets")
    expect(page.get_by_text("This form needs JavaScript.")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_have_count(0)
    context.close()


def test_pages_work_without_javascript(browser: Browser, demo_service: Service) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    for path in PATHS:
        page.goto(demo_service.url + path)
        expect(page.get_by_role("main")).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    context.close()


def test_a_wrong_address_is_shown_on_a_page(browser: Browser, demo_service: Service) -> None:
    context = browser.new_context(viewport={"width": PHONE, "height": 800})
    page = context.new_page()
    response = page.goto(f"{demo_service.url}/nowhere")
    assert response is not None
    assert response.status == 404
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    page.get_by_role("link", name="home page").click()
    expect(page).to_have_url(f"{demo_service.url}/")
    context.close()

"""What a person sees and does on the page of a widget: picture, preview, gallery, sidebar."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from support.chromium import wait_for_page
from support.service import Service

CLOCK = "/widgets/catalog/clock"


@contextmanager
def opened(
    browser: Browser,
    address: str,
    width: int = 1280,
    *,
    scheme: Literal["light", "dark"] = "light",
    has_touch: bool = False,
) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, has_touch=has_touch
    )
    page = context.new_page()
    page.goto(address, wait_until="networkidle")
    yield page
    context.close()


def colors_in(picture: Locator) -> int:
    with Image.open(io.BytesIO(picture.screenshot())) as taken:
        coarse = taken.convert("RGB").point(lambda value: value // 16 * 16)
        return len(coarse.getcolors(1 << 12) or ())


@pytest.mark.parametrize("path", [CLOCK, "/widgets/catalog/calendar/2.0.1"])
def test_the_preview_shows_a_picture_until_it_runs(
    browser: Browser, demo_service: Service, path: str
) -> None:
    with opened(browser, demo_service.url + path) as page:
        still = page.locator(".preview-stage .still")
        expect(still).to_be_visible()
        wait_for_page(page, lambda: colors_in(still) > 4)
        page.get_by_role("button", name="Run the preview").click()
        expect(page.frame_locator("iframe").get_by_role("group").first).to_be_visible()
        expect(still).to_be_hidden()
        page.get_by_role("button", name="Stop").click()
        expect(still).to_be_visible()


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_picture_is_in_the_same_place_before_and_after_scripts_run(
    browser: Browser, demo_service: Service, width: int
) -> None:
    places = []
    for is_run in (False, True):
        context = browser.new_context(viewport={"width": width, "height": 900})
        page = context.new_page()
        if not is_run:
            page.route("**/panel.js", lambda route: route.abort())
        page.goto(demo_service.url + CLOCK, wait_until="networkidle")
        parts = [page.locator(it).first for it in (".still img", "aside")]
        for part in parts:
            expect(part).to_be_visible()
        places.append([it.bounding_box() for it in parts])
        context.close()
    assert places[0] == places[1]


def test_pictures_are_seen_one_by_one_with_the_keyboard(
    browser: Browser, demo_service: Service
) -> None:
    with opened(browser, demo_service.url + CLOCK) as page:
        page.get_by_role("link", name="Screenshot: light").focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Screenshots")
        expect(dialog.get_by_role("status")).to_have_text("1 of 2: Light")
        page.keyboard.press("ArrowRight")
        expect(dialog.get_by_role("status")).to_have_text("2 of 2: Dark")
        shown = dialog.get_by_role("img", name="Screenshot: dark")
        expect(shown).to_be_in_viewport()
        assert shown.evaluate("it => it.decode().then(() => it.naturalWidth)") == 768
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(page.get_by_role("link", name="Screenshot: light")).to_be_focused()


def test_pictures_are_seen_one_by_one_by_touch(browser: Browser, demo_service: Service) -> None:
    with opened(browser, demo_service.url + CLOCK, 390, has_touch=True) as page:
        page.get_by_role("link", name="Screenshot: dark").tap()
        dialog = page.get_by_role("dialog", name="Screenshots")
        expect(dialog.get_by_role("status")).to_have_text("2 of 2: Dark")
        film = dialog.locator("ul")
        assert film.evaluate("it => getComputedStyle(it).scrollSnapType") == "x mandatory"
        film.evaluate("it => it.scrollTo(0, 0)")  # As a finger does.
        expect(dialog.get_by_role("status")).to_have_text("1 of 2: Light")
        dialog.get_by_role("button", name="Close").tap()
        expect(dialog).to_be_hidden()


def test_the_sidebar_stays_on_the_screen_and_leads_to_the_sections(
    browser: Browser, demo_service: Service
) -> None:
    with opened(browser, demo_service.url + CLOCK) as page:
        contents = page.get_by_role("navigation", name="On this page")
        page.get_by_role("heading", name="Compatibility").scroll_into_view_if_needed()
        contents.get_by_role("link", name="Install").click()
        expect(page.get_by_role("heading", name="Install")).to_be_in_viewport()
        expect(contents).to_be_in_viewport(ratio=1)
        expect(contents.get_by_role("link", name="Technical details")).to_be_in_viewport(ratio=1)


def test_without_scripts_nothing_is_kept_free_for_the_preview(
    browser: Browser, demo_service: Service
) -> None:
    with browser.new_context(
        java_script_enabled=False, viewport={"width": 390, "height": 900}
    ) as context:
        page = context.new_page()
        page.goto(demo_service.url + CLOCK)
        hint = page.get_by_text("The live preview runs the widget in your browser").bounding_box()
        facts = page.get_by_role("complementary").bounding_box()
    assert hint is not None
    assert facts is not None
    assert facts["y"] - hint["y"] - hint["height"] < 60


def test_on_a_phone_the_facts_come_before_the_long_text(
    browser: Browser, demo_service: Service
) -> None:
    with opened(browser, demo_service.url + CLOCK, 390) as page:
        parts = (".still img", "aside", "#readme", "#install", "#versions", "#technical")
        for part in parts:
            expect(page.locator(part)).to_be_visible()
        boxes = [page.locator(it).bounding_box() for it in parts]
        heights = [it["y"] for it in boxes if it is not None]
        assert heights == sorted(heights)
        assert len(heights) == len(parts)
        assert page.evaluate("document.documentElement.scrollWidth") == 390

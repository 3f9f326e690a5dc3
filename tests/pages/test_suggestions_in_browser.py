"""Suggestions in a browser: keyboard, touch, and what ARIA says of a combobox. And how long the
front page is on a phone.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.test_accessibility import axe, errors_of
from support.chromium import quiet_page
from support.service import Service

__all__ = ("axe",)

BOTTOM = "it => it.getBoundingClientRect().bottom + scrollY"
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def page(browser: Browser, demo_service: Service) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, has_touch=True)  # type: ignore[arg-type]
    with quiet_page(context, demo_service.url) as made:
        yield made
    context.close()


def test_the_keyboard_chooses_a_suggestion(page: Page, demo_service: Service) -> None:
    page.goto(demo_service.url)
    box, options = page.locator("#q"), page.locator(".suggestions").get_by_role("option")
    box.fill("clo")  # Typed slowly, a list would replace another.
    expect(options.first).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.locator("form [role=status]")).to_have_text(re.compile(r"^\d suggestions$"))
    for key, chosen in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", None)):
        box.press(key)
        selected = page.locator("[role=option][aria-selected=true]")
        if chosen is None:
            expect(selected).to_have_count(0)
            expect(box).not_to_have_attribute("aria-activedescendant", re.compile("."))
        else:
            id_ = options.nth(chosen).get_attribute("id") or ""
            expect(box).to_have_attribute("aria-activedescendant", id_)
            expect(selected).to_have_attribute("id", id_)
    box.press("Escape")
    expect(options).to_have_count(0)
    expect(box).to_have_value("clo")
    box.press("ArrowDown")
    expect(options.first).to_be_visible()
    widget = page.locator("a[role=option][href='/widgets/catalog/clock']")
    while widget.get_attribute("aria-selected") != "true":
        box.press("ArrowDown")
    box.press("Enter")
    page.wait_for_url("**/widgets/catalog/clock")


def test_touch_chooses_and_enter_alone_searches(page: Page, demo_service: Service) -> None:
    page.goto(f"{demo_service.url}/widgets/catalog/clock")
    box = page.locator("#quick")
    box.fill("weather")
    option = page.locator("a[role=option][href='/widgets/home/weather']")
    expect(option.locator("img")).to_be_visible()
    place = option.bounding_box()
    assert place is not None
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= PHONE["width"]
    assert place["height"] >= 44
    option.tap()
    page.wait_for_url("**/widgets/home/weather")
    page.locator("#quick").fill("clock")
    page.locator("#quick").press("Enter")
    page.wait_for_url("**/search?q=clock")


def test_open_suggestions_are_accessible(browser: Browser, demo_service: Service, axe: str) -> None:
    context = browser.new_context(viewport=PHONE, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(demo_service.url)
    page.locator("#q").fill("ti")
    expect(page.get_by_role("option").first).to_be_visible()
    page.locator("#q").press("ArrowDown")
    expect(page.locator("[role=option][aria-selected=true]")).to_have_count(1)
    assert errors_of(page, axe) == []
    context.close()


def test_the_first_list_of_a_phone_ends_within_three_screens(
    page: Page, demo_service: Service
) -> None:
    page.goto(demo_service.url)
    expect(page.locator(".collection").first).to_be_visible()
    first = page.locator("main .widgets").first
    assert first.evaluate(BOTTOM) <= 3 * PHONE["height"]
    # Also if there are no collections and nothing is trending: six widgets then come first.
    above = page.locator("main > .collection, main > [aria-labelledby=trending]")
    expect(above).to_have_count(3)
    above.evaluate_all("all => all.forEach((it) => it.remove())")
    expect(first.locator("> li")).to_have_count(6)
    assert first.evaluate(BOTTOM) <= 3 * PHONE["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

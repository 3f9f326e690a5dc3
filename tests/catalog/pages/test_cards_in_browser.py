"""What a person sees of cards: pictures that are loaded, not blank, and move nothing."""

import io
from collections.abc import Iterator
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page

from support.service import Service

Scheme = Literal["light", "dark"]


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> Scheme:
    found: Scheme = request.param
    return found


@pytest.fixture
def page(browser: Browser, scheme: Scheme) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    yield context.new_page()
    context.close()


def colors_in(picture: Locator) -> int:
    """The number of different colors on the screen where this is, coarsely."""
    with Image.open(io.BytesIO(picture.screenshot())) as taken:
        coarse = taken.convert("RGB").point(lambda value: value // 16 * 16)
        return len(coarse.getcolors(1 << 12) or ())


def test_every_card_shows_a_picture_that_is_not_blank(
    page: Page, demo_service: Service, scheme: Scheme
) -> None:
    page.goto(f"{demo_service.url}/search")
    pictures = page.locator(".shot")
    assert pictures.count() == 18
    for number in range(pictures.count()):
        picture = pictures.nth(number)
        picture.scroll_into_view_if_needed()
        for image in picture.locator("img").all():
            image.evaluate("it => it.decode()")
            assert f"/screenshots/{scheme}.thumb.webp" in image.evaluate("it => it.currentSrc")
        assert colors_in(picture) > 4, number


def test_nothing_moves_when_pictures_are_loaded(page: Page, demo_service: Service) -> None:
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver((list) => {"
        " for (const it of list.getEntries()) window.moved += it.value;"
        "}).observe({ type: 'layout-shift', buffered: true });"
    )
    page.goto(demo_service.url, wait_until="networkidle")
    for place in range(0, 4000, 600):
        page.evaluate("scrollTo(0, arguments)".replace("arguments", str(place)))
        page.wait_for_timeout(50)

    assert page.locator(".shot img").count() > 12
    assert page.evaluate("window.moved") < 0.02


def test_pictures_outside_of_the_screen_are_not_loaded_at_once(
    page: Page, demo_service: Service
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 390, "height": 600})
    page.goto(demo_service.url, wait_until="networkidle")

    pictures = [it for it in asked if it.endswith(".thumb.webp")]
    assert len(pictures) < 17
    assert all(it.startswith(demo_service.url) for it in asked)

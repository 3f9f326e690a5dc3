"""What a person sees of cards: pictures that are loaded, not blank, and move nothing."""

import io
from collections.abc import Iterator
from functools import partial
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from support.chromium import quiet_page, wait_for_page
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


def is_colorful(picture: Locator) -> bool:
    """Whether several colors, coarsely compared, are on the screen where this is."""
    with Image.open(io.BytesIO(picture.screenshot())) as taken:
        coarse = taken.convert("RGB").point(lambda value: value // 16 * 16)
        return len(coarse.getcolors(1 << 12) or ()) > 4


def test_every_card_shows_a_picture_that_is_not_blank(
    page: Page, demo_service: Service, scheme: Scheme
) -> None:
    page.goto(f"{demo_service.url}/search")
    pictures = page.locator(".shot")
    expect(pictures).to_have_count(20)
    for number, picture in enumerate(pictures.all()):
        picture.scroll_into_view_if_needed()
        for image in picture.locator("img").all():
            image.evaluate("it => it.decode()")
            assert f"/screenshots/{scheme}.thumb.webp" in image.evaluate("it => it.currentSrc")
        wait_for_page(page, partial(is_colorful, picture), str(number))


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

    assert page.locator(".shot img").count() >= 12
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


@pytest.fixture
def quiet(browser: Browser, demo_service: Service) -> Iterator[Page]:
    """A page that must not complain, nor load anything from other hosts."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    with quiet_page(context, demo_service.url) as page:
        yield page
    context.close()


@pytest.mark.parametrize("path", ["/", "/search", "/scopes/catalog"])
def test_resting_on_a_card_runs_its_widget_and_only_that(
    quiet: Page, demo_service: Service, path: str
) -> None:
    quiet.goto(demo_service.url + path, wait_until="networkidle")
    clock, calendar = (
        quiet.locator(f"[data-live='catalog/{it}/2.0.0']").first for it in ("clock", "calendar")
    )
    clock.hover()
    running = quiet.locator(".live.is-running")
    expect(running).to_be_visible()
    frame = quiet.frame_locator(".live iframe")
    expect(frame.get_by_role("group", include_hidden=True).first).to_be_visible()
    expect(quiet.locator(".live iframe")).to_have_attribute("sandbox", "allow-scripts")
    wait_for_page(quiet, partial(is_colorful, clock.locator(".shot")))
    expect(clock.locator("img")).to_be_hidden()
    calendar.hover()
    expect(clock.locator("iframe")).to_have_count(0)
    expect(calendar.locator(".live.is-running")).to_be_visible()
    expect(quiet.locator("iframe")).to_have_count(1)
    quiet.mouse.move(2, 2)
    expect(quiet.locator("iframe")).to_have_count(0)
    expect(calendar.locator("img")).to_be_visible()
    clock.hover()
    clock.click()
    quiet.wait_for_url("**/widgets/catalog/clock")


@pytest.mark.parametrize("reason", ["reduced motion", "saved data", "a moment only", "one process"])
def test_a_card_stays_a_picture_with(browser: Browser, demo_service: Service, reason: str) -> None:
    motion: Literal["reduce"] | None = "reduce" if reason == "reduced motion" else None
    context = browser.new_context(reduced_motion=motion)
    page = context.new_page()
    if reason == "saved data":
        page.add_init_script(
            "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"
        )
    if reason == "one process":
        missing = "Object.defineProperty(Navigator.prototype, 'userAgentData', { value: null })"
        page.add_init_script(missing)
    page.clock.install(time=0)
    page.goto(demo_service.url, wait_until="networkidle")
    page.clock.pause_at(60_000)  # Otherwise the moment is a long one on a busy machine.
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    card = page.locator("[data-live]").first
    card.hover()
    if reason == "a moment only":
        page.mouse.move(2, 2)
    page.clock.run_for(10_000)

    assert page.locator("iframe").count() == 0
    assert [it for it in asked if "/api/" in it] == []
    if reason == "a moment only":
        card.hover()
        page.clock.run_for(10_000)
        expect(page.locator("iframe")).to_have_count(1)
    context.close()

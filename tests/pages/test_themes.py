"""The colors that a visitor chooses, and the avatars."""

import colorsys
import re

import pytest
from playwright.sync_api import Browser, expect

from support.chromium import wait_until
from support.html import Html
from support.service import Service
from support.site import InProcessSite
from widget_catalog.core.http.rendering import STATIC
from widget_catalog.pages.icons import Icons, initials_of

ENOUGH_CONTRAST = 4.5


def theme(body: bytes) -> str | None:
    [root] = Html(body).all("html")
    return root.attributes.get("data-theme")


def test_personal_pages_follow_the_choice_and_public_ones_are_the_same_for_all(
    demo_site: InProcessSite,
) -> None:
    for chosen in ("light", "dark"):
        assert theme(demo_site.get("/sign-in", cookie=f"a=b; theme={chosen}").body) == chosen
    for other in ("theme=", "theme=blue", "xtheme=dark", 'theme=dark"><b>'):
        assert theme(demo_site.get("/sign-in", cookie=other).body) is None
    for path in ("/", "/widgets/catalog/clock", "/docs", "/nowhere"):
        response = demo_site.get(path, cookie="theme=dark")
        assert response.body == demo_site.get(path).body
        assert "set-cookie" not in response.headers
        page = Html(response.body)
        # In the page, before its style, so that nothing is drawn in other colors first.
        [script] = [it for it in page.all("script") if "theme=" in it.text]
        assert not script.attributes
        [style, *_] = page.all("link", rel="stylesheet")
        assert page.elements.index(script) < page.elements.index(style)
        [switch] = page.all("p", **{"class": "theme"})
        assert "hidden" in switch.attributes


@pytest.mark.parametrize(
    ("name", "initials"),
    [
        ("acme", "A"),
        ("acme-labs", "AL"),
        ("a-b-c", "AC"),
        ("ann_smith", "AS"),
        ("7up", "7"),
        ("-", "?"),
    ],
)
def test_initials(name: str, initials: str) -> None:
    assert initials_of(name) == initials
    assert f">{initials}</text>" in Icons().avatar(name)
    assert Icons().avatar(name) == Icons().avatar(name)


def luminance(hue: float, saturation: float, light: float) -> float:
    parts = colorsys.hls_to_rgb(hue / 360, light / 100, saturation / 100)
    linear = [it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_avatars_can_be_read_in_every_color() -> None:
    style = (STATIC / "browse.css").read_text()
    tints = [float(it) for it in re.findall(r"\.t\d { --tint: (\d+); }", style)]
    [rule] = re.findall(r"\.tile\.letter { background: (.*?) }", style)
    colors = [(float(much), float(light)) for much, light in re.findall(r"(\d+)% (\d+)%\)", rule)]
    light_ground, dark_ground, light_ink, dark_ink = colors
    assert len(tints) == 8
    for tint in tints:
        for ground, ink in ((light_ground, light_ink), (dark_ground, dark_ink)):
            low, high = sorted((luminance(tint, *ground), luminance(tint, *ink)))
            assert (high + 0.05) / (low + 0.05) >= ENOUGH_CONTRAST


@pytest.mark.slow
def test_the_choice_lasts_and_needs_javascript(browser: Browser, demo_service: Service) -> None:
    context = browser.new_context(color_scheme="light")
    page = context.new_page()
    page.goto(f"{demo_service.url}/")
    page.get_by_label("Theme").select_option("Dark")
    is_dark = "getComputedStyle(document.documentElement).colorScheme === 'dark'"
    wait_until(page, is_dark)
    for path in ("/widgets/catalog/clock", "/sign-in", "/"):
        page.goto(demo_service.url + path)
        assert page.evaluate(is_dark)
    # Pictures for dark pages are shown, too.
    wait_until(page, "document.querySelector('picture source').media === 'all'")
    page.get_by_label("Theme").select_option("System")
    page.goto(f"{demo_service.url}/sign-in")
    assert not page.evaluate(is_dark)
    assert context.cookies() == []
    context.close()
    without = browser.new_context(java_script_enabled=False)
    page = without.new_page()
    page.goto(f"{demo_service.url}/")
    expect(page.get_by_label("Theme")).to_be_hidden()
    without.close()

"""What only a browser shows: the colors of a preview, under the strict policy."""

import pytest
from playwright.sync_api import Browser, expect

from brand.scenes import preview_brand
from browser.test_pages import POOR_CONTRAST, SCHEMES
from support.people import PASSWORD
from support.service import Service

_ACCENT = "getComputedStyle(document.querySelector('button[value=save]')).backgroundColor"


@pytest.mark.slow
def test_a_preview_has_the_colors_and_enough_contrast_in_both_themes(
    browser: Browser, people_service: Service
) -> None:
    page = browser.new_page(reduced_motion="reduce")
    refused: list[str] = []
    page.on("console", lambda it: refused.append(it.text))
    page.goto(f"{people_service.url}/sign-in?next=/operate/brand")
    page.get_by_label("Username").fill("olly")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    preview_brand(page)
    expect(page.get_by_role("region", name="Announcement")).to_have_text("We move on Friday.")
    expect(page.get_by_role("link", name="Status", exact=True)).to_be_visible()
    logo = page.locator("a.brand img")
    assert logo.evaluate("it => it.decode().then(() => it.naturalWidth)") > 0
    accents = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        accents.append(page.evaluate(_ACCENT))
        assert page.evaluate(POOR_CONTRAST) == []
    assert accents[0] == "rgb(122, 31, 162)"
    assert accents[1] != accents[0]
    assert refused == []
    page.close()

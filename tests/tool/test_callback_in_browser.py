"""The final page of a sign-in, in Chromium: light and dark, on a phone, with its own policy."""

from typing import Literal

import pytest
from playwright.sync_api import Browser

from support.chromium import complaints_of
from widget_cli.loopback import waiting_for_browser

pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.parametrize(
    ("scheme", "ground"), [("light", "rgb(251, 251, 249)"), ("dark", "rgb(17, 21, 20)")]
)
def test_the_page_is_styled_and_fits_a_phone(
    browser: Browser, scheme: Literal["light", "dark"], ground: str
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 320, "height": 568})
    page = context.new_page()
    complaints = complaints_of(page)
    with waiting_for_browser("s") as callback:
        page.goto(f"{callback.redirect_uri}?code=c&state=s")
        page.get_by_role("heading", name="Sign-in approved").wait_for()
        page.get_by_text("You can close this window and go back to your terminal.").wait_for()
    measured = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, document.body.scrollWidth]"
    )
    context.close()
    assert measured == [ground, 320]
    assert complaints == []

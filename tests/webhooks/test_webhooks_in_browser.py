"""The page of a webhook in a real browser."""

import pytest
from playwright.sync_api import Browser

from browser.test_managing import DESKTOP, PHONE, assert_fits_and_can_be_read, visiting
from browser.test_pages import Scheme
from support.service import Service


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_the_page_of_a_webhook_with_a_long_url_fits_and_can_be_read(
    browser: Browser, people_service: Service, width: int, scheme: Scheme
) -> None:
    with visiting(browser, people_service, "olly", width, scheme) as page:
        page.goto(f"{people_service.url}/account/webhooks")
        page.get_by_label("URL").fill(f"https://hooks.invalid/{'a' * 90}/{width}")
        page.get_by_role("button", name="Add", exact=True).click()
        page.goto(f"{people_service.url}/account/webhooks")
        page.get_by_role("link", name=f"{width}").click()
        page.get_by_role("button", name="Send a test event").click()
        assert_fits_and_can_be_read(page, width)

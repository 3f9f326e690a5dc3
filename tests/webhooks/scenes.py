"""Scenes of screenshots: name, page, and the visitor's actions on it."""

from playwright.sync_api import Page


def add_webhook(page: Page) -> None:
    """Once, to a URL that does not respond, so that there is a delivery to show."""
    address = page.url
    if page.get_by_text("No webhooks.").count():
        page.get_by_label("URL").fill("https://hooks.invalid/widget-catalog")
        page.get_by_role("button", name="Add", exact=True).click()
        page.goto(address)
    page.get_by_role("link", name="https://hooks.invalid/widget-catalog").click()
    if page.get_by_text("No deliveries yet.").count():
        page.get_by_role("button", name="Send a test event").click()


SCENES = (
    ("account-webhooks", "/account/webhooks"),
    ("account-webhook", "/account/webhooks", add_webhook),
    ("operate-webhooks", "/operate/webhooks"),
)

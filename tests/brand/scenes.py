"""Scenes of screenshots: name, page, and the visitor's actions on it."""

from playwright.sync_api import Page

_LOGO = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">'
    b'<path fill="#7a1fa2" d="M0 0h8v8z"/></svg>'
)


def preview_brand(page: Page) -> None:
    page.get_by_label("Name", exact=True).fill("Kitchen Widgets")
    page.get_by_label("Logo", exact=True).set_input_files(
        {"name": "logo.svg", "mimeType": "image/svg+xml", "buffer": _LOGO}
    )
    page.get_by_label("Accent color in the light theme").fill("#7a1fa2")
    page.get_by_label("Links in the footer").fill("Status https://status.example/")
    page.get_by_role("textbox", name="Announcement", exact=True).fill("We move on **Friday**.")
    page.get_by_role("button", name="Preview").click()


SCENES = (("operate-brand", "/operate/brand", preview_brand),)

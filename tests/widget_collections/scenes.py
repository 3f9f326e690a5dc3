"""Scenes of screenshots: name, page, and the visitor's actions on it."""

from playwright.sync_api import Page


def add_collection(page: Page) -> None:
    """Once, with two widgets."""
    if page.get_by_role("link", name="For the kitchen wall", exact=True).count() == 0:
        page.get_by_label("Title").fill("For the kitchen wall")
        page.get_by_label("Text").fill("What a family asks **in the morning**.")
        page.get_by_role("button", name="Create").click()
        for widget in ("acme/clock", "ann/clock"):
            page.get_by_label("Add a widget").fill(widget)
            page.get_by_role("button", name="Add", exact=True).click()


def show_collection(page: Page) -> None:
    add_collection(page)
    page.goto(page.url.partition("/operate")[0] + "/operate/collections/for-the-kitchen-wall")


def show_public(page: Page) -> None:
    add_collection(page)
    page.goto(page.url.partition("/operate")[0] + "/collections/for-the-kitchen-wall")


SCENES = (
    ("operate-collections", "/operate/collections", add_collection),
    ("operate-collection", "/operate/collections", show_collection),
    ("collection", "/operate/collections", show_public),
)

"""axe-core, from npm, finds nothing on any kind of page, in light or dark."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browser.test_pages import POOR_CONTRAST, SCHEMES
from support.npm import npm_package
from support.people import PASSWORD
from support.routes import list_own_pages
from support.service import Service

_VERSION = "4.10.3"
_CLOCK = "/widgets/catalog/clock"
_COMPARISON = f"{_CLOCK}/compare?from=1.0.0&to=1.1.0"
_OWN_CLOCK = "/account/widgets/acme/clock"
# One of each kind. Pages of a kind have the same template and differ only in their text.
PUBLIC = (
    "/",
    "/search?q=wether",
    "/search?q=qqqqqqqq",
    "/keywords",
    "/search",
    _CLOCK,
    f"{_CLOCK}/1.1.0",
    f"{_CLOCK}/versions",
    _COMPARISON,
    "/widgets/catalog/clocks",
    "/scopes/catalog",
    "/docs",
    "/docs/search?q=clock",
    "/docs/settings",
    "/docs/api",
    "/docs/api/searchWidgets",
    "/sign-in",
    "/report/catalog/clock",
)
# axe is slow to compare colors, so it does that only on these; our own check covers the others.
COMPARED = ("/", _CLOCK, _COMPARISON, _OWN_CLOCK)
_FIND = """async (rules) => {
  const { violations } = await axe.run({ iframes: false, resultTypes: ["violations"], rules });
  return violations
    .flatMap((it) => it.nodes.slice(0, 3).map((node) => `${it.id}: ${node.html.slice(0, 200)}`));
}"""
_CONTRAST = """async () => {
  const { violations } = await axe.run({ iframes: false, runOnly: ["color-contrast"] });
  return violations.flatMap((it) => it.nodes.map((node) => node.html.slice(0, 200)));
}"""


@pytest.fixture(scope="module")
def axe() -> str:
    package = npm_package("axe-core", _VERSION) / "node_modules" / "axe-core"
    return Path(package / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    # With its policies: the sandbox runs nothing without them.
    made = browser.new_context(reduced_motion="reduce")
    yield made
    made.close()


def errors_of(page: Page, axe: str, path: str = "") -> list[str]:
    """In both themes, which differ only in their colors."""
    page.evaluate(axe)
    found = page.evaluate(_FIND, {"color-contrast": {"enabled": False}})
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        compare = _CONTRAST if path in COMPARED else POOR_CONTRAST
        found += [f"{scheme}: {it}" for it in page.evaluate(compare)]
    return [f"{page.url} {it}" for it in found]


def test_nothing_wrong_on_public_pages(
    context: BrowserContext, people_service: Service, axe: str
) -> None:
    page = context.new_page()
    found: list[str] = []
    for path in PUBLIC:
        page.goto(people_service.url + path)
        found += errors_of(page, axe, path)
    assert found == []


def test_nothing_wrong_where_widgets_run(
    context: BrowserContext, people_service: Service, axe: str
) -> None:
    page = context.new_page()
    page.goto(f"{people_service.url}/preview/catalog/clock/2.0.0")
    page.get_by_role("button", name="Run the preview").click()
    expect(page.get_by_text("Running.", exact=True)).to_be_attached(timeout=60_000)
    found = errors_of(page, axe)
    page.goto(f"{people_service.url}/dashboard")
    page.get_by_role("button", name="Add World clock").click()
    expect(page.locator("iframe")).to_have_count(1, timeout=60_000)
    assert found + errors_of(page, axe) == []


def test_nothing_wrong_on_pages_of_authors_and_the_operator(
    context: BrowserContext, people_service: Service, axe: str
) -> None:
    page = context.new_page()
    page.goto(f"{people_service.url}/sign-in")
    page.get_by_label("Username").fill("olly")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/account")
    found: list[str] = []
    for path in list_own_pages():
        response = page.goto(people_service.url + path)
        assert response is not None
        assert (response.status, "/sign-in" in response.url) == (200, False), path
        found += errors_of(page, axe, path)
    assert found == []

"""Managing widgets and the catalog with a real browser. No script of ours runs."""

import contextlib
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from browser.test_pages import POOR_CONTRAST, SCHEMES, Scheme
from support.chromium import quiet_page
from support.people import PASSWORD, request_body
from support.routes import list_own_pages
from support.service import Service, wait_for

PHONE, DESKTOP = 390, 1440
JS = b"export function mount() {}\n"
# Fields without a label, and headings that skip a level: problems for screen readers.
ERRORS = """() => {
  const fields = [...document.querySelectorAll("input:not([type=hidden], [hidden]), select")];
  const faults = fields.filter((it) => !it.labels.length).map((it) => it.outerHTML);
  let level = 0;
  for (const it of document.querySelectorAll("h1, h2, h3, h4")) {
    const next = Number(it.tagName[1]);
    if (next > level + 1) faults.push(it.outerHTML);
    level = next;
  }
  const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
  return faults.concat(ids.filter((it, i) => ids.indexOf(it) !== i));
}"""

# Buttons whose text does not fit.
CUT_BUTTONS = """() => [...document.querySelectorAll("button")]
  .filter((it) => it.scrollHeight > it.clientHeight + 1 || it.scrollWidth > it.clientWidth + 1)
  .map((it) => it.outerHTML)"""


@contextlib.contextmanager
def visiting(
    browser: Browser, people_service: Service, name: str, width: int, scheme: Scheme = "light"
) -> Iterator[Page]:
    """A signed-in person; console messages are errors, and no other host is contacted."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(60_000)
    with quiet_page(context, people_service.url, inline=("blob:",)) as page:
        page.goto(f"{people_service.url}/sign-in?next=/account/widgets")
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url("**/account/widgets")
        yield page
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_every_page_fits_and_can_be_read(
    browser: Browser, people_service: Service, width: int, scheme: Scheme
) -> None:
    with visiting(browser, people_service, "olly", width, scheme) as page:
        for path in list_own_pages():
            page.goto(people_service.url + path)
            assert_fits_and_can_be_read(page, width)


def assert_fits_and_can_be_read(page: Page, width: int) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    assert page.evaluate(CUT_BUTTONS) == [], page.url
    assert page.evaluate(POOR_CONTRAST) == [], page.url
    assert page.evaluate(ERRORS) == [], page.url


def test_an_author_yanks_and_the_operator_revokes(
    browser: Browser, people_service: Service
) -> None:
    with visiting(browser, people_service, "ann", PHONE) as page:
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("navigation", name="Your pages").get_by_role(
            "link", name="Widgets"
        ).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Your widgets")
        page.locator("a", has_text="Clock").first.click()
        page.get_by_role("link", name="1.0.0", exact=True).click()
        page.get_by_label("Reason (public)").fill("Shows the wrong day.")
        page.get_by_role("button", name="Yank 1.0.0").click()
        expect(page.get_by_role("status")).to_contain_text("The version was yanked")
        page.reload()  # Does not submit again.
        page.get_by_role("button", name="Unyank").click()
        expect(page.get_by_role("status")).to_have_text("The version is offered again.")
    public = f"{people_service.url}/widgets/acme/clock/1.0.0"
    with visiting(browser, people_service, "olly", DESKTOP) as page:
        page.goto(public)
        run = page.get_by_role("button", name="Run the preview")
        expect(run).to_be_visible()
        page.goto(f"{people_service.url}/account")
        page.get_by_role("link", name="Operate").click()
        page.get_by_role("group", name="Operate").get_by_role("link", name="Widgets").click()
        page.get_by_label("Scope, or scope/name").fill("acme/clock")
        page.get_by_role("button", name="Search", exact=True).click()
        page.get_by_role("link", name="1.0.0", exact=True).click()
        page.locator("#revoke-reason").fill("Steals passwords.")
        page.get_by_role("button", name="Revoke 1.0.0").click()
        expect(page.get_by_role("status")).to_contain_text("The version was revoked")
        bundle = page.request.get(f"{people_service.url}/cdn/@acme/clock/1.0.0/index.js")
        assert bundle.status == 410
        page.goto(public)
        expect(page.get_by_text("it must not run")).to_be_visible()
        expect(run).to_have_count(0)
        lines = page.request.get(f"{people_service.url}/operate/audit.ndjson").text().splitlines()
        total = page.request.get(f"{people_service.url}/api/audit").json()["total"]
        assert len(lines) == total


def test_an_owner_makes_the_members_public_and_private_again(
    browser: Browser, people_service: Service
) -> None:
    visitor = browser.new_context(viewport={"width": PHONE, "height": 900}).new_page()

    def shown() -> list[str]:
        visitor.goto(f"{people_service.url}/scopes/acme")
        return visitor.locator(".members li").all_inner_texts()

    assert shown() == []
    with visiting(browser, people_service, "ann", PHONE) as page:
        page.goto(f"{people_service.url}/account/organizations/acme")
        page.get_by_role("button", name="Make the list public").click()
        expect(page.get_by_role("status")).to_have_text("The setting was saved.")
        wait_for(lambda: len(shown()) == 4)
        visitor.get_by_role("link", name="ann", exact=True).click()
        expect(visitor.get_by_role("heading", level=1)).to_have_text("ann")
        shown()
        for scheme in SCHEMES:
            visitor.emulate_media(color_scheme=scheme)
            assert visitor.evaluate("document.documentElement.scrollWidth") == PHONE
            assert visitor.evaluate(ERRORS) == []
            assert visitor.evaluate(POOR_CONTRAST) == []
        page.get_by_role("button", name="Make the list private").click()
        expect(page.get_by_role("button", name="Make the list public")).to_be_visible()
        wait_for(lambda: shown() == [])
    visitor.context.close()


def test_a_visitor_reports_and_the_operator_dismisses(
    browser: Browser, people_service: Service
) -> None:
    visitor = browser.new_context(java_script_enabled=False).new_page()
    visitor.goto(f"{people_service.url}/widgets/ann/clock")
    visitor.get_by_role("link", name="Report this widget").click()
    visitor.get_by_label("It does something harmful").check()
    visitor.get_by_label("Details").fill("It asks for my password.")
    visitor.get_by_role("button", name="Send report").click()
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Thank you")
    visitor.context.close()
    with visiting(browser, people_service, "olly", DESKTOP) as page:
        page.goto(f"{people_service.url}/operate")
        expect(page.locator(".numbers div", has_text="open report")).to_contain_text("1")
        page.get_by_role("link", name="open report", exact=True).click()
        expect(page.locator("main li")).to_contain_text("It asks for my password.")
        page.get_by_label("Note, for operators").fill("It does not.")
        page.get_by_role("button", name="Dismiss").click()
        expect(page.get_by_role("status")).to_have_text("The report was dismissed.")
        expect(page.locator("main")).to_contain_text("No reports.")


def test_a_token_is_made_copied_and_used(browser: Browser, people_service: Service) -> None:
    with visiting(browser, people_service, "ann", PHONE) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto(f"{people_service.url}/account")
        page.get_by_role("link", name="Create an access token").click()
        page.get_by_label("Name").fill("CI of the clock")
        page.get_by_label("Only for these scopes and widgets").fill("ann/clock")
        page.get_by_role("button", name="Create token").click()
        page.get_by_role("button", name="Copy Access token").click()
        token = page.locator("pre code").inner_text()
        wait_for(lambda: page.evaluate("navigator.clipboard.readText()") == token, 60)
    headers = {"authorization": f"Bearer {token}"}
    requests = [request_body(key, "3.0.0", JS) for key in ("ann/clock", "acme/clock")]
    address = f"{people_service.url}/api/widgets/publish"
    responses = [httpx.post(address, json=it, headers=headers, timeout=60) for it in requests]
    assert [it.status_code for it in responses] == [200, 403]

"""The scenes of screenshots: a page, and the visitor's actions on it."""

import json
from collections.abc import Callable
from typing import Literal, NamedTuple

from playwright.sync_api import FilePayload, Page, expect

from support.people import PASSWORD, manifest
from support.routes import of_rooms

_TIMER = b"""export function mount(element) {
  element.innerHTML = "<h1>24:59</h1><p>Focus</p>";
  return { unmount() {} };
}
"""

Scheme = Literal["light", "dark"]


def _nothing(_page: Page) -> None:
    pass


class Scene(NamedTuple):
    name: str
    address: str
    prepare: Callable[[Page], None] = _nothing
    is_signed_in: bool = False


def run_preview(page: Page) -> None:
    page.get_by_role("button", name="Run the preview").click()
    expect(page.get_by_text("Running.", exact=True)).to_be_attached()
    page.wait_for_timeout(500)


def fill_dashboard(page: Page) -> None:
    for name in ("Clock", "Météo", "Calendar", "Unit converter"):
        page.get_by_role("button", name=f"Add {name}").click()
    page.wait_for_timeout(1500)
    page.locator(".dash-results").evaluate("it => it.scrollTo(0, 0)")
    page.mouse.move(0, 0)


def send_request(page: Page) -> None:
    page.get_by_label("q", exact=True).fill("clock")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".tried .status")).to_have_text("200 OK")


def send_widget(page: Page) -> None:
    said = manifest("timer", displayName="Timer", permissions=["notifications"], license="MIT")
    files = {"manifest": json.dumps(said).encode(), "bundle": _TIMER}
    for name, content in files.items():
        chosen = FilePayload(name=f"{name}.txt", mimeType="text/plain", buffer=content)
        page.locator(f"#{name}").set_input_files(chosen)
    page.get_by_role("button", name="Check and preview").click()
    run_preview(page)


def send_nothing(page: Page) -> None:
    page.get_by_label("Name in URLs").fill("My widget")
    page.get_by_label("Manifest").set_input_files(
        FilePayload(name="widget.json", mimeType="text/plain", buffer=b'{"icon": "clock"}')
    )
    page.get_by_role("button", name="Check and preview").click()
    expect(page.get_by_role("alert")).to_be_visible()


def make_token(page: Page) -> None:
    page.get_by_label("Name").fill("CI of the clock")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Copy your access token")


def send_report(page: Page) -> None:
    """Once, and then back to the operator's page."""
    address = page.url
    if page.get_by_text("No reports.").count():
        page.goto(address.replace("/operate/reports", "/report/acme/clock"))
        page.get_by_label("It does something harmful").check()
        page.get_by_label("Details").fill("It asks for my password.\nEvery time.")
        page.get_by_label("Contact (optional)").fill("zoe@example.org")
        page.get_by_role("button", name="Send report").click()
        page.goto(address)


def sign_in(page: Page, url: str) -> None:
    """As the operator."""
    page.goto(f"{url}/sign-in")
    page.get_by_label("Username").fill("olly")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda address: "/sign-in" not in address)


_CLOCK = "/widgets/catalog/clock"
_DEMO_SCENES = (
    Scene("front", "/"),
    Scene("search", "/search"),
    Scene("search-filtered", "/search?q=clock&sort=name&sdk=1.2.0"),
    Scene("search-corrected", "/search?q=wether"),
    Scene("search-nothing", "/search?q=qqqqqqqq"),
    Scene("keywords", "/keywords"),
    Scene("widget", _CLOCK),
    Scene("widget-running", _CLOCK, run_preview),
    Scene("version", f"{_CLOCK}/1.1.0"),
    Scene("versions", f"{_CLOCK}/versions"),
    Scene("compare", f"{_CLOCK}/compare?from=1.0.0&to=2.0.0"),
    Scene("scope", "/scopes/catalog"),
    Scene("not-found", "/widgets/catalog/clocks"),
    Scene("dashboard-empty", "/dashboard"),
    Scene("dashboard", "/dashboard", fill_dashboard),
    Scene("docs", "/docs"),
    Scene("guide", "/docs/operating"),
    Scene("reference", "/docs/api"),
    Scene("reference-operation", "/docs/api/searchWidgets", send_request),
    Scene("reference-schemas", "/docs/api/schemas"),
    Scene("sign-in", "/sign-in"),
    Scene("report", "/report/catalog/clock"),
)
README_SCENES = (
    Scene("search", "/search"),
    Scene("widget", "/widgets/home/weather", run_preview),
    Scene("dashboard", "/dashboard", fill_dashboard),
)
_ANNS_CLOCK = "/account/widgets/acme/clock"
_SIGNED_IN = {
    "account": "/account",
    "account-widgets": "/account/widgets",
    "account-widget": _ANNS_CLOCK,
    "account-version": f"{_ANNS_CLOCK}/versions/1.0.0",
    "account-audit": f"{_ANNS_CLOCK}/audit",
    "account-organizations": "/account/organizations",
    "account-organization": "/account/organizations/acme",
    "account-publish": "/account/publish",
    "account-token": "/account/tokens/new",
    "account-password": "/account/password",
    "account-second-factor": "/account/second-factor",
    "device": "/device",
    "account-close": "/account/close",
    "operate": "/operate",
    "operate-audit": "/operate/audit",
    "operate-accounts": "/operate/accounts",
    "operate-account": "/operate/accounts/ann",
    "operate-invitations": "/operate/invitations",
    "operate-scopes": "/operate/scopes",
    "operate-widgets": "/operate/widgets",
}
ALL_SCENES = (
    *_DEMO_SCENES,
    Scene("operate-reports", "/operate/reports", send_report, is_signed_in=True),
    Scene("account-token-made", "/account/tokens/new", make_token, is_signed_in=True),
    Scene("account-publish-confirm", "/account/publish", send_widget, is_signed_in=True),
    Scene("account-publish-faults", "/account/publish", send_nothing, is_signed_in=True),
    *(Scene(name, address, is_signed_in=True) for name, address in _SIGNED_IN.items()),
    *(Scene(*it)._replace(is_signed_in=True) for room in of_rooms("scenes") for it in room.SCENES),
)

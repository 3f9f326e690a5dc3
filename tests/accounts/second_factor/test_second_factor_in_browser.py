"""Two-factor sign-in in a real Chromium, with a virtual authenticator for the passkeys."""

import contextlib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyotp
import pytest
from playwright.sync_api import Browser, Page, expect

from support.chromium import TIMEOUT_MS, complaints_of
from support.people import PASSWORD
from support.service import Service, free_port
from tool.tool import Tool
from widget_catalog.accounts.create_account import create_account
from widget_catalog.catalog.node.node import prepare_node

pytestmark = pytest.mark.xdist_group("browser")

PHONE, DESKTOP = 390, 1280
HERE = "/account/second-factor"


class Place:
    """A running catalog that is reached by a host name, as passkeys require."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.url = f"http://localhost:{service.port}"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("factor") / "data"
    node = prepare_node(folder)
    for name in ("ann", "bob", "cat", "dan"):
        create_account(node.store, name, f"{name}@example.org", PASSWORD)
    create_account(node.store, "olly", "olly@example.org", PASSWORD, is_operator=True)
    node.store.close()
    port = free_port()
    settings = {
        "base_url": f"http://localhost:{port}",
        "second_factor_required": "operators",
    }
    flags = [it for key, value in settings.items() for it in ("--set", f"{key}={value}")]
    service = Service(folder, *flags, port=port)
    try:
        yield Place(service)
    finally:
        service.kill()


@contextlib.contextmanager
def visiting(
    browser: Browser, *origins: str, has_script: bool = True, is_refused: bool = True
) -> Iterator[Page]:
    """A page without console errors: its policy allows everything it does.

    It sends requests only to these origins. If something is rejected on purpose, the console
    reports it.
    """
    context = browser.new_context(
        viewport={"width": PHONE, "height": 900}, java_script_enabled=has_script
    )
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    complaints = complaints_of(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    known = tuple(f"{it}/" for it in origins)
    assert [it for it in asked if not it.startswith(known)] == []
    # A test that fills in a field before the page is painted is faster than its autofocus.
    harmless = ["Autofocus processing was blocked", *(["status of 4"] if is_refused else [])]
    assert [it for it in complaints if not any(part in it for part in harmless)] == []
    context.close()


def with_authenticator(page: Page) -> str:
    """Add a virtual authenticator to the browser; returns its id."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return str(made["authenticatorId"])


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def give_password(page: Page, place: Place, username: str, path: str = "/sign-in") -> None:
    page.goto(place.url + path)
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Sign in")


def sign_out(page: Page, place: Place) -> None:
    page.goto(f"{place.url}/account")
    press(page, "Sign out")
    page.wait_for_url(f"{place.url}/")


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def saved_codes(page: Page) -> list[str]:
    heading(page, "Save your recovery codes")
    codes = page.locator("pre code").inner_text().split()
    page.get_by_role("link", name="I have saved them").click()
    return codes


def test_a_passkey_is_a_second_factor_and_signs_in_alone(browser: Browser, place: Place) -> None:
    with visiting(browser, place.url, is_refused=False) as page:
        with_authenticator(page)
        give_password(page, place, "ann")
        heading(page, "@ann")
        page.get_by_role("link", name="Set up two-factor sign-in").click()
        page.get_by_role("link", name="Add a passkey").click()
        expect(page.get_by_label("Name")).to_be_focused()
        page.get_by_label("Name").fill("Ann’s phone")
        press(page, "Add a passkey")
        assert len(saved_codes(page)) == 10
        expect(page.locator("li strong")).to_have_text("Ann’s phone")

        # The same authenticator cannot be added twice.
        page.get_by_role("link", name="Add a passkey").click()
        page.get_by_label("Name").fill("The same")
        press(page, "Add a passkey")
        expect(page.get_by_role("alert").filter(has_text="already")).to_be_visible()

        sign_out(page, place)
        give_password(page, place, "ann", "/sign-in?next=/device")
        heading(page, "Two-factor sign-in")
        press(page, "Use a passkey")
        heading(page, "Enter the code")

        sign_out(page, place)
        page.goto(f"{place.url}/sign-in?next=/device")
        page.get_by_role("link", name="Sign in with a passkey").click()
        heading(page, "Enter the code")

        page.goto(f"{place.url}/account/confirm?next={HERE}")
        page.get_by_label("Password").fill(PASSWORD)
        press(page, "Use a passkey")
        heading(page, "Two-factor sign-in")

        # Renamed, and removed again: then the password is enough.
        page.goto(place.url + HERE)
        page.get_by_text("Rename").click()
        page.get_by_label("New name of Ann’s phone").fill("Old phone")
        press(page, "Save")
        press(page, "Remove Old phone")
        expect(page.locator("li strong")).to_have_count(0)
        sign_out(page, place)
        give_password(page, place, "ann")
        heading(page, "@ann")


def test_an_app_works_without_a_script(browser: Browser, place: Place) -> None:
    with visiting(browser, place.url, has_script=False) as page:
        give_password(page, place, "bob")
        heading(page, "@bob")
        page.goto(place.url + HERE)
        page.get_by_role("link", name="Set up an app").click()
        secret = page.locator("#secret").inner_text().replace(" ", "")
        app = pyotp.TOTP(secret)
        press(page, "Set up the app")  # Without a code, the browser itself rejects the form.
        wrong = str((int(app.now()) + 1) % 1_000_000).zfill(6)
        page.get_by_label("Code").fill(wrong)
        press(page, "Set up the app")
        expect(page.get_by_role("alert")).to_contain_text("The code is wrong")
        expect(page.get_by_label("Code")).to_have_attribute("aria-describedby", "faults-code")
        code = app.now()
        page.get_by_label("Code").fill(code)
        press(page, "Set up the app")
        codes = saved_codes(page)
        expect(page.get_by_text("10 of 10 are left.")).to_be_visible()
        sign_out(page, place)

        give_password(page, place, "bob")
        field = page.get_by_label("Code from your authenticator app")
        expect(field).to_be_focused()
        expect(field).to_have_attribute("autocomplete", "one-time-code")
        field.fill(code)  # It was used to set up the app.
        press(page, "Sign in")
        expect(page.get_by_role("alert")).to_contain_text("wrong, or was used before")

        page.get_by_text("Use a recovery code").click()
        page.get_by_label("Recovery code").fill(codes[0])
        press(page, "Sign in with a recovery code")
        heading(page, "@bob")
        page.goto(place.url + HERE)
        expect(page.get_by_text("9 of 10 are left.")).to_be_visible()
        sign_out(page, place)

        give_password(page, place, "bob")
        page.get_by_text("Use a recovery code").click()
        page.get_by_label("Recovery code").fill(codes[0])
        press(page, "Sign in with a recovery code")
        expect(page.get_by_role("alert")).to_contain_text("was used before")


def test_widget_login_is_approved_with_the_factor_in_an_older_session(
    browser: Browser, place: Place, tmp_path: Path
) -> None:
    """On this machine and with a code: the person confirms, and comes back to the same request."""
    contexts = [browser.new_context(java_script_enabled=False) for _ in range(2)]
    pages = []
    for context in contexts:
        context.set_default_timeout(TIMEOUT_MS)
        pages.append(context.new_page())
        give_password(pages[-1], place, "dan")
        heading(pages[-1], "@dan")
    page, other = pages
    with visiting(browser, place.url, has_script=False) as elsewhere:
        give_password(elsewhere, place, "dan")
        heading(elsewhere, "@dan")
        elsewhere.goto(f"{place.url}{HERE}/new-app")
        app = pyotp.TOTP(elsewhere.locator("#secret").inner_text().replace(" ", ""))
        elsewhere.get_by_label("Code").fill(app.now())
        press(elsewhere, "Set up the app")
        codes = saved_codes(elsewhere)
    tool = Tool(tmp_path, place.url)

    with tool.start("login", "--no-browser", "--json") as started:
        page.goto(printed_address(started, "/authorize?"))
        confirm_with(page, codes[0], "sign in a program that acts as you")
        heading(page, "Widget CLI wants to publish as @dan")
        press(page, "Continue")
        page.wait_for_url("http://127.0.0.1:*/**")
        out, err = started.communicate(timeout=60)
    assert started.returncode == 0, err
    assert json.loads(out) == {"catalog": place.url, "username": "dan"}
    assert tool.run("logout").code == 0

    with tool.start("login", "--device", "--json") as started:
        other.goto(printed_address(started, "user_code="))
        confirm_with(other, codes[1], "let a program or device act as you")
        press(other, "Next")
        heading(other, "Widget CLI wants to publish as @dan")
        press(other, "Continue")
        heading(other, "Device signed in")
        out, err = started.communicate(timeout=60)
    assert started.returncode == 0, err
    assert json.loads(out) == {"catalog": place.url, "username": "dan"}
    for context in contexts:
        context.close()


def confirm_with(page: Page, recovery_code: str, purpose: str) -> None:
    heading(page, "Confirm your identity")
    expect(page.get_by_text(f"This is required to {purpose}.")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Code from your authenticator app").fill(recovery_code)
    press(page, "Confirm")


def printed_address(started: subprocess.Popen[str], part: str) -> str:
    """The address with this part that a waiting login prints."""
    assert started.stderr is not None
    for line in started.stderr:
        if found := re.search(rf"http\S*{re.escape(part)}\S*", line):
            return found.group()
    raise AssertionError("No address was printed.")


def test_an_operator_must_set_one_up_first(browser: Browser, place: Place) -> None:
    with visiting(browser, place.url) as page:
        with_authenticator(page)
        give_password(page, place, "olly", "/sign-in?next=/device")
        heading(page, "Two-factor sign-in")
        expect(page.get_by_role("status")).to_contain_text("requires you to have a second factor")
        page.goto(f"{place.url}/account")
        heading(page, "Two-factor sign-in")
        expect(page).to_have_url(f"{place.url}{HERE}?next=%2Faccount")

        page.get_by_role("link", name="Add a passkey").click()
        page.get_by_label("Name").fill("Key")
        press(page, "Add a passkey")
        saved_codes(page)
        heading(page, "@olly")
        page.goto(place.url + HERE)
        press(page, "Remove Key")
        expect(page.get_by_role("alert")).to_contain_text("requires you to have a second factor")


def test_reached_by_another_address_a_page_says_where_passkeys_work(
    browser: Browser, place: Place
) -> None:
    with visiting(browser, place.service.url) as page:
        page.goto(f"{place.service.url}/sign-in/passkey")
        expect(page.get_by_role("alert")).to_have_text(
            f"Passkeys work at {place.url} only. Open this page there."
        )
        expect(page.get_by_role("button", name="Use a passkey")).to_be_disabled()


def test_without_a_script_a_page_says_that_passkeys_need_one(
    browser: Browser, place: Place
) -> None:
    with visiting(browser, place.url, has_script=False) as page:
        page.goto(f"{place.url}/sign-in/passkey")
        expect(page.get_by_text("A passkey needs JavaScript")).to_be_visible()
        expect(page.get_by_role("button", name="Use a passkey")).to_have_count(0)

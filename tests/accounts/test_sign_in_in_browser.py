"""Signing in with a real browser: consent, devices, registration. No script runs."""

import contextlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.oauth.program import BASE, DEVICE_GRANT, authorize_address, code_fields
from accounts.oidc.providers import Provider, running_provider
from support.chromium import TIMEOUT_MS
from support.people import PASSWORD
from support.service import Service, running_service
from widget_catalog.accounts.create_account import OPERATOR, create_account, invite
from widget_catalog.catalog.node.node import prepare_node

PHONE, DESKTOP = 390, 1280


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with running_provider(tmp_path_factory.mktemp("provider")) as made:
        yield made


@pytest.fixture(scope="module")
def first_link(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A new folder, and the link to create its operator's account."""
    folder = tmp_path_factory.mktemp("people") / "data"
    node = prepare_node(folder)
    secret = invite(node.store, OPERATOR)
    create_account(node.store, "ann", "ann@example.org", PASSWORD)
    node.store.close()
    return folder, f"/join?invitation={secret}"


@pytest.fixture(scope="module")
def open_service(first_link: tuple[Path, str], provider: Provider) -> Iterator[Service]:
    settings = {
        "registration": "open",
        "oidc_issuer": provider.url,
        "oidc_client_id": "catalog",
        "oidc_client_secret": "s3cret",
        "oidc_name": "Example",
    }
    flags = [it for key, value in settings.items() for it in ("--set", f"{key}={value}")]
    with running_service(first_link[0], *flags) as service:
        yield service


@contextlib.contextmanager
def visiting(browser: Browser, width: int = DESKTOP) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, java_script_enabled=False
    )
    context.set_default_timeout(TIMEOUT_MS)
    yield context.new_page()
    context.close()


@contextlib.contextmanager
def listening(address: str = "127.0.0.1") -> Iterator[tuple[int, list[str]]]:
    """Like a command-line tool that waits for its user: a port, and what it received."""
    came: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"Welcome back.")

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer((address, 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port, came
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def sign_in(page: Page, username: str = "ann") -> None:
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_program_signs_somebody_in(
    browser: Browser, open_service: Service, width: int, host: str
) -> None:
    with visiting(browser, width) as page, listening() as (port, came):
        callback = f"http://{host}:{port}/callback"
        page.goto(open_service.url + authorize_address(redirect_uri=callback))
        expect(page).to_have_title("Sign in · Widget Catalog")
        sign_in(page)
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "Widget CLI wants to publish as @ann"
        )

        press(page, "Continue")
        page.wait_for_url(f"{callback}?*")

        told = dict(parse_qsl(urlsplit(came[0]).query))
        assert (told["state"], told["iss"]) == ("a state", open_service.url)
        fields = code_fields(told["code"], redirect_uri=callback)
        tokens = httpx.post(f"{open_service.url}{BASE}/token", data=fields, timeout=60).json()
        who = httpx.get(
            f"{open_service.url}{BASE}/userinfo",
            headers={"authorization": f"Bearer {tokens['access_token']}"},
            timeout=60,
        ).json()
        assert who["username"] == "ann"


def test_a_browser_says_of_our_forms_that_they_are_ours_and_of_a_sandboxed_one_that_it_is_not(
    browser: Browser, open_service: Service
) -> None:
    fields = f'<input name="username" value="ann"><input name="password" value="{PASSWORD}">'
    form = f'<form method="post" action="{open_service.url}/sign-in">{fields}'
    trap = f"data:text/html,{quote(f'{form}<button>Win</button></form>')}"
    with visiting(browser) as page:
        page.goto(f"{open_service.url}/sign-in")
        with page.expect_request(lambda it: it.method == "POST") as ours:
            sign_in(page)
        assert ours.value.header_value("origin") == open_service.url
        expect(page).to_have_title("@ann · Widget Catalog")
        with page.expect_request(lambda it: it.method == "POST") as ours:
            page.get_by_role("button", name="Sign out", exact=True).first.click()
        assert ours.value.header_value("origin") == open_service.url
        expect(page).to_have_title("Widget Catalog")

        page.goto(trap)
        with page.expect_response(lambda it: it.request.method == "POST") as foreign:
            press(page, "Win")
        assert foreign.value.request.header_value("origin") == "null"
        assert foreign.value.status == 403
        assert page.context.cookies() == []


def test_cancel_tells_the_program(browser: Browser, open_service: Service) -> None:
    with visiting(browser) as page, listening() as (port, came):
        callback = f"http://127.0.0.1:{port}/callback"
        page.goto(open_service.url + authorize_address(redirect_uri=callback))
        sign_in(page)

        press(page, "Cancel")
        page.wait_for_url(f"{callback}?*")

        assert dict(parse_qsl(urlsplit(came[0]).query))["error"] == "access_denied"


def test_somebody_else_can_agree(browser: Browser, open_service: Service) -> None:
    with visiting(browser) as page:
        page.goto(open_service.url + authorize_address())
        sign_in(page)
        press(page, "Use another account")
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_machine_is_let_in(browser: Browser, open_service: Service) -> None:
    base = f"{open_service.url}{BASE}"
    begun = httpx.post(f"{base}/device", data={"client_id": "widget-cli"}, timeout=60).json()
    with visiting(browser, PHONE) as page:
        page.goto(begun["verification_uri_complete"])
        sign_in(page)
        expect(page.get_by_label("Code")).to_have_value(begun["user_code"])
        press(page, "Next")
        expect(page.get_by_text(begun["user_code"])).to_be_visible()
        press(page, "Continue")
        expect(page.get_by_role("heading", level=1)).to_have_text("Device signed in")

    fields = {"grant_type": DEVICE_GRANT, "client_id": "widget-cli"}
    response = httpx.post(
        f"{base}/token", data={**fields, "device_code": begun["device_code"]}, timeout=60
    )
    assert response.status_code == 200


def test_the_operator_joins_by_the_link(
    browser: Browser, open_service: Service, first_link: tuple[Path, str]
) -> None:
    with visiting(browser, PHONE) as page:
        page.goto(open_service.url + first_link[1])
        page.get_by_label("Username").fill("ann")
        page.get_by_label("E-mail address").fill("olly@example.org")
        page.get_by_label("Password").fill(PASSWORD)
        press(page, "Create account")
        expect(page.get_by_role("alert")).to_have_text("The name ann is taken. Choose another.")
        expect(page.get_by_label("E-mail address")).to_have_value("olly@example.org")
        expect(page.get_by_label("Password")).to_have_value("")

        page.get_by_label("Username").fill("olly")
        page.get_by_label("Password").fill(PASSWORD)
        press(page, "Create account")

        expect(page).to_have_url(f"{open_service.url}/account")
        expect(page.get_by_text("operator of this catalog")).to_be_visible()
        press(page, "Sign out")
        expect(page).to_have_url(f"{open_service.url}/")


def test_somebody_comes_through_the_provider(
    browser: Browser, open_service: Service, provider: Provider
) -> None:
    with visiting(browser) as page:
        page.route(re.compile(r"^https://"), lambda route: route.abort())
        page.goto(f"{open_service.url}/sign-in")
        page.get_by_role("link", name="Sign in with Example").click()
        page.wait_for_url(f"{provider.url}/**")
        page.get_by_role("button", name="1", exact=True).click()

        expect(page).to_have_url(f"{open_service.url}/account")
        expect(page.get_by_role("heading", level=1)).to_have_text("@bob-smith")
        press(page, "Connect Example")
        page.get_by_role("link", name="Continue to Example").click()
        page.get_by_role("button", name="1", exact=True).click()
        expect(page).to_have_url(f"{open_service.url}/account")


@pytest.mark.parametrize("path", ["/sign-in", "/join", "/nothing-here"])
def test_the_pages_fit_their_window(browser: Browser, open_service: Service, path: str) -> None:
    page = browser.new_page()
    page.goto(open_service.url + path)
    for width in (320, PHONE, DESKTOP):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()

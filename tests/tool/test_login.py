"""`widget login`: with a browser on this machine, and with a code elsewhere."""

import base64
import hashlib
import json
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from support.commands import Said
from support.scripted import Scripted, ScriptedServer
from support.service import clean_environment
from support.shadow_modules import write_shadow_module
from tool.tool import Tool
from widget_cli.credentials import Credentials
from widget_cli.errors import ExitCode, ToolError
from widget_cli.loopback import Page, waiting_for_browser
from widget_cli.session import OAuth
from widget_cli.signing_in import sign_in_with_device
from widget_cli.transport import Transport

pytestmark = pytest.mark.slow

TOKEN, DEVICE = "/api/auth/oauth2/token", "/api/auth/oauth2/device"
TOKENS = Scripted(
    body={"access_token": "wco_a", "refresh_token": "wcr_r", "expires_in": 900,
          "token_type": "Bearer", "scope": "openid profile email"}
)  # fmt: skip
USER = Scripted(body={"sub": "1", "name": "Ann", "email": "ann@example.org", "username": "ann"})
CODE = {
    "device_code": "dev-1",
    "user_code": "WDJB-MJHT",
    "verification_uri": "https://catalog.example/device",
    "expires_in": 60,
    "interval": 1,
}


@pytest.fixture
def catalog(server: ScriptedServer) -> ScriptedServer:
    server.on("POST", TOKEN, TOKENS)
    server.on("GET", "/api/auth/oauth2/userinfo", USER)
    return server


def address_in(started: subprocess.Popen[str]) -> dict[str, str]:
    """The parameters of the URL that a waiting login prints."""
    assert started.stderr is not None
    for line in started.stderr:
        if found := re.search(r"(http\S+/authorize\?\S+)", line):
            fields = parse_qs(urlsplit(found.group(1)).query)
            return {name: values[0] for name, values in fields.items()}
    raise AssertionError("No address was printed.")


def test_a_browser_signs_in(tool: Tool, catalog: ScriptedServer) -> None:
    with tool.start("login", "--no-browser", "--json") as started:
        asked = address_in(started)
        response = httpx.get(
            asked["redirect_uri"], params={"code": "c1", "state": asked["state"]}, timeout=60
        )
        out, err = started.communicate(timeout=30)
    assert started.returncode == 0, err
    assert json.loads(out) == {"catalog": catalog.url, "username": "ann"}
    assert response.status_code == 200
    assert "You can close this window and go back to your terminal." in response.text
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/callback", asked["redirect_uri"])
    (sent,) = catalog.of("POST", TOKEN)
    form = sent.form()
    verifier = form.pop("code_verifier")
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
    assert asked["code_challenge"] == digest.rstrip(b"=").decode()
    assert form == {
        "grant_type": "authorization_code",
        "code": "c1",
        "redirect_uri": asked["redirect_uri"],
        "client_id": "widget-cli",
    }
    assert (asked["code_challenge_method"], asked["response_type"]) == ("S256", "code")
    assert asked["scope"] == "openid profile email"
    kept = Credentials(tool.config).find(catalog.url)
    assert kept is not None
    assert (kept.username, kept.access_token, kept.refresh_token) == ("ann", "wco_a", "wcr_r")
    assert stat.S_IMODE((tool.config / "credentials.json").stat().st_mode) == 0o600
    assert "wco_a" not in out + err
    assert "wcr_r" not in out + err


def test_somebody_elses_state_is_turned_away_and_the_wait_goes_on(
    tool: Tool, catalog: ScriptedServer
) -> None:
    with tool.start("login", "--no-browser") as started:
        asked = address_in(started)
        where = asked["redirect_uri"]
        assert (
            httpx.get(where, params={"code": "evil", "state": "x"}, timeout=60).status_code == 400
        )
        assert httpx.get(where, params={"code": "evil"}, timeout=60).status_code == 400
        assert httpx.get(where.replace("/callback", "/favicon.ico"), timeout=60).status_code == 404
        assert started.poll() is None
        httpx.get(where, params={"code": "c1", "state": asked["state"]}, timeout=60)
        started.communicate(timeout=30)
    assert started.returncode == 0
    assert [it.form()["code"] for it in catalog.of("POST", TOKEN)] == ["c1"]


def test_a_refusal_in_the_browser_is_reported(tool: Tool, catalog: ScriptedServer) -> None:
    with tool.start("login", "--no-browser") as started:
        asked = address_in(started)
        told = {"error": "access_denied", "error_description": "The person has not agreed."}
        fields = {**told, "state": asked["state"]}
        page = httpx.get(asked["redirect_uri"], params=fields, timeout=60)
        _, err = started.communicate(timeout=30)
    assert started.returncode == 3
    assert page.status_code == 403
    assert "You are not signed in" in page.text
    assert "You denied the request. Nothing was changed." in page.text
    assert "The person" not in page.text + err
    assert "The sign-in was not completed: you denied it in the browser.\n" in err
    assert f"Try again: widget login {catalog.url}\n" in err
    assert not tool.config.exists()


def test_ctrl_c_ends_the_wait_cleanly(tool: Tool, catalog: ScriptedServer) -> None:
    with tool.start("login", "--no-browser") as started:
        address_in(started)
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=30)
    assert started.returncode == 130
    assert "Traceback" not in err


def test_the_page_loads_nothing_and_takes_no_markup_from_outside() -> None:
    with waiting_for_browser("s") as callback:
        fields = {"error": "x", "error_description": "<b>TITLE</b>", "state": "s"}
        page = httpx.get(callback.redirect_uri, params=fields, timeout=60)
    assert "<p>&lt;b&gt;TITLE&lt;/b&gt; Nothing was changed.</p>" in page.text
    assert not re.search(r"https?://|<script|<link|<img|url\(", page.text)
    style = page.text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert page.headers["content-security-policy"] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"


def test_the_wait_ends_after_the_page_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command may exit right after it, which would cut off the page."""
    written = []

    def write_slowly(page: Page) -> str:
        time.sleep(0.2)
        written.append(page.status)
        return ""

    monkeypatch.setattr(Page, "html", write_slowly)
    with waiting_for_browser("s") as callback, ThreadPoolExecutor() as browser:
        fields = {"error": "access_denied", "state": "s"}
        browser.submit(httpx.get, callback.redirect_uri, params=fields)
        with pytest.raises(ToolError):
            callback.wait(60)
        assert written == [403]


def test_nobody_coming_is_reported() -> None:
    with waiting_for_browser("state") as callback, pytest.raises(ToolError) as caught:
        callback.wait(0.05)
    assert caught.value.exit_code == ExitCode.NOT_SIGNED_IN


def test_a_connection_that_says_nothing_does_not_hold_the_browser_up() -> None:
    """Browsers preconnect."""
    with waiting_for_browser("s") as callback:
        port = urlsplit(callback.redirect_uri).port
        with httpx.Client(timeout=60) as client, socket.create_connection(("127.0.0.1", port)):
            client.get(callback.redirect_uri, params={"code": "c", "state": "s"}, timeout=20)
        assert callback.wait(30) == "c"


def test_a_code_on_another_device_signs_in(tool: Tool, catalog: ScriptedServer) -> None:
    catalog.on("POST", DEVICE, Scripted(body=CODE))
    pending = Scripted(400, {"error": "authorization_pending"})
    catalog.on("POST", TOKEN, pending, TOKENS)
    said = tool.run("login", "--device")
    assert said.code == 0
    assert "  https://catalog.example/device\n  code WDJB-MJHT\n" in said.err
    assert said.err.endswith(f"Signed in to {catalog.url} as ann.\n")
    assert [it.form() for it in catalog.of("POST", TOKEN)] == [
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            "device_code": "dev-1",
            "client_id": "widget-cli",
        }
    ] * 2


@pytest.mark.parametrize("environment", [{}, {"SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}])
def test_where_no_browser_can_open_a_code_signs_in(
    tool: Tool, catalog: ScriptedServer, environment: dict[str, str]
) -> None:
    catalog.on("POST", DEVICE, Scripted(body=CODE))
    said = tool.run("login", environment=environment)
    assert said.code == 0
    assert "  https://catalog.example/device\n  code WDJB-MJHT\n" in said.err


def test_too_many_codes_are_reported_in_words(tool: Tool, catalog: ScriptedServer) -> None:
    body = {"error": "temporarily_unavailable", "error_description": "Too many devices wait."}
    catalog.on("POST", DEVICE, Scripted(429, body, {"Retry-After": "3600"}))
    said = tool.run("login", "--device")
    assert "Too many devices wait." in said.err
    assert "temporarily_unavailable" not in said.err


def poll(server: ScriptedServer, *responses: Scripted, **code: int) -> list[float]:
    """Sign in by code with these responses to the polls; returns the pauses between them."""
    server.on("POST", DEVICE, Scripted(body=CODE | code))
    server.on("POST", TOKEN, *responses)
    pauses: list[float] = []
    with Transport(pause=lambda _: None) as transport:
        oauth = OAuth(transport, server.url, "widget-cli")
        sign_in_with_device(oauth, pauses.append, lambda: sum(pauses))
    return pauses


def test_polling_slows_down_when_asked_to(server: ScriptedServer) -> None:
    slower = Scripted(400, {"error": "slow_down"})
    pending = Scripted(400, {"error": "authorization_pending"})
    assert poll(server, pending, slower, pending, slower, TOKENS) == [1, 1, 6, 6, 11]


def test_no_catalog_makes_it_wait_without_end(server: ScriptedServer) -> None:
    pending = Scripted(400, {"error": "authorization_pending"})
    assert poll(server, pending, TOKENS, interval=10**40, expires_in=10**40) == [60, 60]
    with pytest.raises(ToolError, match="The code expired"):
        poll(server, pending, interval=10**40, expires_in=10**400)


def test_an_response_nested_without_end_is_no_catalogs(server: ScriptedServer) -> None:
    server.on("POST", DEVICE, Scripted(200, b"[" * 100_000))
    with Transport() as transport:
        oauth = OAuth(transport, server.url, "widget-cli")
        with pytest.raises(ToolError, match="does not respond like a Widget Catalog"):
            oauth.device_code()


@pytest.mark.parametrize(
    ("response", "sentence"),
    [
        (Scripted(400, {"error": "access_denied"}), "The sign-in was denied in the browser."),
        (Scripted(400, {"error": "expired_token"}), "The code expired"),
        (Scripted(400, {"error": "authorization_pending"}), "The code expired"),
        (
            Scripted(400, {"error": "invalid_client", "error_description": "Unknown client."}),
            "The catalog did not accept the sign-in: Unknown client.",
        ),
    ],
)
def test_a_code_that_leads_nowhere_is_reported(
    server: ScriptedServer, response: Scripted, sentence: str
) -> None:
    with pytest.raises(ToolError, match=re.escape(sentence)) as caught:
        poll(server, response)
    assert caught.value.exit_code == ExitCode.NOT_SIGNED_IN
    assert caught.value.hint.startswith(f"Try again: widget login {server.url}")


def test_a_tool_that_is_too_old_does_not_sign_in(tool: Tool, catalog: ScriptedServer) -> None:
    versions = {"minSupported": "99.0.0", "latest": "99.0.0"}
    catalog.on("GET", "/api/widgets/cli-version", Scripted(body=versions))
    assert tool.run("login", "--device").code == 8


def test_a_place_that_is_no_catalog_is_reported(tool: Tool, server: ScriptedServer) -> None:
    server.on("GET", "/api/widgets/cli-version", Scripted(404, b"<html>"))
    said = tool.run("login")
    assert said.code == 7
    assert "does not respond like a Widget Catalog" in said.err


def test_who_one_is_and_where_one_may_publish(signed_in: Tool, server: ScriptedServer) -> None:
    scopes = [{"name": "ann", "type": "personal", "displayName": "Ann"}]
    session = {"username": "ann", "email": "ann@example.org", "isOperator": False, "via": "oauth"}
    server.on("GET", "/api/auth/session", Scripted(body=session))
    server.on("GET", "/api/widgets/scopes", Scripted(body={"scopes": scopes}))
    assert signed_in.run("whoami").out == (
        f"ann (ann@example.org) at {server.url}\nsigned in with widget login\ncan publish to ann\n"
    )
    assert signed_in.json("whoami") == {"catalog": server.url, **session, "scopes": scopes}


def test_an_old_sign_in_is_replaced_by_a_new_one(signed_in: Tool, catalog: ScriptedServer) -> None:
    catalog.on("POST", DEVICE, Scripted(body=CODE))
    assert signed_in.run("login", "--device").code == 0
    kept = Credentials(signed_in.config).find(catalog.url)
    assert kept is not None
    assert (kept.access_token, kept.expires_at_s > time.time()) == ("wco_a", True)


def test_a_catalog_without_https_is_signed_in_to_only_if_that_is_wanted(tool: Tool) -> None:
    tool.environment["HTTP_PROXY"] = tool.environment.pop("WIDGET_CATALOG_URL")
    assert tool.run("login", "http://catalog.example") == Said(
        3,
        "",
        "Error: http://catalog.example does not use https: others on the network could read your "
        "sign-in.\n       Use the catalog's https URL. If you trust this network, "
        "pass --insecure.\n",
    )
    assert not tool.config.exists()


def test_opening_a_browser_runs_no_file_of_the_current_folder(tmp_path: Path) -> None:
    created, opened = write_shadow_module(tmp_path, "webbrowser"), tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    code = "from widget_cli.signing_in import open_browser; open_browser('https://x.example')"

    subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path, env=clean_environment({"BROWSER": f"{browser} %s"}), check=True,
    )  # fmt: skip

    deadline = time.monotonic() + 30
    while not (created.exists() or opened.exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (created.exists(), opened.exists()) == (False, True)

"""No token and no sign-in is sent to a catalog without https, unless a person allows it."""

import time

import pytest

from support.commands import Said
from support.scripted import Scripted, ScriptedServer
from tool.tool import Tool
from widget_cli.credentials import Credentials, SignIn

URL = "http://catalog.example"


@pytest.fixture
def far(tool: Tool, server: ScriptedServer) -> Tool:
    """A machine whose catalog is on another one, without https; reached by a proxy."""
    tool.environment = {"WIDGET_CATALOG_URL": URL, "HTTP_PROXY": server.url}
    session = {"username": "ann", "via": "token"}
    server.on("GET", f"{URL}/api/auth/session", Scripted(body=session))
    server.on("GET", f"{URL}/api/widgets/scopes", Scripted(body={"scopes": []}))
    return tool


def test_a_token_is_not_sent_in_the_clear(far: Tool, server: ScriptedServer) -> None:
    far.environment["WIDGET_TOKEN"] = "wct_secret"
    assert far.run("whoami") == Said(
        3,
        "",
        f"Error: {URL} does not use https: others on the network could read WIDGET_TOKEN.\n"
        "       Use the catalog's https URL. If you trust this network, pass --insecure.\n",
    )
    assert server.asked == []
    assert far.run("whoami", "--insecure").code == 0
    assert server.asked[0].headers["authorization"] == "Bearer wct_secret"


@pytest.mark.parametrize("is_agreed", [False, True])
def test_a_sign_in_that_was_kept_is_sent_only_if_it_was_agreed(
    far: Tool, server: ScriptedServer, is_agreed: bool
) -> None:
    sign_in = SignIn(
        username="ann",
        client_id="widget-cli",
        access_token="wco_1",
        refresh_token="wcr_1",
        expires_at_s=int(time.time()) + 3600,
        is_insecure=is_agreed,
    )
    with Credentials(far.config).writing() as writer:
        writer.save(URL, sign_in)
    said = far.run("whoami")
    assert said.code == (0 if is_agreed else 3)
    assert bool(server.asked) is is_agreed
    if not is_agreed:
        assert f"sign in again with: widget login {URL} --insecure" in said.err
        assert far.run("logout").code == 0
        assert server.asked == []


def test_what_everybody_may_see_needs_no_consent(far: Tool, server: ScriptedServer) -> None:
    far.environment["WIDGET_TOKEN"] = "wct_secret"
    page = {"widgets": [], "total": 0, "page": 1, "limit": 20}
    server.on("GET", f"{URL}/api/v1/widgets/search", Scripted(body=page))
    assert far.run("search").code == 0
    assert "authorization" not in server.asked[0].headers

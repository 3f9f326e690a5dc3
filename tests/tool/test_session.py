"""Tokens: which one is sent, when it is refreshed, and that two processes never refresh at once."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.scripted import Scripted, ScriptedServer
from tool.tool import Tool
from widget_cli import VERSION
from widget_cli.credentials import Credentials, SignIn

TOKEN = "/api/auth/oauth2/token"
TOKENS = "/api/tokens"
REFUSED = Scripted(401, {"error": "You are not signed in, or no longer."})
NONE = Scripted(body={"tokens": []})
RENEWED = Scripted(
    body={"access_token": "wco_access-2", "refresh_token": "wcr_refresh-2", "expires_in": 3600,
          "token_type": "Bearer"}
)  # fmt: skip


def bearers(server: ScriptedServer) -> list[str]:
    return [it.headers["authorization"] for it in server.of("GET", TOKENS)]


def kept(tool: Tool, server: ScriptedServer) -> SignIn:
    found = Credentials(tool.config).find(server.url)
    assert found is not None
    return found


def let_it_expire(tool: Tool) -> None:
    file = tool.config / "credentials.json"
    content = json.loads(file.read_text())
    for sign_in in content["catalogs"].values():
        # Too close to its expiry to start a request with it.
        sign_in["expiresAtS"] = int(time.time()) + 10
    file.write_text(json.dumps(content))


def test_a_good_token_is_used_as_it_is(signed_in: Tool, server: ScriptedServer) -> None:
    server.on("GET", TOKENS, NONE)
    assert signed_in.run("tokens", "list").code == 0
    assert bearers(server) == ["Bearer wco_access-1"]
    assert server.of("POST", TOKEN) == []


def test_an_expired_token_is_renewed_before_it_is_used(
    signed_in: Tool, server: ScriptedServer
) -> None:
    let_it_expire(signed_in)
    server.on("POST", TOKEN, RENEWED)
    server.on("GET", TOKENS, NONE)
    assert signed_in.run("tokens", "list").code == 0
    assert bearers(server) == ["Bearer wco_access-2"]
    (asked,) = server.of("POST", TOKEN)
    assert asked.form() == {
        "grant_type": "refresh_token",
        "refresh_token": "wcr_refresh-1",
        "client_id": "widget-cli",
    }
    renewed = kept(signed_in, server)
    assert (renewed.access_token, renewed.refresh_token) == ("wco_access-2", "wcr_refresh-2")
    assert renewed.expires_at_s > time.time() + 3000


def test_a_refused_token_is_renewed_once(signed_in: Tool, server: ScriptedServer) -> None:
    server.on("POST", TOKEN, RENEWED)
    server.on("GET", TOKENS, REFUSED, NONE)
    assert signed_in.run("tokens", "list").code == 0
    assert bearers(server) == ["Bearer wco_access-1", "Bearer wco_access-2"]


def test_a_token_that_stays_refused_is_reported_and_not_tried_for_ever(
    signed_in: Tool, server: ScriptedServer
) -> None:
    server.on("POST", TOKEN, RENEWED)
    server.on("GET", TOKENS, REFUSED)
    said = signed_in.run("tokens", "list")
    assert (said.code, len(bearers(server))) == (3, 2)
    assert said.err == (
        f"Error: Your session at {server.url} has expired.\n"
        f"       Sign in again: widget login {server.url}\n"
    )


def test_a_sign_in_that_cannot_be_renewed_has_ended(
    signed_in: Tool, server: ScriptedServer
) -> None:
    let_it_expire(signed_in)
    server.on("POST", TOKEN, Scripted(400, {"error": "invalid_grant"}))
    said = signed_in.run("tokens", "list")
    assert said.code == 3
    assert "has expired" in said.err


def test_many_processes_renew_once(signed_in: Tool, server: ScriptedServer) -> None:
    """Reusing a refresh token would end the sign-in, so the script has only one."""
    let_it_expire(signed_in)
    ended = Scripted(400, {"error": "invalid_grant"})
    server.on("POST", TOKEN, RENEWED._replace(delay_s=0.5), ended)
    server.on("GET", TOKENS, NONE)
    with ThreadPoolExecutor(6) as pool:
        said = list(pool.map(lambda _: signed_in.run("tokens", "list"), range(6)))
    assert [it.code for it in said] == [0] * 6
    assert len(server.of("POST", TOKEN)) == 1
    assert set(bearers(server)) == {"Bearer wco_access-2"}


def test_a_machines_token_goes_before_the_sign_in(signed_in: Tool, server: ScriptedServer) -> None:
    server.on("GET", TOKENS, NONE)
    machine = {"WIDGET_TOKEN": " wct_machine\n"}
    assert signed_in.run("tokens", "list", environment=machine).code == 0
    assert bearers(server) == ["Bearer wct_machine"]


def test_a_machines_token_that_is_refused_is_not_renewed(
    signed_in: Tool, server: ScriptedServer
) -> None:
    server.on("GET", TOKENS, REFUSED)
    said = signed_in.run("tokens", "list", environment={"WIDGET_TOKEN": "wct_old"})
    assert said.code == 3
    assert "rejected the token in WIDGET_TOKEN" in said.err
    assert "wct_old" not in said.err
    assert server.of("POST", TOKEN) == []


@pytest.mark.parametrize("token", ["wct_a\nX-Evil: 1", "wct_ä", "a b"])
def test_a_machines_token_with_strange_characters_is_never_sent(
    tool: Tool, server: ScriptedServer, token: str
) -> None:
    said = tool.run("tokens", "list", environment={"WIDGET_TOKEN": token})
    assert said.code == 3
    assert server.asked == []
    assert token not in said.err


def test_no_token_goes_along_where_anybody_may_ask(signed_in: Tool, server: ScriptedServer) -> None:
    page = {"widgets": [], "total": 0, "page": 1, "limit": 20}
    server.on("GET", "/api/v1/widgets/search", Scripted(body=page))
    assert signed_in.run("search", "x").code == 0
    assert [it.path for it in server.asked] == [
        "/api/v1/widgets/search",
        "/api/v1/widgets/ann/x",  # Ann's own, if she has one of that name.
    ]
    for asked in server.asked:
        assert "authorization" not in asked.headers
        assert asked.headers["user-agent"] == f"widget-cli/{VERSION}"

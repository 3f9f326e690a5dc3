"""`widget account`: changing the password, and closing the account."""

import json

import pytest

from support.commands import Said
from support.scripted import Scripted, ScriptedServer
from tool.terminal import typed
from tool.tool import Tool
from widget_cli.credentials import Credentials

PASSWORD, CLOSE = "/api/auth/password", "/api/account/close"
SESSION = Scripted(body={"username": "ann", "via": "oauth"})


@pytest.fixture(autouse=True)
def session(server: ScriptedServer) -> None:
    server.on("GET", "/api/auth/session", SESSION)
    for path in (PASSWORD, CLOSE):
        server.on("POST", path, Scripted(body={"success": True}))


def test_a_password_is_changed_and_never_shown(signed_in: Tool, server: ScriptedServer) -> None:
    said = typed(signed_in, "account", "password", lines=["old one", "new one", "new one"])
    assert (said.code, said.out) == (0, "")
    assert f"Change the password of ann at {server.url}." in said.err
    assert f"Sign in again: widget login {server.url}" in said.err
    assert "old one" not in said.err
    assert "new one" not in said.err
    (sent,) = server.of("POST", PASSWORD)
    assert sent.json() == {
        "currentPassword": "old one",
        "newPassword": "new one",
        "keepTokens": False,
    }
    # The catalog has ended this sign-in, too.
    assert Credentials(signed_in.config).find(server.url) is None


def test_tokens_can_be_kept_and_a_script_gets_a_document(
    signed_in: Tool, server: ScriptedServer
) -> None:
    arguments = ("account", "password", "--keep-tokens", "--json")
    said = typed(signed_in, *arguments, lines=["a", "b", "b"])
    assert json.loads(said.out) == {"success": True, "catalog": server.url, "username": "ann"}
    assert server.of("POST", PASSWORD)[0].json()["keepTokens"] is True


def test_passwords_that_differ_change_nothing(signed_in: Tool, server: ScriptedServer) -> None:
    said = typed(signed_in, "account", "password", lines=["a", "b", "c"])
    assert said.code == 2
    assert "The new passwords do not match." in said.err
    assert server.of("POST", PASSWORD) == []


def test_a_wrong_password_changes_nothing(signed_in: Tool, server: ScriptedServer) -> None:
    wrong = Scripted(403, {"error": "The current password is wrong."})
    server.on("POST", PASSWORD, wrong)
    said = typed(signed_in, "account", "password", lines=["a", "b", "b"])
    assert said.code == 4
    assert said.err.endswith(
        "Error: The current password is wrong.\n       Nothing was changed. Try again.\n"
    )
    assert Credentials(signed_in.config).find(server.url) is not None


def test_an_account_is_closed_by_typing_its_name_and_password(
    signed_in: Tool, server: ScriptedServer
) -> None:
    said = typed(signed_in, "account", "close", lines=["ann", "secret"])
    assert said.code == 0, said
    for told in (
        f"This closes the account ann at {server.url}. This cannot be undone:\n",
        "  - its widgets are unlisted; dashboards that use them keep working\n",
        "The account ann is closed.\n",
    ):
        assert told in said.err
    assert "secret" not in said.err
    assert server.of("POST", CLOSE)[0].json() == {"password": "secret"}
    assert Credentials(signed_in.config).find(server.url) is None


def test_another_name_closes_nothing(signed_in: Tool, server: ScriptedServer) -> None:
    said = typed(signed_in, "account", "close", lines=["bob"])
    assert said.code == 1
    assert said.err.endswith("Nothing was changed.\n")
    assert server.of("POST", CLOSE) == []


@pytest.mark.parametrize("command", ["password", "close"])
def test_a_token_and_a_script_cannot_change_an_account(
    signed_in: Tool, server: ScriptedServer, command: str
) -> None:
    said = signed_in.run("account", command)
    assert said.code == 2
    assert said.err.endswith("Error: This command asks for input: run it in a terminal.\n")
    signed_in.environment["WIDGET_TOKEN"] = "wct_x"
    assert signed_in.run("account", command) == Said(
        4,
        "",
        "Error: WIDGET_TOKEN is set, and an access token cannot change an account.\n"
        "       Unset WIDGET_TOKEN and sign in: widget login\n",
    )
    assert [it.method for it in server.asked].count("POST") == 0

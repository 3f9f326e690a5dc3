"""Managing published widgets, tokens and organizations: requests and output."""

import json
from typing import Any

import pytest

from support.commands import Said
from support.scripted import Scripted, ScriptedServer
from tool.tool import Tool

DONE = Scripted(body={"success": True})
VERSION = "/api/widgets/ann/clock/versions/1.0.0"
DEVICE, OAUTH = "/api/tokens/device", "/api/auth/oauth2/token"
REQUESTED = {
    "device_code": "dev-1",
    "user_code": "BCDF-GHJK",
    "verification_uri": "https://catalog.example/device",
    "verification_uri_complete": "https://catalog.example/device?user_code=BCDF-GHJK",
    "expires_in": 2,
    "interval": 1,
}
MADE = Scripted(body={"access_token": "wct_new", "details": {"id": "t1", "name": "ci"}})
PENDING = Scripted(400, {"error": "authorization_pending"})


@pytest.mark.parametrize(
    ("arguments", "path", "body", "sentence"),
    [
        (
            ("yank", "ann/clock", "1.0.0", "--reason", "Broken."),
            f"{VERSION}/yank",
            {"reason": "Broken."},
            "ann/clock 1.0.0 is yanked.",
        ),
        (
            ("unyank", "ann/clock", "1.0.0"),
            f"{VERSION}/unyank",
            {},
            "ann/clock 1.0.0 is offered again.",
        ),
        (
            ("deprecate", "@ann/clock", "1.0.0", "-m", "Use 2.0.0."),
            f"{VERSION}/deprecate",
            {"message": "Use 2.0.0."},
            "ann/clock 1.0.0 is deprecated.",
        ),
        (
            ("undeprecate", "ann/clock", "1.0.0"),
            f"{VERSION}/undeprecate",
            {},
            "ann/clock 1.0.0 is no longer deprecated.",
        ),
        (
            ("unlist", "ann/clock", "--reason", "Old."),
            "/api/widgets/ann/clock/unlist",
            {"reason": "Old."},
            "ann/clock is no longer listed.",
        ),
        (("list", "ann/clock"), "/api/widgets/ann/clock/list", {}, "ann/clock is listed."),
    ],
)
def test_a_change_is_sent_and_said(
    signed_in: Tool,
    server: ScriptedServer,
    arguments: tuple[str, ...],
    path: str,
    body: dict[str, Any],
    sentence: str,
) -> None:
    server.on("POST", path, Scripted(503, {"error": "Just now not."}), DONE)
    assert signed_in.run(*arguments) == Said(0, "", f"{sentence}\n")
    assert [it.json() for it in server.of("POST", path)] == [body, body]
    assert signed_in.json(*arguments)["action"] == arguments[0]


def test_build_metadata_of_a_version_survives_the_way(
    signed_in: Tool, server: ScriptedServer
) -> None:
    server.on("POST", "/api/widgets/ann/clock/versions/1.0.0%2Bb/unyank", DONE)
    assert signed_in.run("unyank", "ann/clock", "1.0.0+b").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("yank", "clock", "1.0.0", "--reason", "x"),
        ("yank", "ann/clock", "one", "--reason", "x"),
        ("yank", "ann/clock", "1.0.0"),
        ("unyank", "ann/../x", "1.0.0"),
        ("tokens", "create"),
        ("org", "invite", "acme"),
        ("org", "invite", "bob@example.org"),
        ("org", "invite", "acme", "bob", "--email", "bob@example.org"),
        ("org", "role", "acme", "bob", "king"),
        ("org", "members", "acme"),
        ("org", "members", "acme", "secret"),
        ("org", "leave", "acme"),
    ],
)
def test_wrong_usage_is_reported_and_nothing_is_sent(
    signed_in: Tool, server: ScriptedServer, arguments: tuple[str, ...]
) -> None:
    said = signed_in.run(*arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err
    assert server.asked == []


def test_a_scope_that_is_not_yours_is_reported(signed_in: Tool, server: ScriptedServer) -> None:
    server.on("POST", "/api/widgets/ann/clock/unlist", Scripted(403, {"error": "Not yours."}))
    said = signed_in.run("unlist", "ann/clock")
    assert said.code == 4
    assert said.err.startswith("Error: Not yours.\n       Sign in with an account that")


def test_what_stands_in_the_way_is_reported_by_the_catalog_and_the_way_out_not_twice(
    signed_in: Tool, server: ScriptedServer
) -> None:
    sentence = "ann is the last owner of acme. Make somebody else an owner first."
    server.on("GET", "/api/auth/session", Scripted(body={"username": "ann"}))
    server.on("DELETE", "/api/organizations/acme/members/ann", Scripted(409, {"error": sentence}))
    said = signed_in.run("org", "leave", "acme", "--yes")
    assert said == Said(6, "", f"Error: {sentence}\n       Nothing was changed.\n")


def test_a_new_token_goes_to_standard_output_alone(signed_in: Tool, server: ScriptedServer) -> None:
    server.on("POST", DEVICE, Scripted(body=REQUESTED))
    server.on("POST", OAUTH, MADE)
    said = signed_in.run("tokens", "create", "ci", "--widget", "@ann/clock", "--action", "publish",
                         "--action", "yank", "--days", "30")  # fmt: skip
    assert (said.code, said.out) == (0, "wct_new\n")
    assert "wct_new" not in said.err
    (asked,) = server.of("POST", DEVICE)
    assert asked.json() == {
        "name": "ci",
        "actions": ["publish", "yank"],
        "scopes": [],
        "widgets": ["ann/clock"],
        "expiresInDays": 30,
    }


def test_a_token_for_somebody_elses_scope_is_refused_before_it_is_made(
    signed_in: Tool, server: ScriptedServer
) -> None:
    scopes = [{"name": it, "type": "organization"} for it in ("ann", "acme")]
    server.on("GET", "/api/widgets/scopes", Scripted(body={"scopes": scopes}))
    said = signed_in.run("tokens", "create", "ci", "--scope", "@acme", "--scope", "bob")
    assert said == Said(
        4,
        "",
        "Error: You may not publish to the scope bob.\n"
        "       Choose one of your scopes (ann, acme), or ask an owner of bob.\n",
    )
    assert server.of("POST", DEVICE) == []
    server.on("POST", DEVICE, Scripted(body=REQUESTED))
    server.on("POST", OAUTH, MADE)
    assert signed_in.run("tokens", "create", "ci", "--scope", "@acme").code == 0
    assert server.of("POST", DEVICE)[0].json()["scopes"] == ["acme"]


@pytest.mark.parametrize("limit", [("--scope", ""), ("--scope", "@"), ("--widget", "clock")])
def test_a_limit_that_is_no_place_is_wrong_usage(
    signed_in: Tool, server: ScriptedServer, limit: tuple[str, str]
) -> None:
    said = signed_in.run("tokens", "create", "ci", *limit)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Error: '")
    assert " is not a " in said.err
    assert server.of("POST", DEVICE) == []


def test_a_token_is_made_when_it_was_confirmed_in_a_browser(
    signed_in: Tool, server: ScriptedServer
) -> None:
    server.on("POST", DEVICE, Scripted(body=REQUESTED | {"expires_in": 60}))
    server.on("POST", OAUTH, PENDING, MADE)

    said = signed_in.run("tokens", "create", "ci", "--json")

    assert (said.code, json.loads(said.out)) == (0, {"id": "t1", "name": "ci", "token": "wct_new"})
    assert said.err == (
        "Confirm the token in any browser. It must show the same code:\n\n"
        "  https://catalog.example/device?user_code=BCDF-GHJK\n"
        "  code BCDF-GHJK\n\n"
        "Waiting for confirmation … Press Ctrl-C to cancel.\n"
    )
    assert [it.form()["device_code"] for it in server.of("POST", OAUTH)] == ["dev-1"] * 2


@pytest.mark.parametrize(
    ("response", "told"),
    [
        (Scripted(400, {"error": "access_denied"}), "The token was refused in the browser."),
        (PENDING, "The code expired before the token was confirmed."),
    ],
)
def test_a_token_that_is_not_confirmed_is_not_made(
    signed_in: Tool, server: ScriptedServer, response: Scripted, told: str
) -> None:
    server.on("POST", DEVICE, Scripted(body=REQUESTED))
    server.on("POST", OAUTH, response)

    said = signed_in.run("tokens", "create", "ci")

    assert (said.code, said.out) == (4, "")
    assert said.err.endswith(
        f"Error: {told}\n       No token was created. Try again: widget tokens create\n"
    )


def test_a_note_about_an_invitation_is_shown(signed_in: Tool, server: ScriptedServer) -> None:
    made = {"id": "i1", "link": "https://x/invitation", "note": "Registration is closed."}
    server.on("POST", "/api/organizations/acme/invitations", Scripted(201, made))

    said = signed_in.run("org", "invite", "acme", "bob@example.org")

    assert said.out == "https://x/invitation\n"
    assert said.err.endswith("Note: Registration is closed.\n")


@pytest.mark.parametrize(("days", "told"), [("1", "1 day;"), ("30", "30 days;")])
def test_the_lifetime_of_a_token_is_reported(
    signed_in: Tool, server: ScriptedServer, days: str, told: str
) -> None:
    server.on("POST", DEVICE, Scripted(body=REQUESTED))
    server.on("POST", OAUTH, MADE)
    said = signed_in.run("tokens", "create", "ci", "--days", days)
    assert said.err.endswith(
        f"Store this token; it is shown only once. Valid for {told} use it as WIDGET_TOKEN:\n"
    )


def test_tokens_are_listed_without_secrets_and_revoked(
    signed_in: Tool, server: ScriptedServer
) -> None:
    token = {"id": "t1", "name": "ci", "actions": ["publish"], "scopes": [], "widgets": ["a/b"],
             "createdAt": "2026-01-31T09:05:00.000Z", "expiresAt": "2026-04-30T09:05:00.000Z",
             "lastUsedAt": None}  # fmt: skip
    server.on("GET", "/api/tokens", Scripted(body={"tokens": [token]}))
    assert signed_in.run("tokens", "list").out == "t1\tci\tnever\t2026-04-30\tpublish in a/b\n"
    server.on("DELETE", "/api/tokens/t1", DONE)
    assert signed_in.run("tokens", "revoke", "t1").code == 0
    assert len(server.of("DELETE", "/api/tokens/t1")) == 1


INVITATION = {
    "id": "i1",
    "organization": "acme",
    "username": None,
    "email": "b@example.org",
    "role": "member",
    "invitedBy": "ann",
    "expiresAt": "2026-02-14T09:05:00.000Z",
}


@pytest.mark.parametrize(
    ("arguments", "method", "path", "body"),
    [
        ("create acme --display-name Acme", "POST", "", {"slug": "acme", "displayName": "Acme"}),
        ("invite acme bob", "POST", "/acme/invitations", {"username": "bob", "role": "admin"}),
        ("invite acme @bob", "POST", "/acme/invitations", {"username": "bob", "role": "admin"}),
        (
            "invite acme b@x.org",
            "POST",
            "/acme/invitations",
            {"email": "b@x.org", "role": "admin"},
        ),
        ("uninvite acme i1", "DELETE", "/acme/invitations/i1", None),
        ("role acme bob admin", "PUT", "/acme/members/bob", {"role": "admin"}),
        ("members acme public", "PUT", "/acme/settings", {"membersPublic": True}),
        ("members acme private", "PUT", "/acme/settings", {"membersPublic": False}),
        ("remove acme bob --yes", "DELETE", "/acme/members/bob", None),
        ("leave acme --yes", "DELETE", "/acme/members/ann", None),
        ("transfer acme bob --yes", "POST", "/acme/transfer", {"username": "bob"}),
    ],
)
def test_organizations_are_looked_after(
    signed_in: Tool, server: ScriptedServer, arguments: str, method: str, path: str, body: Any
) -> None:
    server.on("GET", "/api/auth/session", Scripted(body={"username": "ann"}))
    server.on(method, f"/api/organizations{path}", DONE)
    assert signed_in.run("org", *arguments.split()).code == 0
    (asked,) = server.of(method, f"/api/organizations{path}")
    assert (asked.json() if asked.body else None) == body
    assert signed_in.json("org", *arguments.split())["success"] is True


def test_organizations_and_members_are_shown(signed_in: Tool, server: ScriptedServer) -> None:
    about = {"slug": "acme", "displayName": "Acme", "role": "owner"}
    members = [{"username": "ann", "role": "owner", "since": "2026-01-31T09:05:00.000Z"}]
    server.on("GET", "/api/organizations", Scripted(body={"organizations": [about]}))
    server.on("GET", "/api/organizations/acme", Scripted(body={**about, "members": members}))
    assert signed_in.run("org", "list").out == "acme\towner\tAcme\n"
    assert signed_in.run("org", "show", "acme").out == "acme  Acme\nann\towner\t2026-01-31\n"


def test_invitations_are_shown_accepted_and_declined(
    signed_in: Tool, server: ScriptedServer
) -> None:
    server.on("GET", "/api/invitations", Scripted(body={"invitations": [INVITATION]}))
    server.on("POST", "/api/invitations/i1/accept", DONE)
    server.on("POST", "/api/invitations/i1/decline", DONE)
    shown = "i1\tacme\tb@example.org\tmember\tann\t2026-02-14\n"
    assert signed_in.run("org", "invitations").out == shown
    assert signed_in.run("org", "accept", "i1", "--secret", "s").code == 0
    assert signed_in.run("org", "decline", "i1").code == 0
    (accepted,) = server.of("POST", "/api/invitations/i1/accept")
    assert accepted.json() == {"secret": "s"}


def test_the_link_of_an_invitation_by_mail_goes_to_standard_output(
    signed_in: Tool, server: ScriptedServer
) -> None:
    link = "https://catalog.example/invitations/i1?secret=s"
    made = {**INVITATION, "link": link}
    server.on("POST", "/api/organizations/acme/invitations", Scripted(201, made))
    said = signed_in.run("org", "invite", "acme", "--email", "b@example.org")
    assert (said.code, said.out) == (0, f"{link}\n")
    assert json.loads(server.asked[-1].body) == {"email": "b@example.org", "role": "admin"}

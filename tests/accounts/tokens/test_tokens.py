"""Access tokens for machines: created, shown once, limited, revoked."""

from typing import Any

from support.people import Person, signed_in, with_oauth, with_token
from support.site_with_people import People
from widget_catalog.accounts.store import get_account
from widget_catalog.accounts.tokens.issue_token import issue_token
from widget_catalog.accounts.tokens.store import WantedToken
from widget_catalog.core.actors import Actor, Limits, Right, Via, Visitor
from widget_catalog.core.clock import iso

TOKENS = "/api/tokens"
UNKNOWN = {"error": "This token is unknown, expired or revoked. Sign in again."}


def a_token(**more: Any) -> dict[str, Any]:
    return {"name": "a machine", "actions": ["publish"], **more}


def test_a_token_is_shown_once_with_its_secret(people: People) -> None:
    body = a_token(
        name=" a machine ",
        actions=["list", "publish", "list"],
        scopes=["acme"],
        widgets=["@ann/clock", "ann/other"],
        expiresInDays=1,
    )
    response = people.ann.post(TOKENS, body)

    made = response.json()
    secret = made.pop("token")
    assert (response.status, made) == (
        201,
        {
            "id": made["id"],
            "name": "a machine",
            "actions": ["publish", "list"],
            "scopes": ["acme"],
            "widgets": ["ann/clock", "ann/other"],
            "createdAt": iso(people.clock.at),
            "expiresAt": made["expiresAt"],
            "lastUsedAt": None,
        },
    )
    assert secret.startswith("wct_")
    listed = people.ann.get(TOKENS)
    assert listed.json() == {"tokens": [made]}
    assert secret.encode() not in listed.body
    assert people.eve.get(TOKENS).json() == {"tokens": []}


def test_a_token_lasts_as_long_as_was_said_and_ninety_days_otherwise(people: People) -> None:
    short, usual = with_token(people.ann, expiresInDays=1), with_token(people.ann)
    people.clock.forward(hours=23, minutes=59)
    assert short.get("/api/widgets/scopes").status == 200
    people.clock.forward(minutes=1)

    over = short.get("/api/widgets/scopes")
    assert (over.status, over.json()) == (401, UNKNOWN)
    people.clock.forward(days=88, hours=23)
    assert usual.get("/api/widgets/scopes").status == 200
    people.clock.forward(hours=1)
    assert usual.get("/api/widgets/scopes").status == 401


def test_anyone_who_signed_in_long_ago_makes_no_token(people: People) -> None:
    """A session that was left open, or stolen, does not become a token that lasts for a year."""
    people.clock.forward(minutes=10)

    response = people.ann.post(TOKENS, a_token())

    assert (response.status, response.json()) == (
        403,
        {"error": "Confirm at /account/confirm that it is you, then try again."},
    )
    assert people.ann.get(TOKENS).json() == {"tokens": []}
    with_token(signed_in(people.site, "ann"))


def test_an_account_has_a_hundred_tokens_at_most(people: People) -> None:
    store = people.site.node.store
    limits = Limits(rights=(Right.PUBLISH,))
    with store.reading() as connection:
        ann = Visitor(Actor(via=Via.SESSION, account=get_account(connection, "ann")))
    for i in range(99):
        issue_token(store, ann, WantedToken(f"{i}", limits, days=1))
    last = people.ann.post(TOKENS, a_token())
    assert last.status == 201

    response = people.ann.post(TOKENS, a_token())

    assert (response.status, response.headers["retry-after"]) == (429, "60")
    assert response.json() == {
        "error": "You have 100 access tokens, which is the limit. Revoke one first."
    }
    assert people.ann.delete(f"{TOKENS}/{last.json()['id']}").status == 200
    assert people.ann.post(TOKENS, a_token()).status == 201


def test_tokens_that_are_over_are_not_listed(people: People) -> None:
    with_token(people.eve, expiresInDays=1, name="short")
    with_token(people.eve, expiresInDays=3, name="long")
    people.clock.forward(days=2)

    assert [it["name"] for it in people.eve.get(TOKENS).json()["tokens"]] == ["long"]


def test_a_revoked_token_opens_nothing_at_once(people: People) -> None:
    made = people.ann.post(TOKENS, a_token()).json()
    machine = Person(people.site, "ann", {"authorization": f"Bearer {made['token']}"})
    assert machine.get("/api/widgets/scopes").status == 200
    foreign = people.eve.delete(f"{TOKENS}/{made['id']}")
    assert (foreign.status, foreign.json()) == (404, {"error": "There is no such token."})
    assert machine.get("/api/widgets/scopes").status == 200

    revoked = people.ann.delete(f"{TOKENS}/{made['id']}")

    assert (revoked.status, revoked.json()) == (200, {"success": True})
    assert machine.get("/api/widgets/scopes").status == 401
    assert people.ann.delete(f"{TOKENS}/{made['id']}").status == 404
    entries = people.olly.get("/api/audit?limit=2").json()["entries"]
    assert [(it["action"], it["details"]) for it in entries] == [
        ("revoke token", {"id": made["id"]}),
        ("create token", {"token": "a machine", "id": made["id"]}),
    ]


def test_when_a_token_was_used_is_reported_within_minutes(people: People) -> None:
    machine = with_token(people.eve)
    used = people.clock.at
    machine.get("/api/widgets/scopes")
    people.clock.forward(minutes=4)
    machine.get("/api/widgets/scopes")
    (token,) = people.eve.get(TOKENS).json()["tokens"]
    assert token["lastUsedAt"] == iso(used)
    people.clock.forward(minutes=1)
    machine.get("/api/widgets/scopes")

    (token,) = people.eve.get(TOKENS).json()["tokens"]
    assert token["lastUsedAt"] == iso(people.clock.at)


def test_what_cannot_be_a_token_is_refused(shared_people: People) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"name": " "}, "name: must not be empty."),
        ({"name": "x" * 101}, "name: is too long: 101 characters, and at most 100 are taken."),
        ({"name": "dep\u200bloy"}, "name: contains the character U+200B; "),
        ({"actions": []}, "actions: must be some of publish, yank, deprecate, list."),
        ({"actions": ["own"]}, "actions: must be some of publish, yank, deprecate, list."),
        ({"actions": ["publish", "view"]}, "actions: must be some of publish, yank, "),
        ({"expiresInDays": 0}, "expiresInDays: must be a whole number from 1 to 366."),
        ({"expiresInDays": 367}, "expiresInDays: must be a whole number from 1 to 366."),
        ({"expiresInDays": -(10**18)}, "expiresInDays: must be a whole number from 1 to 366."),
        ({"expiresInDays": 1.5}, "expiresInDays: must be a whole number."),
        ({"expiresInDays": True}, "expiresInDays: must be a whole number."),
        ({"scopes": ["No"]}, "scopes: 'No' is not a scope: use 1 to 64 lowercase letters"),
        ({"scopes": [None]}, "scopes: must be a list of texts."),
        ({"scopes": "acme"}, "scopes: must be a list of texts."),
        ({"scopes": None}, "scopes: must be a list of texts."),
        ({"name": 7}, "name: must be a text."),
        (
            {"widgets": ["x"]},
            "widgets: 'x' is not a widget: write scope and name, such as ann/clock.",
        ),
        ({"widgets": ["x/"]}, "widgets: '' is not a widget name: use 1 to 64 lowercase letters"),
        ({"widgets": ["ann/a/b"]}, "widgets: 'a/b' is not a widget name: use 1 to 64 lowercase"),
        ({"scopes": ["a"] * 60, "widgets": ["a/b"] * 41}, "scopes: at most 100 scopes and widgets"),
    ]
    for change, sentence in cases:
        response = shared_people.ann.post(TOKENS, a_token(**change))

        assert response.status == 400
        assert response.json()["error"].startswith(sentence)


def test_all_errors_are_reported_at_once(shared_people: People) -> None:
    body = {"name": "", "actions": [], "scopes": ["A", "B"], "widgets": ["C/d"], "expiresInDays": 0}

    told = shared_people.ann.post(TOKENS, body).json()["error"]

    for part in ("name: ", "actions: ", "expiresInDays: ", "scopes: 'A' is", "scopes: 'B' is",
                 "widgets: 'C' is"):  # fmt: skip
        assert part in told


def test_a_token_makes_and_sees_no_tokens_organizations_or_invitations(people: People) -> None:
    machine = with_token(people.ann, actions=["publish", "yank", "deprecate", "list"])

    for method, path, body in [
        ("POST", TOKENS, a_token()),
        ("GET", TOKENS, None),
        ("GET", "/api/auth/sessions", None),
        ("GET", "/api/organizations", None),
        ("GET", "/api/organizations/acme", None),
        ("POST", "/api/organizations", {"slug": "new", "displayName": "New"}),
        ("GET", "/api/invitations", None),
    ]:
        response = machine.send(method, path, body)
        assert (response.status, response.json()) == (
            403,
            {"error": "An access token cannot do this; sign in as a person."},
        )


def test_a_token_does_not_read_the_e_mail_address_of_its_person(people: People) -> None:
    machine = with_token(people.ann, widgets=["ann/clock"])
    person = with_oauth(people.ann)

    for path in ("/api/auth/session", "/api/auth/oauth2/userinfo"):
        assert b"@" not in machine.get(path).body
        assert machine.get(path).json()["email"] is None
        assert person.get(path).json()["email"] == "ann@example.org"


def test_scopes_to_publish_in_are_those_the_token_is_for(people: People) -> None:
    def names(**limits: Any) -> list[str]:
        machine = with_token(people.ann, **limits)
        return [it["name"] for it in machine.get("/api/widgets/scopes").json()["scopes"]]

    assert names() == ["ann", "acme"]
    assert names(scopes=["acme"]) == ["acme"]
    assert names(widgets=["ann/clock"]) == ["ann"]
    assert names(actions=["yank"]) == []


def test_a_token_for_a_place_of_somebody_else_is_refused(people: People) -> None:
    def made(person: Person, path: str = TOKENS, **limits: Any) -> tuple[int, str | None]:
        response = person.post(path, a_token(**limits))
        return response.status, response.json().get("error")

    foreign = made(people.ann, scopes=["acme", "eve"], widgets=["nobody/clock", "ann/new"])
    assert foreign == (
        400, "scopes: you cannot publish to eve. widgets: you cannot publish to nobody/clock."
    )  # fmt: skip
    by_program = made(with_oauth(people.ann), f"{TOKENS}/device", widgets=["eve/clock"])
    assert by_program == (400, "widgets: you cannot publish to eve/clock.")
    assert made(people.ann, widgets=["ann/not-yet"]) == (201, None)
    assert made(people.olly, scopes=["eve"]) == (201, None)


def test_a_token_for_a_scope_that_its_account_loses_is_for_none(people: People) -> None:
    machine = with_token(people.abe, scopes=["acme"])
    people.ann.delete("/api/organizations/acme/members/abe")

    assert machine.get("/api/widgets/scopes").json() == {"scopes": []}


def test_a_token_loses_what_its_account_loses(people: People) -> None:
    machine = with_token(people.abe)
    assert machine.request("acme/new").status == 200
    people.ann.put("/api/organizations/acme/members/abe", {"role": "member"})

    refused = machine.request("acme/newer")

    assert (refused.status, refused.json()) == (
        403,
        {
            "error": "You may not publish to the scope acme.",
        },
    )
    people.ann.delete("/api/organizations/acme/members/abe")
    assert machine.get("/api/widgets/acme/clock").status == 403


def test_a_token_says_what_it_may_do(people: People) -> None:
    machine = with_token(people.ann, widgets=["ann/clock"])

    refused = machine.request("ann/weather")

    error = "The access token does not allow this. It may only publish in ann/clock."
    assert (refused.status, refused.json()) == (403, {"error": error})
    assert machine.get("/api/auth/session").json()["token"] == {
        "actions": ["publish"],
        "scopes": [],
        "widgets": ["ann/clock"],
    }
    assert "token" not in people.ann.get("/api/auth/session").json()


def test_a_token_for_one_widget_publishes_that_one(people: People) -> None:
    machine = with_token(people.ann, widgets=["ann/clock"])

    assert machine.publish("ann/clock", "2.0.0").status == 200
    for key in ("ann/clocks", "ann/cloc", "acme/clock"):
        assert machine.request(key, "2.0.0").status == 403
    entry = people.ann.get("/api/widgets/ann/clock/audit").json()["entries"][0]
    assert (entry["actor"], entry["via"], entry["action"]) == ("ann", "token", "publish")


def test_an_oauth_token_that_is_over_opens_nothing(people: People) -> None:
    access = with_oauth(people.ann, lifetime_s=60)
    assert access.get("/api/auth/session").status == 200
    people.clock.forward(seconds=60)

    over = access.get("/api/auth/session")
    assert (over.status, over.json()) == (401, UNKNOWN)

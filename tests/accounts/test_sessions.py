"""Sessions: what they allow, how long they last, and what ends them."""

from datetime import timedelta
from pathlib import Path

import pytest

from accounts.oauth.program import ask, refresh_fields, sign_in_program
from accounts.signing_in import is_in, secret_of
from support.browsing import Browsing
from support.people import PASSWORD, Person, nobody, signed_in, with_oauth, with_token
from support.site import Reply
from support.site_with_people import BuiltPeople, People
from widget_catalog.core.clock import iso

GATE = {"error": "This address is for signed-in people only."}
_DAY = timedelta(days=1)


def test_the_store_holds_no_secret_but_only_hashes(people: People) -> None:
    token = with_token(people.ann)
    database = people.site.node.folder.database.read_bytes()
    database += Path(f"{people.site.node.folder.database}-wal").read_bytes()

    for secret in (secret_of(people.ann), token.headers["authorization"][7:], PASSWORD):
        assert secret.encode() not in database


def test_a_session_ends_when_it_is_not_used(people: People) -> None:
    people.clock.forward(days=13, hours=23)
    assert is_in(people.ann)  # This counts as a use.
    people.clock.forward(days=13, hours=23)
    assert is_in(people.ann)
    assert not is_in(people.eve)
    people.clock.forward(days=14)
    assert not is_in(people.ann)
    assert people.ann.get("/api/auth/session").json() == GATE


def test_a_session_ends_after_ninety_days_however_much_it_is_used(people: People) -> None:
    ann = signed_in(people.site, "ann")
    for _ in range(8):
        people.clock.forward(days=11)
        assert is_in(ann)
    people.clock.forward(days=1, hours=23)
    assert is_in(ann)
    people.clock.forward(hours=1)
    assert not is_in(ann)


def test_sessions_are_listed_and_can_be_ended_one_by_one(people: People) -> None:
    ann = people.ann
    people.clock.forward(hours=1)
    other = signed_in(people.site, "ann")

    sessions = ann.get("/api/auth/sessions").json()["sessions"]

    assert [it["isCurrent"] for it in sessions] == [True, False]
    assert sessions[1] == {
        "id": sessions[1]["id"],
        "createdAt": iso(people.clock.at),
        "lastSeenAt": iso(people.clock.at),
        "expiresAt": iso(people.clock.at + 90 * _DAY),
        "isCurrent": False,
    }
    foreign = people.eve.delete(f"/api/auth/sessions/{sessions[1]['id']}")
    assert (foreign.status, foreign.json()) == (404, {"error": "There is no such session."})
    assert is_in(other)
    ended = ann.delete(f"/api/auth/sessions/{sessions[1]['id']}")
    assert (ended.status, ended.json()) == (200, {"success": True})
    assert (is_in(other), is_in(ann)) == (False, True)
    assert len(ann.get("/api/auth/sessions").json()["sessions"]) == 1


def test_the_session_that_asks_is_listed_first_then_the_newest(people: People) -> None:
    at = [people.clock.at]
    signed = []
    for _ in range(3):
        people.clock.forward(hours=1)
        at.append(people.clock.at)
        signed.append(signed_in(people.site, "ann"))

    sessions = signed[1].get("/api/auth/sessions").json()["sessions"]

    assert [it["isCurrent"] for it in sessions] == [True, False, False, False]
    assert [it["createdAt"] for it in sessions[:3]] == [iso(at[i]) for i in (2, 3, 1)]


def test_sessions_that_are_over_are_not_listed(people: People) -> None:
    ann = signed_in(people.site, "ann")
    people.clock.forward(days=13)
    assert is_in(ann)
    people.clock.forward(days=2)

    sessions = ann.get("/api/auth/sessions").json()["sessions"]

    assert [it["isCurrent"] for it in sessions] == [True]


def test_signing_out_ends_the_session_and_takes_the_cookie_back(people: People) -> None:
    response = people.ann.post("/api/auth/sign-out")

    assert (response.status, response.json()) == (200, {"success": True})
    assert response.headers["set-cookie"] == (
        "__Host-session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure"
    )
    assert not is_in(people.ann)
    assert nobody(people.site).post("/api/auth/sign-out").status == 200


def test_a_session_says_what_it_is_by_oauth_and_by_token_too(people: People) -> None:
    who = {"username": "olly", "email": "olly@example.org", "isOperator": True}

    by_oauth = with_oauth(people.olly).get("/api/auth/session").json()
    by_token = with_token(people.olly).get("/api/auth/session").json()

    assert by_oauth == {**who, "via": "oauth"}
    assert list(by_token.pop("token")) == ["actions", "scopes", "widgets"]
    assert by_token == {**who, "email": None, "via": "token"}


def test_a_bearer_token_counts_before_a_cookie(people: People) -> None:
    token = with_token(people.eve)
    both = Person(people.site, "", {**people.ann.headers, **token.headers})
    wrong = Person(people.site, "", {**people.ann.headers, "authorization": "Bearer wct_x"})

    assert both.get("/api/auth/session").json()["username"] == "eve"
    assert wrong.get("/api/auth/session").status == 401


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", "Bearer ", "Basic YW5uOng=", "wct_x", "Bearer wct_", "Bearer wco_", "Bearer x",
     "Bearer \x00", "Bearer wct_" + "x" * 5000, "bearer\twct_x"],
)  # fmt: skip
def test_what_is_no_token_opens_nothing(shared_people: People, given: str) -> None:
    response = shared_people.site.get("/api/auth/session", authorization=given)

    assert response.status == 401
    assert list(response.json()) == ["error"]
    has_token = given.lower().startswith("bearer ") and given != "Bearer "
    challenge = 'Bearer error="invalid_token"' if has_token else "Bearer"
    assert response.headers["www-authenticate"] == challenge


def test_no_secret_opens_what_another_kind_of_secret_does(people: People) -> None:
    """A session's secret is not a bearer token, and a token's is not a cookie."""
    token = with_token(people.ann).headers["authorization"][7:]
    access = with_oauth(people.ann).headers["authorization"][7:]

    for headers in (
        {"authorization": f"Bearer {secret_of(people.ann)}"},
        {"cookie": f"__Host-session={token}"},
        {"cookie": f"__Host-session={access}"},
        {"cookie": f"__Host-session={secret_of(people.ann)[:-1]}"},
        {"cookie": f"Session={secret_of(people.ann)}"},
    ):
        assert not is_in(Person(people.site, "", headers))


def test_a_change_by_cookie_needs_the_csrf_token_of_that_session(people: People) -> None:
    ann, other = people.ann, signed_in(people.site, "ann")
    cookie = ann.headers["cookie"]
    body = {"slug": "new", "displayName": "New"}
    for csrf in (None, "", "x", "\u00e9", other.headers["x_csrf_token"], secret_of(ann)):
        headers = {"cookie": cookie} | ({} if csrf is None else {"x_csrf_token": csrf})
        response = Person(people.site, "ann", headers).post("/api/organizations", body)
        assert (response.status, response.json()) == (
            403,
            {
                "error": "The CSRF token is missing or wrong: send the session's csrfToken in the "
                "header X-CSRF-Token."
            },
        )
    assert Person(people.site, "ann", {"cookie": cookie}).get("/api/organizations").status == 200
    assert ann.post("/api/organizations", body).status == 201


def test_a_program_is_signed_out_after_a_time_however_often_it_renews(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "data") as people:

        def renewed(token: str) -> Reply:
            return ask(people.site, "token", **refresh_fields(token))

        first = sign_in_program(Browsing(people.site).sign_in("ann"))["refresh_token"]
        last = first
        for _ in range(3):
            people.clock.forward(days=50)
            last = renewed(last).json()["refresh_token"]
        people.clock.forward(days=29, hours=23)
        renewal = renewed(last)
        assert renewal.status == 200
        people.clock.forward(hours=1)

        over = renewed(renewal.json()["refresh_token"])

    assert (over.status, over.json()["error"]) == (400, "invalid_grant")

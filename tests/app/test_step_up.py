"""What outlives a session, or cannot be undone, asks for a fresh proof: every route is classified
here, and tried with sessions that have proved more and less.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import sqlalchemy as sa

from support.browsing import Browsing
from support.passwords import quick_passwords
from support.people import Person, with_oauth
from support.routes import ALL, of_rooms
from support.site import Reply
from support.site_with_people import BuiltPeople, People
from widget_catalog.accounts.second_factor.store import put_app, remove_factors
from widget_catalog.accounts.store import add_session, get_account
from widget_catalog.accounts.tables import sessions
from widget_catalog.core.credentials import SESSION_PREFIX, hash_secret, new_id, new_secret
from widget_catalog.core.http.call import csrf_token
from widget_catalog.core.http.routing import AuthMode, Route, StepUp

ROUTES = ALL.all
# Those that read ask nobody, unless they say so.
DECLARED = [it for it in ROUTES if it.writes or it.step_up is not StepUp.NONE]
CONFIRM = "/account/confirm"

# Of everybody: it makes something to sign in with, or gives away an account.
FRESH = """
POST /api/tokens
GET /account/tokens/new
POST /account/tokens/new
POST /account/connect
GET /account/second-factor/new-passkey
POST /account/second-factor/new-passkey
POST /account/second-factor/passkeys/{id}
GET /account/second-factor/new-app
POST /account/second-factor/new-app
POST /account/second-factor/remove-app
POST /account/second-factor/recovery-codes
POST /operate/accounts/{username}/reset-link
POST /operate/accounts/{username}/second-factor
POST /operate/accounts/{username}/promote
POST /operate/accounts/{username}/demote
POST /operate/invitations
"""
# Of people with a second factor: it gives access to a program, to another person or to another
# machine, or is final.
FACTOR = """
GET /api/auth/oauth2/authorize
POST /api/auth/oauth2/authorize
GET /device
POST /device
POST /api/auth/password
GET /account/password
POST /account/password
POST /api/account/close
GET /account/close
POST /account/close
POST /api/widgets/publish
POST /account/publish/{id}
PUT /api/widgets/{scope}/{name}/publishers
POST /account/widgets/{scope}/{name}/publishers
POST /api/organizations
POST /account/organizations
POST /api/organizations/{slug}/invitations
POST /account/organizations/{slug}/invitations
PUT /api/organizations/{slug}/members/{username}
POST /account/organizations/{slug}/members/{username}
DELETE /api/organizations/{slug}/members/{username}
POST /account/organizations/{slug}/members/{username}/remove
POST /account/organizations/{slug}/leave
POST /api/organizations/{slug}/transfer
POST /account/organizations/{slug}/transfer
POST /operate/accounts/{username}/enable
"""
# The session is enough, and why.
NONE = {
    "Nobody is signed in there, or this is how they prove who they are.": """
POST /api/auth/sign-in
POST /api/auth/sign-in/second-factor
POST /api/auth/sign-in/passkey-options
POST /api/auth/sign-in/passkey
POST /api/auth/register
POST /api/auth/oauth2/token
POST /api/auth/oauth2/revoke
POST /api/auth/oauth2/device
POST /sign-in
POST /sign-in/second-factor
POST /sign-in/passkey
POST /reset-password
POST /join
POST /join/name
GET /api/auth/oidc/callback
POST /account/confirm
""",
    "It ends access, which must be possible at once.": """
POST /api/auth/sign-out
POST /sign-out
DELETE /api/auth/sessions/{id}
DELETE /api/tokens/{id}
POST /account
DELETE /api/organizations/{slug}/invitations/{id}
POST /account/organizations/{slug}/invitations/{id}
POST /operate/accounts/{username}/disable
POST /operate/accounts/{username}/tokens/{id}
POST /operate/accounts/{username}/programs/{id}
POST /operate/invitations/{id}
POST /api/invitations/{id}/decline
""",
    "The person can undo it.": """
POST /api/widgets/{scope}/{name}/versions/{version}/yank
POST /api/widgets/{scope}/{name}/versions/{version}/unyank
POST /api/widgets/{scope}/{name}/versions/{version}/deprecate
POST /api/widgets/{scope}/{name}/versions/{version}/undeprecate
POST /api/widgets/{scope}/{name}/list
POST /api/widgets/{scope}/{name}/unlist
POST /api/widgets/{scope}/{name}/official
POST /account/widgets/{scope}/{name}/versions/{version}/yank
POST /account/widgets/{scope}/{name}/versions/{version}/unyank
POST /account/widgets/{scope}/{name}/versions/{version}/deprecate
POST /account/widgets/{scope}/{name}/versions/{version}/undeprecate
POST /account/widgets/{scope}/{name}/list
POST /account/widgets/{scope}/{name}/unlist
POST /account/widgets/{scope}/{name}/official
PUT /api/organizations/{slug}/settings
POST /account/organizations/{slug}/members-public
POST /api/invitations/{id}/accept
POST /invitation
""",
    "Nothing lasting comes of it.": """
POST /account/publish
POST /account/publish/{id}/discard
""",
    "Only for programs, whose token a person with a session has confirmed.": """
POST /api/tokens/device
""",
}


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


def classified() -> Iterator[tuple[str, StepUp]]:
    for lines, step_up in ((FRESH, StepUp.FRESH), (FACTOR, StepUp.FACTOR)):
        yield from ((it, step_up) for it in lines.split("\n") if it)
    for lines in NONE.values():
        yield from ((it, StepUp.NONE) for it in lines.split("\n") if it)
    for room in of_rooms("declared_routes"):
        for step_up, lines in room.STEP_UP:
            yield from ((it, step_up) for it in lines.split("\n") if it)


def test_every_route_that_changes_something_is_classified() -> None:
    table = list(classified())
    declared = {named(it): it.step_up for it in DECLARED}

    assert len(dict(table)) == len(table)
    assert declared == dict(table)


def test_no_route_asks_for_a_proof_of_people_it_does_not_know() -> None:
    known = (AuthMode.API, AuthMode.PAGE)
    assert [
        named(route)
        for route in ROUTES
        if route.step_up is not StepUp.NONE and route.auth not in known
    ] == []


class Standing(NamedTuple):
    """A session, and which of the proofs it lacks."""

    name: str
    has_factor: bool
    is_two_factor: bool
    age_min: int
    lacks: tuple[StepUp, ...]


STANDINGS = (
    Standing("second factor just shown", True, True, 9, ()),
    Standing("second factor shown long ago", True, True, 10, (StepUp.FACTOR, StepUp.FRESH)),
    Standing("second factor not shown", True, False, 0, (StepUp.FACTOR, StepUp.FRESH)),
    Standing("just signed in, no second factor", False, False, 9, ()),
    Standing("signed in long ago, no second factor", False, False, 10, (StepUp.FRESH,)),
)


@pytest.fixture(scope="module")
def busy_people(
    built_people: BuiltPeople, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[People]:
    folder = tmp_path_factory.mktemp("step-up") / "data"
    with quick_passwords(), People(built_people, folder) as made:
        yield made


def session_of(people: People, standing: Standing) -> str:
    """The secret of a new session of the operator, who has a second factor or none."""
    store, secret = people.site.node.store, new_secret(SESSION_PREFIX)
    with store.writing() as tx:
        id_ = get_account(tx.connection, "olly").id
        remove_factors(tx, id_)
        if standing.has_factor:
            put_app(tx, id_, "sealed", 0)
        session = add_session(
            tx,
            new_id(),
            hash_secret(secret),
            id_,
            tx.at_ms + 10**9,
            is_two_factor=standing.is_two_factor,
        )
        at_ms = tx.at_ms - standing.age_min * 60_000
        here = sessions.c.id == session.id
        tx.connection.execute(sa.update(sessions).where(here).values(confirmed_at=at_ms))
    return secret


def ask(people: People, route: Route, secret: str) -> Reply:
    """With nothing that could take effect: the proof is asked for before anything is read."""
    values = {"scope": "ann", "slug": "acme", "name": "none", "version": "1.0.0", "id": "0" * 24}
    values |= {"username": "nobody-here", "delivery": "msg_0"}
    address = re.sub(r"{(\w+)}", lambda found: values[found[1]], route.path)
    headers = {"cookie": f"__Host-session={secret}", "accept": "text/html"}
    if route.method == "GET":
        return people.site.request("GET", address, **headers)
    if route.takes_form:
        body = urlencode({"csrf_token": csrf_token(secret)}).encode()
        kind = "application/x-www-form-urlencoded"
        return people.site.request("POST", address, body, content_type=kind, **headers)
    headers["x_csrf_token"] = csrf_token(secret)
    body = b'{"password": "a wrong one"}'
    return people.site.request(
        route.method, address, body, content_type="application/json", **headers
    )


def is_asked_to_confirm(response: Reply) -> bool:
    if response.headers.get("location", "").startswith(CONFIRM):
        return True
    return response.status == 403 and b'"Confirm ' in response.body


@pytest.mark.parametrize("standing", STANDINGS, ids=[it.name for it in STANDINGS])
def test_every_route_asks_for_what_it_declares_and_for_nothing_else(
    busy_people: People, standing: Standing
) -> None:
    wrong = []
    for route in DECLARED:
        response = ask(busy_people, route, session_of(busy_people, standing))
        assert response.status < 500, (named(route), response.body)
        if is_asked_to_confirm(response) != (route.step_up in standing.lacks):
            wrong.append((named(route), response.status, response.headers.get("location")))
    assert wrong == []


def test_anyone_who_is_asked_on_a_page_reads_what_for_and_comes_back_to_a_page(
    busy_people: People,
) -> None:
    standing, told = STANDINGS[1], {}
    for route in ROUTES:
        if route.step_up is StepUp.NONE or not route.takes_form:
            continue
        secret = session_of(busy_people, standing)
        sent = ask(busy_people, route, secret)
        assert sent.status == (302 if route.method == "GET" else 303)
        next_ = dict(parse_qsl(urlsplit(sent.headers["location"]).query))["next"]
        browsing = Browsing(busy_people.site)
        browsing.cookies["session"] = secret
        browsing.get(sent.headers["location"])
        told[named(route)] = (next_, browsing.page.one("p", class_="lead").text)
        found = ALL.find(next_)
        assert found is not None, named(route)
        assert "GET" in found.methods, named(route)

    def sentence(purpose: str) -> str:
        return f"This is required to {purpose}. It is valid for ten minutes."

    assert sentence("continue") not in [it[1] for it in told.values()]
    token = ("/account/tokens/new", sentence("create an access token"))
    assert told["POST /account/tokens/new"] == token
    consent = ("/api/auth/oauth2/authorize", sentence("sign in a program that acts as you"))
    assert told["GET /api/auth/oauth2/authorize"] == consent
    factors = ("/account/second-factor", sentence("change how you sign in"))
    assert told["POST /account/second-factor/passkeys/{id}"] == factors
    connect = ("/account", sentence("connect another way to sign in"))
    assert told["POST /account/connect"] == connect


def test_programs_and_tokens_are_no_sessions_and_go_on(people: People) -> None:
    session_of(people, STANDINGS[2])
    program = with_oauth(people.olly)
    refused = "You have a second factor, so a program cannot do this."

    asked = program.post("/api/tokens/device", {"name": "CI", "actions": ["publish"]})
    made = program.post("/api/organizations", {"slug": "tools", "displayName": "Tools"})
    password = {"currentPassword": "x", "newPassword": "y"}
    changed = program.post("/api/auth/password", password)
    closed = program.post("/api/account/close", {"password": "x"})

    assert (asked.status, made.status) == (200, 201)
    assert program.publish("olly/clock").status == 200
    for response in (changed, closed):
        assert response.status == 403
        assert response.json()["error"].startswith(refused)


def test_over_json_the_sentence_says_where_to_confirm(people: People) -> None:
    for standing, sentence in (
        (STANDINGS[1], "Confirm at /account/confirm that it is you, then try again."),
        (
            STANDINGS[2],
            "Confirm with your second factor at /account/confirm that it is you, then try again.",
        ),
    ):
        secret = session_of(people, standing)
        headers = {"cookie": f"__Host-session={secret}", "x_csrf_token": csrf_token(secret)}
        response = Person(people.site, "olly", headers).post("/api/account/close", {})
        assert (response.status, response.json()) == (403, {"error": sentence})

"""A program requests an access token; its user confirms it at /device; then it is created."""

from typing import Any
from urllib.parse import quote

from accounts.oauth.program import DEVICE_GRANT, ask, sign_in_program
from accounts.signing_in import is_in
from support.browsing import PERSONAL, Browsing
from support.people import PASSWORD, Person, signed_in, with_oauth, with_token
from support.site import Reply
from support.site_with_people import People
from widget_catalog.accounts.administer_account import reset_password, set_disabled

TOKENS = "/api/tokens"
PAGE = "/device"
WANTED = {"name": " ci ", "actions": ["publish"], "widgets": ["ann/clock"], "expiresInDays": 30}


def request(program: Person) -> dict[str, Any]:
    response = program.post(f"{TOKENS}/device", WANTED)
    assert response.status == 200, response.body
    asked: dict[str, Any] = response.json()
    return asked


def claim(people: People, asked: dict[str, Any]) -> Reply:
    fields = {"grant_type": DEVICE_GRANT, "device_code": asked["device_code"]}
    return ask(people.site, "token", client_id="widget-cli", **fields)


def error_of(response: Reply) -> str:
    assert response.status == 400, response.body
    return str(response.json()["error"])


def is_pending(people: People, asked: dict[str, Any]) -> bool:
    return error_of(claim(people, asked)) in ("authorization_pending", "slow_down")


def decide(people: People, asked: dict[str, Any], decision: str) -> Browsing:
    browsing = Browsing(people.site).sign_in("ann")
    browsing.get(PAGE)
    browsing.submit(PAGE, user_code=asked["user_code"])
    assert browsing.submit(PAGE, decision=decision).status == 200
    return browsing


def machine_of(people: People, claimed: Reply) -> Person:
    token = claimed.json()["access_token"]
    return Person(people.site, "ann", {"authorization": f"Bearer {token}"})


def test_a_program_gets_a_token_when_its_person_has_confirmed_it(people: People) -> None:
    asked = request(with_oauth(people.ann))
    code = asked["user_code"]
    assert asked == {
        "device_code": asked["device_code"],
        "user_code": code,
        "verification_uri": f"https://catalog.example{PAGE}",
        "verification_uri_complete": f"https://catalog.example{PAGE}?user_code={code}",
        "expires_in": 900,
        "interval": 5,
    }
    assert people.ann.get(TOKENS).json() == {"tokens": []}
    assert is_pending(people, asked)
    browsing = Browsing(people.site).sign_in("ann")
    browsing.get(f"{PAGE}?user_code={code}")
    assert browsing.page.one("input", id="user_code").attributes["value"] == code

    shown = browsing.submit(PAGE, user_code=code.lower())

    assert (shown.status, shown.headers) == (200, PERSONAL)
    assert browsing.title == "Widget CLI asks for an access token"
    assert browsing.page.one("p", class_="code").text == code
    told = [it.text for it in browsing.page.all("dd")]
    assert told == ["ci", "publish", "ann/clock", "30 days"]
    assert is_pending(people, asked)
    browsing.submit(PAGE, decision="continue")
    assert browsing.title == "Confirmed"
    made = claim(people, asked)
    token = made.json()
    assert (made.status, token["token_type"], token["expires_in"]) == (200, "Bearer", 30 * 86_400)
    assert people.ann.get(TOKENS).json() == {"tokens": [token["details"]]}
    assert (token["details"]["name"], token["details"]["widgets"]) == ("ci", ["ann/clock"])
    assert machine_of(people, made).publish("ann/clock", "2.0.0").status == 200
    assert error_of(claim(people, asked)) == "invalid_grant"
    entries = people.olly.get("/api/audit?limit=5").json()["entries"]
    assert [(it["via"], it["action"]) for it in entries if "token" in it["action"]] == [
        ("oauth", "create token"),
        ("session", "confirm token"),
        ("oauth", "request token"),
    ]


def test_a_program_cannot_create_a_token_by_itself(people: People) -> None:
    response = with_oauth(people.ann).post(TOKENS, WANTED)

    assert (response.status, response.json()) == (
        403,
        {
            "error": "A program cannot create an access token by itself. Update widget, which then "
            "asks you to confirm it; or create it at https://catalog.example/account/tokens/new."
        },
    )


def test_a_program_cannot_confirm_for_its_person(people: People) -> None:
    program = with_oauth(people.ann)
    asked = request(program)

    form = f"user_code={asked['user_code']}&decision=continue".encode()
    by_token = people.site.request("POST", PAGE, form, **program.headers)
    forged = (
        Browsing(people.site)
        .sign_in("ann")
        .post(PAGE, {"user_code": asked["user_code"], "decision": "continue"})
    )

    assert by_token.headers["location"].startswith("/sign-in")
    assert forged.status == 403
    assert is_pending(people, asked)


def test_anyone_who_signed_in_long_ago_confirms_first_that_it_is_them(people: People) -> None:
    ann = Browsing(people.site).sign_in("ann")
    people.clock.forward(minutes=10)
    asked = request(with_oauth(people.ann))
    here = f"{PAGE}?user_code={asked['user_code']}"
    confirm = "/account/confirm?next=" + quote(here, safe="")

    ann.get(here)
    sent = ann.submit(PAGE, user_code=asked["user_code"])
    assert (sent.status, sent.headers["location"]) == (303, confirm)
    ann.get(confirm)
    assert ann.submit("/account/confirm", password=PASSWORD).headers["location"] == here
    ann.get(here)
    assert ann.submit(PAGE, user_code=asked["user_code"]).status == 200
    people.clock.forward(minutes=10)
    late = request(with_oauth(people.ann))
    sent = ann.submit(PAGE, user_code=late["user_code"], decision="continue")
    assert (sent.status, sent.headers["location"].partition("?")[0]) == (303, "/account/confirm")
    assert is_pending(people, late)


def test_a_request_is_for_one_person_and_one_sign_in(people: People) -> None:
    program = with_oauth(people.ann)
    asked = request(program)
    eve = Browsing(people.site).sign_in("eve")
    eve.get(PAGE)
    for decision in ({}, {"decision": "continue"}):
        assert eve.submit(PAGE, user_code=asked["user_code"], **decision).status == 404
    assert is_pending(people, asked)

    again = request(program)

    assert error_of(claim(people, asked)) == "invalid_grant"
    assert is_pending(people, again)


def test_a_request_that_is_refused_or_too_old_gives_no_token(people: People) -> None:
    program = with_oauth(people.ann)
    refused = request(program)
    assert decide(people, refused, "cancel").title == "Refused"
    assert error_of(claim(people, refused)) == "access_denied"
    late = request(program)
    people.clock.forward(minutes=15)
    assert error_of(claim(people, late)) == "expired_token"
    ann = Browsing(people.site).sign_in("ann")
    ann.get(PAGE)
    assert ann.submit(PAGE, user_code=late["user_code"]).status == 404
    assert people.ann.get(TOKENS).json() == {"tokens": []}


def test_signing_a_program_out_ends_the_tokens_that_it_asked_for(people: People) -> None:
    tokens = sign_in_program(Browsing(people.site).sign_in("ann"))
    program = Person(people.site, "ann", {"authorization": f"Bearer {tokens['access_token']}"})
    asked = request(program)
    decide(people, asked, "continue")
    machine, other = machine_of(people, claim(people, asked)), with_token(people.ann)
    assert is_in(machine)
    confirmed = request(program)
    decide(people, confirmed, "continue")

    ask(people.site, "revoke", token=tokens["refresh_token"], client_id="widget-cli")

    assert [is_in(it) for it in (program, machine, other)] == [False, False, True]
    assert error_of(claim(people, confirmed)) == "invalid_grant"


def test_recovering_an_account_ends_its_tokens(people: People) -> None:
    store = people.site.node.store

    def everywhere_else() -> None:
        browsing = Browsing(people.site).sign_in("ann")
        browsing.get("/account")
        assert browsing.submit("/account", end="others").status == 303

    for recover in (
        everywhere_else,
        lambda: reset_password(store, "ann", "another long password"),
        lambda: set_disabled(store, "ann", is_disabled=True),
    ):
        ann = Person(people.site, "ann", people.ann.headers)
        if not is_in(ann):
            ann = signed_in(people.site, "ann")
        machine, foreign = with_token(ann), with_token(people.eve)
        recover()
        assert [is_in(it) for it in (machine, foreign)] == [False, True]
        if recover is not everywhere_else:
            reset_password(store, "ann", "correct horse battery")
    set_disabled(store, "ann", is_disabled=False)
    assert not is_in(machine)

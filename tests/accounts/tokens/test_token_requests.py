"""A program requests an access token; its user confirms it with a session; then it is created."""

from typing import Any
from urllib.parse import quote

from accounts.oauth.program import ask, sign_in_program
from accounts.signing_in import is_in
from support.browsing import PERSONAL, Browsing
from support.people import PASSWORD, Person, signed_in, with_oauth, with_token
from support.site import Reply
from support.site_with_people import People
from widget_catalog.accounts.administer_account import reset_password, set_disabled

TOKENS = "/api/tokens"
PAGE = "/account/token"
WANTED = {"name": " ci ", "actions": ["publish"], "widgets": ["ann/clock"], "expiresInDays": 30}


def request(program: Person) -> dict[str, Any]:
    response = program.post(TOKENS, WANTED)
    assert response.status == 202, response.body
    asked: dict[str, Any] = response.json()
    return asked


def claim(program: Person, asked: dict[str, Any]) -> Reply:
    return program.post(f"{TOKENS}/requests/{asked['requestId']}")


def decide(people: People, asked: dict[str, Any], decision: str, name: str = "ann") -> Browsing:
    browsing = Browsing(people.site).sign_in(name)
    browsing.get(f"{PAGE}?code={asked['userCode']}")
    assert browsing.submit(PAGE, decision=decision).status == 200
    return browsing


def confirmed(people: People, program: Person) -> Person:
    """A machine with a token that the program received."""
    asked = request(program)
    decide(people, asked, "continue")
    made = claim(program, asked).json()
    return Person(people.site, "ann", {"authorization": f"Bearer {made['token']}"})


def test_a_program_gets_a_token_when_its_person_has_confirmed_it(people: People) -> None:
    program = with_oauth(people.ann)
    asked = request(program)
    assert asked == {
        "requestId": asked["requestId"],
        "userCode": asked["userCode"],
        "confirmUrl": f"https://catalog.example{PAGE}",
        "confirmUrlComplete": f"https://catalog.example{PAGE}?code={asked['userCode']}",
        "expiresInSeconds": 600,
        "intervalSeconds": 3,
    }
    assert people.ann.get(TOKENS).json() == {"tokens": []}
    waiting = claim(program, asked)
    assert (waiting.status, waiting.json()) == (202, {"status": "pending"})
    browsing = Browsing(people.site).sign_in("ann")

    shown = browsing.get(f"{PAGE}?code={asked['userCode'].lower()}")

    assert (shown.status, shown.headers) == (200, PERSONAL)
    assert browsing.title == "Widget CLI asks for an access token"
    assert browsing.page.one("p", class_="code").text == asked["userCode"]
    told = [it.text for it in browsing.page.all("dd")]
    assert told == ["ci", "publish", "ann/clock", "30 days"]
    assert claim(program, asked).status == 202
    browsing.submit(PAGE, decision="continue")
    assert browsing.title == "Confirmed"
    made = claim(program, asked)
    assert (made.status, made.json()["name"], made.json()["widgets"]) == (201, "ci", ["ann/clock"])
    machine = Person(people.site, "ann", {"authorization": f"Bearer {made.json()['token']}"})
    assert machine.publish("ann/clock", "2.0.0").status == 200
    assert claim(program, asked).status == 404
    entries = people.olly.get("/api/audit?limit=5").json()["entries"]
    assert [(it["via"], it["action"]) for it in entries if "token" in it["action"]] == [
        ("oauth", "create token"),
        ("session", "confirm token"),
        ("oauth", "request token"),
    ]


def test_a_program_cannot_confirm_for_its_person(people: People) -> None:
    program = with_oauth(people.ann)
    asked = request(program)

    form = f"user_code={asked['userCode']}&decision=continue".encode()
    by_token = people.site.request("POST", PAGE, form, **program.headers)
    forged = (
        Browsing(people.site)
        .sign_in("ann")
        .post(PAGE, {"user_code": asked["userCode"], "decision": "continue"})
    )

    assert by_token.headers["location"].startswith("/sign-in")
    assert forged.status == 403
    assert claim(program, asked).status == 202


def test_anyone_who_signed_in_long_ago_confirms_first_that_it_is_them(people: People) -> None:
    ann = Browsing(people.site).sign_in("ann")
    people.clock.forward(minutes=10)
    asked = request(with_oauth(people.ann))
    here = f"{PAGE}?code={asked['userCode']}"
    confirm = "/account/confirm?next=" + quote(here, safe="")

    assert ann.get(here).headers["location"] == confirm
    ann.get(confirm)
    assert ann.submit("/account/confirm", password=PASSWORD).headers["location"] == here
    assert ann.get(here).status == 200
    people.clock.forward(minutes=10)
    late = request(with_oauth(people.ann))
    sent = ann.submit(PAGE, user_code=late["userCode"], decision="continue")
    assert (sent.status, sent.headers["location"].partition("?")[0]) == (303, "/account/confirm")
    assert people.ann.get(TOKENS).json() == {"tokens": []}


def test_a_request_is_for_one_person_and_one_sign_in(people: People) -> None:
    program = with_oauth(people.ann)
    asked = request(program)
    for other in (with_oauth(people.ann), with_oauth(people.eve), people.ann):
        assert claim(other, asked).status == 404
    eve = Browsing(people.site).sign_in("eve")
    for code in (asked["userCode"], "BCDF-GHJK", "x"):
        assert eve.get(f"{PAGE}?code={code}").status == 404
        assert eve.errors == [
            (
                "No program waits for @eve with this code. Check the code, and that you are signed "
                "in as the account that the program uses; or start again there."
            )
        ]
    assert eve.submit(PAGE, user_code=asked["userCode"], decision="continue").status == 404
    assert claim(program, asked).status == 202

    again = request(program)

    assert claim(program, asked).status == 404
    assert claim(program, again).status == 202


def test_a_request_that_is_refused_or_too_old_gives_no_token(people: People) -> None:
    program = with_oauth(people.ann)
    refused = request(program)
    assert decide(people, refused, "cancel").title == "Refused"
    response = claim(program, refused)
    assert (response.status, response.json()) == (
        403,
        {"error": "The token was refused in the browser."},
    )
    late = request(program)
    people.clock.forward(minutes=10)
    assert claim(program, late).status == 404
    ann = Browsing(people.site).sign_in("ann")
    assert ann.get(f"{PAGE}?code={late['userCode']}").status == 404
    assert people.ann.get(TOKENS).json() == {"tokens": []}


def test_the_code_can_be_typed(people: People) -> None:
    asked = request(with_oauth(people.ann))
    ann = Browsing(people.site).sign_in("ann")
    assert ann.get(PAGE).status == 200
    assert ann.title == "Confirm an access token"

    response = ann.submit(PAGE, user_code=asked["userCode"])

    assert (response.status, ann.title) == (200, "Widget CLI asks for an access token")


def test_signing_a_program_out_ends_the_tokens_that_it_asked_for(people: People) -> None:
    tokens = sign_in_program(Browsing(people.site).sign_in("ann"))
    program = Person(people.site, "ann", {"authorization": f"Bearer {tokens['access_token']}"})
    machine, other = confirmed(people, program), with_token(people.ann)
    assert is_in(machine)

    ask(people.site, "revoke", token=tokens["refresh_token"], client_id="widget-cli")

    assert [is_in(it) for it in (program, machine, other)] == [False, False, True]


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

"""The page to create an access token."""

import pytest

from support.browsing import Browsing, browser_of
from support.people import PASSWORD, Person
from support.site_with_people import People

NEW = "/account/tokens/new"


def secret_on(browsing: Browsing) -> str:
    return browsing.page.all("code")[1].text


@pytest.fixture
def ann(people: People) -> Browsing:
    return Browsing(people.site).sign_in("ann")


def make(browsing: Browsing, actions: str = "publish", **fields: str) -> int:
    browsing.get(NEW)
    given = {"name": "CI", "days": "30", "may": actions, **fields}
    return browsing.submit(NEW, **given).status


def test_a_token_is_made_shown_once_and_works_with_the_api(people: People, ann: Browsing) -> None:
    assert make(ann, places="ann/clock, @acme") == 200

    assert ann.title == "Copy your access token"
    secret = secret_on(ann)
    assert ann.page.one("button", type="button").text == "Copy Access token"
    machine = Person(people.site, "ann", {"authorization": f"Bearer {secret}"})
    assert machine.publish("ann/clock", "1.1.0").status == 200
    assert machine.publish("acme/clock", "1.1.0").status == 200
    assert machine.publish("ann/timer").status == 403
    assert machine.post("/api/widgets/ann/clock/unlist", {"reason": "x"}).status == 403
    (token,) = people.ann.get("/api/tokens").json()["tokens"]
    assert (token["name"], token["scopes"], token["widgets"]) == ("CI", ["acme"], ["ann/clock"])
    ann.get("/account")
    assert "CI may publish in acme, ann/clock" in ann.page.one("main").text
    assert secret not in ann.page.one("main").text
    ann.submit("/account", revoke=token["id"])
    assert machine.publish("ann/clock", "1.2.0").status == 401


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": " "}, "Must not be empty."),
        ({"days": "400"}, "Must be a whole number from 1 to 366."),
        ({"days": "soon"}, "Must be a whole number"),
        ({"actions": "everything"}, "Must be some of publish, yank, deprecate, list."),
        ({"places": "zoë"}, "'zoë' is not a scope: "),
        ({"places": "eve ann/clock"}, "You cannot publish to eve."),
    ],
)
def test_what_is_wrong_is_reported_and_what_was_typed_stays(
    ann: Browsing, fields: dict[str, str], sentence: str
) -> None:
    assert make(ann, **fields) == 400

    assert ann.errors[0].startswith(sentence)
    places = ann.page.one("input", id="places").attributes["value"]
    assert places == fields.get("places", "")


def test_anyone_who_signed_in_long_ago_confirms_first(people: People, ann: Browsing) -> None:
    ann.get(NEW)
    people.clock.forward(minutes=30)

    sent = ann.submit(NEW, name="CI", days="30", may="publish")

    confirm = "/account/confirm?next=%2Faccount%2Ftokens%2Fnew"
    assert (sent.status, sent.headers["location"]) == (303, confirm)
    assert ann.get(NEW).headers["location"] == confirm
    ann.get(confirm)
    confirmed = ann.submit("/account/confirm", password=PASSWORD)
    assert confirmed.headers["location"] == NEW
    assert make(ann) == 200
    assert people.ann.get("/api/tokens").json()["tokens"][0]["name"] == "CI"


def test_a_form_without_its_token_makes_none(people: People) -> None:
    ann = browser_of(people.ann)
    assert ann.post(NEW, {"name": "CI", "days": "1", "may": "publish"}).status == 403
    assert people.ann.get("/api/tokens").json()["tokens"] == []


def test_the_summary_of_several_errors_names_their_fields(ann: Browsing) -> None:
    assert make(ann, name=" ", days="400") == 400
    summary = ann.page.one("div", id="faults").text
    assert summary == "Name: must not be empty. Days: must be a whole number from 1 to 366."

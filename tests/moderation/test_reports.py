"""Reports: anyone can send one, only the operator can read it and decide."""

from pathlib import Path

import pytest

from support.browsing import Browsing, browser_of
from support.site import Reply
from support.site_with_people import BuiltPeople, People
from widget_catalog.moderation.report_widget import forget_reports
from widget_catalog.moderation.store import list_reports

REPORT = "/report/acme/clock"
REPORTS = "/operate/reports"
TEXT = "It asks for my password,\r\n<b>twice</b>."


@pytest.fixture
def visitor(people: People) -> Browsing:
    return Browsing(people.site)


@pytest.fixture
def olly(people: People) -> Browsing:
    return browser_of(people.olly)


def report(browsing: Browsing, place: str = REPORT, **fields: str) -> Reply:
    given = {"category": "harmful", "text": TEXT, "version": "", "contact": "", **fields}
    return browsing.post(place, given)


def reported(olly: Browsing, state: str = "open") -> list[str]:
    olly.get(f"{REPORTS}?state={state}")
    return [it.text for it in olly.page.all("li")]


def action(olly: Browsing, word: str) -> str:
    resolve = next(
        form.attributes["action"] or ""
        for form in olly.page.all("form")
        if (form.attributes["action"] or "").endswith("/resolve")
    )
    return resolve.removesuffix("resolve") + word


def decide(olly: Browsing, word: str, note: str = "") -> Reply:
    olly.get(REPORTS)
    fields = olly.hidden_fields(action(olly, "resolve"))
    return olly.post(action(olly, word), {**fields, "note": note})


def test_the_widget_page_leads_to_a_form_that_anybody_can_send(
    people: People, visitor: Browsing, olly: Browsing
) -> None:
    visitor.get("/widgets/acme/clock")
    assert REPORT in visitor.page.links
    assert visitor.get(REPORT).status == 200
    assert visitor.title == "Report Clock"

    response = report(visitor, version="1.0.0", contact="zoe@example.org")

    assert (response.status, response.headers["location"]) == (303, f"{REPORT}?done=yes")
    visitor.get(f"{REPORT}?done=yes")
    assert visitor.title == "Thank you"
    (shown,) = reported(olly)
    assert shown.startswith("acme/clock 1.0.0 harmful It asks for my password, <b>twice</b>. ")
    assert "from zoe@example.org" in shown
    assert "/account/widgets/acme/clock/versions/1.0.0" in olly.page.links
    olly.get("/operate")
    assert "open report1" in olly.page.one("dl", class_="numbers").text


def test_the_operator_resolves_one_and_dismisses_another(
    people: People, visitor: Browsing, olly: Browsing
) -> None:
    report(visitor, text="First.")
    people.clock.forward(seconds=1)
    report(visitor, "/report/ann/clock", category="other", text="Second.")

    assert decide(olly, "dismiss", "A joke.").headers["location"] == f"{REPORTS}?done=dismiss"
    assert [it.split(" ")[0] for it in reported(olly)] == ["acme/clock"]
    assert decide(olly, "resolve").headers["location"] == f"{REPORTS}?done=resolve"

    assert reported(olly) == []
    (dismissed,) = reported(olly, "dismissed")
    assert "by olly: A joke." in dismissed
    assert len(reported(olly, "all")) == 2
    entries = people.olly.get("/api/audit").json()["entries"]
    decided = [it for it in entries if it["action"] == "decide about a report"]
    assert [it["details"]["state"] for it in decided] == ["resolved", "dismissed"]
    assert decided[1]["details"]["note"] == "A joke."
    assert len([it for it in entries if it["action"] == "report widget"]) == 2


def test_the_author_does_not_learn_who_reported(people: People, visitor: Browsing) -> None:
    before = people.ann.get("/api/widgets/acme/clock/audit").json()
    report(visitor)

    assert people.ann.get("/api/widgets/acme/clock/audit").json() == before
    assert browser_of(people.ann).get(REPORTS).status == 403


def test_a_report_is_decided_about_once(people: People, visitor: Browsing, olly: Browsing) -> None:
    report(visitor)
    olly.get(REPORTS)
    place = action(olly, "resolve")
    fields = olly.hidden_fields(place)
    assert olly.post(place, fields).status == 303

    assert olly.post(place, fields).status == 409
    assert olly.errors == ["Somebody has decided about this report already."]
    assert olly.post(f"{REPORTS}/{'0' * 24}/dismiss", fields).status == 404


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"category": "all"}, "Choose what is wrong."),
        ({"text": " \r\n "}, "What you have seen must not be empty."),
        ({"text": "x" * 4001}, "What you have seen is too long"),
        ({"text": "a\x00b"}, "What you have seen contains the character U+0000"),
        ({"contact": "a\u202eb"}, "How to reach you contains the character U+202E"),
        ({"version": "9.9.9"}, "Choose one of the versions."),
    ],
)
def test_what_is_wrong_is_reported_and_what_was_typed_stays(
    visitor: Browsing, fields: dict[str, str], sentence: str
) -> None:
    response = report(visitor, **fields)

    assert response.status == 400
    assert visitor.errors[0].startswith(sentence)
    if "text" not in fields:
        assert visitor.page.one("textarea").text == " ".join(TEXT.split())


def test_a_report_is_kept_for_a_year_after_the_decision_about_it(
    people: People, visitor: Browsing, olly: Browsing
) -> None:
    store = people.site.node.store
    report(visitor, text="Decided.")
    decide(olly, "resolve")
    report(visitor, text="Open.")
    people.clock.forward(days=364)
    forget_reports(store)
    with store.reading() as connection:
        assert list_reports(connection, None, 1, 9)[1] == 2

    people.clock.forward(days=2)
    forget_reports(store)

    with store.reading() as connection:
        left, total = list_reports(connection, None, 1, 9)
    assert [it.text for it in left] == ["Open."]
    assert total == 1


def test_a_page_of_another_site_cannot_send_one(visitor: Browsing, olly: Browsing) -> None:
    for header in ({"origin": "https://evil.example"}, {"sec_fetch_site": "cross-site"}):
        given = {"category": "other", "text": "x"}
        assert visitor.post(REPORT, given, **header).status == 403
    assert reported(olly) == []


def test_few_are_taken_from_one_network_in_a_while(people: People, visitor: Browsing) -> None:
    assert [report(visitor).status for _ in range(6)] == [303] * 5 + [429]
    assert "Try again in 15 minutes." in visitor.errors[0]
    assert report(visitor).headers["retry-after"] == "900"
    people.clock.forward(minutes=16)
    assert report(visitor).status == 303


def test_what_is_not_listed_cannot_be_reported(people: People, visitor: Browsing) -> None:
    people.ann.post("/api/widgets/acme/clock/unlist", {"reason": "x"})
    for place in (REPORT, "/report/acme/none", "/report/ACME/clock"):
        assert (visitor.get(place).status, report(visitor, place).status) == (404, 404)


def test_reports_can_be_switched_off(built_people: BuiltPeople, tmp_path: Path) -> None:
    with People(built_people, tmp_path / "data", max_reports=0) as people:
        visitor = Browsing(people.site)
        visitor.get("/widgets/acme/clock")
        assert REPORT not in visitor.page.links
        assert (visitor.get(REPORT).status, report(visitor).status) == (404, 404)

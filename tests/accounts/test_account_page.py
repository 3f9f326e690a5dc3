"""The account page: tokens and programs to revoke, and recent activity."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.oauth.program import authorize_address, is_good, sign_in_program
from support.browsing import Browsing
from support.people import a_person, signed_in, with_token
from support.site import InProcessSite


@pytest.fixture
def ann(tmp_path: Path) -> Iterator[Browsing]:
    with InProcessSite(tmp_path / "data") as site:
        a_person(site, "ann")
        browsing = Browsing(site).sign_in("ann")
        browsing.get("/account")
        yield browsing


def section(browsing: Browsing, heading: str) -> str:
    """The text of a part of the page."""
    sections = browsing.page.all("section")
    return next(it.text for it in sections if it.attributes["aria-labelledby"] == heading)


def test_tokens_are_shown_with_what_they_may_and_can_be_revoked(ann: Browsing) -> None:
    person = signed_in(ann.site, "ann")
    assert "You have no access tokens." in section(ann, "tokens")
    machine = with_token(person, name="ci <b>", actions=["publish", "yank"], scopes=["ann"])
    with_token(person, name="other")

    ann.get("/account")

    told = section(ann, "tokens")
    assert "ci <b> may publish, yank in ann never used ends " in told
    assert "other may publish in all your scopes" in told
    id_ = person.get("/api/tokens").json()["tokens"][0]["id"]
    forged = ann.post("/account", {"revoke": id_})
    assert forged.status == 403
    assert machine.get("/api/widgets/scopes").status == 200
    ann.get("/account")
    assert ann.submit("/account", revoke=id_).headers["location"] == "/account"
    assert machine.get("/api/widgets/scopes").status == 401
    ann.get("/account")
    assert "ci <b>" not in section(ann, "tokens")


def test_somebody_elses_token_and_program_cannot_be_ended(ann: Browsing) -> None:
    eve = a_person(ann.site, "eve")
    machine = with_token(eve)
    id_ = eve.get("/api/tokens").json()["tokens"][0]["id"]

    assert ann.submit("/account", revoke=id_).status == 404
    ann.get("/account")
    assert ann.submit("/account", program="unknown").status == 404
    assert machine.get("/api/widgets/scopes").status == 200


def test_programs_are_shown_and_can_be_signed_out(ann: Browsing) -> None:
    tokens = sign_in_program(Browsing(ann.site).sign_in("ann"))
    ann.get("/account")
    assert "Widget CLI signed in since " in section(ann, "programs")
    button = next(it for it in ann.page.all("button") if it.attributes.get("name") == "program")

    response = ann.submit("/account", program=button.attributes["value"] or "")

    assert response.status == 303
    assert not is_good(ann.site, tokens["access_token"])
    ann.get("/account")
    assert "No programs are signed in to your account." in section(ann, "programs")


def test_what_happened_last_is_shown_with_address_and_program(ann: Browsing) -> None:
    ann.site.request("POST", "/sign-in", b"username=ann&password=wrong")
    sign_in_program(Browsing(ann.site).sign_in("ann"))

    ann.get("/account")

    told = section(ann, "activity")
    assert "sign in" in told
    assert "failed sign-in" in told
    assert "with widget-cli from 127.0.0.1" in told


def test_the_consent_page_says_what_a_program_can_do(ann: Browsing) -> None:
    ann.get(authorize_address())

    told = ann.page.one("main").text
    assert "It cannot create an access token unless you confirm it here" in told
    assert "what you can" not in told

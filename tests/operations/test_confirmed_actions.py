"""Actions that give access to accounts require an operator who has just re-authenticated."""

import pytest

from support.browsing import browser_of
from support.people import PASSWORD
from support.site_with_people import People

EVE = "/operate/accounts/eve"
INVITATIONS = "/operate/invitations"


@pytest.mark.parametrize(
    ("page", "form", "fields"),
    [
        (EVE, f"{EVE}/reset-link", {}),
        ("/operate/accounts/olly", "/operate/accounts/olly/reset-link", {}),
        (INVITATIONS, INVITATIONS, {"role": "operator"}),
    ],
)
def test_an_operator_who_signed_in_long_ago_confirms_first(
    people: People, page: str, form: str, fields: dict[str, str]
) -> None:
    """A session that was left open cannot take over an account, not even its own."""
    olly = browser_of(people.olly)
    people.clock.forward(minutes=10)
    confirm = f"/account/confirm?next={page.replace('/', '%2F')}"
    olly.get(page)

    sent = olly.submit(form, **fields)

    assert (sent.status, sent.headers["location"]) == (303, confirm)
    olly.get(confirm)
    assert olly.submit("/account/confirm", password=PASSWORD).headers["location"] == page
    olly.get(page)
    assert olly.submit(form, **fields).status == 200
    assert "catalog.example" in olly.page.one("main").text


def test_so_does_one_who_removes_a_second_factor(people: People) -> None:
    olly = browser_of(people.olly)
    olly.get(EVE)
    csrf = olly.page.all("input", name="csrf_token")[0].attributes["value"]
    people.clock.forward(minutes=10)

    sent = olly.post(f"{EVE}/second-factor", {"csrf_token": csrf or ""})

    confirm = "/account/confirm?next=%2Foperate%2Faccounts%2Feve"
    assert (sent.status, sent.headers["location"]) == (303, confirm)

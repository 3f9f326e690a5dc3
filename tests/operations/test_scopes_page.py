"""The operator's page of scopes: those without an owner are listed and assigned."""

import pytest

from support.browsing import Browsing, browser_of
from support.site_with_people import People
from support.widgets import widget_line

SCOPES = "/operate/scopes"
OWNERLESS = f"{SCOPES}?kind=ownerless"


@pytest.fixture
def olly(people: People) -> Browsing:
    people.site.add(
        widget_line("shop/clock", downloadCount=9_000), widget_line("shop/dice", downloadCount=555)
    )
    return browser_of(people.olly)


def test_a_scope_is_assigned_by_its_row_which_shows_what_changes_hands(
    people: People, olly: Browsing
) -> None:
    olly.get(SCOPES)
    assert OWNERLESS in olly.page.links
    olly.get(OWNERLESS)
    (row,) = [it.text for it in olly.page.all("li")]
    assert "shop" in row
    assert "2 widgets 9,555 installs" in row

    unknown = olly.submit(f"{SCOPES}/assign", username="nobody")

    assert (unknown.status, olly.errors) == (404, ["There is no account 'nobody'."])
    assert "2 widgets" in olly.page.one("main").text  # The list of ownerless scopes again.
    done = olly.submit(f"{SCOPES}/assign", username="@eve")
    assert (done.status, done.headers["location"]) == (303, f"{SCOPES}?done=assign")
    olly.get(done.headers["location"])
    assert "The scope was assigned." in olly.page.one("main").text
    assert people.eve.publish("shop/clock", "2.0.0").status == 200
    olly.get(OWNERLESS)
    assert olly.page.all("li") == []


def test_an_operator_who_signed_in_long_ago_confirms_first(people: People, olly: Browsing) -> None:
    people.clock.forward(minutes=10)
    olly.get(OWNERLESS)

    sent = olly.submit(f"{SCOPES}/assign", username="eve")

    confirm = "/account/confirm?next=%2Foperate%2Fscopes"
    assert (sent.status, sent.headers["location"]) == (303, confirm)


def test_the_page_to_create_an_organization_says_what_is_in_the_scope(
    people: People, olly: Browsing
) -> None:
    olly.get("/account/organizations")

    response = olly.submit("/account/organizations", slug="shop", display_name="Shop")

    assert response.status == 409
    (error,) = olly.errors
    assert "that scope has no owner, but 2 widgets with 9,555 installs. An operator can" in error
    assert people.olly.publish("shop/clock", "2.0.0").status == 403

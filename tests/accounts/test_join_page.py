"""The page to create an account."""

from pathlib import Path

from support.browsing import PERSONAL, Browsing
from support.people import PASSWORD, a_person
from support.site import InProcessSite
from widget_catalog.accounts.create_account import invite, invite_first_operator


def test_the_first_operator_joins_by_a_link(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        secret = invite_first_operator(site.node.store)
        browsing = Browsing(site)
        address = f"/join?invitation={secret}"
        assert (browsing.get(address).status, browsing.title) == (
            200,
            "Create the operator’s account",
        )

        response = browsing.submit(
            "/join", username="olly", email="olly@example.org", password=PASSWORD
        )

        assert (response.status, response.headers["location"]) == (303, "/account")
        browsing.get("/account")
        lead = browsing.page.one("p", class_="lead").text
        assert lead == "olly@example.org · operator of this catalog"
        assert (browsing.get(address).status, browsing.title) == (403, "Invitation not valid")
        sentence = "This invitation is not valid, or no longer. Ask the operator for a new one."
        assert browsing.page.one("p", class_="lead").text == sentence


def test_where_it_is_open_anybody_can_join(open_site: InProcessSite) -> None:
    browsing = Browsing(open_site)
    browsing.get("/sign-in?next=/device")
    assert "/join?next=/device" in browsing.page.links
    browsing.get("/join?next=/device")
    assert browsing.title == "Create an account"
    assert [it.attributes.get("autocomplete") for it in browsing.page.all("input")] == [
        None, None, "username", "email", "new-password",
    ]  # fmt: skip

    response = browsing.submit("/join", username="bea", email="bea@example.org", password=PASSWORD)

    assert (response.status, response.headers["location"]) == (303, "/device")
    assert browsing.get("/account").status == 200


def test_all_errors_are_reported_at_once_and_what_was_typed_stays(
    open_site: InProcessSite,
) -> None:
    browsing = Browsing(open_site)
    browsing.get("/join")

    response = browsing.submit("/join", username="<Bo>", email='b"o', password="short")

    assert (response.status, response.headers) == (400, PERSONAL)
    assert " ".join(browsing.errors) == (
        "'<Bo>' cannot be a name here: use 1 to 64 lowercase letters, digits and hyphens, "
        "beginning with a letter or digit. 'b\"o' is not an e-mail address. The password is too "
        "short: at least 12 characters are needed."
    )
    values = {
        field.attributes["name"]: field.attributes.get("value")
        for field in browsing.page.all("input")
    }
    assert values == {
        "invitation": "",
        "next": "",
        "username": "<Bo>",
        "email": 'b"o',
        "password": None,
    }
    assert b"short" not in response.body.replace(b"too short", b"")


def test_a_name_that_is_taken_is_reported(open_site: InProcessSite) -> None:
    a_person(open_site, "cat")
    browsing = Browsing(open_site)
    browsing.get("/join")

    response = browsing.submit("/join", username="cat", email="c@example.org", password=PASSWORD)

    assert response.status == 409
    assert browsing.errors == ["The name cat is taken. Choose another."]


def test_an_invitation_by_e_mail_fills_the_address_in(open_site: InProcessSite) -> None:
    browsing = Browsing(open_site)
    browsing.get(f"/join?invitation={invite(open_site.node.store, email='new@example.org')}")
    assert browsing.page.one("input", id="email").attributes["value"] == "new@example.org"


def test_joining_ends_the_session_that_the_browser_had(open_site: InProcessSite) -> None:
    a_person(open_site, "dan")
    browsing = Browsing(open_site).sign_in("dan")
    former = browsing.cookies["session"]
    browsing.get("/join")

    browsing.submit("/join", username="dora", email="dora@example.org", password=PASSWORD)

    assert browsing.get("/api/auth/session").json()["username"] == "dora"
    browsing.cookies["session"] = former
    assert browsing.get("/api/auth/session").status == 401

"""Changing the password, and closing the account, in a browser."""

from support.browsing import Browsing
from support.people import PASSWORD, with_token
from support.site_with_people import People

NEW = "another long password"


def test_the_password_is_changed_and_other_sessions_end(people: People) -> None:
    machine = with_token(people.eve)
    eve = Browsing(people.site).sign_in("eve")
    eve.get("/account/password")

    response = eve.submit("/account/password", current=PASSWORD, new=NEW, keep_tokens="yes")

    assert (response.status, response.headers["location"]) == (303, "/account?done=password")
    assert eve.get("/account?done=password").status == 200
    assert eve.page.one("p", role="status").text.startswith("Your password was changed.")
    assert people.eve.get("/api/tokens").status == 401
    assert machine.get("/api/widgets/scopes").status == 200
    Browsing(people.site).sign_in("eve", NEW)


def test_a_wrong_or_short_password_is_refused_beside_the_form(people: People) -> None:
    eve = Browsing(people.site).sign_in("eve")
    for current, new, status, error in (
        ("wrong", NEW, 403, "The current password is wrong."),
        (PASSWORD, "short", 400, "The password is too short: at least 12 characters are needed."),
    ):
        eve.get("/account/password")
        assert eve.submit("/account/password", current=current, new=new).status == status
        assert eve.errors == [error]
    assert NEW not in str(eve.page.elements)
    Browsing(people.site).sign_in("eve")


def test_an_account_is_closed_with_its_name_and_password(people: People) -> None:
    eve = Browsing(people.site).sign_in("eve")
    for username, password, error in (
        ("ann", PASSWORD, "Enter your username to confirm."),
        ("eve", "wrong", "The current password is wrong."),
    ):
        eve.get("/account/close")
        response = eve.submit("/account/close", username=username, password=password)
        assert response.status in (400, 403)
        assert eve.errors == [error]
    eve.get("/account/close")

    response = eve.submit("/account/close", username="eve", password=PASSWORD)

    assert (response.status, eve.title) == (200, "Your account is closed")
    assert eve.cookies == {}
    assert people.eve.get("/api/auth/session").status == 401


def test_the_last_owner_cannot_close_the_account(people: People) -> None:
    ann = Browsing(people.site).sign_in("ann")
    ann.get("/account/close")

    response = ann.submit("/account/close", username="ann", password=PASSWORD)

    assert response.status == 409
    assert ann.errors[0].startswith("You are the last owner of acme")

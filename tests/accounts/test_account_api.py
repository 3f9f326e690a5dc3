"""Changes to an account: another password, disabled, closed."""

import pytest

from accounts.signing_in import WRONG, is_in, try_password
from support.people import PASSWORD, signed_in, with_oauth, with_token
from support.site_with_people import People
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.accounts.create_account import create_account
from widget_catalog.accounts.store import get_account, list_accounts, update_account
from widget_catalog.core.errors import Conflict

WRONG_CURRENT = {"error": "The current password is wrong."}


def test_a_new_password_ends_every_other_session_and_every_token(people: People) -> None:
    ann, other = people.ann, signed_in(people.site, "ann")
    by_oauth, by_token = with_oauth(ann), with_token(ann)
    new = "another long password"

    response = ann.post("/api/auth/password", {"currentPassword": PASSWORD, "newPassword": new})

    assert (response.status, response.json()) == (200, {"success": True})
    assert [is_in(it) for it in (ann, other, by_oauth, by_token)] == [True, False, False, False]
    assert try_password(people.site, "ann", PASSWORD).json() == WRONG
    assert try_password(people.site, "ann", new).status == 200
    assert is_in(people.eve)


def test_access_tokens_outlive_a_new_password_only_if_the_person_says_so(people: People) -> None:
    token, access = with_token(people.ann), with_oauth(people.ann)
    body = {"currentPassword": PASSWORD, "newPassword": PASSWORD + "!", "keepTokens": True}

    assert people.ann.post("/api/auth/password", body).status == 200

    assert [is_in(it) for it in (token, access)] == [True, False]
    body = {"currentPassword": PASSWORD + "!", "newPassword": PASSWORD, "keepTokens": "yes"}
    response = people.ann.post("/api/auth/password", body)
    assert (response.status, response.json()) == (
        400,
        {"error": "keepTokens: must be true or false."},
    )


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        ("x" * 11, "The password is too short: at least 12 characters are needed."),
        ("x" * 1001, "The password is too long: at most 1,000 characters are taken."),
    ],
)
def test_a_password_has_twelve_characters_and_at_most_a_thousand(
    shared_people: People, new: str, sentence: str
) -> None:
    body = {"currentPassword": PASSWORD, "newPassword": new}
    response = shared_people.ann.post("/api/auth/password", body)

    assert (response.status, response.json()) == (400, {"error": sentence})


def test_passwords_cannot_be_tried_at_a_session_that_was_left_open(people: People) -> None:
    """Neither to change the password, nor to close the account."""
    guess = {"currentPassword": "a guess", "newPassword": "x" * 12}
    for _ in range(3):
        response = people.ann.post("/api/auth/password", guess)
        assert (response.status, response.json()) == (403, WRONG_CURRENT)
    for _ in range(2):
        assert people.ann.post("/api/account/close", {"password": "a guess"}).status == 403

    right = {**guess, "currentPassword": PASSWORD}
    refused = people.ann.post("/api/auth/password", right)
    assert (refused.status, refused.headers["retry-after"]) == (429, "900")
    assert people.ann.post("/api/account/close", {"password": PASSWORD}).status == 429
    people.clock.forward(minutes=15)
    assert people.ann.post("/api/auth/password", right).status == 200


def test_a_program_cannot_use_up_the_attempts_of_its_person(people: People) -> None:
    program = with_oauth(people.ann)
    statuses = [
        program.post("/api/account/close", {"password": "a guess"}).status for _ in range(7)
    ]
    assert statuses == [403] * 5 + [429] * 2
    session = people.ann.get("/api/auth/sessions").json()["sessions"][0]["id"]
    refused = program.delete(f"/api/auth/sessions/{session}")
    assert (refused.status, refused.json()) == (
        403,
        {"error": "A program cannot end sessions. Use the account page in a browser."},
    )

    right = {"currentPassword": PASSWORD, "newPassword": "another long password"}
    assert people.ann.post("/api/auth/password", right).status == 200
    assert not is_in(program)


def test_a_disabled_account_is_out_at_once_and_so_are_its_tokens(people: People) -> None:
    token, access = with_token(people.ann), with_oauth(people.ann)
    store = people.site.node.store

    set_disabled(store, "ann", is_disabled=True)

    assert [is_in(it) for it in (people.ann, token, access)] == [False] * 3
    set_disabled(store, "ann", is_disabled=False)
    assert [is_in(it) for it in (people.ann, token, access)] == [False] * 3


def test_closing_an_account_unlists_its_widgets_and_leaves_its_bundles(people: People) -> None:
    ann, site = people.ann, people.site
    eve_clock = people.eve.publish("eve/clock").json()["bundleUrl"]
    token = with_token(people.eve)
    refused = ann.post("/api/account/close", {"password": PASSWORD})
    assert (refused.status, refused.json()) == (
        409,
        {"error": "You are the last owner of acme who can sign in. Transfer it to somebody first."},
    )
    assert is_in(ann)

    response = people.eve.post("/api/account/close", {"password": PASSWORD})

    assert (response.status, response.json()) == (200, {"success": True})
    assert response.headers["set-cookie"].startswith("__Host-session=; Max-Age=0;")
    assert (is_in(people.eve), is_in(token)) == (False, False)
    assert try_password(site, "eve", PASSWORD).status == 401
    assert site.get("/api/v1/widgets/eve/clock").status == 404
    assert site.get("/api/v1/widgets/ann/clock").status == 200
    assert site.get(eve_clock.removeprefix("https://catalog.example")).status == 200
    entries = people.olly.get("/api/audit?limit=3").json()["entries"]
    assert [(it["actor"], it["action"], it["details"]) for it in entries] == [
        ("-", "failed sign-in", {"attempts": 1}),
        ("eve", "close account", {}),
        ("eve", "unlist", {"reason": "Account closed."}),
    ]
    # The name stays taken: nobody else gets the scope that dashboards trust.
    taken = ann.post("/api/organizations", {"slug": "eve", "displayName": "Eve"})
    assert taken.status == 409


def test_the_e_mail_address_of_a_closed_account_is_free_and_its_name_is_not(
    people: People,
) -> None:
    store = people.site.node.store
    people.eve.post("/api/account/close", {"password": PASSWORD})
    people.mia.post("/api/account/close", {"password": PASSWORD})

    again = create_account(store, "eve-again", "Eve@example.org", PASSWORD)

    assert again.email == "Eve@example.org"
    with pytest.raises(Conflict, match="The name eve is taken"):
        create_account(store, "eve", "new@example.org", PASSWORD)
    with pytest.raises(Conflict, match="There is an account with the e-mail address eve@"):
        create_account(store, "eve-third", "eve@example.org", PASSWORD)
    # The operator still sees whose it was.
    with store.reading() as connection:
        closed = [it.email for it in list_accounts(connection) if it.is_closed]
    assert closed == ["eve@example.org", "mia@example.org"]


def test_closing_an_account_needs_its_password_or_a_session_that_has_just_begun(
    people: People,
) -> None:
    eve, program = signed_in(people.site, "eve"), with_oauth(people.eve)
    people.clock.forward(minutes=10)
    for person in (eve, program):
        response = person.post("/api/account/close", {})
        assert (response.status, response.json()) == (403, {"error": "Enter your password."})
    eve = signed_in(people.site, "eve")
    wrong = eve.post("/api/account/close", {"password": "not the password"})
    assert (wrong.status, wrong.json()) == (403, WRONG_CURRENT)
    assert is_in(eve)
    people.clock.forward(minutes=9, seconds=59)

    assert eve.post("/api/account/close", {}).status == 200
    assert not is_in(program)


def test_an_account_without_a_password_is_closed_by_a_session_that_has_just_begun(
    people: People,
) -> None:
    """Such as that of a person who signs in through a provider."""
    people.clock.forward(minutes=10)
    eve, program = signed_in(people.site, "eve"), with_oauth(people.eve)
    with people.site.node.store.writing() as tx:
        update_account(tx, get_account(tx.connection, "eve").id, password_hash=None)
    sentence = (
        "Sign in again with a browser first: to close an account that has no password, the session "
        "must be younger than 10 minutes."
    )

    by_program = program.post("/api/account/close", {"password": ""})
    assert (by_program.status, by_program.json()) == (403, {"error": sentence})
    old = people.eve.post("/api/account/close", {})
    assert (old.status, old.json()) == (403, {"error": sentence})
    assert eve.post("/api/account/close", {}).status == 200


def test_who_closes_an_account_leaves_its_organizations(people: People) -> None:
    assert people.pia.post("/api/account/close", {"password": PASSWORD}).status == 200

    members = people.ann.get("/api/organizations/acme").json()["members"]
    assert [it["username"] for it in members] == ["abe", "ann", "mia"]
    shown = people.ann.get("/api/widgets/acme/clock/publishers").json()
    assert shown == {"publishers": []}

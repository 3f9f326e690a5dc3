"""Operators invite authors and operators, and make accounts operators or take that back."""

import pytest

from support.browsing import Browsing, browser_of
from support.people import PASSWORD, Person, with_oauth
from support.site_with_people import People
from widget_catalog.accounts.administer_account import (
    appoint_operator,
    dismiss_operator,
    set_disabled,
)
from widget_catalog.accounts.create_account import OPERATOR, invite
from widget_catalog.accounts.settings import AccountSettings
from widget_catalog.accounts.store import get_account
from widget_catalog.core.actors import Actor, Via
from widget_catalog.core.errors import Conflict, NotAllowed

EVE = "/operate/accounts/eve"
OLLY = "/operate/accounts/olly"
INVITATIONS = "/operate/invitations"


def joined(olly: Browsing, name: str) -> dict[str, object]:
    """Create an account with the link that is shown."""
    link = olly.page.one("pre").text.partition("/join")[2]
    guest = Browsing(olly.site)
    assert guest.get(f"/join{link}").status == 200
    email = f"{name}@example.org"
    assert guest.submit("/join", username=name, email=email, password=PASSWORD).status == 303
    found: dict[str, object] = guest.get("/api/auth/session").json()
    return found


@pytest.mark.parametrize("role", ["author", "operator"])
def test_where_registration_is_closed_people_of_both_roles_are_invited(
    people: People, role: str
) -> None:
    assert people.site.settings.of(AccountSettings).registration == "closed"
    olly = browser_of(people.olly)
    olly.get(INVITATIONS)
    assert [it.text for it in olly.page.all("option")] == ["author", "operator"]

    assert olly.submit(INVITATIONS, role=role).status == 200

    assert joined(olly, "zoe")["isOperator"] is (role == "operator")


def test_a_role_that_does_not_exist_is_refused(people: People) -> None:
    olly = browser_of(people.olly)
    olly.get(INVITATIONS)

    assert olly.submit(INVITATIONS, role="king").status == 400
    assert olly.errors == ["Choose a role: author or operator."]


def test_an_account_becomes_an_operator_and_an_author_again_at_once(people: People) -> None:
    olly, eve, program = browser_of(people.olly), people.eve, with_oauth(people.eve)
    assert eve.get("/api/audit").status == 403
    olly.get(EVE)

    done = olly.submit(f"{EVE}/promote")

    assert (done.status, done.headers["location"]) == (303, f"{EVE}?done=promote")
    olly.get(done.headers["location"])
    assert "The account is now an operator." in olly.page.one("main").text
    for person in (eve, program):
        assert person.get("/api/audit").status == 200
    assert browser_of(eve).get("/operate").status == 200
    assert olly.submit(f"{EVE}/demote").headers["location"] == f"{EVE}?done=demote"
    for person in (eve, program):
        assert person.get("/api/audit").status == 403
    assert browser_of(eve).get("/operate").status == 403
    entries = people.olly.get("/api/audit").json()["entries"]
    assert [(it["actor"], it["action"], it["scope"]) for it in entries[:2]] == [
        ("olly", "remove operator", "eve"),
        ("olly", "make operator", "eve"),
    ]


@pytest.mark.parametrize("change", ["promote", "demote"])
def test_an_operator_who_signed_in_long_ago_confirms_first(people: People, change: str) -> None:
    if change == "demote":
        appoint_operator(people.site.node.store, "eve")
    olly = browser_of(people.olly)
    people.clock.forward(minutes=10)
    olly.get(EVE)

    sent = olly.submit(f"{EVE}/{change}")

    confirm = "/account/confirm?next=%2Foperate%2Faccounts%2Feve"
    assert (sent.status, sent.headers["location"]) == (303, confirm)
    assert people.eve.get("/api/audit").status == (403 if change == "promote" else 200)


def test_nobody_takes_their_own_rights_and_the_last_operator_stays(people: People) -> None:
    store = people.site.node.store
    with pytest.raises(Conflict, match="olly is the last operator who can sign in"):
        dismiss_operator(store, "olly")
    appoint_operator(store, "eve")
    set_disabled(store, "eve", is_disabled=True)
    with pytest.raises(Conflict, match="olly is the last operator who can sign in"):
        dismiss_operator(store, "olly")
    set_disabled(store, "eve", is_disabled=False)
    with pytest.raises(Conflict, match="You cannot remove your own operator rights"):
        dismiss_operator(store, "olly", actor_of(people.olly))
    assert f"{OLLY}/demote".encode() not in browser_of(people.olly).get(OLLY).body

    dismiss_operator(store, "olly")

    assert people.olly.get("/api/audit").status == 403


def test_what_cannot_be_changed_is_explained(people: People) -> None:
    store = people.site.node.store
    set_disabled(store, "mia", is_disabled=True)

    with pytest.raises(Conflict, match="mia is disabled"):
        appoint_operator(store, "mia")
    with pytest.raises(Conflict, match="olly is already an operator"):
        appoint_operator(store, "olly")
    with pytest.raises(Conflict, match="eve is not an operator"):
        dismiss_operator(store, "eve")
    for change in (appoint_operator, dismiss_operator):
        with pytest.raises(NotAllowed):
            change(store, "eve", actor_of(people.eve))


def test_a_former_operator_leaves_no_way_back_in(people: People) -> None:
    store = people.site.node.store
    appoint_operator(store, "eve")
    secret = invite(store, OPERATOR, actor=actor_of(people.eve))

    dismiss_operator(store, "eve", actor_of(people.olly))

    guest = Browsing(people.site)
    assert guest.get(f"/join?invitation={secret}").status == 403


def actor_of(person: Person) -> Actor:
    with person.site.node.store.reading() as connection:
        return Actor(via=Via.SESSION, account=get_account(connection, person.username))

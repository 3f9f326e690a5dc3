"""Invitations to an organization: by name and by link, answered, withdrawn, expired."""

from pathlib import Path
from typing import Any

import pytest

from organizations.organizing import ACME, DONE, INVITATIONS, roles, told
from support.people import PASSWORD, Person, a_person
from support.site_with_people import BuiltPeople, People, join
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.accounts.store import get_account, update_account
from widget_catalog.core.actors import Role
from widget_catalog.organizations.store import get_organization, put_member

NOT_FOR_YOU = {
    "error": "There is no such invitation for you, or it is no longer valid: it was used or "
    "withdrawn, it has expired, or the person who made it may no longer invite. Ask an owner of "
    "the organization for a new one."
}


def invite(people: People, role: str = "member", **whom: str) -> dict[str, Any]:
    response = people.ann.post(INVITATIONS, {"role": role, **whom})
    assert response.status == 201, response.body
    made: dict[str, Any] = response.json()
    return made


def test_an_invitation_by_name_is_seen_and_accepted_by_that_account_alone(people: People) -> None:
    made = invite(people, "admin", username="eve")

    assert made == {
        "id": made["id"],
        "organization": "acme",
        "username": "eve",
        "email": None,
        "role": "admin",
        "invitedBy": "ann",
        "expiresAt": made["expiresAt"],
    }
    assert told(people.eve.get("/api/invitations")) == (200, {"invitations": [made]})
    assert told(people.abe.get(INVITATIONS)) == (200, {"invitations": [made]})
    assert told(people.olly.get("/api/invitations")) == (200, {"invitations": []})
    for other in (people.olly, people.mia, people.ann):
        for response in ("accept", "decline"):
            refused = other.post(f"/api/invitations/{made['id']}/{response}", {"secret": ""})
            assert told(refused) == (404, NOT_FOR_YOU)

    assert told(people.eve.post(f"/api/invitations/{made['id']}/accept")) == DONE
    assert roles(people.eve)["eve"] == "admin"
    assert people.eve.get("/api/invitations").json() == {"invitations": []}
    again = people.eve.post(f"/api/invitations/{made['id']}/accept")
    assert told(again) == (404, NOT_FOR_YOU)


def test_an_organization_has_a_hundred_open_invitations_at_most(people: People) -> None:
    made = [invite(people, email=f"guest-{i}@example.org") for i in range(100)]

    body = {"role": "member", "email": "one-more@example.org"}
    response = people.ann.post(INVITATIONS, body)

    assert (response.status, response.headers["retry-after"]) == (429, "60")
    assert response.json()["error"].startswith("acme has 100 open invitations, which is the limit.")
    assert people.ann.delete(f"{INVITATIONS}/{made[0]['id']}").status == 200
    assert people.ann.post(INVITATIONS, body).status == 201


def test_an_invitation_by_link_is_for_anyone_who_has_its_secret_once(people: People) -> None:
    made = invite(people, email="eve@elsewhere.example")
    link = made["link"]
    place, _, secret = link.partition("&secret=")
    assert place == f"https://catalog.example/invitation?id={made['id']}"
    assert secret.startswith("wci_")
    (listed,) = people.ann.get(INVITATIONS).json()["invitations"]
    assert "link" not in listed
    address = f"/api/invitations/{made['id']}/accept"
    for wrong in ("", "wci_", secret[:-1], secret + "x", made["id"]):
        assert told(people.eve.post(address, {"secret": wrong})) == (404, NOT_FOR_YOU)
    assert people.eve.post(address).status == 404

    assert told(people.eve.post(address, {"secret": secret})) == DONE

    assert roles(people.eve)["eve"] == "member"
    assert people.olly.post(address, {"secret": secret}).status == 404


def test_who_is_a_member_already_does_not_use_a_link_up(people: People) -> None:
    """Nor does it change a member's own role."""
    made = invite(people, "owner", email="x@example.org")
    secret = made["link"].partition("&secret=")[2]
    address = f"/api/invitations/{made['id']}/accept"

    refused = people.mia.post(address, {"secret": secret})

    assert told(refused) == (409, {"error": "You are a member of acme already."})
    assert roles(people.mia)["mia"] == "member"
    assert people.eve.post(address, {"secret": secret}).status == 200


def test_an_invitation_that_is_declined_or_withdrawn_is_gone(people: People) -> None:
    declined = invite(people, username="eve")["id"]
    assert told(people.eve.post(f"/api/invitations/{declined}/decline")) == DONE
    assert people.eve.post(f"/api/invitations/{declined}/accept").status == 404
    withdrawn = invite(people, username="eve")["id"]

    assert people.mia.delete(f"{INVITATIONS}/{withdrawn}").status == 403
    assert people.eve.delete(f"{INVITATIONS}/{withdrawn}").status == 403
    assert told(people.abe.delete(f"{INVITATIONS}/{withdrawn}")) == DONE
    assert people.eve.post(f"/api/invitations/{withdrawn}/accept").status == 404
    assert people.ann.delete(f"{INVITATIONS}/{withdrawn}").status == 404
    assert "eve" not in roles(people.ann)


def test_an_invitation_ends_after_a_week(people: People) -> None:
    made = invite(people, username="eve")
    people.clock.forward(days=6, hours=23, minutes=59)
    assert people.eve.get("/api/invitations").json() == {"invitations": [made]}
    people.clock.forward(minutes=1)

    assert people.eve.get("/api/invitations").json() == {"invitations": []}
    assert told(people.eve.post(f"/api/invitations/{made['id']}/accept")) == (404, NOT_FOR_YOU)
    assert people.ann.get(INVITATIONS).json() == {"invitations": []}
    assert invite(people, username="eve")["id"] != made["id"]


def test_an_invitation_of_one_organization_is_not_withdrawn_by_another(people: People) -> None:
    made = invite(people, username="eve")
    people.eve.post("/api/organizations", {"slug": "eves", "displayName": "Eve’s"})

    foreign = people.eve.delete(f"/api/organizations/eves/invitations/{made['id']}")

    assert told(foreign) == (404, {"error": "There is no such invitation."})
    assert len(people.ann.get(INVITATIONS).json()["invitations"]) == 1


def test_nobody_is_invited_twice_or_without_being_there(people: People) -> None:
    invite(people, username="eve")

    def refused(**body: str) -> tuple[int, Any]:
        return told(people.ann.post(INVITATIONS, body))

    assert refused(username="eve") == (409, {"error": "eve is invited to acme already."})
    assert refused(username="mia") == (409, {"error": "mia is a member of acme already."})
    assert refused(username="gone") == (404, {"error": "There is no account 'gone'."})
    assert refused(username="acme") == (404, {"error": "There is no account 'acme'."})
    one = (400, {"error": "Give a username or an email, one of the two."})
    assert refused() == one
    assert refused(username="olly", email="olly@example.org") == one
    assert refused(email="olly") == (400, {"error": "email: 'olly' is not an e-mail address."})


def test_an_account_that_is_disabled_cannot_be_invited(people: People) -> None:
    set_disabled(people.site.node.store, "eve", is_disabled=True)

    response = people.ann.post(INVITATIONS, {"username": "eve"})

    assert told(response) == (404, {"error": "There is no account 'eve'."})


def second_owner(people: People) -> Person:
    """Bob, another owner of acme."""
    bob = a_person(people.site, "bob")
    assert join(people.ann, bob, "acme", "owner").status == 200
    return bob


def owner_link(person: Person, role: str = "owner") -> tuple[str, dict[str, str]]:
    """The URL that accepts an invitation by link from this person, and its body."""
    made = person.post(INVITATIONS, {"role": role, "email": "x@example.org"}).json()
    return f"/api/invitations/{made['id']}/accept", {
        "secret": made["link"].partition("&secret=")[2]
    }


def test_an_owner_who_was_removed_does_not_come_back_by_an_own_link(people: People) -> None:
    bob = second_owner(people)
    address, secret = owner_link(bob)
    assert people.ann.delete(f"{ACME}/members/bob").status == 200

    refused = bob.post(address, secret)

    assert told(refused) == (404, NOT_FOR_YOU)
    assert "bob" not in roles(people.ann)
    assert people.eve.post(address, secret).status == 404
    assert people.ann.get(INVITATIONS).json() == {"invitations": []}


@pytest.mark.parametrize("role", ["admin", "member"])
def test_anyone_who_is_demoted_leaves_no_open_invitations(people: People, role: str) -> None:
    bob = second_owner(people)
    links = [owner_link(bob, invited_as) for invited_as in ("owner", "admin", "member")]
    kept = owner_link(people.ann)
    assert people.ann.put(f"{ACME}/members/bob", {"role": role}).status == 200

    for address, secret in links:
        assert told(people.eve.post(address, secret)) == (404, NOT_FOR_YOU)
    assert people.eve.post(*kept).status == 200


def test_anyone_who_is_promoted_keeps_their_invitations(people: People) -> None:
    link = owner_link(people.abe, "member")
    assert people.ann.put(f"{ACME}/members/abe", {"role": "owner"}).status == 200

    assert people.eve.post(*link).status == 200


def test_leaving_transferring_and_closing_end_open_invitations(people: People) -> None:
    bob = second_owner(people)
    ways: list[tuple[Person, str, str, object]] = [
        (people.abe, "DELETE", f"{ACME}/members/abe", None),
        (bob, "POST", f"{ACME}/transfer", {"username": "mia"}),
        (bob, "POST", "/api/account/close", {"password": PASSWORD}),
    ]

    for person, method, address, body in ways:
        owner_link(person, "member")
        assert len(people.ann.get(INVITATIONS).json()["invitations"]) == 1
        assert person.send(method, address, body).status == 200
        assert people.ann.get(INVITATIONS).json() == {"invitations": []}


def test_disabling_an_account_ends_its_open_invitations_for_good(people: People) -> None:
    link = owner_link(people.abe, "member")
    store = people.site.node.store
    set_disabled(store, "abe", is_disabled=True)
    assert told(people.eve.post(*link)) == (404, NOT_FOR_YOU)
    set_disabled(store, "abe", is_disabled=False)

    assert told(people.eve.post(*link)) == (404, NOT_FOR_YOU)


@pytest.mark.parametrize("loss", ["role", "account"])
def test_an_invitation_whose_inviter_lost_the_right_unnoticed_is_not_valid(
    people: People, loss: str
) -> None:
    """The right itself counts, not only the events that end invitations."""
    link = owner_link(people.abe, "member")
    with people.site.node.store.writing() as tx:
        abe = get_account(tx.connection, "abe")
        if loss == "role":
            put_member(tx, get_organization(tx.connection, "acme").id, abe.id, Role.MEMBER)
        else:
            update_account(tx, abe.id, is_disabled=True)

    assert told(people.eve.post(*link)) == (404, NOT_FOR_YOU)
    assert people.eve.post(link[0].replace("accept", "decline"), link[1]).status == 404


@pytest.mark.parametrize(
    ("registration", "note"),
    [
        ("open", None),
        (
            "invitation",
            (
                "Somebody without an account cannot use the link yet: they also need an invitation "
                "to the catalog, from an operator."
            ),
        ),
        (
            "closed",
            (
                "Somebody without an account cannot use the link yet: they also need an invitation "
                "to the catalog, from an operator."
            ),
        ),
    ],
)
def test_anyone_who_invites_by_e_mail_is_shown_what_the_link_cannot_do(
    built_people: BuiltPeople, tmp_path: Path, registration: str, note: str | None
) -> None:
    with People(built_people, tmp_path / "d", registration=registration) as people:
        assert invite(people, email="x@example.org")["note"] == note
        assert "note" not in invite(people, username="eve")

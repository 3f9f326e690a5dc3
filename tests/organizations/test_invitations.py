"""Invitations to an organization: by name and by link, answered, withdrawn, expired."""

from pathlib import Path
from typing import Any

import pytest

from organizations.organizing import ACME, DONE, INVITATIONS, roles, told
from support.people import PASSWORD, Person, a_person
from support.village import BuiltVillage, Village, join
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.accounts.store import get_account, update_account
from widget_catalog.core.actors import Role
from widget_catalog.organizations.store import get_organization, put_member

NOT_FOR_YOU = {
    "error": "There is no such invitation for you, or it is no longer valid: it was used or "
    "withdrawn, it has expired, or the person who made it may no longer invite. Ask an owner of "
    "the organization for a new one."
}


def invite(village: Village, role: str = "member", **whom: str) -> dict[str, Any]:
    answer = village.ann.post(INVITATIONS, {"role": role, **whom})
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json()
    return made


def test_an_invitation_by_name_is_seen_and_accepted_by_that_account_alone(village: Village) -> None:
    made = invite(village, "admin", username="eve")

    assert made == {
        "id": made["id"],
        "organization": "acme",
        "username": "eve",
        "email": None,
        "role": "admin",
        "invitedBy": "ann",
        "expiresAt": made["expiresAt"],
    }
    assert told(village.eve.get("/api/invitations")) == (200, {"invitations": [made]})
    assert told(village.abe.get(INVITATIONS)) == (200, {"invitations": [made]})
    assert told(village.olly.get("/api/invitations")) == (200, {"invitations": []})
    for other in (village.olly, village.mia, village.ann):
        for answer in ("accept", "decline"):
            refused = other.post(f"/api/invitations/{made['id']}/{answer}", {"secret": ""})
            assert told(refused) == (404, NOT_FOR_YOU)

    assert told(village.eve.post(f"/api/invitations/{made['id']}/accept")) == DONE
    assert roles(village.eve)["eve"] == "admin"
    assert village.eve.get("/api/invitations").json() == {"invitations": []}
    again = village.eve.post(f"/api/invitations/{made['id']}/accept")
    assert told(again) == (404, NOT_FOR_YOU)


def test_an_organization_has_a_hundred_open_invitations_at_most(village: Village) -> None:
    made = [invite(village, email=f"guest-{i}@example.org") for i in range(100)]

    body = {"role": "member", "email": "one-more@example.org"}
    answer = village.ann.post(INVITATIONS, body)

    assert (answer.status, answer.headers["retry-after"]) == (429, "60")
    assert answer.json()["error"].startswith("acme has 100 open invitations, which is the limit.")
    assert village.ann.delete(f"{INVITATIONS}/{made[0]['id']}").status == 200
    assert village.ann.post(INVITATIONS, body).status == 201


def test_an_invitation_by_link_is_for_anyone_who_has_its_secret_once(village: Village) -> None:
    made = invite(village, email="eve@elsewhere.example")
    link = made["link"]
    place, _, secret = link.partition("&secret=")
    assert place == f"https://catalog.example/invitation?id={made['id']}"
    assert secret.startswith("wci_")
    (listed,) = village.ann.get(INVITATIONS).json()["invitations"]
    assert "link" not in listed
    address = f"/api/invitations/{made['id']}/accept"
    for wrong in ("", "wci_", secret[:-1], secret + "x", made["id"]):
        assert told(village.eve.post(address, {"secret": wrong})) == (404, NOT_FOR_YOU)
    assert village.eve.post(address).status == 404

    assert told(village.eve.post(address, {"secret": secret})) == DONE

    assert roles(village.eve)["eve"] == "member"
    assert village.olly.post(address, {"secret": secret}).status == 404


def test_who_is_a_member_already_does_not_use_a_link_up(village: Village) -> None:
    """Nor does it change a member's own role."""
    made = invite(village, "owner", email="x@example.org")
    secret = made["link"].partition("&secret=")[2]
    address = f"/api/invitations/{made['id']}/accept"

    refused = village.mia.post(address, {"secret": secret})

    assert told(refused) == (409, {"error": "You are a member of acme already."})
    assert roles(village.mia)["mia"] == "member"
    assert village.eve.post(address, {"secret": secret}).status == 200


def test_an_invitation_that_is_declined_or_withdrawn_is_gone(village: Village) -> None:
    declined = invite(village, username="eve")["id"]
    assert told(village.eve.post(f"/api/invitations/{declined}/decline")) == DONE
    assert village.eve.post(f"/api/invitations/{declined}/accept").status == 404
    withdrawn = invite(village, username="eve")["id"]

    assert village.mia.delete(f"{INVITATIONS}/{withdrawn}").status == 403
    assert village.eve.delete(f"{INVITATIONS}/{withdrawn}").status == 403
    assert told(village.abe.delete(f"{INVITATIONS}/{withdrawn}")) == DONE
    assert village.eve.post(f"/api/invitations/{withdrawn}/accept").status == 404
    assert village.ann.delete(f"{INVITATIONS}/{withdrawn}").status == 404
    assert "eve" not in roles(village.ann)


def test_an_invitation_ends_after_a_week(village: Village) -> None:
    made = invite(village, username="eve")
    village.clock.forward(days=6, hours=23, minutes=59)
    assert village.eve.get("/api/invitations").json() == {"invitations": [made]}
    village.clock.forward(minutes=1)

    assert village.eve.get("/api/invitations").json() == {"invitations": []}
    assert told(village.eve.post(f"/api/invitations/{made['id']}/accept")) == (404, NOT_FOR_YOU)
    assert village.ann.get(INVITATIONS).json() == {"invitations": []}
    assert invite(village, username="eve")["id"] != made["id"]


def test_an_invitation_of_one_organization_is_not_withdrawn_by_another(village: Village) -> None:
    made = invite(village, username="eve")
    village.eve.post("/api/organizations", {"slug": "eves", "displayName": "Eve’s"})

    foreign = village.eve.delete(f"/api/organizations/eves/invitations/{made['id']}")

    assert told(foreign) == (404, {"error": "There is no such invitation."})
    assert len(village.ann.get(INVITATIONS).json()["invitations"]) == 1


def test_nobody_is_invited_twice_or_without_being_there(village: Village) -> None:
    invite(village, username="eve")

    def refused(**body: str) -> tuple[int, Any]:
        return told(village.ann.post(INVITATIONS, body))

    assert refused(username="eve") == (409, {"error": "eve is invited to acme already."})
    assert refused(username="mia") == (409, {"error": "mia is a member of acme already."})
    assert refused(username="gone") == (404, {"error": "There is no account 'gone'."})
    assert refused(username="acme") == (404, {"error": "There is no account 'acme'."})
    one = (400, {"error": "Give a username or an email, one of the two."})
    assert refused() == one
    assert refused(username="olly", email="olly@example.org") == one
    assert refused(email="olly") == (400, {"error": "email: 'olly' is not an e-mail address."})


def test_an_account_that_is_disabled_cannot_be_invited(village: Village) -> None:
    set_disabled(village.site.node.store, "eve", is_disabled=True)

    answer = village.ann.post(INVITATIONS, {"username": "eve"})

    assert told(answer) == (404, {"error": "There is no account 'eve'."})


def second_owner(village: Village) -> Person:
    """Bob, another owner of acme."""
    bob = a_person(village.site, "bob")
    assert join(village.ann, bob, "acme", "owner").status == 200
    return bob


def owner_link(person: Person, role: str = "owner") -> tuple[str, dict[str, str]]:
    """The URL that accepts an invitation by link from this person, and its body."""
    made = person.post(INVITATIONS, {"role": role, "email": "x@example.org"}).json()
    return f"/api/invitations/{made['id']}/accept", {
        "secret": made["link"].partition("&secret=")[2]
    }


def test_an_owner_who_was_removed_does_not_come_back_by_an_own_link(village: Village) -> None:
    bob = second_owner(village)
    address, secret = owner_link(bob)
    assert village.ann.delete(f"{ACME}/members/bob").status == 200

    refused = bob.post(address, secret)

    assert told(refused) == (404, NOT_FOR_YOU)
    assert "bob" not in roles(village.ann)
    assert village.eve.post(address, secret).status == 404
    assert village.ann.get(INVITATIONS).json() == {"invitations": []}


@pytest.mark.parametrize("role", ["admin", "member"])
def test_anyone_who_is_demoted_leaves_no_open_invitations(village: Village, role: str) -> None:
    bob = second_owner(village)
    links = [owner_link(bob, invited_as) for invited_as in ("owner", "admin", "member")]
    kept = owner_link(village.ann)
    assert village.ann.put(f"{ACME}/members/bob", {"role": role}).status == 200

    for address, secret in links:
        assert told(village.eve.post(address, secret)) == (404, NOT_FOR_YOU)
    assert village.eve.post(*kept).status == 200


def test_anyone_who_is_promoted_keeps_their_invitations(village: Village) -> None:
    link = owner_link(village.abe, "member")
    assert village.ann.put(f"{ACME}/members/abe", {"role": "owner"}).status == 200

    assert village.eve.post(*link).status == 200


def test_leaving_transferring_and_closing_end_open_invitations(village: Village) -> None:
    bob = second_owner(village)
    ways: list[tuple[Person, str, str, object]] = [
        (village.abe, "DELETE", f"{ACME}/members/abe", None),
        (bob, "POST", f"{ACME}/transfer", {"username": "mia"}),
        (bob, "POST", "/api/account/close", {"password": PASSWORD}),
    ]

    for person, method, address, body in ways:
        owner_link(person, "member")
        assert len(village.ann.get(INVITATIONS).json()["invitations"]) == 1
        assert person.send(method, address, body).status == 200
        assert village.ann.get(INVITATIONS).json() == {"invitations": []}


def test_disabling_an_account_ends_its_open_invitations_for_good(village: Village) -> None:
    link = owner_link(village.abe, "member")
    store = village.site.node.store
    set_disabled(store, "abe", is_disabled=True)
    assert told(village.eve.post(*link)) == (404, NOT_FOR_YOU)
    set_disabled(store, "abe", is_disabled=False)

    assert told(village.eve.post(*link)) == (404, NOT_FOR_YOU)


@pytest.mark.parametrize("loss", ["role", "account"])
def test_an_invitation_whose_inviter_lost_the_right_unnoticed_is_not_valid(
    village: Village, loss: str
) -> None:
    """The right itself counts, not only the events that end invitations."""
    link = owner_link(village.abe, "member")
    with village.site.node.store.writing() as tx:
        abe = get_account(tx.connection, "abe")
        if loss == "role":
            put_member(tx, get_organization(tx.connection, "acme").id, abe.id, Role.MEMBER)
        else:
            update_account(tx, abe.id, is_disabled=True)

    assert told(village.eve.post(*link)) == (404, NOT_FOR_YOU)
    assert village.eve.post(link[0].replace("accept", "decline"), link[1]).status == 404


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
    built_village: BuiltVillage, tmp_path: Path, registration: str, note: str | None
) -> None:
    with Village(built_village, tmp_path / "d", registration=registration) as village:
        assert invite(village, email="x@example.org")["note"] == note
        assert "note" not in invite(village, username="eve")

"""Organizations: who is in them, who leaves, who owns, and how one is invited."""

from typing import Any

import pytest

from support.people import PASSWORD, Person
from support.village import Village, join
from widget_catalog.actions.manage_account import set_disabled
from widget_catalog.domain.clock import iso

ACME = "/api/organizations/acme"
INVITATIONS = f"{ACME}/invitations"
DONE = (200, {"success": True})
NOT_FOR_YOU = {"error": "There is no such invitation for you, or it has expired."}


def roles(person: Person, slug: str = "acme") -> dict[str, str]:
    members = person.get(f"/api/organizations/{slug}").json()["members"]
    return {it["username"]: it["role"] for it in members}


def told(answer: Any) -> tuple[int, Any]:
    return answer.status, answer.json()


def invite(village: Village, role: str = "member", **whom: str) -> dict[str, Any]:
    answer = village.ann.post(INVITATIONS, {"role": role, **whom})
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json()
    return made


def test_whoever_makes_an_organization_owns_it_and_may_publish_in_it(village: Village) -> None:
    eve = village.eve
    made = eve.post("/api/organizations", {"slug": "eves", "displayName": " Eve’s "})

    shown = {"slug": "eves", "displayName": "Eve’s", "role": "owner"}
    shown["createdAt"] = iso(village.clock.at)
    assert told(made) == (201, shown)
    assert told(eve.get("/api/organizations")) == (200, {"organizations": [shown]})
    member = {"username": "eve", "role": "owner", "since": iso(village.clock.at)}
    assert told(eve.get("/api/organizations/eves")) == (200, {**shown, "members": [member]})
    assert eve.get("/api/widgets/scopes").json() == {
        "scopes": [
            {"name": "eve", "type": "personal", "displayName": "eve"},
            {"name": "eves", "type": "organization", "displayName": "Eve’s"},
        ]
    }
    assert eve.publish("eves/clock").status == 200


@pytest.mark.parametrize(
    ("slug", "name", "status"),
    [
        ("acme", "X", 409),
        ("ann", "X", 409),
        ("Acme", "X", 400),
        ("", "X", 400),
        ("a" * 65, "X", 400),
        ("../etc", "X", 400),
        ("new", "", 400),
        ("new", "\u200b", 400),
        ("new", "x" * 101, 400),
        ("new", "a\u202eb", 400),
    ],
)
def test_what_cannot_be_an_organization_is_refused(
    quiet_village: Village, slug: str, name: str, status: int
) -> None:
    body = {"slug": slug, "displayName": name}
    answer = quiet_village.eve.post("/api/organizations", body)

    assert (answer.status, list(answer.json())) == (status, ["error"])


def test_members_see_one_another_and_their_own_role(quiet_village: Village) -> None:
    everybody = {"ann": "owner", "abe": "admin", "mia": "member", "pia": "member"}
    for person in (quiet_village.ann, quiet_village.abe, quiet_village.mia):
        shown = person.get(ACME).json()
        assert shown["role"] == everybody[person.username]
        assert roles(person) == everybody
    assert quiet_village.olly.get(ACME).json()["role"] is None
    assert quiet_village.ann.get("/api/organizations/nothing").status == 403
    assert quiet_village.olly.get("/api/organizations/nothing").status == 404


def test_members_publish_only_what_they_are_named_for(village: Village) -> None:
    assert village.pia.publish("acme/clock", "2.0.0").status == 200
    assert village.pia.request("acme/other").status == 403
    assert village.mia.request("acme/clock", "3.0.0").status == 403
    assert village.abe.publish("acme/other").status == 200
    names = [it["name"] for it in village.mia.get("/api/widgets/scopes").json()["scopes"]]
    assert names == ["mia"]
    names = [it["name"] for it in village.pia.get("/api/widgets/scopes").json()["scopes"]]
    assert names == ["pia", "acme"]


def test_an_admin_looks_after_members_but_not_after_owners(village: Village) -> None:
    abe = village.abe
    assert told(abe.put(f"{ACME}/members/mia", {"role": "admin"})) == DONE
    assert told(abe.put(f"{ACME}/members/mia", {"role": "member"})) == DONE
    owners_only = (403, {"error": "Only an owner of acme can do this."})

    assert told(abe.put(f"{ACME}/members/mia", {"role": "owner"})) == owners_only
    assert told(abe.put(f"{ACME}/members/abe", {"role": "owner"})) == owners_only
    assert told(abe.put(f"{ACME}/members/ann", {"role": "member"})) == owners_only
    assert told(abe.delete(f"{ACME}/members/ann")) == owners_only
    assert told(abe.post(f"{ACME}/transfer", {"username": "abe"})) == owners_only
    assert told(abe.post(INVITATIONS, {"username": "eve", "role": "owner"})) == owners_only
    assert told(abe.delete(f"{ACME}/members/mia")) == DONE
    assert roles(abe) == {"ann": "owner", "abe": "admin", "pia": "member"}


def test_the_last_owner_can_neither_leave_nor_step_down(village: Village) -> None:
    last = (
        409,
        {
            "error": "ann is the last owner of acme who can sign in. Make somebody else an owner "
            "first."
        },
    )
    assert told(village.ann.delete(f"{ACME}/members/ann")) == last
    assert told(village.ann.put(f"{ACME}/members/ann", {"role": "admin"})) == last
    assert told(village.ann.put(f"{ACME}/members/ann", {"role": "owner"})) == DONE

    assert told(village.ann.put(f"{ACME}/members/abe", {"role": "owner"})) == DONE
    assert told(village.ann.delete(f"{ACME}/members/ann")) == DONE
    assert roles(village.abe) == {"abe": "owner", "mia": "member", "pia": "member"}
    assert village.ann.get(ACME).status == 403
    assert village.ann.request("acme/clock", "2.0.0").status == 403


def test_an_owner_who_is_disabled_does_not_count(village: Village) -> None:
    """Else nobody would remain who can look after the organization."""
    ann, store = village.ann, village.site.node.store
    ann.put(f"{ACME}/members/abe", {"role": "owner"})
    ann.put(f"{ACME}/members/mia", {"role": "owner"})
    for name in ("abe", "mia"):
        set_disabled(store, name, is_disabled=True)

    for answer in (
        ann.delete(f"{ACME}/members/ann"),
        ann.put(f"{ACME}/members/ann", {"role": "member"}),
        ann.post("/api/account/close", {"password": PASSWORD}),
    ):
        assert answer.status == 409
        assert " the last owner of acme who can sign in. " in answer.json()["error"]
    # One who is disabled can be put out, and steps in again when enabled.
    assert told(ann.delete(f"{ACME}/members/mia")) == DONE
    set_disabled(store, "abe", is_disabled=False)
    assert told(ann.delete(f"{ACME}/members/ann")) == DONE


def test_nothing_is_transferred_to_an_account_that_is_disabled(village: Village) -> None:
    set_disabled(village.site.node.store, "abe", is_disabled=True)

    answer = village.ann.post(f"{ACME}/transfer", {"username": "abe"})

    assert told(answer) == (
        409,
        {"error": "abe cannot sign in at present. Choose somebody else."},
    )
    assert roles(village.ann)["ann"] == "owner"


def test_one_owner_can_unmake_another(village: Village) -> None:
    village.ann.put(f"{ACME}/members/abe", {"role": "owner"})

    assert told(village.abe.put(f"{ACME}/members/ann", {"role": "member"})) == DONE
    assert roles(village.abe)["ann"] == "member"
    assert village.ann.delete(f"{ACME}/members/abe").status == 403


def test_a_transfer_makes_another_the_owner_and_oneself_an_admin(village: Village) -> None:
    ann = village.ann
    assert told(ann.post(f"{ACME}/transfer", {"username": "eve"})) == (
        404,
        {"error": "'eve' is not a member of acme."},
    )
    assert told(ann.post(f"{ACME}/transfer", {"username": "ann"})) == (
        400,
        {"error": "username: name somebody else; you are the owner already."},
    )

    assert told(ann.post(f"{ACME}/transfer", {"username": "mia"})) == DONE

    assert roles(ann) == {"ann": "admin", "abe": "admin", "mia": "owner", "pia": "member"}
    assert ann.post(f"{ACME}/transfer", {"username": "ann"}).status == 403
    entry = village.olly.get("/api/audit?limit=1").json()["entries"][0]
    assert (entry["actor"], entry["action"], entry["scope"], entry["details"]) == (
        "ann",
        "transfer organization",
        "acme",
        {"member": "mia"},
    )


def test_whoever_leaves_takes_their_publishing_with_them(village: Village) -> None:
    assert told(village.pia.delete(f"{ACME}/members/pia")) == DONE
    assert village.pia.request("acme/clock", "2.0.0").status == 403
    join(village.ann, village.pia, "acme")

    assert village.ann.get("/api/widgets/acme/clock/publishers").json() == {"publishers": []}
    assert village.pia.request("acme/clock", "2.0.0").status == 403
    # Somebody who is not there cannot leave, and no member can put out another.
    assert village.olly.delete(f"{ACME}/members/olly").status == 404
    assert village.mia.delete(f"{ACME}/members/pia").status == 403
    assert village.eve.delete(f"{ACME}/members/eve").status == 403


@pytest.mark.parametrize("role", ["", "Owner", "operator", "publisher", "owner "])
def test_there_are_three_roles(quiet_village: Village, role: str) -> None:
    wrong = (400, {"error": "role: must be one of owner, admin, member."})

    assert told(quiet_village.ann.put(f"{ACME}/members/mia", {"role": role})) == wrong
    assert told(quiet_village.ann.post(INVITATIONS, {"username": "eve", "role": role})) == wrong


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


def test_an_invitation_by_link_is_for_whoever_has_its_secret_once(village: Village) -> None:
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
    """Nor does a member's own role change by it."""
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


def test_the_operator_looks_into_organizations_but_does_not_rule_them(village: Village) -> None:
    olly = village.olly
    assert olly.get(ACME).status == 200
    for answer in (
        olly.put(f"{ACME}/members/mia", {"role": "owner"}),
        olly.delete(f"{ACME}/members/mia"),
        olly.post(INVITATIONS, {"username": "olly", "role": "owner"}),
        olly.post(f"{ACME}/transfer", {"username": "mia"}),
        olly.request("acme/clock", "2.0.0"),
        olly.request("ann/clock", "2.0.0"),
    ):
        assert answer.status == 403


def test_everything_about_members_is_in_the_audit_log(village: Village) -> None:
    made = invite(village, "admin", username="eve")
    village.eve.post(f"/api/invitations/{made['id']}/accept")
    village.ann.put(f"{ACME}/members/eve", {"role": "member"})
    village.ann.put(f"{ACME}/members/eve", {"role": "member"})
    village.eve.delete(f"{ACME}/members/eve")
    village.ann.delete(f"{ACME}/members/mia")

    entries = village.olly.get("/api/audit?limit=5").json()["entries"]

    assert [(it["actor"], it["action"], it["scope"], it["details"]) for it in entries] == [
        ("ann", "remove member", "acme", {"member": "mia"}),
        ("eve", "leave organization", "acme", {"member": "eve"}),
        ("ann", "change role", "acme", {"member": "eve", "role": "member"}),
        ("eve", "accept invitation", "acme", {"role": "admin"}),
        ("ann", "invite", "acme", {"who": "eve", "role": "admin"}),
    ]

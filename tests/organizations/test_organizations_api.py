"""Organizations: members, leaving, ownership, and their audit log."""

from collections.abc import Callable

import pytest

from organizations.organizing import ACME, DONE, INVITATIONS, roles, told
from support.people import PASSWORD
from support.site import Reply
from support.site_with_people import People, join
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.core.clock import iso


def test_anyone_who_makes_an_organization_owns_it_and_may_publish_in_it(people: People) -> None:
    eve = people.eve
    made = eve.post("/api/organizations", {"slug": "eves", "displayName": " Eve’s "})

    shown: dict[str, object] = {"slug": "eves", "displayName": "Eve’s", "role": "owner"}
    shown |= {"createdAt": iso(people.clock.at), "membersPublic": False}
    assert told(made) == (201, shown)
    assert told(eve.get("/api/organizations")) == (200, {"organizations": [shown]})
    member = {"username": "eve", "role": "owner", "since": iso(people.clock.at)}
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
        ("new", "Ac\u00adme", 400),
        ("new", "Acme\U000e0041", 400),
    ],
)
def test_what_cannot_be_an_organization_is_refused(
    shared_people: People, slug: str, name: str, status: int
) -> None:
    body = {"slug": slug, "displayName": name}
    response = shared_people.eve.post("/api/organizations", body)

    assert (response.status, list(response.json())) == (status, ["error"])


def test_members_see_one_another_and_their_own_role(shared_people: People) -> None:
    everybody = {"ann": "owner", "abe": "admin", "mia": "member", "pia": "member"}
    for person in (shared_people.ann, shared_people.abe, shared_people.mia):
        shown = person.get(ACME).json()
        assert shown["role"] == everybody[person.username]
        assert roles(person) == everybody
    assert shared_people.olly.get(ACME).json()["role"] is None
    assert shared_people.ann.get("/api/organizations/nothing").status == 403
    assert shared_people.olly.get("/api/organizations/nothing").status == 404


def test_members_publish_only_what_they_are_named_for(people: People) -> None:
    assert people.pia.publish("acme/clock", "2.0.0").status == 200
    assert people.pia.request("acme/other").status == 403
    assert people.mia.request("acme/clock", "3.0.0").status == 403
    assert people.abe.publish("acme/other").status == 200
    names = [it["name"] for it in people.mia.get("/api/widgets/scopes").json()["scopes"]]
    assert names == ["mia"]
    names = [it["name"] for it in people.pia.get("/api/widgets/scopes").json()["scopes"]]
    assert names == ["pia", "acme"]


def test_an_admin_looks_after_members_but_not_after_owners(people: People) -> None:
    abe = people.abe
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


def test_the_last_owner_can_neither_leave_nor_step_down(people: People) -> None:
    last = (
        409,
        {
            "error": "ann is the last owner of acme who can sign in. Make another member an owner "
            "first."
        },
    )
    assert told(people.ann.delete(f"{ACME}/members/ann")) == last
    assert told(people.ann.put(f"{ACME}/members/ann", {"role": "admin"})) == last
    assert told(people.ann.put(f"{ACME}/members/ann", {"role": "owner"})) == DONE

    assert told(people.ann.put(f"{ACME}/members/abe", {"role": "owner"})) == DONE
    assert told(people.ann.delete(f"{ACME}/members/ann")) == DONE
    assert roles(people.abe) == {"abe": "owner", "mia": "member", "pia": "member"}
    assert people.ann.get(ACME).status == 403
    assert people.ann.request("acme/clock", "2.0.0").status == 403


def test_an_owner_who_is_disabled_does_not_count(people: People) -> None:
    """Otherwise nobody would be left to manage the organization."""
    ann, store = people.ann, people.site.node.store
    ann.put(f"{ACME}/members/abe", {"role": "owner"})
    ann.put(f"{ACME}/members/mia", {"role": "owner"})
    for name in ("abe", "mia"):
        set_disabled(store, name, is_disabled=True)

    for response in (
        ann.delete(f"{ACME}/members/ann"),
        ann.put(f"{ACME}/members/ann", {"role": "member"}),
        ann.post("/api/account/close", {"password": PASSWORD}),
    ):
        assert response.status == 409
        assert " the last owner of acme who can sign in. " in response.json()["error"]
    # A disabled member can be removed, and is back when enabled.
    assert told(ann.delete(f"{ACME}/members/mia")) == DONE
    set_disabled(store, "abe", is_disabled=False)
    assert told(ann.delete(f"{ACME}/members/ann")) == DONE


def test_nothing_is_transferred_to_an_account_that_is_disabled(people: People) -> None:
    set_disabled(people.site.node.store, "abe", is_disabled=True)

    response = people.ann.post(f"{ACME}/transfer", {"username": "abe"})

    assert told(response) == (
        409,
        {"error": "abe cannot sign in at present. Choose another account."},
    )
    assert roles(people.ann)["ann"] == "owner"


def test_one_owner_can_unmake_another(people: People) -> None:
    people.ann.put(f"{ACME}/members/abe", {"role": "owner"})

    assert told(people.abe.put(f"{ACME}/members/ann", {"role": "member"})) == DONE
    assert roles(people.abe)["ann"] == "member"
    assert people.ann.delete(f"{ACME}/members/abe").status == 403


def test_a_transfer_makes_another_the_owner_and_oneself_an_admin(people: People) -> None:
    ann = people.ann
    assert told(ann.post(f"{ACME}/transfer", {"username": "eve"})) == (
        404,
        {"error": "'eve' is not a member of acme."},
    )
    assert told(ann.post(f"{ACME}/transfer", {"username": "ann"})) == (
        400,
        {"error": "username: you are an owner already. Name another account."},
    )

    assert told(ann.post(f"{ACME}/transfer", {"username": "mia"})) == DONE

    assert roles(ann) == {"ann": "admin", "abe": "admin", "mia": "owner", "pia": "member"}
    assert ann.post(f"{ACME}/transfer", {"username": "ann"}).status == 403
    entry = people.olly.get("/api/audit?limit=1").json()["entries"][0]
    assert (entry["actor"], entry["action"], entry["scope"], entry["details"]) == (
        "ann",
        "transfer organization",
        "acme",
        {"member": "mia"},
    )


def test_anyone_who_leaves_takes_their_publishing_with_them(people: People) -> None:
    assert told(people.pia.delete(f"{ACME}/members/pia")) == DONE
    assert people.pia.request("acme/clock", "2.0.0").status == 403
    join(people.ann, people.pia, "acme")

    assert people.ann.get("/api/widgets/acme/clock/publishers").json() == {"publishers": []}
    assert people.pia.request("acme/clock", "2.0.0").status == 403
    # Non-members cannot leave, and members cannot remove each other.
    assert people.olly.delete(f"{ACME}/members/olly").status == 404
    assert people.mia.delete(f"{ACME}/members/pia").status == 403
    assert people.eve.delete(f"{ACME}/members/eve").status == 403


@pytest.mark.parametrize("role", ["", "Owner", "operator", "publisher", "owner "])
def test_there_are_three_roles(shared_people: People, role: str) -> None:
    wrong = (400, {"error": "role: must be one of owner, admin, member."})

    assert told(shared_people.ann.put(f"{ACME}/members/mia", {"role": role})) == wrong
    assert told(shared_people.ann.post(INVITATIONS, {"username": "eve", "role": role})) == wrong


def test_the_operator_looks_into_organizations_but_does_not_rule_them(people: People) -> None:
    olly = people.olly
    assert olly.get(ACME).status == 200
    for response in (
        olly.put(f"{ACME}/members/mia", {"role": "owner"}),
        olly.delete(f"{ACME}/members/mia"),
        olly.post(INVITATIONS, {"username": "olly", "role": "owner"}),
        olly.post(f"{ACME}/transfer", {"username": "mia"}),
        olly.request("acme/clock", "2.0.0"),
        olly.request("ann/clock", "2.0.0"),
    ):
        assert response.status == 403


def test_everything_about_members_is_in_the_audit_log(people: People) -> None:
    join(people.ann, people.eve, "acme", "admin")
    people.ann.put(f"{ACME}/members/eve", {"role": "member"})
    people.ann.put(f"{ACME}/members/eve", {"role": "member"})
    people.eve.delete(f"{ACME}/members/eve")
    people.ann.delete(f"{ACME}/members/mia")

    entries = people.olly.get("/api/audit?limit=5").json()["entries"]

    assert [(it["actor"], it["action"], it["scope"], it["details"]) for it in entries] == [
        ("ann", "remove member", "acme", {"member": "mia"}),
        ("eve", "leave organization", "acme", {"member": "eve"}),
        ("ann", "change role", "acme", {"member": "eve", "role": "member"}),
        ("eve", "accept invitation", "acme", {"role": "admin"}),
        ("ann", "invite", "acme", {"who": "eve", "role": "admin"}),
    ]


@pytest.mark.parametrize(
    ("go", "actor", "action"),
    [
        (lambda it: it.ann.delete(f"{ACME}/members/pia"), "ann", "remove member"),
        (lambda it: it.pia.delete(f"{ACME}/members/pia"), "pia", "leave organization"),
        (
            lambda it: it.pia.post("/api/account/close", {"password": PASSWORD}),
            "pia",
            "leave organization",
        ),
    ],
    ids=["removed", "left", "closed"],
)
def test_the_log_tells_what_somebody_who_goes_could_publish(
    people: People, go: Callable[[People], Reply], actor: str, action: str
) -> None:
    people.ann.put("/api/widgets/acme/board/publishers", {"publishers": ["mia", "pia"]})

    assert told(go(people)) == DONE

    (entry,) = people.ann.get(f"{ACME}/audit?limit=1").json()["entries"]
    assert (entry["actor"], entry["action"]) == (actor, action)
    assert entry["details"] == {"member": "pia", "publisherOf": ["board", "clock"]}


def test_owners_read_the_log_of_their_organization_and_of_nothing_else(people: People) -> None:
    people.eve.post("/api/organizations", {"slug": "eves", "displayName": "Eve’s"})
    people.clock.forward(hours=1)
    people.ann.put(f"{ACME}/members/mia", {"role": "admin"})
    people.ann.post("/api/widgets/acme/clock/unlist", {"reason": "Moved."})

    response = people.ann.get(f"{ACME}/audit?limit=2")

    who = {
        "at": iso(people.clock.at),
        "actor": "ann",
        "via": "session",
        "clientId": None,
        "clientName": None,
        "address": "127.0.0.1",
        "scope": "acme",
    }
    unlisted = {"name": "clock", "version": None, "details": {"reason": "Moved."}}
    promoted = {"name": None, "version": None, "details": {"member": "mia", "role": "admin"}}
    total = response.json()["total"]
    assert told(response) == (
        200,
        {
            "entries": [
                {**who, "action": "unlist", **unlisted},
                {**who, "action": "change role", **promoted},
            ],
            "total": total,
            "page": 1,
            "limit": 2,
        },
    )
    whole = people.ann.get(f"{ACME}/audit?limit=100").json()["entries"]
    assert (len(whole), {it["scope"] for it in whole}) == (total, {"acme"})
    assert whole[-1]["action"] == "create organization"
    seen = people.olly.get(f"{ACME}/audit?limit=100").json()["entries"]
    assert [{**it, "address": None} for it in seen] == [{**it, "address": None} for it in whole]
    for person in (people.abe, people.mia, people.eve):
        assert told(person.get(f"{ACME}/audit")) == (
            403,
            {"error": "The audit log of acme is for its owners."},
        )
    # A personal scope is not an organization.
    assert people.ann.get("/api/organizations/ann/audit").status == 404


def test_owners_alone_decide_whether_everybody_sees_the_members(people: People) -> None:
    ann, place = people.ann, f"{ACME}/settings"
    for person in (people.abe, people.mia, people.olly):
        assert person.put(place, {"membersPublic": True}).status == 403
    wrong: list[object] = [{}, {"membersPublic": "yes"}, {"membersPublic": None}, []]
    for body in wrong:
        assert list(ann.put(place, body).json()) == ["error"]
    assert ann.get(ACME).json()["membersPublic"] is False

    for is_public in (True, True, False):
        assert told(ann.put(place, {"membersPublic": is_public})) == DONE
        assert ann.get(ACME).json()["membersPublic"] is is_public
    entries = ann.get(f"{ACME}/audit").json()["entries"][:3]
    said = [(it["action"], it["actor"], it["scope"]) for it in entries]
    assert said[:2] == [
        ("make members private", "ann", "acme"),
        ("make members public", "ann", "acme"),
    ]
    assert said[2][0] != "make members public"

"""Reserved names, and released names."""

import pytest

from support.people import BUNDLE, Person
from support.site_with_people import People, join
from support.widgets import widget_line
from widget_catalog.core.errors import Conflict, NotFound
from widget_catalog.moderation.manage_scopes import release_scope, reserve_scope
from widget_contract.errors import InvalidName


def create(person: Person, slug: str = "grab") -> int:
    body = {"slug": slug, "displayName": "Ours"}
    return person.post("/api/organizations", body).status


def test_a_released_organization_is_gone_and_its_name_somebody_elses(people: People) -> None:
    store, eve, ann = people.site.node.store, people.eve, people.ann
    assert create(eve) == 201
    assert join(eve, people.mia, "grab", "admin").status == 200
    eve.post("/api/organizations/grab/invitations", {"username": "abe"})
    link = eve.post("/api/organizations/grab/invitations", {"email": "x@example.org"}).json()[
        "link"
    ]
    eve.put("/api/widgets/grab/clock/publishers", {"publishers": ["mia"]})
    asked = eve.request("grab/clock").json()
    assert create(ann) == 409

    assert release_scope(store, "grab") == "organization"

    assert create(ann) == 201
    for person in (eve, people.mia):
        mine = person.get("/api/organizations").json()["organizations"]
        assert "grab" not in [it["slug"] for it in mine]
        assert person.get("/api/organizations/grab").status == 403
        assert person.request("grab/clock").status == 403
    # Requests from before are useless.
    assert eve.upload(asked["uploadUrl"], BUNDLE).status == 200
    assert eve.confirm(asked["versionId"]).status == 403
    assert people.abe.get("/api/invitations").json() == {"invitations": []}
    id_, _, secret = link.partition("?id=")[2].partition("&secret=")
    assert people.abe.post(f"/api/invitations/{id_}/accept", {"secret": secret}).status == 404
    # The new owner sees nothing from before; the operator sees everything.
    log = ann.get("/api/organizations/grab/audit").json()
    assert [(it["actor"], it["action"]) for it in log["entries"]] == [
        ("ann", "create organization")
    ]
    assert log["total"] == 1
    whole = people.olly.get("/api/organizations/grab/audit").json()["entries"]
    assert [it["action"] for it in whole][:2] == ["create organization", "release scope"]
    assert whole[1]["details"] == {"was": "organization", "members": ["eve", "mia"]}
    assert whole[-1]["actor"] == "eve"
    # But sees entries of its own widgets.
    assert ann.publish("grab/clock").status == 200
    assert ann.get("/api/widgets/grab/clock/audit").json()["total"] == 1


def test_a_name_with_something_published_is_not_released(people: People) -> None:
    store = people.site.node.store
    people.ann.post("/api/widgets/acme/clock/unlist", {})

    with pytest.raises(Conflict, match="acme has 1 published widget, listed or not"):
        release_scope(store, "acme")
    with pytest.raises(Conflict, match="ann is the name of an account"):
        release_scope(store, "ann")
    with pytest.raises(NotFound, match="The name free is not taken"):
        release_scope(store, "free")
    with pytest.raises(InvalidName):
        release_scope(store, "../etc")
    assert people.ann.get("/api/organizations/acme").status == 200


def test_a_reserved_name_is_released_whatever_was_imported_into_it(people: People) -> None:
    store = people.site.node.store
    people.site.add(widget_line("imported/clock"))
    with pytest.raises(NotFound, match="its widgets were imported"):
        release_scope(store, "imported")
    reserve_scope(store, "imported")

    assert release_scope(store, "imported") == "reserved"

    for person in (people.eve, people.olly):  # As before: the operator may assign it.
        assert create(person, "imported") == 409


@pytest.mark.parametrize("name", ["official", "staff", "admin", "administrator", "support",
                                  "security", "root", "system", "catalog", "widget"])  # fmt: skip
def test_names_that_speak_for_the_operator_are_reserved(people: People, name: str) -> None:
    body = {"slug": name, "displayName": "Trust us", "allowReserved": True}

    refused = people.eve.post("/api/organizations", body)

    assert refused.status == 400
    assert refused.json() == {"error": f"The name {name} is reserved. Choose another."}
    assert create(people.olly, name) == 400
    assert people.olly.post("/api/organizations", body).status == 201

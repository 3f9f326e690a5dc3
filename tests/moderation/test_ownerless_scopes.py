"""Nobody takes over the widgets of a scope without an owner, unless an operator assigns it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.people import PASSWORD, nobody, signed_in
from support.site_with_people import BuiltPeople, People
from support.widgets import widget_line
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.accounts.create_account import OPERATOR, create_account, invite
from widget_catalog.accounts.permissions import read_as_operator
from widget_catalog.accounts.store import get_account
from widget_catalog.catalog.store.scopes import list_ownerless_scopes
from widget_catalog.core.actors import COMMAND_LINE, Account, Actor, Via
from widget_catalog.core.errors import Conflict, NotAllowed, NotFound
from widget_catalog.moderation.manage_scopes import assign_scope, reserve_scope

TAKEN = {
    "error": "The name shop is taken: that scope has no owner, but 3 widgets with 9,555 installs. "
    "An operator can assign it, at /operate/scopes."
}
ORGANIZATION = {"slug": "shop", "displayName": "The shop"}


@pytest.fixture
def people(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    with People(built_people, tmp_path / "data", registration="open") as made:
        made.site.add(
            widget_line("shop/clock", downloadCount=9_000),
            widget_line("shop/dice", downloadCount=555, listed=False),
            widget_line("shop/notes"),
        )
        yield made


def test_nobody_takes_over_by_creating_an_organization_not_even_an_operator(
    people: People,
) -> None:
    for person in (people.eve, people.olly):
        response = person.post("/api/organizations", ORGANIZATION)
        assert (response.status, response.json()) == (409, TAKEN)
        assert person.publish("shop/clock", "2.0.0").status == 403


def test_nobody_takes_over_by_registering_not_even_an_invited_operator(people: People) -> None:
    store = people.site.node.store
    body = {"username": "shop", "email": "shop@example.org", "password": PASSWORD}

    for secret in ("", invite(store), invite(store, OPERATOR)):
        response = nobody(people.site).post("/api/auth/register", {**body, "invitation": secret})
        assert (response.status, response.json()) == (409, TAKEN)
    with pytest.raises(Conflict, match="3 widgets with 9,555 installs"):
        create_account(store, "shop", "shop@example.org", PASSWORD)


def test_an_operator_who_creates_an_account_may_give_it_the_widgets(people: People) -> None:
    create_account(people.site.node.store, "shop", "s@example.org", PASSWORD, adopts=True)

    assert signed_in(people.site, "shop").publish("shop/clock", "2.0.0").status == 200


def test_an_assigned_scope_is_an_organization_of_its_owner(people: People) -> None:
    store = people.site.node.store
    olly = Actor(via=Via.SESSION, account=_account(people, "olly"))
    assert [it.name for it in read_as_operator(store, olly, list_ownerless_scopes, 1, 10)[0]] == [
        "shop"
    ]

    assigned = assign_scope(store, "shop", "eve", "The shop", actor=olly)

    assert assigned == ("shop", 3, 9_555)
    assert read_as_operator(store, olly, list_ownerless_scopes, 1, 10) == ([], 0)
    mine = people.eve.get("/api/organizations").json()["organizations"]
    assert [(it["slug"], it["displayName"], it["role"]) for it in mine] == [
        ("shop", "The shop", "owner")
    ]
    assert people.eve.publish("shop/clock", "2.0.0").status == 200
    (_, entry) = people.eve.get("/api/organizations/shop/audit").json()["entries"]
    assert (entry["actor"], entry["action"], entry["details"]) == (
        "olly",
        "assign scope",
        {"member": "eve", "widgets": 3, "installs": 9_555},
    )


def test_a_reserved_scope_with_widgets_is_assigned_as_well(people: People) -> None:
    store = people.site.node.store
    reserve_scope(store, "shop")

    assign_scope(store, "shop", "eve")

    assert people.eve.get("/api/organizations/shop").json()["displayName"] == "shop"


def test_a_scope_that_cannot_be_assigned_is_explained(people: People) -> None:
    store = people.site.node.store
    set_disabled(store, "mia", is_disabled=True)
    eve = Actor(via=Via.SESSION, account=_account(people, "eve"))

    with pytest.raises(Conflict, match="acme is an organization, which has one scope"):
        assign_scope(store, "shop", "acme")
    with pytest.raises(NotFound, match="There is no account 'nobody'"):
        assign_scope(store, "shop", "nobody")
    with pytest.raises(Conflict, match="mia is disabled"):
        assign_scope(store, "shop", "mia")
    with pytest.raises(Conflict, match="belongs to the organization acme"):
        assign_scope(store, "acme", "eve")
    with pytest.raises(Conflict, match="belongs to the account ann"):
        assign_scope(store, "ann", "eve")
    with pytest.raises(NotFound, match="There are no widgets in the scope free"):
        assign_scope(store, "free", "eve")
    with pytest.raises(NotAllowed):
        assign_scope(store, "shop", "eve", actor=eve)
    with pytest.raises(NotAllowed):
        read_as_operator(store, eve, list_ownerless_scopes, 1, 10)
    assert read_as_operator(store, COMMAND_LINE, list_ownerless_scopes, 1, 10)[1] == 1


def _account(people: People, name: str) -> Account:
    with people.site.node.store.reading() as connection:
        return get_account(connection, name)

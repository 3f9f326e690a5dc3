"""Webhooks over the internal API: who manages which, and what happens to them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from support.people import PASSWORD, Person
from support.service import wait_for
from support.site_with_people import BuiltPeople, People
from webhooks.receiver import Receiver
from widget_catalog.accounts.administer_account import (
    appoint_operator,
    dismiss_operator,
    set_disabled,
)
from widget_catalog.catalog.model.events import list_actions
from widget_catalog.core.actors import (
    COMMAND_LINE,
    TOKEN_RIGHTS,
    Account,
    Actor,
    Limits,
    Role,
    Standing,
    Via,
    is_allowed,
)
from widget_catalog.webhooks.managing import MAX_WEBHOOKS
from widget_catalog.webhooks.model import MAY_MANAGE
from widget_contract.names import Scope

URL = "https://hooks.example/catalog"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


@pytest.fixture
def open_people(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    """Its webhooks may be sent to this machine."""
    allowed = {"webhook_http": True, "webhook_networks": "127.0.0.0/8"}
    with People(built_people, tmp_path / "data", **allowed) as made:
        yield made


def add(person: Person, scope: str | None = None, url: str = URL, **more: Any) -> Any:
    response = person.post("/api/webhooks", {"url": url, "scope": scope, **more})
    assert response.status == 201, response.body
    return response.json()


def test_a_webhook_is_shown_whole_and_its_secret_once(people: People) -> None:
    made = add(people.ann, "acme", types=["yanked", "published"])
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert made == {
        "id": made["id"],
        "scope": "acme",
        "url": URL,
        "types": ["published", "yanked"],
        "createdAt": made["createdAt"],
        "createdBy": "ann",
        "rotatedAt": None,
        "position": 2,
        "failingSince": None,
        "disabledAt": None,
        "disabledReason": None,
    }
    assert people.ann.get(f"/api/webhooks/{made['id']}").json() == made
    assert people.ann.get("/api/webhooks").json() == {"webhooks": [made]}
    assert people.ann.get("/api/webhooks?scope=acme").json() == {"webhooks": [made]}
    assert people.ann.get("/api/webhooks?scope=ann").json() == {"webhooks": []}

    rotated = people.ann.post(f"/api/webhooks/{made['id']}/rotate").json()
    assert rotated["secret"].startswith("whsec_")
    assert rotated["secret"] != secret


def test_whose_they_are_decides_who_manages_them(people: People) -> None:
    of_acme = add(people.ann, "acme")["id"]
    of_ann = add(people.ann, "ann")["id"]
    of_all = add(people.olly)["id"]

    def seen(person: Person) -> set[str]:
        listed = {it["id"] for it in person.get("/api/webhooks").json()["webhooks"]}
        ids = (of_acme, of_ann, of_all)
        assert listed == {it for it in ids if person.get(f"/api/webhooks/{it}").status == 200}
        return listed

    assert seen(people.ann) == {of_acme, of_ann}
    assert seen(people.olly) == {of_acme, of_ann, of_all}
    for person in (people.abe, people.mia, people.pia, people.eve):
        assert seen(person) == set()
        assert person.post("/api/webhooks", {"url": URL, "scope": "acme"}).status == 403
        assert person.post("/api/webhooks", {"url": URL}).status == 403
        assert person.get("/api/webhooks?scope=acme").status == 403
        assert person.delete(f"/api/webhooks/{of_acme}").status == 404
        assert person.post(f"/api/webhooks/{of_acme}/rotate").status == 404


@pytest.mark.parametrize(
    ("who", "is_allowed_"),
    [
        (Standing(Role.OWNER), True),
        (Standing(Role.ADMIN), False),
        (Standing(Role.MEMBER, is_publisher=True), False),
        (Standing(), False),
    ],
)
def test_owners_and_operators_may_manage_them_and_no_access_token(
    who: Standing, is_allowed_: bool
) -> None:
    token = Actor(via=Via.TOKEN, limits=Limits(rights=TOKEN_RIGHTS))
    account = Account(
        id=1,
        username=Scope("ann"),
        email="ann@example.org",
        is_operator=False,
        is_disabled=False,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert is_allowed(Actor(via=Via.SESSION, account=account), MAY_MANAGE, who, "a") == is_allowed_
    assert is_allowed(COMMAND_LINE, MAY_MANAGE, who, "a")
    assert not is_allowed(token, MAY_MANAGE, who, "a")


def test_anyone_who_is_no_owner_any_more_manages_nothing(people: People) -> None:
    hook = add(people.ann, "acme")["id"]
    given = people.ann.post("/api/organizations/acme/transfer", {"username": "abe"})
    assert given.status == 200

    assert people.ann.get(f"/api/webhooks/{hook}").status == 404
    assert people.ann.post(f"/api/webhooks/{hook}/ping").status == 404
    assert people.abe.get(f"/api/webhooks/{hook}").json()["createdBy"] == "ann"
    assert people.abe.delete(f"/api/webhooks/{hook}").status == 200
    assert people.abe.get(f"/api/webhooks/{hook}").status == 404


@pytest.mark.parametrize("how", ["demoted", "removed", "left", "transferred", "closed", "disabled"])
def test_one_whose_maker_is_no_owner_any_more_rests_until_an_owner_enables_it(
    people: People, how: str
) -> None:
    ann, abe, acme = people.ann, people.abe, "/api/organizations/acme"
    assert ann.put(f"{acme}/members/abe", {"role": "owner"}).status == 200
    by_ann, by_abe = add(ann, "acme")["id"], add(abe, "acme")["id"]

    match how:
        case "demoted":
            done = abe.put(f"{acme}/members/ann", {"role": "admin"})
        case "removed":
            done = abe.delete(f"{acme}/members/ann")
        case "left":
            done = ann.delete(f"{acme}/members/ann")
        case "transferred":
            done = ann.post(f"{acme}/transfer", {"username": "abe"})
        case "closed":
            done = ann.post("/api/account/close", {"password": PASSWORD})
        case _:
            set_disabled(people.site.node.store, "ann", is_disabled=True)
            done = abe.get(acme)
    assert done.status == 200, done.body

    reason = "ann, who added it, is no longer an owner of acme."
    if how == "disabled":
        reason = "The account ann was disabled."
    shown = abe.get(f"/api/webhooks/{by_ann}").json()
    assert (shown["disabledReason"], shown["createdBy"]) == (reason, "ann")
    assert shown["disabledAt"] is not None
    assert abe.get(f"/api/webhooks/{by_abe}").json()["disabledAt"] is None
    entries = abe.get(f"{acme}/audit").json()["entries"]
    details = [it["details"] for it in entries if it["action"] == "disable webhook"]
    assert details == [{"webhook": by_ann, "reason": reason}]
    assert abe.post(f"/api/webhooks/{by_ann}/enable").status == 200
    assert abe.get(f"/api/webhooks/{by_ann}").json()["disabledAt"] is None


def test_those_of_a_closed_account_end_and_those_of_a_disabled_one_rest(people: People) -> None:
    of_eve, of_ann = add(people.eve, "eve")["id"], add(people.ann, "ann")["id"]
    assert people.eve.post("/api/account/close", {"password": PASSWORD}).status == 200
    assert people.olly.get(f"/api/webhooks/{of_eve}").status == 404

    set_disabled(people.site.node.store, "ann", is_disabled=True)
    shown = people.olly.get(f"/api/webhooks/{of_ann}").json()
    assert shown["disabledReason"] == "The account ann was disabled."
    assert people.olly.post(f"/api/webhooks/{of_ann}/ping").status == 409
    assert people.olly.post(f"/api/webhooks/{of_ann}/enable").status == 200
    assert people.olly.post(f"/api/webhooks/{of_ann}/enable").status == 409


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({"url": "http://hooks.example/", "scope": "ann"}, 400, "https://"),
        ({"url": "https://127.0.0.1/", "scope": "ann"}, 400, "private network"),
        ({"url": URL, "scope": "ann", "types": ["x"]}, 400, "types"),
        ({"url": URL, "scope": "-"}, 400, "not a scope"),
        ({"url": 7, "scope": "ann"}, 400, "url"),
        ({"scope": "ann"}, 400, "url"),
        ({"url": URL, "scope": "nobody"}, 403, "nobody"),
    ],
)
def test_what_is_wrong_is_reported(
    shared_people: People, body: dict[str, Any], status: int, told: str
) -> None:
    response = shared_people.ann.post("/api/webhooks", body)
    assert response.status == status
    assert told in response.json()["error"]


def test_a_scope_has_a_limited_number(open_people: People) -> None:
    for _ in range(MAX_WEBHOOKS):
        add(open_people.ann, "acme")
    add(open_people.ann, "ann")
    response = open_people.ann.post("/api/webhooks", {"url": URL, "scope": "acme"})
    assert response.status == 409
    assert "limit" in response.json()["error"]


def test_an_event_is_delivered_logged_and_replayed(open_people: People, receiver: Receiver) -> None:
    ann = open_people.ann
    made = add(ann, "acme", receiver.url)
    place = f"/api/webhooks/{made['id']}"
    ann.publish("acme/clock", "1.1.0", b"export const mount = () => {};\n")
    wait_for(lambda: receiver.received)
    wait_for(lambda: ann.get(f"{place}/deliveries").json()["deliveries"][0]["lastStatus"])

    (got,) = receiver.received
    assert got.is_signed_with(made["secret"])
    (shown,) = ann.get(f"{place}/deliveries").json()["deliveries"]
    assert shown["id"] == got.id
    assert shown["body"].encode() == got.body
    assert (shown["state"], shown["lastStatus"], shown["attempts"]) == ("delivered", 204, 1)

    assert ann.post(f"{place}/deliveries/{got.id}/replay").status == 202
    wait_for(lambda: len(receiver.received) == 2)
    assert receiver.received[1].id == got.id
    assert ann.post(f"{place}/deliveries/nothing/replay").status == 404
    log = open_people.olly.get("/api/audit?limit=2").json()["entries"]
    assert [it["action"] for it in log] == ["replay webhook delivery", "publish"]


def test_those_that_only_an_operator_can_add_rest_when_the_operator_is_dismissed(
    people: People,
) -> None:
    store = people.site.node.store
    appoint_operator(store, "eve")
    for scope in (None, "acme", "eve"):
        add(people.eve, scope)

    dismiss_operator(store, "eve")

    found = people.olly.get("/api/webhooks").json()["webhooks"]
    reason = "eve, who added it, is no longer an operator."
    told = {it["scope"]: it["disabledReason"] for it in found}
    assert told == {None: reason, "acme": reason, "eve": None}


def test_the_audit_log_can_name_their_events() -> None:
    assert "add webhook" in list_actions().values()

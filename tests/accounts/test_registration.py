"""Creating an account: closed, open, by invitation; and who gets a scope with existing widgets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import argon2
import pytest

from support.people import PASSWORD, Person, nobody, signed_in
from support.site import InProcessSite, Reply
from support.site_with_people import BuiltPeople, People
from support.widgets import widget_line
from widget_catalog.accounts.administer_account import appoint_operator
from widget_catalog.accounts.create_account import (
    OPERATOR,
    create_account,
    invite,
    invite_first_operator,
)
from widget_catalog.core import credentials
from widget_catalog.core.errors import Conflict
from widget_catalog.moderation.manage_scopes import reserve_scope

CLOSED = {"error": "Registration is closed here. Ask the operator for an invitation."}
NOT_VALID = {"error": "This invitation is not valid, or no longer. Ask the operator for a new one."}


@pytest.fixture
def open_people(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    with People(built_people, tmp_path / "data", registration="open") as made:
        yield made


@pytest.fixture
def inviting_people(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    with People(built_people, tmp_path / "data", registration="invitation") as made:
        yield made


def register(site: InProcessSite, username: str = "zoe", **more: Any) -> Reply:
    body = {"username": username, "email": f"{username}@example.org", "password": PASSWORD}
    return nobody(site).post("/api/auth/register", body | more)


def person(response: Reply, site: InProcessSite) -> Person:
    assert response.status == 201, response.body
    cookie = response.headers["set-cookie"].partition(";")[0]
    headers = {"cookie": cookie, "x_csrf_token": response.json()["csrfToken"]}
    return Person(site, response.json()["username"], headers)


@pytest.mark.parametrize("registration", ["closed", "invitation"])
def test_where_registration_is_not_open_nobody_registers_uninvited(
    built_people: BuiltPeople, tmp_path: Path, registration: str
) -> None:
    with People(built_people, tmp_path / "d", registration=registration) as people:
        response = register(people.site)
        invited = register(people.site, invitation="wci_nonsense")

        assert (response.status, response.json()) == (403, CLOSED)
        assert (invited.status, invited.json()) == (403, NOT_VALID)
        assert "set-cookie" not in response.headers
        # Nor does it reveal which accounts exist.
        assert register(people.site, "ann").json() == CLOSED


def test_registering_ends_the_session_that_was_brought_along(open_people: People) -> None:
    ann = open_people.ann
    body = {"username": "zoe", "email": "zoe@example.org", "password": PASSWORD}

    zoe = person(ann.post("/api/auth/register", body), open_people.site)

    assert zoe.get("/api/auth/session").json()["username"] == "zoe"
    assert ann.get("/api/auth/session").status == 401


def test_anyone_who_registers_is_signed_in_and_may_publish(open_people: People) -> None:
    response = register(open_people.site)

    body = response.json()
    assert (response.status, {**body, "csrfToken": "", "expiresAt": ""}) == (
        201,
        {
            "username": "zoe",
            "email": "zoe@example.org",
            "isOperator": False,
            "via": "session",
            "csrfToken": "",
            "expiresAt": "",
        },
    )
    zoe = person(response, open_people.site)
    assert zoe.get("/api/auth/session").json() == body
    assert zoe.get("/api/widgets/scopes").json() == {
        "scopes": [{"name": "zoe", "type": "personal", "displayName": "zoe"}]
    }
    assert zoe.publish("zoe/clock").status == 200
    assert signed_in(open_people.site, "zoe").get("/api/auth/session").status == 200
    entry = open_people.olly.get("/api/audit?limit=4").json()["entries"][3]
    assert (entry["actor"], entry["action"], entry["details"]) == (
        "zoe",
        "create account",
        {"isOperator": False},
    )


def test_all_errors_are_reported_at_once(open_people: People) -> None:
    response = register(open_people.site, "Zoë", email="zoe", password="short")

    assert response.status == 400
    assert response.json()["error"] == (
        "'Zoë' cannot be a name here: use 1 to 64 lowercase letters, digits and hyphens, beginning "
        "with a letter or digit. 'zoe' is not an e-mail address. The password is too short: at "
        "least 12 characters are needed."
    )


@pytest.mark.parametrize("name", ["ann", "acme", "kept"])
def test_a_name_that_is_taken_is_refused_no_matter_who_has_it(
    open_people: People, name: str
) -> None:
    reserve_scope(open_people.site.node.store, "kept")

    response = register(open_people.site, name, email="new@example.org")

    assert (response.status, response.json()) == (
        409,
        {"error": f"The name {name} is taken. Choose another."},
    )


@pytest.mark.parametrize("name", ["api", "admin", "operator", "widgets", "cdn", "search", "null"])
def test_names_of_the_service_itself_are_reserved(open_people: People, name: str) -> None:
    for response in (
        register(open_people.site, name),
        open_people.ann.post("/api/organizations", {"slug": name, "displayName": "X"}),
    ):
        assert (response.status, response.json()) == (
            400,
            {"error": f"The name {name} is reserved. Choose another."},
        )


def test_nobody_learns_from_registering_whether_an_e_mail_address_has_an_account(
    open_people: People,
) -> None:
    def shown(response: Reply) -> tuple[int, set[str], set[str]]:
        return response.status, set(response.json()), set(response.headers)

    known = [register(open_people.site, f"a{i}", email="ANN@Example.org") for i in range(3)]
    unknown = register(open_people.site, "b", email="nobody@example.org")
    refused = [
        register(open_people.site, "ann", email=email).json()
        for email in ("ann@example.org", "nobody2@example.org")
    ]

    assert {it.status for it in known} == {201}
    assert shown(known[0]) == shown(known[1]) == shown(known[2])
    assert shown(known[0])[1:] == shown(unknown)[1:]
    assert refused == [{"error": "The name ann is taken. Choose another."}] * 2
    # Accounts are separate: the address gives access to nothing.
    assert person(known[0], open_people.site).get("/api/widgets/scopes").json() == {
        "scopes": [{"name": "a0", "type": "personal", "displayName": "a0"}]
    }
    assert open_people.ann.get("/api/auth/session").json()["email"] == "ann@example.org"


def test_the_operator_is_informed_that_an_address_has_an_account(open_people: People) -> None:
    with pytest.raises(Conflict, match="There is an account with the e-mail address ANN@"):
        create_account(open_people.site.node.store, "zoe", "ANN@Example.org", PASSWORD)


def test_a_visitor_cannot_take_the_scope_of_imported_widgets(open_people: People) -> None:
    open_people.site.add(widget_line("imported/clock"))

    for response in (
        register(open_people.site, "imported"),
        open_people.eve.post("/api/organizations", {"slug": "imported", "displayName": "X"}),
    ):
        assert (response.status, response.json()) == (
            409,
            {
                "error": "The name imported is taken: that scope has no owner, but 1 widget with 0 "
                "installs. An operator can assign it, at /operate/scopes."
            },
        )
    assert open_people.eve.publish("imported/clock", "2.0.0").status == 403


def test_an_invited_author_cannot_take_the_scope_of_imported_widgets(
    inviting_people: People,
) -> None:
    inviting_people.site.add(widget_line("imported/clock"))
    secret = invite(inviting_people.site.node.store)

    assert register(inviting_people.site, "imported", invitation=secret).status == 409
    # The invitation is not used up by that.
    assert register(inviting_people.site, "zoe", invitation=secret).status == 201


def test_an_invitation_makes_one_account(inviting_people: People) -> None:
    secret = invite(inviting_people.site.node.store, email="zoe@example.org")

    first = register(inviting_people.site, "zoe", invitation=secret)
    second = register(inviting_people.site, "zac", invitation=secret)

    assert (first.status, first.json()["isOperator"]) == (201, False)
    assert (second.status, second.json()) == (403, NOT_VALID)


def test_an_invitation_ends_after_a_week(inviting_people: People) -> None:
    secret = invite(inviting_people.site.node.store)
    inviting_people.clock.forward(days=6, hours=23)
    still_good = register(inviting_people.site, "x!", invitation=secret)
    inviting_people.clock.forward(hours=1)

    over = register(inviting_people.site, invitation=secret)

    assert still_good.status == 400
    assert (over.status, over.json()) == (403, NOT_VALID)


def test_an_invitation_to_an_organization_makes_no_account(people: People) -> None:
    body = {"email": "zoe@example.org", "role": "admin"}
    link = people.ann.post("/api/organizations/acme/invitations", body).json()["link"]
    secret = link.partition("secret=")[2]

    assert register(people.site, invitation=secret).json() == NOT_VALID


def test_an_invitation_to_the_catalog_joins_no_organization(inviting_people: People) -> None:
    secret = invite(inviting_people.site.node.store)
    with inviting_people.site.node.store.reading() as connection:
        (row,) = connection.exec_driver_sql("SELECT id FROM invitations").all()

    response = inviting_people.eve.post(f"/api/invitations/{row[0]}/accept", {"secret": secret})

    assert response.status == 404
    assert register(inviting_people.site, invitation=secret).status == 201


def test_the_first_operator_is_invited_while_there_is_none(site: InProcessSite) -> None:
    store = site.node.store
    older = invite_first_operator(store)
    secret = invite_first_operator(store)
    assert older != secret
    assert older
    assert secret

    # Only the last printed one is valid.
    assert register(site, "olly", invitation=older).status == 403
    response = register(site, "olly", invitation=secret)

    assert (response.status, response.json()["isOperator"]) == (201, True)
    olly = person(response, site)
    actions = [it["action"] for it in olly.get("/api/audit").json()["entries"]]
    invited = ["invite to the catalog"] * 2
    assert actions == ["sign in", "create account", *invited]
    assert invite_first_operator(store) is None
    assert register(site, "zoe", invitation=secret).status == 403


def test_there_is_one_invitation_for_an_operator_at_a_time(inviting_people: People) -> None:
    store = inviting_people.site.node.store
    older, author = invite(store, OPERATOR), invite(store)
    newer = invite(store, OPERATOR)

    assert register(inviting_people.site, "zoe", invitation=older).status == 403
    assert register(inviting_people.site, "zoe", invitation=newer).json()["isOperator"] is True
    assert register(inviting_people.site, "zac", invitation=author).json()["isOperator"] is False


def test_another_site_cannot_register_somebody(open_people: People) -> None:
    body = {"username": "zoe", "email": "zoe@example.org", "password": PASSWORD}
    for where in ("cross-site", "same-site"):
        visitor = Person(open_people.site, "", {"sec_fetch_site": where})
        assert visitor.post("/api/auth/register", body).status == 403
    assert register(open_people.site).status == 201


def test_a_reserved_scope_cannot_be_taken_by_the_operator_either(people: People) -> None:
    store = people.site.node.store
    reserve_scope(store, "kept")

    with pytest.raises(Conflict, match="The name kept is taken"):
        create_account(store, "kept", "kept@example.org", PASSWORD)
    with pytest.raises(Conflict, match="The name kept is taken"):
        reserve_scope(store, "kept")
    with pytest.raises(Conflict, match="The name ann is taken"):
        reserve_scope(store, "ann")


def test_where_registration_is_closed_whoever_is_invited_is_let_in(people: People) -> None:
    store = people.site.node.store

    author = register(people.site, "zac", invitation=invite(store))
    operator = register(people.site, "zoe", invitation=invite(store, OPERATOR))

    assert (author.status, author.json()["isOperator"]) == (201, False)
    assert (operator.status, operator.json()["isOperator"]) == (201, True)


def test_one_address_makes_only_so_many_accounts(open_people: People) -> None:
    made = [register(open_people.site, f"zoe{i}").status for i in range(21)]

    assert made == [201] * 20 + [429]


def test_registrations_that_are_refused_count_and_cost_no_hash_after_that(
    open_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[bytes] = []

    class Counting(argon2.PasswordHasher):
        def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
            hashed.append(b"")
            return super().hash(password, salt=salt)

    monkeypatch.setattr(credentials, "_hasher", Counting(1, 8, 1))

    told = [register(open_people.site, "ann", email=f"{i}@example.org") for i in range(60)]

    assert [it.status for it in told] == [409] * 20 + [429] * 40
    assert told[-1].headers["retry-after"] == "900"
    assert len(hashed) == 20


def test_registrations_by_invitation_count_as_well(inviting_people: People) -> None:
    secret = invite(inviting_people.site.node.store)

    told = [register(inviting_people.site, "ann", invitation=secret).status for _ in range(21)]

    assert told == [409] * 20 + [429]
    inviting_people.clock.forward(minutes=15)
    assert register(inviting_people.site, "zoe", invitation=secret).status == 201


@pytest.mark.parametrize("way", ["created", "promoted"])
def test_the_link_of_the_first_start_ends_with_the_first_operator(
    site: InProcessSite, way: str
) -> None:
    store = site.node.store
    secret = invite_first_operator(store)
    assert secret
    create_account(store, "boss", "boss@example.org", PASSWORD, is_operator=way == "created")
    if way == "promoted":
        appoint_operator(store, "boss")

    late = register(site, "zoe", invitation=secret)

    assert (late.status, late.json()) == (403, NOT_VALID)
    assert invite_first_operator(store) is None


def test_the_link_of_the_first_start_stays_while_only_authors_have_accounts(
    site: InProcessSite,
) -> None:
    store = site.node.store
    secret = invite_first_operator(store)
    create_account(store, "ann", "ann@example.org", PASSWORD)

    response = register(site, "olly", invitation=secret)

    assert (response.status, response.json()["isOperator"]) == (201, True)


def test_every_start_prints_a_link_while_only_authors_have_accounts(site: InProcessSite) -> None:
    create_account(site.node.store, "ann", "ann@example.org", PASSWORD)

    assert invite_first_operator(site.node.store) is not None

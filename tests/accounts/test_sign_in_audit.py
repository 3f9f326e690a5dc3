"""The audit log of sign-ins: who, with which program or token, and from which address."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.oauth.program import ask, refresh_fields, sign_in_program
from accounts.signing_in import try_password
from support.browsing import Browsing
from support.people import PASSWORD, Person, signed_in, with_oauth, with_token
from support.site_with_people import BuiltPeople, People

HERE = "203.0.113.7"


@pytest.fixture
def proxied(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    """A site with people behind a proxy, which forwards addresses."""
    with People(built_people, tmp_path / "data", trust_forwarded_for=True) as made:
        yield made


def log(people: People, limit: int) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = people.olly.get(f"/api/audit?limit={limit}").json()["entries"]
    return entries


def from_here(person: Person) -> Person:
    return Person(person.site, person.username, {**person.headers, "x_forwarded_for": HERE})


def test_an_entry_says_which_program_or_token_acted_and_from_where(proxied: People) -> None:
    token = proxied.ann.post("/api/tokens", {"name": "ci", "actions": ["yank"]}).json()
    bearer = Person(proxied.site, "ann", {"authorization": f"Bearer {token['token']}"})
    yank = "/api/widgets/ann/clock/versions/1.0.0/yank"
    for number, person in enumerate((bearer, with_oauth(proxied.ann), proxied.ann)):
        assert from_here(person).post(yank, {"reason": f"Reason {number}."}).status == 200

    entries = log(proxied, 3)

    assert [(it["via"], it["clientId"], it["clientName"], it["address"]) for it in entries] == [
        ("session", None, None, HERE),
        ("oauth", "widget-cli", "widget-cli", HERE),
        ("token", token["id"], "ci", HERE),
    ]
    assert list(entries[0]) == [
        "at", "actor", "via", "clientId", "clientName", "address", "action", "scope", "name",
        "version", "details",
    ]  # fmt: skip


def test_owners_do_not_see_from_where_others_acted(proxied: People) -> None:
    for person in (proxied.abe, proxied.ann):
        body = {"reason": f"By {person.username}."}
        yank = "/api/widgets/acme/clock/versions/1.0.0/yank"
        assert from_here(person).post(yank, body).status == 200

    for path in ("/api/widgets/acme/clock/audit", "/api/organizations/acme/audit"):
        entries = proxied.ann.get(f"{path}?limit=2").json()["entries"]
        assert [(it["actor"], it["address"]) for it in entries] == [("ann", HERE), ("abe", None)]
        entries = proxied.olly.get(f"{path}?limit=2").json()["entries"]
        assert [it["address"] for it in entries] == [HERE, HERE]


def test_signing_in_and_out_is_recorded(proxied: People) -> None:
    first = try_password(proxied.site, "eve", PASSWORD, x_forwarded_for=HERE)
    cookie = first.headers["set-cookie"].partition(";")[0]
    again = try_password(proxied.site, "eve", PASSWORD, x_forwarded_for=HERE, cookie=cookie)
    cookie = again.headers["set-cookie"].partition(";")[0]
    eve = Person(proxied.site, "eve", {"cookie": cookie, "x_csrf_token": again.json()["csrfToken"]})
    other = next(
        session
        for session in eve.get("/api/auth/sessions").json()["sessions"]
        if not session["isCurrent"]
    )
    assert eve.delete(f"/api/auth/sessions/{other['id']}").status == 200
    assert eve.post("/api/auth/sign-out").status == 200

    out, ended, second, begun = log(proxied, 4)

    assert [it["action"] for it in (begun, second, ended, out)] == [
        "sign in", "sign in", "end session", "sign out",
    ]  # fmt: skip
    assert {it["scope"] for it in (begun, second, ended, out)} == {"eve"}
    assert (begun["actor"], begun["address"], begun["details"]["way"]) == ("eve", HERE, "password")
    assert second["details"]["replaces"] == begun["details"]["session"]
    assert ended["details"] == {"session": other["id"]}
    assert out["details"] == {"session": second["details"]["session"]}


def test_failed_sign_ins_are_recorded_at_first_and_when_they_lock(proxied: People) -> None:
    for _ in range(7):
        try_password(proxied.site, "ann", "not the password", x_forwarded_for=HERE)
    try_password(proxied.site, "my secret password", "ann", x_forwarded_for=HERE)

    entries = log(proxied, 3)

    shown = [
        (entry["actor"], entry["action"], entry["scope"], entry["address"], entry["details"])
        for entry in entries
    ]
    assert shown == [
        ("-", "failed sign-in", None, HERE, {"attempts": 1}),
        ("-", "failed sign-in", "ann", HERE, {"attempts": 5}),
        ("-", "failed sign-in", "ann", HERE, {"attempts": 1}),
    ]


@pytest.mark.slow
def test_failed_sign_ins_cannot_fill_the_log(proxied: People) -> None:
    before = proxied.olly.get("/api/audit").json()["total"]
    for number in range(220):
        address = f"198.51.{number // 50}.{number % 50}"
        try_password(proxied.site, f"nobody-{number}", "x", x_forwarded_for=address)

    assert proxied.olly.get("/api/audit").json()["total"] == before + 200
    # Guesses at an account are recorded nevertheless, up to a limit.
    for number in range(45):
        try_password(proxied.site, "eve", "x", x_forwarded_for=f"192.0.2.{number}")
    entries = log(proxied, 100)
    assert proxied.olly.get("/api/audit").json()["total"] == before + 240
    assert [it["scope"] for it in entries[:41]] == ["eve"] * 40 + [None]


def test_failed_sign_ins_with_unknown_names_are_recorded_by_address(proxied: People) -> None:
    before = proxied.olly.get("/api/audit").json()["total"]
    for number in range(25):
        try_password(proxied.site, f"nobody-{number}", "x", x_forwarded_for=HERE)
    try_password(proxied.site, "nobody", "x", x_forwarded_for="192.0.2.77")

    assert proxied.olly.get("/api/audit").json()["total"] == before + 21


def test_what_programs_are_granted_and_lose_is_recorded(proxied: People) -> None:
    site = proxied.site
    tokens = sign_in_program(Browsing(site).sign_in("ann"))
    ask(site, "revoke", token=tokens["refresh_token"], client_id="widget-cli")
    stolen = sign_in_program(Browsing(site).sign_in("ann"))
    ask(site, "token", **refresh_fields(stolen["refresh_token"]))
    proxied.clock.forward(minutes=5)
    ask(site, "token", **refresh_fields(stolen["refresh_token"]))

    entries = [it for it in log(proxied, 10) if it["via"] == "oauth"][::-1]

    assert [(it["action"], it["actor"], it["scope"], it["clientId"]) for it in entries] == [
        (action, "ann", "ann", "widget-cli")
        for action in ("grant access", "end access", "grant access", "end access")
    ]
    assert [it["details"].get("reason") for it in entries] == [
        None, "The program signed out.", None, "A refresh token was used twice.",
    ]  # fmt: skip
    assert entries[0]["details"]["grant"] == entries[1]["details"]["grant"]
    assert entries[0]["details"]["way"] == "browser"


def test_signing_out_everywhere_is_recorded(proxied: People) -> None:
    with_token(proxied.ann)
    signed_in(proxied.site, "ann")
    browsing = Browsing(proxied.site).sign_in("ann")
    browsing.get("/account")
    assert browsing.submit("/account", end="others").status == 303

    (entry,) = log(proxied, 1)

    assert (entry["action"], entry["actor"]) == ("sign out everywhere else", "ann")

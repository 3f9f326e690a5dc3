"""Signing in with a password: who can, with which cookie, and who is locked out."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from accounts.signing_in import WRONG, is_in, secret_of, try_password
from support.people import PASSWORD, Person, a_person, signed_in
from support.site import InProcessSite
from support.site_with_people import BuiltPeople, People
from widget_catalog.accounts.administer_account import reset_password, set_disabled
from widget_catalog.accounts.sign_in import Browser, Lifetimes, sign_in
from widget_catalog.catalog.replica.listener import ReplicaListener
from widget_catalog.core.clock import iso
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import NotSignedIn

_DAY = timedelta(days=1)


def test_signing_in_gives_a_session_and_a_cookie_that_scripts_cannot_read(people: People) -> None:
    response = try_password(people.site, "ann", PASSWORD)

    cookie, *attributes = response.headers["set-cookie"].split("; ")
    assert cookie.startswith("__Host-session=wcs_")
    assert attributes == ["Max-Age=7776000", "Path=/", "HttpOnly", "SameSite=Lax", "Secure"]
    assert response.headers["cache-control"] == "no-store"
    body = response.json()
    csrf = body.pop("csrfToken")
    assert (response.status, body) == (
        200,
        {
            "username": "ann",
            "email": "ann@example.org",
            "isOperator": False,
            "via": "session",
            "expiresAt": iso(people.clock.at + 90 * _DAY),
        },
    )
    shown = people.site.get("/api/auth/session", cookie=cookie)
    assert shown.json() == {**body, "csrfToken": csrf}
    assert csrf not in cookie
    assert "access-control-allow-origin" not in response.headers


def test_the_cookie_is_secure_where_the_service_is(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "d", base_url="http://localhost:8080") as people:
        response = try_password(people.site, "ann", PASSWORD)
        out = Person(people.site, "ann", people.ann.headers).post("/api/auth/sign-out")

    assert response.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Lax")
    assert out.headers["set-cookie"] == "session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"


def test_every_sign_in_has_a_secret_of_its_own_whatever_cookie_came_along(people: People) -> None:
    """A cookie planted by an attacker never becomes the session's secret."""
    planted = "__Host-session=wcs_planted-by-somebody-else"
    response = try_password(people.site, "ann", PASSWORD, cookie=planted)

    assert response.status == 200
    assert planted not in response.headers["set-cookie"]
    assert not is_in(Person(people.site, "", {"cookie": planted}))
    again = signed_in(people.site, "ann")
    assert secret_of(again) != response.headers["set-cookie"].split("; ")[0].partition("=")[2]


def test_wrong_user_and_wrong_password_cannot_be_distinguished(people: People) -> None:
    set_disabled(people.site.node.store, "mia", is_disabled=True)
    responses = [
        try_password(people.site, username, password)
        for username, password in [
            ("eve", "not the password"),
            ("nobody-at-all", "not the password"),
            ("mia", PASSWORD),  # Disabled.
            ("EVE", PASSWORD),
            ("eve@example.org", PASSWORD),
            ("acme", PASSWORD),  # An organization.
            ("eve\x00", PASSWORD),
            ("", ""),
            ("eve", "p" * 5_000),
        ]
    ]
    assert {(it.status, it.body, tuple(it.headers.items())) for it in responses} == {
        (401, responses[0].body, tuple(responses[0].headers.items()))
    }
    assert responses[0].json() == WRONG
    assert "set-cookie" not in responses[0].headers


def test_after_five_failures_an_account_is_closed_to_that_address_for_a_while(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "d", trust_forwarded_for=True) as people:
        here, there = {"x_forwarded_for": "203.0.113.1"}, {"x_forwarded_for": "203.0.113.2"}
        for _ in range(5):
            assert try_password(people.site, "ann", "wrong", **here).status == 401
        people.clock.forward(minutes=5)

        refused = try_password(people.site, "ann", PASSWORD, **here)
        assert (refused.status, refused.headers["retry-after"]) == (429, "600")
        assert refused.json() == {
            "error": "Too many failed attempts to sign in. Try again in 10 minutes."
        }
        assert "set-cookie" not in refused.headers
        # Nobody else is locked out: neither ann elsewhere, nor others here.
        assert try_password(people.site, "ann", PASSWORD, **there).status == 200
        assert try_password(people.site, "eve", PASSWORD, **here).status == 200
        assert try_password(people.site, "ann", PASSWORD, **here).status == 429

        people.clock.forward(minutes=9, seconds=59.5)
        assert try_password(people.site, "ann", PASSWORD, **here).headers["retry-after"] == "1"
        people.clock.forward(seconds=0.5)
        assert try_password(people.site, "ann", PASSWORD, **here).status == 200


def test_guesses_from_all_over_one_ipv6_network_are_guesses_of_one(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "d", trust_forwarded_for=True) as people:
        for i in range(5):
            response = try_password(people.site, "ann", "wrong", x_forwarded_for=f"2001:db8::{i}:1")
            assert response.status == 401

        same = try_password(people.site, "ann", PASSWORD, x_forwarded_for="2001:db8::abcd")
        other = try_password(people.site, "ann", PASSWORD, x_forwarded_for="2001:db8:0:1::1")

    assert (same.status, other.status) == (429, 200)


def test_a_success_forgives_the_failures_before_it(people: People) -> None:
    for _ in range(2):
        for _ in range(4):
            assert try_password(people.site, "ann", "wrong").status == 401
        assert try_password(people.site, "ann", PASSWORD).status == 200


def test_an_address_that_tries_many_accounts_is_shut_out(people: People) -> None:
    store = people.site.node.store
    for i in range(50):
        with pytest.raises(NotSignedIn):
            sign_in(store, f"guess-{i}", "wrong", Browser("127.0.0.1", Lifetimes(1, 1)))

    refused = try_password(people.site, "ann", PASSWORD)

    assert (refused.status, refused.headers["retry-after"]) == (429, "900")


def test_the_address_is_not_what_a_client_says_unless_a_proxy_is_trusted(people: People) -> None:
    for i in range(5):
        response = try_password(people.site, "ann", "wrong", x_forwarded_for=f"203.0.113.{i}")
        assert response.status == 401

    assert try_password(people.site, "ann", "wrong", x_forwarded_for="203.0.113.9").status == 429


def test_another_site_cannot_sign_somebody_in(people: People) -> None:
    for site in ("cross-site", "same-site"):
        response = try_password(people.site, "ann", PASSWORD, sec_fetch_site=site)
        assert (response.status, "set-cookie" in response.headers) == (403, False)
    for origin in ("null", "https://evil.example", "https://catalog.example.evil", "", "https://["):
        response = try_password(people.site, "ann", PASSWORD, origin=origin)
        assert (response.status, "set-cookie" in response.headers) == (403, False)
        assert "page of another site" in response.json()["error"]
    for site in ("same-origin", "none"):
        assert try_password(people.site, "ann", PASSWORD, sec_fetch_site=site).status == 200
    ours = try_password(people.site, "ann", PASSWORD, origin="https://catalog.example")
    assert ours.status == 200


def test_signing_in_again_ends_the_session_that_was_brought_along(site: InProcessSite) -> None:
    person = a_person(site, "ann")
    credentials = {"username": "ann", "password": PASSWORD}

    again = person.post("/api/auth/sign-in", credentials)

    assert again.status == 200
    assert again.headers["set-cookie"].partition(";")[0] != person.headers["cookie"]
    assert person.get("/api/auth/session").status == 401


def test_who_knew_the_old_password_is_not_let_in_by_being_quick(people: People) -> None:
    """The password is reset while it is being checked."""

    class Meanwhile(Store):
        """Resets the password before the session is written."""

        is_first = True

        def writing(self, *, waits: bool = True) -> Any:
            if self.is_first:
                self.is_first = False
                reset_password(people.site.node.store, "ann", "another long password")
            return super().writing(waits=waits)

    node = people.site.node
    listener = ReplicaListener(node.replica, node.counts)
    store = Meanwhile(node.store.engine, node.folder.writer_lock, listener)

    with pytest.raises(NotSignedIn):
        sign_in(store, "ann", PASSWORD, Browser("127.0.0.1", Lifetimes(10**9, 10**9)))
    assert try_password(people.site, "ann", PASSWORD).status == 401

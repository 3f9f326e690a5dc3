"""Attackers who guess a password from many networks lock out each other, not the owner."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.second_factor.two_factor import House, is_open
from accounts.signing_in import SIGN_IN, try_password
from support.browsing import Browsing
from support.passwords import quick_passwords
from support.people import PASSWORD, Person, a_person
from support.site import InProcessSite, Reply
from support.site_with_people import MovableClock
from widget_catalog.accounts.administer_account import (
    make_reset_link,
    reset_password,
    use_reset_link,
)
from widget_catalog.accounts.sign_in import Browser, Lifetimes, sign_in
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.errors import NotSignedIn
from widget_catalog.core.keys import SharedKeys

pytestmark = pytest.mark.slow

HOME, OFFICE, TRAIN = "198.51.100.1", "198.51.100.2", "198.51.100.3"
LOCKED = (
    "Too many failed attempts to sign in to this account. You can still sign in with a passkey, "
    "with the password and a code of your second factor together, or from a network where you "
    "have signed in before. Try again in "
)
WRONG_TOGETHER = {
    "error": "The username, the password or the code is wrong. If codes of your app were refused "
    "before, use a recovery code."
}


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def site(tmp_path: Path, clock: MovableClock) -> Iterator[InProcessSite]:
    with (
        quick_passwords(),
        InProcessSite(tmp_path / "data", clock, trust_forwarded_for=True) as made,
    ):
        yield made


def at(site: InProcessSite, address: str, password: str = PASSWORD, **more: str) -> Reply:
    person = Person(site, "", {"x_forwarded_for": address})
    return person.post(SIGN_IN, {"username": "ann", "password": password, **more})


def attack(site: InProcessSite) -> None:
    """A hundred wrong passwords, from twenty networks."""
    for i in range(100):
        with pytest.raises(NotSignedIn):
            sign_in(
                site.node.store, "ann", "a guess", Browser(f"192.0.2.{i // 5}", Lifetimes(1, 1))
            )
    assert at(site, "192.0.2.99", "a guess").status == 429


def test_the_owner_gets_in_where_they_have_signed_in_before(
    site: InProcessSite, clock: MovableClock
) -> None:
    a_person(site, "ann")
    assert at(site, HOME).status == 200
    clock.forward(days=91)
    attack(site)

    elsewhere, at_home = at(site, TRAIN), at(site, HOME)

    assert (elsewhere.status, at_home.status) == (429, 200)
    assert elsewhere.json()["error"].startswith(LOCKED)
    assert 0 < int(elsewhere.headers["retry-after"]) <= 900
    # Whoever is at the owner's network has the few guesses of any network there.
    guesses = [at(site, HOME, "a guess").status for _ in range(6)]
    assert guesses == [401] * 5 + [429]


def test_networks_known_for_an_old_password_are_not_known_for_the_new_one(
    site: InProcessSite,
) -> None:
    """Otherwise whoever knew the old one could prepare any number of them to guess the new one."""
    a_person(site, "ann")
    assert at(site, OFFICE).status == 200
    new = "another long password"
    reset_password(site.node.store, "ann", new)
    assert at(site, HOME, new).status == 200
    attack(site)

    assert (at(site, OFFICE, new).status, at(site, HOME, new).status) == (429, 200)


def test_the_network_where_a_password_is_changed_is_known_for_it(site: InProcessSite) -> None:
    ann = a_person(site, "ann")
    ann.headers["x_forwarded_for"] = HOME
    body = {"currentPassword": PASSWORD, "newPassword": "another long password"}
    assert ann.post("/api/auth/password", body).status == 200
    attack(site)

    assert at(site, HOME, "another long password").status == 200


def test_the_network_where_an_account_is_created_is_known(
    tmp_path: Path, clock: MovableClock
) -> None:
    with InProcessSite(
        tmp_path / "open", clock, trust_forwarded_for=True, registration="open"
    ) as site:
        body = {"username": "ann", "email": "ann@x.example", "password": PASSWORD}
        visitor = Person(site, "", {"x_forwarded_for": HOME})
        assert visitor.post("/api/auth/register", body).status == 201
        attack(site)

        assert (at(site, TRAIN).status, at(site, HOME).status) == (429, 200)


def test_the_network_where_a_reset_link_is_used_is_known(site: InProcessSite) -> None:
    """An owner who is locked out asks the operator for one."""
    a_person(site, "ann")
    attack(site)
    store = site.node.store
    key = SharedKeys(["a secret of this test"], store.now_ms).for_purpose("signing in")
    link = make_reset_link(store, key, COMMAND_LINE, "ann")
    use_reset_link(store, key, link, "another long password", HOME)

    assert at(site, HOME, "another long password").status == 200
    assert at(site, TRAIN, "another long password").status == 429


def test_a_second_factor_gets_its_owner_in_from_anywhere(
    site: InProcessSite, clock: MovableClock
) -> None:
    house = House(site, clock)
    attack(site)
    assert at(site, TRAIN).json()["error"].startswith(LOCKED)

    assert is_open(site, at(site, TRAIN, code=house.code))
    assert is_open(site, at(site, "203.0.113.7", code=house.codes[0]))
    browser, options = house.ask_for_passkey()
    browser.headers["x_forwarded_for"] = "203.0.113.8"
    passkey = browser.post(f"{SIGN_IN}/passkey", {"passkey": house.key.get(options)})
    assert is_open(site, passkey)


def test_the_page_asks_for_a_code_then(site: InProcessSite, clock: MovableClock) -> None:
    house = House(site, clock)
    attack(site)
    browsing, there = Browsing(site), {"x_forwarded_for": TRAIN}
    browsing.get("/sign-in?next=/account/tokens/new")
    assert not browsing.page.all("input", id="code")
    fields = {**browsing.hidden_fields("/sign-in"), "username": "ann", "password": PASSWORD}

    assert browsing.post("/sign-in", fields, **there).status == 429
    assert browsing.errors[0].startswith(LOCKED)
    assert browsing.page.all("input", id="code")
    wrong = browsing.post("/sign-in", {**fields, "code": "000000"}, **there)
    assert (wrong.status, browsing.errors) == (400, [WRONG_TOGETHER["error"]])
    assert browsing.page.all("input", id="code")
    response = browsing.post("/sign-in", {**fields, "code": house.code}, **there)
    assert (response.status, response.headers["location"]) == (303, "/account/tokens/new")
    assert browsing.get("/account/tokens/new").status == 200


def test_password_and_code_together_tell_nobody_which_of_them_is_wrong(
    site: InProcessSite, clock: MovableClock
) -> None:
    house = House(site, clock)
    a_person(site, "eve")
    attack(site)

    for i, (password, code) in enumerate(
        [
            ("a guess", house.code),
            ("a guess", "000000"),
            ("a guess", " - "),
            (PASSWORD, "000000"),
            (PASSWORD, "not-a-code"),
            (PASSWORD, " - "),
        ]
    ):
        response = at(site, f"203.0.113.{i}", password, code=code)
        assert (response.status, response.json()) == (401, WRONG_TOGETHER), (password, code)
    # Neither does it let in an account that has no second factor.
    body = {"username": "eve", "password": PASSWORD, "code": "000000"}
    assert Person(site, "", {}).post(SIGN_IN, body).json() == WRONG_TOGETHER
    # Nor do the limits tell: the eleventh wrong code is refused like the first.
    for i in range(12):
        response = at(site, f"203.0.113.{10 + i}", PASSWORD, code="000000")
        assert response.json() == WRONG_TOGETHER
    assert at(site, TRAIN, code=house.code).json() == WRONG_TOGETHER
    assert is_open(site, at(site, TRAIN, code=house.codes[0]))


def test_codes_with_wrong_passwords_use_up_nothing_of_the_owner_s(
    site: InProcessSite, clock: MovableClock
) -> None:
    house = House(site, clock)
    attack(site)
    guesses = [at(site, "203.0.113.1", "a guess", code="000000").status for _ in range(6)]
    assert guesses == [401] * 5 + [429]
    for i in range(20):
        assert at(site, f"203.0.113.{10 + i}", "a guess", code="000000").status == 401

    assert is_open(site, at(site, TRAIN, code=house.code))


def test_an_unknown_name_is_locked_like_an_account(site: InProcessSite) -> None:
    for i in range(100):
        with pytest.raises(NotSignedIn):
            sign_in(
                site.node.store, "nobody", "a guess", Browser(f"192.0.2.{i // 5}", Lifetimes(1, 1))
            )

    response = try_password(site, "nobody", PASSWORD, x_forwarded_for=TRAIN)

    assert response.status == 429
    assert response.json()["error"].startswith(LOCKED)

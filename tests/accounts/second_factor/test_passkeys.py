"""Passkeys over the JSON API: as a second factor, alone, and invalid ones."""

from collections.abc import Iterator
from typing import Any

from accounts.second_factor.authenticator import Authenticator
from accounts.second_factor.people import add_passkey, browsing_as
from accounts.second_factor.two_factor import (
    FACTOR,
    NOT_ACCEPTED,
    PASSKEY,
    House,
    is_open,
)
from support.people import Person
from widget_catalog.accounts.administer_account import set_disabled

WRONG_TEXTS = ("", "%", "AAAA", "\0", 7, None, {"a": 1}, "A" * 9999)
WRONG_PARTS: list[dict[str, Any]] = [
    {"id": "\0"}, {"id": "x" * 5000}, {"id": ["x"]}, {"id": None}, {"rawId": "x"}, {"rawId": 7},
    {"type": "password"}, {"response": None}, {"response": []}, {"response": {}},
    {"authenticatorAttachment": "\0"},
]  # fmt: skip


def test_a_passkey_s_response_works_once(house: House) -> None:
    half, told = house.begin()
    credential = house.key.get(told["passkeyOptions"])
    assert half.post(FACTOR, {"passkey": credential}).status == 200

    assert half.post(FACTOR, {"passkey": credential}).json() == NOT_ACCEPTED
    # Nor does another response to the same challenge.
    another = house.key.get(told["passkeyOptions"])
    assert half.post(FACTOR, {"passkey": another}).json() == NOT_ACCEPTED


def lies(key: Authenticator) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ways in which a passkey can be invalid, as attributes of it."""
    yield "another origin", {"origin": "https://evil.example"}
    yield "another scheme", {"origin": "http://catalog.example"}
    yield "another host", {"host": "evil.example"}
    yield "a count that does not rise, as a copy has", {"count": key.count - 1}
    yield "nobody present", {"flags": 0}
    yield "another key under its id", {"_key": Authenticator()._key}
    yield "an id that is not known", {"id": b"unknown"}


def test_a_passkey_that_lies_is_refused(house: House) -> None:
    house.key.count = 5
    half, told = house.begin()
    assert half.post(FACTOR, {"passkey": house.key.get(told["passkeyOptions"])}).status == 200
    for about, attributes in lies(house.key):
        liar = Authenticator()
        liar.__dict__.update(house.key.__dict__ | attributes)
        half, told = house.begin()
        response = half.post(FACTOR, {"passkey": liar.get(told["passkeyOptions"])})
        assert (response.status, response.json()) == (401, NOT_ACCEPTED), about


def test_the_passkey_of_somebody_else_is_refused(house: House) -> None:
    eves = Authenticator()
    add_passkey(browsing_as(house.site, "eve"), eves)
    half, told = house.begin()

    response = half.post(FACTOR, {"passkey": eves.get(told["passkeyOptions"])})

    assert (response.status, response.json()) == (401, NOT_ACCEPTED)


def test_a_passkey_alone_signs_in_its_owner(house: House) -> None:
    browser, options = house.ask_for_passkey()
    assert options["userVerification"] == "required"
    assert options.get("allowCredentials", []) == []

    response = browser.post(PASSKEY, {"passkey": house.key.get(options)})

    assert response.json()["username"] == "ann"
    assert is_open(house.site, response)


def test_a_passkey_alone_must_have_made_sure_of_the_person(house: House) -> None:
    browser, options = house.ask_for_passkey()
    touched = house.key.without_verification()
    assert browser.post(PASSKEY, {"passkey": touched.get(options)}).json() == NOT_ACCEPTED
    # After the password, user presence is enough.
    half, told = house.begin()
    assert is_open(house.site, half.post(FACTOR, {"passkey": touched.get(told["passkeyOptions"])}))


def test_a_passkey_alone_is_refused_for_whom_it_does_not_name_or_who_is_disabled(
    house: House,
) -> None:
    for handle in ("", "YWNjb3VudCAy", "%", house.key.user_handle + "A"):
        browser, options = house.ask_for_passkey()
        credential = house.key.get(options)
        credential["response"]["userHandle"] = handle
        assert browser.post(PASSKEY, {"passkey": credential}).json() == NOT_ACCEPTED, handle
    browser, options = house.ask_for_passkey()
    set_disabled(house.site.node.store, "ann", is_disabled=True)
    assert browser.post(PASSKEY, {"passkey": house.key.get(options)}).json() == NOT_ACCEPTED


def test_a_passkey_for_one_question_does_not_response_the_other(house: House) -> None:
    """A challenge for the second factor is not valid for a passkey alone, and vice versa."""
    half, told = house.begin()
    browser, options = house.ask_for_passkey()
    cookies = {"cookie": half.headers["cookie"].replace("half-signed-in", "passkey-asked")}
    response = Person(house.site, "", cookies).post(
        PASSKEY, {"passkey": house.key.get(told["passkeyOptions"])}
    )
    assert response.status == 401
    cookies = {"cookie": browser.headers["cookie"].replace("passkey-asked", "half-signed-in")}
    response = Person(house.site, "", cookies).post(FACTOR, {"passkey": house.key.get(options)})
    assert response.status == 401


def test_a_synced_passkey_says_so(house: House) -> None:
    browsing = browsing_as(house.site, "eve")
    add_passkey(browsing, Authenticator().synced(), "Cloud")
    assert "synced" in browsing.get("/account/second-factor").body.decode()


def test_nothing_that_is_no_passkey_breaks_anything(house: House) -> None:
    parts = ("clientDataJSON", "authenticatorData", "signature", "userHandle")
    wrong = [*WRONG_PARTS, *({it: value} for it in parts for value in WRONG_TEXTS)]
    for change in wrong:
        browser, options = house.ask_for_passkey()
        credential = house.key.get(options)
        (key,) = change
        (credential["response"] if key in parts else credential).update(change)
        response = browser.post(PASSKEY, {"passkey": credential})
        assert response.status == 401, change
        assert list(response.json()) == ["error"]
        house.clock.forward(minutes=1)
    browser, _ = house.ask_for_passkey()
    bodies: list[Any] = [{"passkey": "x"}, {"passkey": []}, {"passkey": None}, {}]
    assert [browser.post(PASSKEY, it).status for it in bodies] == [400] * 4

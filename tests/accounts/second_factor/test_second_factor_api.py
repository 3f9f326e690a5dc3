"""Signing in with a second factor over the JSON API: what opens a session, and what does not."""

from pathlib import Path

from accounts.second_factor.people import browsing_as
from accounts.second_factor.two_factor import (
    FACTOR,
    NOT_ACCEPTED,
    PASSKEY,
    TOO_LATE,
    WRONG,
    House,
    is_open,
    with_cookie,
)
from accounts.signing_in import SIGN_IN
from support.people import PASSWORD, Person, nobody
from support.site import InProcessSite, Reply
from support.site_with_people import MovableClock
from widget_catalog.accounts.administer_account import (
    reset_password,
    reset_second_factor,
    set_disabled,
)
from widget_catalog.catalog.store.audit import list_entries


def test_the_password_alone_opens_nothing_and_says_what_is_missing(house: House) -> None:
    response = nobody(house.site).post(SIGN_IN, {"username": "ann", "password": PASSWORD})

    assert response.status == 202
    (told,) = response.json().values()
    assert told["ways"] == ["passkey", "authenticator app", "recovery code"]
    assert told["passkeyOptions"]["rpId"] == "catalog.example"
    assert len(told["passkeyOptions"]["allowCredentials"]) == 1
    cookie = response.headers["set-cookie"]
    assert cookie.startswith("__Host-half-signed-in=")
    assert cookie.endswith("; Max-Age=300; Path=/; HttpOnly; SameSite=Lax; Secure")
    half = with_cookie(house.site, response)
    assert half.get("/api/auth/session").status == 401
    sealed = half.headers["cookie"].partition("=")[2]
    assert (
        Person(house.site, "", {"cookie": f"__Host-session={sealed}"}).get("/api/tokens").status
        == 401
    )


def test_a_code_of_the_app_opens_the_session(house: House) -> None:
    half, _ = house.begin()

    response = half.post(FACTOR, {"code": house.code})

    assert response.status == 200
    assert list(response.json()) == [
        "username", "email", "isOperator", "via", "csrfToken", "expiresAt"
    ]  # fmt: skip
    assert is_open(house.site, response)


def test_a_code_works_once(house: House) -> None:
    code = house.code
    assert house.begin()[0].post(FACTOR, {"code": code}).status == 200

    response = house.begin()[0].post(FACTOR, {"code": code})

    assert (response.status, response.json()) == (401, WRONG)
    # Nor does the previous one, which would still be valid according to the clock.
    earlier = str(house.app.at(int(house.clock.at.timestamp()) - 30))
    assert house.begin()[0].post(FACTOR, {"code": earlier}).json() == WRONG


def test_guesses_are_few_no_matter_who_makes_them_and_counted_before_they_are_checked(
    house: House,
) -> None:
    half, _ = house.begin()
    for _ in range(5):
        assert half.post(FACTOR, {"code": "000000"}).json() == WRONG
    response = half.post(FACTOR, {"code": house.code})
    assert response.status == 429
    assert 0 < int(response.headers["retry-after"]) <= 900
    # A new sign-in with the password does not reset the limit.
    assert house.begin()[0].post(FACTOR, {"code": house.code}).status == 429
    # Passkeys cannot be guessed, so they still work.
    again, told = house.begin()
    assert is_open(
        house.site, again.post(FACTOR, {"passkey": house.key.get(told["passkeyOptions"])})
    )

    house.clock.forward(minutes=15)
    assert is_open(house.site, house.begin()[0].post(FACTOR, {"code": house.code}))


def test_one_account_is_guessed_at_ten_times_from_everywhere(tmp_path: Path) -> None:
    clock = MovableClock()
    with InProcessSite(tmp_path / "data", clock, trust_forwarded_for=True) as site:
        house = House(site, clock)
        half, _ = house.begin()
        statuses = []
        for i in range(12):
            from_elsewhere = Person(
                site, "", {**half.headers, "x_forwarded_for": f"192.0.2.{i // 4}"}
            )
            statuses.append(from_elsewhere.post(FACTOR, {"code": "000000"}).status)
        assert statuses == [401] * 10 + [429] * 2
        # Recovery codes still work, and so does confirming an open session.
        on_a_train = Person(site, "", {**half.headers, "x_forwarded_for": "198.51.100.1"})
        refused = on_a_train.post(FACTOR, {"code": house.code})
        assert refused.status == 429
        assert refused.json()["error"].startswith(
            "Too many wrong codes. You can use a passkey or a recovery code instead. Try again in "
        )
        assert is_open(site, half.post(FACTOR, {"code": house.codes[0]}))
        house.browsing.get("/account/confirm?next=/account")
        house.browsing.submit("/account/confirm", password=PASSWORD, code="")
        assert house.browsing.errors == ["Enter a code."]
        house.browsing.submit("/account/confirm", password="", code=house.code)
        assert house.browsing.errors == ["Enter your password."]
        right = {"password": PASSWORD, "code": house.code}
        confirmed = house.browsing.submit("/account/confirm", **right)
        assert (confirmed.status, confirmed.headers["location"]) == (303, "/account")


def test_guesses_from_elsewhere_keep_nobody_out_where_they_have_signed_in(tmp_path: Path) -> None:
    clock = MovableClock()
    with InProcessSite(tmp_path / "data", clock, trust_forwarded_for=True) as site:
        house = House(site, clock)

        def give(code: str, address: str) -> Reply:
            half = house.begin()[0]
            there = Person(site, "", {**half.headers, "x_forwarded_for": address})
            return there.post(FACTOR, {"code": code})

        assert is_open(site, give(house.code, "2001:db8::1"))
        for days in (7, 30):
            clock.forward(days=days)
            for i in range(10):
                assert give("000000", f"192.0.2.{i // 4}").status == 401
            assert give(house.code, "198.51.100.1").status == 429
            # Their own network is known for 30 days, and has its own limit.
            at_home = [give(code, "2001:db8::2") for code in ("000000", house.code)]
            assert [it.status for it in at_home] == ([401, 200] if days == 7 else [429, 429])


def test_guesses_from_elsewhere_keep_nobody_out_where_they_have_added_the_factor(
    tmp_path: Path,
) -> None:
    clock = MovableClock()
    with InProcessSite(tmp_path / "data", clock, trust_forwarded_for=True) as site:
        house = House(site, clock)
        for i in range(10):
            half = house.begin()[0]
            there = Person(site, "", {**half.headers, "x_forwarded_for": f"192.0.2.{i}"})
            assert there.post(FACTOR, {"code": "000000"}).status == 401

        assert is_open(site, house.begin()[0].post(FACTOR, {"code": house.code}))


def test_wrong_recovery_codes_are_counted_by_address(tmp_path: Path) -> None:
    clock = MovableClock()
    with InProcessSite(tmp_path / "data", clock, trust_forwarded_for=True) as site:
        house = House(site, clock)
        half, _ = house.begin()
        there = Person(site, "", {**half.headers, "x_forwarded_for": "192.0.2.1"})
        guesses = [there.post(FACTOR, {"code": "not-a-code"}).status for _ in range(6)]

        assert guesses == [401] * 5 + [429]
        assert half.post(FACTOR, {"code": " - "}).json() == {"error": "Enter a code."}
        assert is_open(site, half.post(FACTOR, {"code": house.codes[1]}))


def test_a_recovery_code_works_once_and_is_in_the_audit_log(house: House) -> None:
    code = house.codes[3]
    half, _ = house.begin()
    response = half.post(FACTOR, {"code": code.upper().replace("-", " ")})
    assert is_open(house.site, response)

    again = house.begin()[0].post(FACTOR, {"code": code})

    assert again.status == 401
    assert again.json() == {
        "error": "This is not one of your recovery codes, or it was used before."
    }
    with house.site.node.store.reading() as connection:
        entries, _ = list_entries(connection, "ann", None, 1, 20)
    failed, signed_in, used, *before = entries
    assert (failed.action, failed.actor) == ("failed sign-in", "-")
    assert (signed_in.action, signed_in.details["way"]) == ("sign in", "password and recovery code")
    assert (used.action, used.details) == ("use recovery code", {"left": 9})
    assert [it.action for it in before][:3] == [
        "add authenticator app", "make recovery codes", "add passkey"
    ]  # fmt: skip


def test_half_a_sign_in_ends_after_five_minutes(house: House) -> None:
    half, _ = house.begin()
    house.clock.forward(minutes=5, seconds=1)

    response = half.post(FACTOR, {"code": house.code})

    assert response.status == 401
    assert "has expired" in response.json()["error"]


def test_half_a_sign_in_ends_with_the_password_the_factor_and_the_account(house: House) -> None:
    store = house.site.node.store
    half, _ = house.begin()
    reset_password(store, "ann", "another password")
    assert half.post(FACTOR, {"code": house.code}).json() == {"error": TOO_LATE}

    half, _ = house.begin("another password")
    set_disabled(store, "ann", is_disabled=True)
    assert half.post(FACTOR, {"code": house.code}).json() == {"error": TOO_LATE}
    set_disabled(store, "ann", is_disabled=False)

    half, _ = house.begin("another password")
    reset_second_factor(store, "ann")
    assert half.post(FACTOR, {"code": house.codes[0]}).json() == {"error": TOO_LATE}
    body = {"username": "ann", "password": "another password"}
    assert nobody(house.site).post(SIGN_IN, body).status == 200


def test_only_the_browser_that_gave_the_password_goes_on(house: House) -> None:
    half, told = house.begin()
    other, _ = house.begin()
    for person in (
        nobody(house.site),
        Person(house.site, "", {"cookie": "__Host-half-signed-in=x.y.z"}),
    ):
        assert person.post(FACTOR, {"code": house.code}).status == 401
    # A passkey's response is only valid for the challenge of its own browser.
    credential = house.key.get(told["passkeyOptions"])
    assert other.post(FACTOR, {"passkey": credential}).json() == NOT_ACCEPTED
    assert is_open(house.site, half.post(FACTOR, {"passkey": credential}))


def test_a_page_of_another_site_cannot_go_on_with_it(house: House) -> None:
    half, told = house.begin()
    there = Person(house.site, "", {**half.headers, "origin": "https://evil.example"})
    for path in (FACTOR, PASSKEY, f"{SIGN_IN}/passkey-options"):
        assert there.post(path, {"code": house.code}).status == 403
    assert told["ways"]


def test_one_s_own_factors_are_listed(house: House) -> None:
    half, _ = house.begin()
    session = half.post(FACTOR, {"code": house.code})
    ann = with_cookie(house.site, session)

    told = ann.get("/api/auth/second-factor").json()

    (passkey,) = told.pop("passkeys")
    assert passkey.pop("id")
    assert passkey.pop("createdAt").endswith("Z")
    shown = {"name": "Phone", "host": "catalog.example", "isBackedUp": False, "lastUsedAt": None}
    assert passkey == shown
    assert told.pop("authenticatorApp")["createdAt"].endswith("Z")
    assert told == {"isRequired": False, "recoveryCodesLeft": 10}


def test_without_a_factor_nothing_changes(house: House) -> None:
    browsing_as(house.site, "eve")
    response = nobody(house.site).post(SIGN_IN, {"username": "eve", "password": PASSWORD})
    assert response.status == 200
    assert is_open(house.site, response)


def test_a_lost_key_makes_codes_useless_and_leaves_the_rest(house: House) -> None:
    house.site.node.folder.second_factor_key.unlink()
    half, _ = house.begin()
    response = half.post(FACTOR, {"code": house.code})
    assert response.status == 400
    assert "can no longer be checked here" in response.json()["error"]
    assert is_open(house.site, half.post(FACTOR, {"code": house.codes[0]}))


def test_the_database_holds_neither_secret_nor_codes(house: House) -> None:
    folder = house.site.node.folder.database.parent
    kept = b"".join(it.read_bytes() for it in folder.glob("catalog.db*"))
    assert house.app.secret.encode() not in kept
    for code in house.codes:
        assert code.encode() not in kept
        assert code.replace("-", "").encode() not in kept

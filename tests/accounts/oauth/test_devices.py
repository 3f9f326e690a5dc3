"""Signing in on a machine without a browser: POST device, the page /device, POST token."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.oauth.program import CLIENTS, DEVICE_GRANT, ask, is_good
from support.browsing import Browsing
from support.people import a_person
from support.site import InProcessSite, Reply
from widget_catalog.accounts.administer_account import set_disabled


@pytest.fixture
def house(tmp_path: Path) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path / "data", oauth_clients=CLIENTS) as site:
        a_person(site, "ann")
        yield site


@pytest.fixture
def ann(house: InProcessSite) -> Browsing:
    return Browsing(house).sign_in("ann")


def begin(site: InProcessSite) -> dict[str, str]:
    response = ask(site, "device", client_id="widget-cli", scope="openid profile email")
    assert response.status == 200
    begun: dict[str, str] = response.json()
    return begun


def poll(site: InProcessSite, begun: dict[str, str], client_id: str = "widget-cli") -> Reply:
    fields = {"grant_type": DEVICE_GRANT, "device_code": begun["device_code"]}
    return ask(site, "token", client_id=client_id, **fields)


def decide(ann: Browsing, begun: dict[str, str], decision: str) -> Reply:
    ann.get("/device")
    assert ann.submit("/device", user_code=begun["user_code"]).status == 200
    return ann.submit("/device", decision=decision)


def test_a_machine_gets_a_code_for_itself_and_one_for_people(house: InProcessSite) -> None:
    begun = begin(house)

    code = begun["user_code"]
    assert begun == {
        "device_code": begun["device_code"],
        "user_code": code,
        "verification_uri": "https://catalog.example/device",
        "verification_uri_complete": f"https://catalog.example/device?user_code={code}",
        "expires_in": 900,
        "interval": 5,
    }
    assert begun["device_code"].startswith("wcd_")
    assert len(code) == 9
    assert set(code.replace("-", "")) <= set("BCDFGHJKLMNPQRSTVWXZ")


def test_as_long_as_nobody_has_decided_it_waits(house: InProcessSite) -> None:
    begun = begin(house)

    first, second = poll(house, begun), poll(house, begun)

    assert (first.status, first.json()) == (
        400,
        {
            "error": "authorization_pending",
            "error_description": "The person has not agreed yet. Ask again later.",
        },
    )
    assert (second.status, second.json()) == (
        400,
        {
            "error": "slow_down",
            "error_description": "You ask too often. Wait longer between two questions.",
        },
    )


def test_the_page_asks_for_the_code_then_whether_to_let_it_in(ann: Browsing) -> None:
    begun = begin(ann.site)
    ann.get(f"/device?user_code={begun['user_code']}")
    assert ann.title == "Enter the code"
    assert ann.page.one("input", id="user_code").attributes["value"] == begun["user_code"]

    typed = f" {begun['user_code'].replace('-', '').lower()} "
    response = ann.submit("/device", user_code=typed)

    assert response.status == 200
    assert ann.title == "Widget CLI wants to publish as @ann"
    assert ann.page.one("p", class_="code").text == begun["user_code"]
    assert poll(ann.site, begun).json()["error"] == "authorization_pending"


def test_continue_lets_it_in_once(ann: Browsing) -> None:
    begun = begin(ann.site)

    assert decide(ann, begun, "continue").status == 200

    assert ann.title == "Device signed in"
    response = poll(ann.site, begun)
    assert response.status == 200
    assert is_good(ann.site, response.json()["access_token"])
    again = poll(ann.site, begun)
    assert (again.status, again.json()["error"]) == (400, "invalid_grant")
    assert is_good(ann.site, response.json()["access_token"])


@pytest.mark.parametrize("decision", ["cancel", ""])
def test_cancel_does_not(ann: Browsing, decision: str) -> None:
    begun = begin(ann.site)

    assert decide(ann, begun, decision).status == 200

    assert ann.title == "Sign-in denied"
    response = poll(ann.site, begun)
    assert (response.status, response.json()) == (
        400,
        {"error": "access_denied", "error_description": "The person has not agreed."},
    )


def test_what_is_decided_nobody_decides_again(ann: Browsing) -> None:
    begun = begin(ann.site)
    decide(ann, begun, "cancel")

    ann.get("/device")
    response = ann.submit("/device", user_code=begun["user_code"], decision="continue")

    assert response.status == 404
    assert poll(ann.site, begun).json()["error"] == "access_denied"


def test_a_code_for_one_client_is_of_no_use_to_another(ann: Browsing) -> None:
    begun = begin(ann.site)
    decide(ann, begun, "continue")

    response = poll(ann.site, begun, "other")

    assert (response.status, response.json()) == (
        400,
        {
            "error": "unauthorized_client",
            "error_description": "This code or token was given to another client.",
        },
    )
    assert poll(ann.site, begun).status == 200


def test_who_is_disabled_in_between_lets_nothing_in(ann: Browsing) -> None:
    begun = begin(ann.site)
    decide(ann, begun, "continue")

    set_disabled(ann.site.node.store, "ann", is_disabled=True)

    assert poll(ann.site, begun).json()["error"] == "invalid_grant"


def test_codes_cannot_be_guessed(ann: Browsing) -> None:
    begun = begin(ann.site)
    ann.get("/device")
    for _ in range(10):
        response = ann.submit("/device", user_code="BCDF-GHJK")
        assert response.status == 404
        assert ann.errors == [
            (
                "Nothing waits for @ann with this code. Check the code, and that you are signed in "
                "as the account that the program uses; or have a new code shown."
            )
        ]

    response = ann.submit("/device", user_code=begun["user_code"])

    assert response.status == 429
    assert 0 < int(response.headers["retry-after"]) <= 900
    assert ann.errors[0].startswith("Too many wrong codes. Try again in ")


def test_no_other_site_can_let_a_machine_in(ann: Browsing) -> None:
    begun = begin(ann.site)

    response = ann.post("/device", {"user_code": begun["user_code"], "decision": "continue"})

    assert response.status == 403
    assert poll(ann.site, begun).json()["error"] == "authorization_pending"


def test_who_is_not_signed_in_does_so_first(house: InProcessSite) -> None:
    response = Browsing(house).get("/device?user_code=BCDF-GHJK")

    assert (response.status, response.headers["location"]) == (
        302,
        "/sign-in?next=%2Fdevice%3Fuser_code%3DBCDF-GHJK",
    )


def test_nobody_has_many_machines_wait_not_from_a_whole_ipv6_network(tmp_path: Path) -> None:
    with InProcessSite(tmp_path, oauth_clients=CLIENTS, trust_forwarded_for=True) as site:
        responses = [
            site.request(
                "POST",
                "/api/auth/oauth2/device",
                b"client_id=widget-cli",
                content_type="application/x-www-form-urlencoded",
                x_forwarded_for=f"2001:db8::{i}:1",
            )
            for i in range(31)
        ]

    assert [it.status for it in responses] == [200] * 30 + [429]
    response = responses[-1]

    assert response.status == 429
    assert response.json()["error"] == "temporarily_unavailable"
    assert response.json()["error_description"].startswith(
        "Too many devices from this address are waiting for authorization."
    )
    assert 0 < int(response.headers["retry-after"]) <= 900


def test_an_unknown_client_gets_no_code(house: InProcessSite) -> None:
    response = ask(house, "device", client_id="nobody")

    assert (response.status, response.json()) == (
        400,
        {
            "error": "invalid_client",
            "error_description": "No program with the client id 'nobody' is registered here. The "
            "operator registers programs with the setting oauth_clients.",
        },
    )


def test_scopes_that_are_all_unknown_get_no_code(house: InProcessSite) -> None:
    response = ask(house, "device", client_id="widget-cli", scope="offline_access")

    assert (response.status, response.json()) == (
        400,
        {
            "error": "invalid_scope",
            "error_description": "scope has nothing that is known here: openid, profile, email.",
        },
    )

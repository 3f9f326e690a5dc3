"""The pages of two-factor sign-in: set up, use, confirm, remove; messages and errors."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from accounts.oauth.program import agree, ask, authorize_address, code_fields
from accounts.second_factor.authenticator import Authenticator
from accounts.second_factor.people import (
    HERE,
    STEP,
    add_app,
    add_passkey,
    begin,
    browsing_as,
    code_now,
    is_in,
    options_on,
)
from support.browsing import OWN_FOLDERS, OWN_FOLDERS_AND_SCRIPT, PERSONAL, SCRIPTS, Browsing
from support.people import PASSWORD, a_person
from support.site import InProcessSite
from support.site_with_people import MovableClock
from widget_catalog.accounts.second_factor.store import find_factors
from widget_catalog.catalog.store.audit import list_entries

CONFIRM = "/account/confirm"
WITH_SCRIPT = {
    **PERSONAL,
    "content-security-policy": PERSONAL["content-security-policy"]
    .replace("default-src 'none'; ", f"default-src 'none'; {SCRIPTS} ")
    .replace(OWN_FOLDERS, OWN_FOLDERS_AND_SCRIPT),
}


@pytest.fixture
def site(tmp_path: Path, clock: MovableClock) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path / "data", clock) as made:
        yield made


def test_only_pages_that_ask_for_a_passkey_have_a_script(site: InProcessSite) -> None:
    browsing = browsing_as(site, "ann")
    for path in (HERE, f"{HERE}/new-app", CONFIRM):
        assert browsing.get(path).headers == PERSONAL, path
        assert not browsing.page.all("script")
    for visitor, path in ((browsing, f"{HERE}/new-passkey"), (Browsing(site), "/sign-in/passkey")):
        response = visitor.get(path)
        response.headers.pop("set-cookie", None)
        assert response.headers == WITH_SCRIPT, path
        (script,) = visitor.page.all("script")
        assert list(script.attributes) == ["src", "defer"]
        served = site.get(script.attributes["src"] or "")
        assert served.status == 200
        assert served.headers["content-type"] == "text/javascript; charset=utf-8"
        assert "immutable" in served.headers["cache-control"]


def test_a_form_with_a_passkey_is_hidden_where_no_script_runs(site: InProcessSite) -> None:
    browsing = Browsing(site)
    browsing.get("/sign-in/passkey?next=/device")
    form = browsing.page.one("form", action="/sign-in/passkey")
    assert "hidden" in form.attributes
    assert browsing.hidden_fields("/sign-in/passkey")["next"] == "/device"
    (hint,) = [it for it in browsing.page.elements if "data-without-script" in it.attributes]
    assert "needs JavaScript" in hint.text


def test_by_an_ip_address_a_page_says_that_passkeys_need_a_host_name(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data", base_url="http://127.0.0.1:8080") as site:
        browsing = browsing_as(site, "ann")
        for path in (HERE, f"{HERE}/new-passkey"):
            browsing.get(path)
            told = browsing.page.all("p", class_="notice")
            assert told[0].text.startswith("Passkeys need a host name")
            assert f"{HERE}/new-passkey" not in browsing.page.links
        fresh = Browsing(site)
        fresh.get("/sign-in")
        assert "/sign-in/passkey" not in fresh.page.links
        assert fresh.get("/sign-in/passkey").status == 400
        assert site.request(
            "POST", "/api/auth/sign-in/passkey-options", b""
        ).json()["error"].startswith("Passkeys need a host name")  # fmt: skip


def test_signing_in_goes_on_to_where_one_wanted_to_go(
    site: InProcessSite, clock: MovableClock
) -> None:
    app, _ = add_app(browsing_as(site, "ann"), clock.at.timestamp())
    clock.forward(seconds=30)
    browsing = Browsing(site)
    browsing.get("/sign-in?next=/device%3Fuser_code%3DA")
    response = browsing.submit("/sign-in", username="ann", password=PASSWORD)
    assert response.headers["location"] == f"{STEP}?next=%2Fdevice%3Fuser_code%3DA"
    browsing.get(response.headers["location"])

    wrong = browsing.submit(STEP, code="000000")
    assert wrong.status == 400
    field = browsing.page.one("input", id="code").attributes
    assert field["aria-describedby"] == "faults-code"
    assert field["autocomplete"] == "one-time-code"
    assert field["inputmode"] == "numeric"
    browsing.submit(STEP, code="abcd", way="recovery")
    described = browsing.page.one("input", id="recovery-code").attributes["aria-describedby"]
    assert described == "recovery-code-hint faults-recovery-code"
    response = browsing.submit(STEP, code=code_now(app, clock))

    assert (response.status, response.headers["location"]) == (303, "/device?user_code=A")
    assert "half-signed-in" not in browsing.cookies
    assert is_in(browsing)


def test_a_program_signs_somebody_in_who_gives_a_second_factor(
    site: InProcessSite, clock: MovableClock
) -> None:
    app, _ = add_app(browsing_as(site, "ann"), clock.at.timestamp())
    clock.forward(seconds=30)
    browsing = Browsing(site)
    address = authorize_address()
    browsing.get(browsing.get(address).headers["location"])
    response = browsing.submit("/sign-in", username="ann", password=PASSWORD)
    browsing.get(response.headers["location"])
    response = browsing.submit(STEP, code=code_now(app, clock))
    assert response.headers["location"] == address

    told = agree(browsing)

    assert ask(site, "token", **code_fields(told["code"])).status == 200


def test_a_program_waits_until_the_person_has_set_one_up(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data", second_factor_required="everybody") as site:
        browsing = browsing_as(site, "ann")
        address = authorize_address()
        set_up = browsing.get(address).headers["location"]
        assert set_up == f"{HERE}?next={quote(address, safe='')}"
        browsing.get(set_up)
        (link,) = [it for it in browsing.page.links if it.startswith(f"{HERE}/new-passkey")]
        browsing.get(link)
        made = json.dumps(Authenticator().create(options_on(browsing)))
        browsing.submit(f"{HERE}/new-passkey", name="Phone", credential=made)
        assert browsing.page.one("a", class_="button").attributes["href"] == address
        assert agree(browsing)["code"]


def test_anyone_who_comes_too_late_begins_again(site: InProcessSite, clock: MovableClock) -> None:
    app, _ = add_app(browsing_as(site, "ann"), clock.at.timestamp())
    browsing = begin(site, "ann")
    clock.forward(minutes=4)
    browsing.get(STEP)  # Reloading the page does not extend the time limit.
    clock.forward(minutes=1, seconds=1)

    response = browsing.submit(STEP, code=code_now(app, clock))

    assert (response.status, browsing.title) == (400, "Sign in")
    assert "has expired" in browsing.errors[0]
    assert "half-signed-in" not in browsing.cookies


def test_the_second_step_is_nothing_without_the_first(site: InProcessSite) -> None:
    browsing = Browsing(site)
    response = browsing.get(STEP)
    assert (response.status, browsing.title) == (400, "Sign in")
    assert browsing.post(STEP, {"code": "123456"}).status == 400


def test_a_passkey_that_fails_can_be_tried_again(site: InProcessSite) -> None:
    key = Authenticator()
    add_passkey(browsing_as(site, "ann"), key)
    browsing = begin(site, "ann")
    wrong = Authenticator()
    response = browsing.submit(STEP, credential=json.dumps(wrong.get(options_on(browsing))))
    assert response.status == 400

    response = browsing.submit(STEP, credential=json.dumps(key.get(options_on(browsing))))

    assert response.status == 303


@pytest.mark.parametrize("credential", ["x", "[]", "null", "{", "[" * 3000, "\ud83d", '"\\ud800"'])
def test_a_form_may_hold_anything(site: InProcessSite, credential: str) -> None:
    add_passkey(browsing_as(site, "ann"), Authenticator())
    browsing = begin(site, "ann")
    text = credential.encode("utf-8", "replace").decode()
    assert browsing.submit(STEP, credential=text).status == 400
    browsing.get("/sign-in/passkey")
    assert browsing.submit("/sign-in/passkey", credential=text).status == 400


def test_a_passkey_is_added_renamed_and_removed_and_all_is_in_the_log(
    site: InProcessSite, clock: MovableClock
) -> None:
    browsing = browsing_as(site, "ann")
    key = Authenticator()
    assert len(add_passkey(browsing, key, "Phone")) == 10
    clock.forward(seconds=1)
    assert add_passkey(browsing, Authenticator(), "Blue key") == []
    browsing.get(HERE)
    assert [it.text for it in browsing.page.all("strong")] == ["Phone", "Blue key"]
    phone, blue = list(
        dict.fromkeys(
            form.attributes["action"] or ""
            for form in browsing.page.all("form")
            if "/passkeys/" in (form.attributes["action"] or "")
        )
    )
    assert browsing.submit(phone, do="rename", name=" Old phone ").status == 303
    browsing.get(HERE)
    assert browsing.submit(phone, do="rename", name="\u202e").status == 400
    browsing.get(HERE)
    assert browsing.submit(blue, do="remove").status == 303
    browsing.get(HERE)
    assert [it.text for it in browsing.page.all("strong")] == ["Old phone"]
    assert browsing.submit(phone, do="remove").status == 303
    browsing.get(HERE)
    assert "Recovery codes" not in [it.text for it in browsing.page.all("h2")]
    assert Browsing(site).sign_in("ann")  # With the password alone, as before.
    with site.node.store.reading() as connection:
        entries, _ = list_entries(connection, "ann", None, 1, 50)
    assert [
        (entry.action, entry.details.get("passkey"))
        for entry in reversed(entries)
        if "key" in entry.action
    ] == [
        ("add passkey", "Phone"),
        ("add passkey", "Blue key"),
        ("rename passkey", "Old phone"),
        ("remove passkey", "Blue key"),
        ("remove passkey", "Old phone"),
    ]


def test_a_passkey_must_be_new_and_made_for_this_page(site: InProcessSite) -> None:
    browsing, key = browsing_as(site, "ann"), Authenticator()
    add_passkey(browsing, key)
    browsing.get(f"{HERE}/new-passkey")
    options = options_on(browsing)
    excluded = [it["id"] for it in options["excludeCredentials"]]
    assert len(excluded) == 1
    made = key.create(options)
    response = browsing.submit(f"{HERE}/new-passkey", name="Again", credential=json.dumps(made))
    assert (response.status, browsing.errors) == (409, ["This passkey is known here already."])
    for wrong in (
        Authenticator(origin="https://evil.example").create(options),
        Authenticator(host="evil.example").create(options),
        {},
        {"id": "x", "rawId": "x", "type": "public-key", "response": {"attestationObject": "AA"}},
    ):
        response = browsing.submit(f"{HERE}/new-passkey", name="New", credential=json.dumps(wrong))
        assert (response.status, browsing.errors) == (
            400,
            ["This passkey was not accepted. Try again."],
        )
    # Created for ann's page, and sent by eve.
    asked = browsing.hidden_fields(f"{HERE}/new-passkey")["asked"]
    eve = browsing_as(site, "eve")
    eve.get(f"{HERE}/new-passkey")
    response = eve.submit(f"{HERE}/new-passkey", name="Mine", asked=asked, credential="{}")
    assert response.status == 400
    assert "made for another account" in eve.errors[0]


def test_forms_of_these_pages_need_their_token(site: InProcessSite) -> None:
    browsing = browsing_as(site, "ann")
    add_passkey(browsing, Authenticator())
    for path in (
        CONFIRM,
        f"{HERE}/new-passkey",
        f"{HERE}/new-app",
        f"{HERE}/remove-app",
        f"{HERE}/recovery-codes",
        f"{HERE}/passkeys/x",
    ):
        assert browsing.post(path, {"do": "remove"}).status == 403, path


def test_nobody_touches_the_passkey_of_somebody_else(site: InProcessSite) -> None:
    browsing = browsing_as(site, "ann")
    add_passkey(browsing, Authenticator())
    browsing.get(HERE)
    (place,) = {
        form.attributes["action"] or ""
        for form in browsing.page.all("form")
        if "/passkeys/" in (form.attributes["action"] or "")
    }
    eve = browsing_as(site, "eve")
    eve.get("/account")
    token = eve.hidden_fields("/sign-out")["csrf_token"]
    for what in ({"do": "remove"}, {"do": "rename", "name": "Mine"}):
        assert eve.post(place, {"csrf_token": token, **what}).status == 404


def test_an_account_that_is_closed_has_no_factors_left(site: InProcessSite) -> None:
    browsing = browsing_as(site, "ann")
    add_passkey(browsing, Authenticator())
    browsing.get("/account")
    token = browsing.hidden_fields("/sign-out")["csrf_token"]
    cookie = f"__Host-session={browsing.cookies['session']}"
    response = site.request(
        "POST", "/api/account/close", json.dumps({"password": PASSWORD}).encode(),
        content_type="application/json", cookie=cookie, x_csrf_token=token,
    )  # fmt: skip
    assert response.status == 200
    with site.node.store.reading() as connection:
        assert find_factors(connection, 1) == ((), None, 0)


def test_a_new_person_is_informed_of_it_on_the_account_page(site: InProcessSite) -> None:
    a_person(site, "ann")
    browsing = Browsing(site).sign_in("ann")
    browsing.get("/account")
    (link,) = browsing.page.all("a", href=HERE)
    assert link.text == "Set up two-factor sign-in"
    add_passkey(browsing, Authenticator())
    browsing.get("/account")
    assert browsing.page.one("a", href=HERE).text == "Manage two-factor sign-in"

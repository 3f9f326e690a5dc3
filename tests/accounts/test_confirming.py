"""Re-authentication before credentials are changed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.second_factor.authenticator import Authenticator
from accounts.second_factor.people import (
    HERE,
    STEP,
    add_app,
    add_passkey,
    begin,
    browsing_as,
    code_now,
    options_on,
    recovery_codes,
)
from support.browsing import Browsing
from support.people import PASSWORD
from support.site import InProcessSite
from support.site_with_people import MovableClock
from widget_catalog.accounts.store import add_identity, update_account

CONFIRM = "/account/confirm"


@pytest.fixture
def site(tmp_path: Path, clock: MovableClock) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path / "data", clock) as made:
        yield made


def test_what_one_signs_in_with_is_changed_only_after_confirming(
    site: InProcessSite, clock: MovableClock
) -> None:
    browsing = browsing_as(site, "ann")
    app, codes = add_app(browsing, clock.at.timestamp())
    browsing.get(HERE)
    clock.forward(minutes=10)
    for path in (f"{HERE}/new-passkey", f"{HERE}/new-app"):
        sent = site.get(
            path, accept="text/html", cookie=f"__Host-session={browsing.cookies['session']}"
        )
        assert sent.headers["location"] == f"{CONFIRM}?next={path.replace('/', '%2F')}"
    for path in (f"{HERE}/remove-app", f"{HERE}/recovery-codes"):
        sent = browsing.submit(path)
        back = f"{CONFIRM}?next=%2Faccount%2Fsecond-factor"
        assert (sent.status, sent.headers["location"]) == (303, back)

    browsing.get(f"{CONFIRM}?next={HERE}/new-app")
    code = code_now(app, clock)
    for fields in (
        {"password": "a wrong password", "code": code},
        {"password": PASSWORD, "code": "000000"},
        {"password": PASSWORD},
        {"code": code},
    ):
        assert browsing.submit(CONFIRM, **fields).status == 400, fields
        assert browsing.title == "Confirm your identity"
    response = browsing.submit(CONFIRM, password=PASSWORD, code=codes[0])
    assert (response.status, response.headers["location"]) == (303, f"{HERE}/new-app")
    browsing.get(HERE)
    assert browsing.submit(f"{HERE}/recovery-codes").status == 200
    fresh = recovery_codes(browsing)
    assert not set(fresh) & set(codes)
    old = begin(site, "ann")
    assert old.submit(STEP, code=codes[1]).status == 400
    assert old.submit(STEP, code=fresh[1]).status == 303


def test_without_a_factor_the_password_confirms(site: InProcessSite, clock: MovableClock) -> None:
    browsing = browsing_as(site, "ann")
    clock.forward(minutes=10)
    browsing.get(CONFIRM)
    assert not browsing.page.all("input", id="code")
    assert browsing.submit(CONFIRM, password=PASSWORD).headers["location"] == HERE
    assert browsing.get(f"{HERE}/new-app").status == 200


def test_a_session_from_before_the_factor_must_give_it_to_change_anything(
    site: InProcessSite, clock: MovableClock
) -> None:
    """Nor does a sign-in through a provider replace it, however recent."""
    other = browsing_as(site, "ann")
    browsing = Browsing(site).sign_in("ann")
    key = Authenticator()
    add_passkey(browsing, key)
    assert other.get(f"{HERE}/new-passkey").headers["location"].startswith(CONFIRM)
    other.get(CONFIRM)
    response = other.submit(CONFIRM, credential=json.dumps(key.get(options_on(other))))
    assert response.status == 303
    assert other.get(f"{HERE}/new-passkey").status == 200


def test_a_passkey_confirms_only_if_it_made_sure_of_the_person(site: InProcessSite) -> None:
    browsing = browsing_as(site, "ann")
    key = Authenticator()
    add_passkey(browsing, key)
    browsing.get(CONFIRM)
    touched = key.without_verification().get(options_on(browsing))
    assert browsing.submit(CONFIRM, credential=json.dumps(touched)).status == 400


def test_anyone_who_has_no_password_confirms_with_the_factor_or_at_the_provider(
    site: InProcessSite, clock: MovableClock
) -> None:
    browsing = browsing_as(site, "ann")
    with site.node.store.writing() as tx:
        update_account(tx, 1, password_hash=None)
        add_identity(tx, "https://login.example", "1", 1)
    app, _ = add_app(browsing, clock.at.timestamp())
    clock.forward(minutes=10)
    browsing.get(CONFIRM)
    assert not browsing.page.all("input", id="password")
    response = browsing.submit(CONFIRM, code=code_now(app, clock))
    assert response.status == 303

"""Second factors of people who sign in through an OpenID Connect provider."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from accounts.oidc.providers import Provider, running_provider
from accounts.oidc.through_provider import CLIENT, begin, come_back
from accounts.second_factor.authenticator import Authenticator
from accounts.second_factor.people import HERE as FACTORS
from accounts.second_factor.people import add_app, add_passkey, code_now, options_on
from support.browsing import Browsing
from support.passwords import quick_passwords
from support.people import PASSWORD
from support.site import InProcessSite
from support.site_with_people import MovableClock
from widget_catalog.accounts.administer_account import reset_password
from widget_catalog.catalog.store.audit import AuditEntry, list_entries

CONFIRM = "/account/confirm"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with running_provider(tmp_path_factory.mktemp("provider")) as made:
        yield made


def signed_in(site: InProcessSite, provider: Provider, subject: str = "1") -> Browsing:
    browsing = Browsing(site)
    assert come_back(browsing, provider.sign_in(begin(browsing), subject)).status == 303
    return browsing


def test_the_provider_is_responsible_for_its_own(tmp_path: Path, provider: Provider) -> None:
    with InProcessSite(tmp_path / "data", oidc_issuer=provider.url, **CLIENT) as site:
        key = Authenticator()
        add_passkey(signed_in(site, provider), key)

        again = signed_in(site, provider)

        assert again.get("/account").status == 200
        # But changing credentials requires the existing factor.
        assert again.get(f"{FACTORS}/new-app").headers["location"].startswith(CONFIRM)
        again.get("/account")
        sent = again.submit("/account/connect")
        assert sent.headers["location"] == f"{CONFIRM}?next=%2Faccount"
        again.get(CONFIRM)
        response = again.submit(CONFIRM, credential=json.dumps(key.get(options_on(again))))
        assert response.status == 303
        assert again.get(f"{FACTORS}/new-app").status == 200


def test_sessions_opened_through_the_provider_do_not_add_attempts_to_guess_a_code(
    tmp_path: Path, provider: Provider
) -> None:
    """Whoever controls the account at the provider can open as many sessions as they like."""
    clock = MovableClock()
    with InProcessSite(
        tmp_path / "data", clock, oidc_issuer=provider.url, trust_forwarded_for=True, **CLIENT
    ) as site:
        owner = signed_in(site, provider)
        app, _ = add_app(owner, clock.at.timestamp())
        clock.forward(seconds=30)

        def guess(session: int, network: int) -> int:
            return confirm_from(attackers[session], f"192.0.2.{network}", "000000")

        attackers = [signed_in(site, provider) for _ in range(4)]
        assert [guess(i % 4, 1) for i in range(7)] == [400] * 5 + [429] * 2
        assert [guess(i % 4, 2 + i) for i in range(7)] == [400] * 5 + [429] * 2
        # The session that has shown the factor has attempts of its own.
        assert confirm_from(owner, "192.0.2.1", code_now(app, clock)) == 303
        failed = [it for it in audit_of(site) if it.action == "failed sign-in"]
        assert [(it.scope, it.details) for it in failed] == [
            *[("bob-smith", {"attempts": 1})] * 5,
            ("bob-smith", {"attempts": 5}),
            ("bob-smith", {"attempts": 1}),
        ]


def test_a_network_where_a_code_has_confirmed_a_session_is_known(
    tmp_path: Path, provider: Provider
) -> None:
    """Attackers elsewhere cannot lock out a person who always signs in through the provider."""
    clock = MovableClock()
    with InProcessSite(
        tmp_path / "data", clock, oidc_issuer=provider.url, trust_forwarded_for=True, **CLIENT
    ) as site:
        app, _ = add_app(signed_in(site, provider), clock.at.timestamp())
        clock.forward(seconds=30)
        home = "198.51.100.1"
        assert confirm_from(signed_in(site, provider), home, code_now(app, clock)) == 303
        clock.forward(days=1)
        attacker = signed_in(site, provider)
        for i in range(10):
            assert confirm_from(attacker, f"192.0.2.{i}", "000000") == 400

        owner = signed_in(site, provider)

        assert confirm_from(owner, "198.51.100.9", code_now(app, clock)) == 429
        assert confirm_from(owner, home, code_now(app, clock)) == 303


def test_sessions_opened_through_the_provider_do_not_add_attempts_to_guess_the_password(
    tmp_path: Path, provider: Provider
) -> None:
    with (
        quick_passwords(),
        InProcessSite(tmp_path / "data", oidc_issuer=provider.url, **CLIENT) as site,
    ):
        signed_in(site, provider)
        reset_password(site.node.store, "bob-smith", PASSWORD)
        statuses = []
        for _ in range(4):
            attacker = signed_in(site, provider)
            for _ in range(2):
                attacker.get("/account/password")
                fields = {"current": "a guess", "new": "another long password"}
                statuses.append(attacker.submit("/account/password", **fields).status)
        assert statuses == [403] * 5 + [429] * 3
        attacker.get(CONFIRM)
        assert attacker.submit(CONFIRM, password=PASSWORD).status == 429
        # With the password itself they would not have to guess.
        assert Browsing(site).sign_in("bob-smith").get("/account").status == 200
        failed = [it for it in audit_of(site) if it.action == "failed sign-in"]
        assert [it.details for it in failed] == [{"attempts": 5}, {"attempts": 1}]


def confirm_from(browsing: Browsing, address: str, code: str) -> int:
    browsing.get(CONFIRM)
    fields = {**browsing.hidden_fields(CONFIRM), "code": code}
    return browsing.post(CONFIRM, fields, x_forwarded_for=address).status


def audit_of(site: InProcessSite) -> list[AuditEntry]:
    """Newest first."""
    with site.node.store.reading() as connection:
        return list_entries(connection, None, None, 1, 100)[0]


def test_where_one_is_required_it_is_asked_for_after_the_provider(
    tmp_path: Path, provider: Provider
) -> None:
    with InProcessSite(
        tmp_path / "data", oidc_issuer=provider.url, second_factor_required="everybody", **CLIENT
    ) as site:
        browsing = signed_in(site, provider)
        assert browsing.get("/account").headers["location"].startswith(FACTORS)
        key = Authenticator()
        add_passkey(browsing, key)

        again = signed_in(site, provider)

        assert again.get("/account").headers["location"] == f"{CONFIRM}?next=%2Faccount"
        again.get(f"{CONFIRM}?next=/account")
        response = again.submit(CONFIRM, credential=json.dumps(key.get(options_on(again))))
        assert response.headers["location"] == "/account"
        assert again.get("/account").status == 200


def test_without_password_and_factor_one_confirms_at_the_provider(
    tmp_path: Path, provider: Provider
) -> None:
    clock = MovableClock()
    with InProcessSite(tmp_path / "data", clock, oidc_issuer=provider.url, **CLIENT) as site:
        browsing = signed_in(site, provider)
        clock.forward(minutes=10)
        browsing.get(f"{CONFIRM}?next={FACTORS}/new-app")
        assert not browsing.page.all("input", id="password")
        (link,) = [it for it in browsing.page.links if "oidc" in it]
        address = browsing.get(link).headers["location"]
        assert dict(parse_qsl(urlsplit(address).query))["prompt"] == "login"
        response = come_back(browsing, provider.sign_in(address, "1"))
        assert response.headers["location"] == f"{FACTORS}/new-app"
        assert browsing.get(f"{FACTORS}/new-app").status == 200

"""Second factors of people who sign in through an OpenID Connect provider."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from pages.through_provider import CLIENT, begin, come_back
from support.authenticator import Authenticator
from support.browsing import Browsing
from support.openid import Provider, running_provider
from support.second_factor import HERE as FACTORS
from support.second_factor import add_passkey, options_on
from support.site import InProcessSite
from support.village import MovableClock

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
        assert again.submit("/account/connect").headers["location"] == CONFIRM
        again.get(CONFIRM)
        answer = again.submit(CONFIRM, credential=json.dumps(key.get(options_on(again))))
        assert answer.status == 303
        assert again.get(f"{FACTORS}/new-app").status == 200


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
        answer = again.submit(CONFIRM, credential=json.dumps(key.get(options_on(again))))
        assert answer.headers["location"] == "/account"
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
        answer = come_back(browsing, provider.sign_in(address, "1"))
        assert answer.headers["location"] == f"{FACTORS}/new-app"
        assert browsing.get(f"{FACTORS}/new-app").status == 200

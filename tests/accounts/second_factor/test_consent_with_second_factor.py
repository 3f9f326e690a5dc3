"""Programs, devices and closing the account: with a second factor, a session that has not shown it
recently confirms first, and comes back to the same page.
"""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import pyotp
import pytest

from accounts.oauth.program import DEVICE_GRANT, ask, authorize_address, code_fields, query_of
from accounts.oidc.providers import Provider, running_provider
from accounts.oidc.through_provider import CLIENT, begin, come_back
from accounts.second_factor.people import add_app, browsing_as, code_now
from support.browsing import Browsing
from support.people import PASSWORD
from support.site import InProcessSite
from support.site_with_people import MovableClock

CONFIRM = "/account/confirm"
STATE = "a state & more=%2F"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with running_provider(tmp_path_factory.mktemp("provider")) as made:
        yield made


class Home:
    """`bob-smith` signs in through a provider, and has an authenticator app here."""

    def __init__(self, site: InProcessSite, provider: Provider, clock: MovableClock) -> None:
        self.site, self.provider, self.clock = site, provider, clock
        self.browsing = self.come()
        self.app: pyotp.TOTP = add_app(self.browsing, clock.at.timestamp())[0]
        clock.forward(seconds=30)

    def come(self) -> Browsing:
        browsing = Browsing(self.site)
        place = self.provider.sign_in(begin(browsing), "1")
        assert come_back(browsing, place).status == 303
        return browsing

    def confirm(self, browsing: Browsing, location: str) -> str:
        """Where the page to confirm leads."""
        assert browsing.get(location).status == 200
        response = browsing.submit(CONFIRM, code=code_now(self.app, self.clock))
        assert response.status == 303
        return response.headers["location"]


@pytest.fixture
def home(tmp_path: Path, provider: Provider) -> Iterator[Home]:
    clock = MovableClock()
    with InProcessSite(tmp_path / "data", clock, oidc_issuer=provider.url, **CLIENT) as site:
        yield Home(site, provider, clock)


def test_a_session_that_has_not_shown_the_factor_approves_no_program(home: Home) -> None:
    weak, address = home.come(), authorize_address(state=STATE)

    sent = weak.get(address)

    confirm = f"{CONFIRM}?next={quote(address, safe='')}"
    assert (sent.status, sent.headers["location"]) == (302, confirm)
    # The form alone does not help, and leads back to the same request.
    weak.get("/account")
    fields = {**weak.hidden_fields("/sign-out"), "decision": "continue"}
    sent = weak.post(address, fields)
    assert (sent.status, sent.headers["location"]) == (303, confirm)
    assert home.confirm(weak, confirm) == address
    assert weak.get(address).status == 200
    response = weak.submit(address, decision="continue")
    assert response.status == 303
    told = query_of(response)
    assert told["state"] == STATE
    assert ask(home.site, "token", **code_fields(told["code"])).status == 200


def test_nor_does_one_that_has_shown_it_long_ago(home: Home) -> None:
    address = authorize_address(state=STATE)
    assert home.browsing.get(address).status == 200
    home.clock.forward(minutes=10)

    response = home.browsing.submit(address, decision="continue")

    assert response.headers["location"] == f"{CONFIRM}?next={quote(address, safe='')}"
    assert home.confirm(home.browsing, response.headers["location"]) == address
    home.browsing.get(address)
    assert "code" in query_of(home.browsing.submit(address, decision="continue"))


def test_a_device_is_approved_by_the_factor_alike(home: Home) -> None:
    started = ask(home.site, "device", client_id="widget-cli").json()
    complete = urlsplit(started["verification_uri_complete"])
    weak, address = home.come(), f"{complete.path}?{complete.query}"

    sent = weak.get(address)

    assert sent.headers["location"] == f"{CONFIRM}?next={quote(address, safe='')}"
    assert home.confirm(weak, sent.headers["location"]) == address
    weak.get(address)
    code = dict(parse_qsl(complete.query))["user_code"]
    assert weak.submit("/device", user_code=code).status == 200
    assert weak.submit("/device", decision="continue").status == 200
    assert weak.title == "Device signed in"
    fields = {"grant_type": DEVICE_GRANT, "device_code": started["device_code"]}
    assert ask(home.site, "token", client_id="widget-cli", **fields).status == 200


def test_and_so_is_closing_the_account(home: Home) -> None:
    weak = home.come()

    sent = weak.get("/account/close")

    assert sent.headers["location"] == f"{CONFIRM}?next=%2Faccount%2Fclose"
    assert home.confirm(weak, sent.headers["location"]) == "/account/close"
    weak.get("/account/close")
    assert weak.submit("/account/close", username="bob-smith").status == 200
    assert weak.title == "Your account is closed"


def test_without_a_second_factor_a_program_is_approved_without_confirming(
    tmp_path: Path,
) -> None:
    clock = MovableClock()
    with InProcessSite(tmp_path / "data", clock) as site:
        ann, address = browsing_as(site, "ann"), authorize_address()
        clock.forward(days=1)

        assert ann.get(address).status == 200
        assert "code" in query_of(ann.submit(address, decision="continue"))
        assert ann.get("/device").status == 200
        ann.get("/account/close")
        response = ann.submit("/account/close", username="ann", password=PASSWORD)
        assert response.status == 200

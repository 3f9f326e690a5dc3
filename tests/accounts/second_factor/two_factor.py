"""A person with every kind of second factor, who signs in over the JSON API."""

from typing import Any

from accounts.second_factor.authenticator import Authenticator
from accounts.second_factor.people import add_app, add_passkey, browsing_as
from accounts.signing_in import SIGN_IN
from support.people import PASSWORD, Person, nobody
from support.site import InProcessSite, Reply
from support.site_with_people import MovableClock

FACTOR = f"{SIGN_IN}/second-factor"
PASSKEY = f"{SIGN_IN}/passkey"
WRONG = {"error": "The code is wrong, or was used before. Wait for the next one, and try again."}
NOT_ACCEPTED = {"error": "This passkey was not accepted. Try again, or use another way to sign in."}
TOO_LATE = "This sign-in has expired, or was started elsewhere. Start again."


class House:
    """A catalog where `ann` has a passkey, an app and recovery codes."""

    def __init__(self, site: InProcessSite, clock: MovableClock) -> None:
        self.site, self.clock = site, clock
        self.key = Authenticator()
        self.browsing = browsing_as(site, "ann")
        self.codes = add_passkey(self.browsing, self.key)
        self.app, _ = add_app(self.browsing, clock.at.timestamp())
        clock.forward(seconds=30)

    @property
    def code(self) -> str:
        """The current code of the app."""
        return str(self.app.at(int(self.clock.at.timestamp())))

    def begin(self, password: str = PASSWORD) -> tuple[Person, dict[str, Any]]:
        """A browser in which the password was entered, and the response."""
        response = nobody(self.site).post(SIGN_IN, {"username": "ann", "password": password})
        assert response.status == 202, response.body
        return with_cookie(self.site, response), response.json()["secondFactor"]

    def ask_for_passkey(self) -> tuple[Person, dict[str, Any]]:
        response = nobody(self.site).post(f"{SIGN_IN}/passkey-options")
        assert response.status == 200, response.body
        return with_cookie(self.site, response), response.json()["passkeyOptions"]


def with_cookie(site: InProcessSite, response: Reply) -> Person:
    """The browser that received this response: it stores the first cookie, and
    removes the second.
    """
    cookies = [value for key, value in response.response.headers if key == "set-cookie"]
    return Person(site, "ann", {"cookie": cookies[0].partition(";")[0]})


def is_open(site: InProcessSite, response: Reply) -> bool:
    """Whether the response has opened a session."""
    cookies = [value for key, value in response.response.headers if key == "set-cookie"]
    session = next(
        (it.partition(";")[0] for it in cookies if it.startswith("__Host-session=w")), None
    )
    if response.status != 200 or session is None:
        return False
    return site.get("/api/auth/session", cookie=session).status == 200

"""People with a second factor, set up over the pages like real users."""

import json
from typing import Any

import pyotp

from accounts.second_factor.authenticator import Authenticator
from support.browsing import Browsing
from support.people import PASSWORD, a_person
from support.site import InProcessSite
from support.site_with_people import MovableClock

HERE = "/account/second-factor"
STEP = "/sign-in/second-factor"


def browsing_as(site: InProcessSite, username: str, **about: Any) -> Browsing:
    """A new account, signed in with a browser."""
    a_person(site, username, **about)
    return Browsing(site).sign_in(username)


def options_on(browsing: Browsing) -> dict[str, Any]:
    """The options that the page's script would pass to the browser."""
    (form,) = [it for it in browsing.page.all("form") if "data-passkey" in it.attributes]
    found: dict[str, Any] = json.loads(form.attributes["data-options"] or "")
    return found


def add_passkey(browsing: Browsing, authenticator: Authenticator, name: str = "Phone") -> list[str]:
    """Returns the recovery codes, if it is the first factor."""
    assert browsing.get(f"{HERE}/new-passkey").status == 200
    made = json.dumps(authenticator.create(options_on(browsing)))
    response = browsing.submit(f"{HERE}/new-passkey", name=name, credential=made)
    assert response.status in (200, 303), response.body
    return recovery_codes(browsing) if response.status == 200 else []


def add_app(browsing: Browsing, now_s: float) -> tuple[pyotp.TOTP, list[str]]:
    """The app, and the recovery codes if it is the first factor."""
    assert browsing.get(f"{HERE}/new-app").status == 200
    app = pyotp.TOTP(browsing.page.one("code", id="secret").text.replace(" ", ""))
    response = browsing.submit(f"{HERE}/new-app", code=app.at(int(now_s)))
    assert response.status in (200, 303), response.body
    return app, recovery_codes(browsing) if response.status == 200 else []


def recovery_codes(browsing: Browsing) -> list[str]:
    assert browsing.title == "Save your recovery codes"
    return browsing.page.one("pre", class_="command codes").text.split()


def begin(site: InProcessSite, username: str, password: str = PASSWORD) -> Browsing:
    """A browser in which the password was entered, and that is asked for the second factor."""
    browsing = Browsing(site)
    browsing.get("/sign-in")
    response = browsing.submit("/sign-in", username=username, password=password)
    assert (response.status, response.headers["location"]) == (303, STEP), response.body
    assert browsing.get(STEP).status == 200
    return browsing


def is_in(browsing: Browsing) -> bool:
    return browsing.get("/account").status == 200


def code_now(app: pyotp.TOTP, clock: MovableClock) -> str:
    return str(app.at(int(clock.at.timestamp())))

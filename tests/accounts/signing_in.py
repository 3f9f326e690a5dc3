"""Helpers of tests of signing in: trying a password, and whether a person is signed in."""

from support.people import Person
from support.site import InProcessSite, Reply

WRONG = {"error": "The username or the password is wrong."}
SIGN_IN = "/api/auth/sign-in"


def try_password(site: InProcessSite, username: str, password: str, **headers: str) -> Reply:
    body = {"username": username, "password": password}
    return Person(site, "", headers).post(SIGN_IN, body)


def is_in(person: Person) -> bool:
    response = person.get("/api/auth/session")
    assert response.status in (200, 401)
    return response.status == 200


def secret_of(person: Person) -> str:
    return person.headers["cookie"].removeprefix("__Host-session=")

"""A catalog that requires a second factor: what is possible without one."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.second_factor.authenticator import Authenticator
from accounts.second_factor.people import HERE, add_app, add_passkey
from support.browsing import Browsing, browser_of
from support.people import Person, request_body, with_oauth, with_token
from support.routes import ACCOUNT_PAGES, API, WORK_PAGES
from support.site import Reply
from support.site_with_people import BuiltPeople, People, join
from widget_catalog.core.http.routing import AuthMode, Route, Who

VALUES = {"scope": "acme", "name": "clock", "version": "1.0.0", "slug": "acme"}
VALUES |= {"id": "0" * 24, "delivery": "0" * 24, "file": "README.md"}
SENTENCE = (
    "This catalog requires a second factor of operators. Set one up at "
    "https://catalog.example/account/second-factor, then try again."
)


@pytest.fixture
def strict(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    with People(built_people, tmp_path / "data", second_factor_required="operators") as made:
        yield made


def signed_in_again(person: Person) -> Browsing:
    """A session that has just been confirmed."""
    return Browsing(person.site).sign_in(person.username)


def address_of(route: Route) -> str:
    return re.sub(r"{(\w+)}", lambda it: {**VALUES, "username": "mia"}[it[1]], route.path)


def ask(route: Route, person: Person) -> Reply:
    return person.send(route.method, address_of(route))


def test_without_one_an_operator_reaches_nothing_by_whatever_means(strict: People) -> None:
    ways = [strict.olly, with_oauth(strict.olly)]
    closed = [it for it in API.all if it.auth is AuthMode.API and not it.without_factor]
    assert len(closed) > 30
    for route in closed:
        for person in ways:
            response = ask(route, person)
            assert (response.status, response.json()) == (403, {"error": SENTENCE}), route


def test_what_is_open_even_so(strict: People) -> None:
    api = {(it.method, it.path) for it in API.all if it.without_factor}
    assert api == {
        ("GET", "/api/auth/second-factor"),
        ("GET", "/api/auth/session"),
        ("POST", "/api/auth/sign-out"),
    }
    pages = {it.path for it in ACCOUNT_PAGES if it.without_factor and it.needs is Who.PERSON}
    assert all(it.startswith(("/account/second-factor", "/account/confirm")) for it in pages)
    assert strict.olly.get("/api/auth/session").status == 200
    assert strict.olly.get("/api/auth/second-factor").json()["isRequired"] is True
    assert strict.olly.post("/api/auth/sign-out").status == 200


def test_every_other_page_leads_to_setting_one_up_and_back(strict: People) -> None:
    browsing = browser_of(strict.olly)
    pages = (*ACCOUNT_PAGES, *WORK_PAGES)
    closed = [it for it in pages if it.needs is not Who.ANYONE and not it.without_factor]
    assert {it.path for it in closed} >= {"/account", "/device", "/invitation"}
    for route in closed:
        if route.method == "GET":
            path = address_of(route)
            response = browsing.get(f"{path}?a=b")
            wanted = f"{HERE}?next={path.replace('/', '%2F')}%3Fa%3Db"
            assert (response.status, response.headers["location"]) == (302, wanted), route
    response = browsing.get("/sign-in?next=/device")
    assert response.headers["location"] == f"{HERE}?next=%2Fsign-in%3Fnext%3D%2Fdevice"


def test_an_access_token_of_such_a_person_is_refused_with_the_sentence(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "data") as before:
        tokens = [with_token(it).headers for it in (before.olly, before.ann)]
    with People(
        BuiltPeople(tmp_path / "data", built_people.headers),
        tmp_path / "strict",
        second_factor_required="owners",
    ) as people:
        for headers in tokens:
            response = Person(people.site, "", headers).get("/api/widgets/scopes")
            assert response.status == 403
            assert response.json()["error"].startswith(
                "This catalog requires a second factor of operators and of owners of organizations."
            )
            publish = Person(people.site, "", headers).post(
                "/api/widgets/publish", request_body("ann/new", action="check")
            )
            assert publish.status == 403


def test_with_one_everything_is_open_again_for_tokens_too(strict: People) -> None:
    browsing = signed_in_again(strict.olly)
    add_passkey(browsing, Authenticator())
    assert browsing.get("/account").status == 200
    assert with_oauth(strict.olly).get("/api/audit").status == 200
    # Another browser, where only the password was entered, has to confirm.
    assert strict.olly.get("/api/audit").json() == {
        "error": "Confirm with your second factor that it is you, then try again."
    }
    response = browser_of(strict.olly).get("/account")
    assert response.headers["location"] == "/account/confirm?next=%2Faccount"


def test_the_last_one_cannot_be_removed_where_it_is_required(strict: People) -> None:
    browsing = signed_in_again(strict.olly)
    add_passkey(browsing, Authenticator())
    add_app(browsing, strict.clock.at.timestamp())
    browsing.get(HERE)
    assert browsing.submit(f"{HERE}/remove-app").status == 303
    browsing.get(HERE)
    (passkey,) = {
        form.attributes["action"] for form in browsing.page.all("form")
        if "/passkeys/" in (form.attributes["action"] or "")
    }  # fmt: skip
    response = browsing.submit(passkey or "", do="remove")
    assert response.status == 409
    assert browsing.errors == [
        "This catalog requires you to have a second factor. Add another one first."
    ]


WHO = [
    ("nobody", set()),
    ("operators", {"olly"}),
    ("owners", {"olly", "ann"}),
    ("everybody", {"olly", "ann", "abe", "eve"}),
]


@pytest.mark.parametrize(("required", "wanted"), WHO)
def test_of_whom_it_is_required(
    built_people: BuiltPeople, tmp_path: Path, required: str, wanted: set[str]
) -> None:
    with People(built_people, tmp_path / "data", second_factor_required=required) as people:
        persons = (people.olly, people.ann, people.abe, people.eve)
        found = {it.username for it in persons if it.get("/api/widgets/scopes").status == 403}
        assert found == wanted
        told = {
            person.username
            for person in persons
            if person.get("/api/auth/second-factor").json()["isRequired"]
        }
        assert told == wanted


def test_anyone_who_becomes_an_owner_needs_one_from_then_on(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "data", second_factor_required="owners") as people:
        add_passkey(signed_in_again(people.ann), Authenticator())
        ann = with_oauth(people.ann)
        assert people.eve.get("/api/widgets/scopes").status == 200
        join(ann, people.eve, "acme", "owner")
        assert people.eve.get("/api/widgets/scopes").status == 403

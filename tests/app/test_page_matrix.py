"""Every page that requires a sign-in × every kind of person, from the route tables."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from support.people import Person, nobody, with_token
from support.routes import WORK_PAGES
from support.site import Reply
from support.site_with_people import BuiltPeople, People
from widget_catalog.core.actors import RULES, Right, Role
from widget_catalog.core.http.call import csrf_token
from widget_catalog.core.http.routing import Route, Who

ROUTES = WORK_PAGES
PLACES = ("acme/clock", "ann/clock")
# Fields that a form needs, chosen so that an accepted form changes nothing that others need.
FIELDS = {
    "reason": "Broken.",
    "message": "Old.",
    "publishers": "pia",
    "official": "yes",
    "name": "mia",
    "who": "gone",
    "username": "gone",
    "role": "member",
    "public": "no",
}


class Kind(NamedTuple):
    name: str
    person: Person
    roles: dict[str, Role] = {}  # noqa: RUF012
    is_operator: bool = False
    is_known: bool = True
    is_forged: bool = False


@pytest.fixture(scope="module")
def crowd(
    built_people: BuiltPeople, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Kind]]:
    with People(built_people, tmp_path_factory.mktemp("crowd") / "data") as people:
        yield [
            Kind("nobody", nobody(people.site), is_known=False),
            Kind("owner's token", with_token(people.ann), is_known=False),
            Kind("another account", people.eve),
            Kind("member", people.mia, {"acme": Role.MEMBER}),
            Kind("publisher", people.pia, {"acme": Role.MEMBER}),
            Kind("admin", people.abe, {"acme": Role.ADMIN}),
            Kind("owner", people.ann, {"acme": Role.OWNER, "ann": Role.OWNER}),
            Kind(
                "owner, forged", people.ann, {"acme": Role.OWNER, "ann": Role.OWNER}, is_forged=True
            ),
            Kind("operator", people.olly, is_operator=True),
            Kind("operator, forged", people.olly, is_operator=True, is_forged=True),
        ]


def expected(route: Route, kind: Kind, place: str) -> int | None:
    """The status that rejects a person; None if they are authorized."""
    if not kind.is_known:
        return 302
    if kind.is_forged and route.method == "POST":
        return 403
    match route.needs:
        case Who.OPERATOR:
            return None if kind.is_operator else 403
        case Right() as right:
            rule = RULES[right]
            has_role = kind.roles.get(place.partition("/")[0]) in rule.roles
            return None if has_role or (kind.is_operator and rule.operator) else 403
    return None


def ask(route: Route, kind: Kind, place: str) -> Reply:
    scope, _, name = place.partition("/")
    values = {
        "scope": scope,
        "slug": scope,
        "name": name,
        "version": "1.0.0",
        "username": "gone",
        "id": "0" * 24,
        "delivery": "msg_0",
        "file": "a.png",
    }
    address = re.sub(r"{(\w+)}", lambda found: values[found[1]], route.path)
    headers = {key: it for key, it in kind.person.headers.items() if key != "x_csrf_token"}
    if route.method == "GET":
        return kind.person.site.request("GET", address, **headers)
    secret = headers.get("cookie", "=").partition("=")[2]
    token = csrf_token("another session" if kind.is_forged else secret)
    body = urlencode({**FIELDS, "csrf_token": token}).encode()
    form = "application/x-www-form-urlencoded"
    return kind.person.site.request("POST", address, body, content_type=form, **headers)


@pytest.mark.parametrize("route", ROUTES, ids=[f"{it.method} {it.path}" for it in ROUTES])
def test_everybody_gets_what_the_rule_of_the_page_says(crowd: list[Kind], route: Route) -> None:
    for place in PLACES if isinstance(route.needs, Right) else PLACES[:1]:
        for kind in crowd:
            response = ask(route, kind, place)
            wanted = expected(route, kind, place)
            told = (route.path, kind.name, place, response.status, response.body)
            assert response.headers["cache-control"] == "no-store", told
            if wanted == 302:
                assert response.headers["location"].startswith("/sign-in?next="), told
            if wanted is not None:
                assert response.status == wanted, told
            else:
                assert response.status in (200, 303, 400, 404, 409), told


def test_every_rule_lets_somebody_in_and_turns_somebody_away(crowd: list[Kind]) -> None:
    for route in ROUTES:
        outcomes = {expected(route, kind, place) for kind in crowd for place in PLACES}
        assert {None, 302} <= outcomes, route
        assert 403 in outcomes or (route.needs is Who.PERSON and route.method == "GET"), route

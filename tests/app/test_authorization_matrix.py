"""Every route × every kind of person, from the route table: a new route without a rule fails.

The expected results are derived here from `route.needs` and the table of permissions,
independently of `is_allowed`; the actual ones come from the site.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.people import PASSWORD, Person, nobody, request_body, with_oauth, with_token
from support.routes import API, of_rooms
from support.site import Reply
from support.site_with_people import BuiltPeople, People
from widget_catalog.core.actors import RULES, TOKEN_RIGHTS, Right, Role
from widget_catalog.core.http.routing import AuthMode, Route, Who

PLACES = ("acme/clock", "ann/clock")
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
GATE = {"error": "This address is for signed-in people only."}
ALL = [right.value for right in TOKEN_RIGHTS]

# The body of every route that takes one from signed-in people, chosen so that an accepted request
# has no effect: what it asks for is already so, or impossible.
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/api/auth/sign-in"): {"username": "eve"},
    ("POST", "/api/auth/sign-out"): None,
    ("POST", "/api/auth/register"): {"username": "eve", "email": "e@example.org", "password": "x"},
    ("POST", "/api/auth/password"): {"currentPassword": PASSWORD, "newPassword": "short"},
    ("POST", "/api/account/close"): {"password": PASSWORD},
    ("POST", "/api/tokens"): {"name": "x", "actions": ["publish"]},
    ("POST", "/api/tokens/device"): {"name": "x", "actions": ["publish"]},
    ("POST", "/api/widgets/publish"): lambda place: request_body(place, "9.9.9", action="check"),
    ("POST", "/api/widgets/{scope}/{name}/versions/{version}/yank"): {"reason": "Broken."},
    ("POST", "/api/widgets/{scope}/{name}/versions/{version}/unyank"): None,
    ("POST", "/api/widgets/{scope}/{name}/versions/{version}/deprecate"): {"message": "Old."},
    ("POST", "/api/widgets/{scope}/{name}/versions/{version}/undeprecate"): None,
    ("POST", "/api/widgets/{scope}/{name}/list"): None,
    ("POST", "/api/widgets/{scope}/{name}/unlist"): None,
    ("POST", "/api/widgets/{scope}/{name}/official"): {"isOfficial": True},
    ("PUT", "/api/widgets/{scope}/{name}/publishers"): {"publishers": ["pia"]},
    ("POST", "/api/organizations"): {"slug": "acme", "displayName": "Acme"},
    ("POST", "/api/organizations/{slug}/invitations"): {"username": "mia"},
    ("PUT", "/api/organizations/{slug}/members/{username}"): {"role": "member"},
    ("PUT", "/api/organizations/{slug}/settings"): {"membersPublic": False},
    ("POST", "/api/organizations/{slug}/transfer"): {"username": "gone"},
    ("POST", "/api/invitations/{id}/accept"): None,
    ("POST", "/api/invitations/{id}/decline"): None,
} | {key: body for room in of_rooms("declared_routes") for key, body in room.BODIES.items()}
# Routes that end the session of the request: each kind of person gets a separate site.
SPOILING = {"/api/auth/sign-out", "/api/account/close"}


class Kind(NamedTuple):
    """A kind of person: how to become one, and its properties."""

    name: str
    become: Any
    roles: dict[str, Role] = {}  # noqa: RUF012
    is_operator: bool = False
    is_publisher: bool = False
    token: frozenset[str] | None = None
    """What the access token is for, if it is one."""
    covers: tuple[str, ...] = PLACES
    """Where the access token is good."""
    is_forged: bool = False
    """With the cookie of a session, but not its CSRF token."""


def _token(name: str, *actions: str, covers: tuple[str, ...] = PLACES, **limits: Any) -> Any:
    def become(people: People) -> Person:
        return with_token(getattr(people, name), actions=list(actions), **limits)

    return {"become": become, "token": frozenset(actions), "covers": covers}


def _without_csrf(people: People) -> Person:
    return Person(people.site, "ann", {"cookie": people.ann.headers["cookie"]})


def _with_anothers_csrf(people: People) -> Person:
    csrf = people.eve.headers["x_csrf_token"]
    return Person(people.site, "ann", {**people.ann.headers, "x_csrf_token": csrf})


_OWNER = {"acme": Role.OWNER, "ann": Role.OWNER}
_ADMIN = {"acme": Role.ADMIN}
_MEMBER = {"acme": Role.MEMBER}

KINDS = (
    Kind("nobody", lambda it: nobody(it.site)),
    Kind("another account", lambda it: it.eve),
    Kind("another by OAuth", lambda it: with_oauth(it.eve)),
    Kind("another's token", **_token("eve", *ALL)),
    Kind("member", lambda it: it.mia, _MEMBER),
    Kind("member's token", roles=_MEMBER, **_token("mia", *ALL)),
    Kind("publisher", lambda it: it.pia, _MEMBER, is_publisher=True),
    Kind("publisher's token", roles=_MEMBER, is_publisher=True, **_token("pia", "publish")),
    Kind("admin", lambda it: it.abe, _ADMIN),
    Kind("admin's token", roles=_ADMIN, **_token("abe", *ALL)),
    Kind("owner", lambda it: it.ann, _OWNER),
    Kind("owner by OAuth", lambda it: with_oauth(it.ann), _OWNER),
    Kind("owner without CSRF token", _without_csrf, _OWNER, is_forged=True),
    Kind("owner with another's CSRF token", _with_anothers_csrf, _OWNER, is_forged=True),
    Kind("owner's token", roles=_OWNER, **_token("ann", *ALL)),
    *(Kind(f"owner's token to {it}", roles=_OWNER, **_token("ann", it)) for it in ALL),
    Kind(
        "owner's token for acme",
        roles=_OWNER,
        **_token("ann", *ALL, scopes=["acme"], covers=PLACES[:1]),
    ),
    Kind(
        "owner's token for ann/clock",
        roles=_OWNER,
        **_token("ann", *ALL, widgets=["ann/clock"], covers=PLACES[1:]),
    ),
    Kind(
        "owner's token for elsewhere",
        roles=_OWNER,
        **_token("ann", *ALL, widgets=["ann/clocks", "acme/cloc"], covers=()),
    ),
    Kind("operator", lambda it: it.olly, is_operator=True),
    Kind("operator by OAuth", lambda it: with_oauth(it.olly), is_operator=True),
    Kind("operator's token", is_operator=True, **_token("olly", *ALL)),
)


def expected(route: Route, kind: Kind, place: str) -> int | None:
    """The status that rejects a person; None if they are authorized."""
    if kind.name == "nobody":
        return None if route.needs is Who.ANYONE else 401
    # OAuth endpoints and sign-in ignore existing credentials.
    is_known = route.auth not in (AuthMode.OAUTH, AuthMode.SIGN_IN)
    if kind.is_forged and route.method in UNSAFE and is_known:
        return 403
    # Organizations are managed by people, whatever permission is required.
    is_for_people = route.needs in (Who.PERSON, Who.BROWSER) or route.path.startswith(
        "/api/organizations"
    )
    if kind.token is not None and (is_for_people or route.needs is Who.OPERATOR):
        return 403
    match route.needs:
        case Who.BROWSER if "by OAuth" in kind.name:
            return 403
        case Who.OPERATOR:
            return None if kind.is_operator else 403
        case Right() as right:
            return None if _has_right(right, kind, place) else 403
    return None


def _has_right(right: Right, kind: Kind, place: str) -> bool:
    rule = RULES[right]
    role = kind.roles.get(place.partition("/")[0])
    may = (
        (role is not None and role in rule.roles)
        or (kind.is_operator and rule.operator)
        or (kind.is_publisher and rule.publishers and role is not None)
    )
    if kind.token is None:
        return may
    return may and place in kind.covers and (right is Right.VIEW or right.value in kind.token)


def ask(route: Route, person: Person, place: str, body: Any = None) -> Reply:
    scope, _, name = place.partition("/")
    values = {"scope": scope, "name": name, "version": "1.0.0", "slug": scope, "id": "0" * 24}
    values["delivery"] = "msg_0"
    values["username"] = "pia" if route.method == "PUT" else "gone"
    address = re.sub(r"{(\w+)}", lambda found: values[found[1]], route.path)
    if route.method in ("POST", "PUT") and route.needs is not Who.ANYONE:
        assert (route.method, route.path) in BODIES
    body = body or BODIES.get((route.method, route.path))
    return person.send(route.method, address, body(place) if callable(body) else body)


@pytest.fixture(scope="module")
def crowd(
    built_people: BuiltPeople, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[tuple[Kind, Person]]]:
    """One of every kind, on one site; authorized requests change nothing relevant."""
    folder = tmp_path_factory.mktemp("crowd") / "data"
    with People(built_people, folder, registration="open") as people:
        yield [(kind, kind.become(people)) for kind in KINDS]


def _is_in_a_scope(route: Route) -> bool:
    return isinstance(route.needs, Right)


QUIET = [route for route in API.all if route.path not in SPOILING]


@pytest.mark.parametrize("route", QUIET, ids=[f"{it.method} {it.path}" for it in QUIET])
def test_everybody_gets_what_the_rule_of_the_route_says(
    crowd: list[tuple[Kind, Person]], route: Route
) -> None:
    for place in PLACES if _is_in_a_scope(route) else PLACES[:1]:
        for kind, person in crowd:
            assert_as_ruled(route, kind, place, ask(route, person, place))


@pytest.mark.parametrize("path", sorted(SPOILING))
def test_what_ends_a_session_is_ruled_as_well(
    built_people: BuiltPeople, tmp_path: Path, path: str
) -> None:
    (route,) = (it for it in API.all if it.path == path)
    with People(built_people, tmp_path / "data") as people:
        callers = [(kind, kind.become(people)) for kind in KINDS]
        # People who are rejected come first, and everybody's token before themselves.
        callers.sort(key=lambda it: (expected(route, it[0], PLACES[0]) is None, not it[0].token))
        for kind, person in callers:
            if "by OAuth" not in kind.name:  # It ends with the account, or ends it.
                assert_as_ruled(route, kind, PLACES[0], ask(route, person, PLACES[0]))


def assert_as_ruled(route: Route, kind: Kind, place: str, response: Reply) -> None:
    wanted = expected(route, kind, place)
    told = (route.method, route.path, kind.name, place, response.status, response.body)
    assert response.status < 500, told
    if wanted is not None:
        assert response.status == wanted, told
        assert list(response.json()) == ["error"], told
    elif route.needs is Who.ANYONE:
        # The route may reject it for other reasons, but it is authorized.
        assert response.body == b"" or response.json() != GATE, told
    else:
        assert response.status not in (401, 403), told


# An optional body, besides those in BODIES.
OPTIONAL = ("/list", "/unlist", "/accept")


def test_every_route_of_our_own_refuses_keys_it_does_not_know(shared_people: People) -> None:
    """Publishing does not: third-party tools speak its dialect."""
    tried = 0
    for route in API.all:
        body = BODIES.get((route.method, route.path))
        if callable(body) or not (body or route.path.endswith(OPTIONAL)):
            continue
        is_operators = route.needs in (Right.REVOKE, Right.MAKE_OFFICIAL)
        person = shared_people.olly if is_operators else shared_people.ann
        response = ask(route, person, "acme/clock", body={**(body or {}), "nonsense": 1})
        assert response.status == 400, (route, response.body)
        assert "nonsense: is an unknown key; known are " in response.json()["error"], route
        tried += 1
    assert tried > 15


def test_every_rule_lets_somebody_in_and_turns_somebody_away() -> None:
    """Otherwise a row of the matrix could not fail."""
    for route in API.all:
        outcomes = {expected(route, kind, place) for kind in KINDS for place in PLACES}
        assert None in outcomes, route
        if route.needs is not Who.ANYONE:
            assert outcomes >= {401, None}, route
        if route.needs not in (Who.ANYONE, Who.SIGNED_IN):
            assert 403 in outcomes, route


def test_a_visitor_cannot_tell_whether_something_is_there(shared_people: People) -> None:
    """In another person's scope, in an unused one, and for existing and missing widgets."""
    eve = shared_people.eve
    for route in API.all:
        if isinstance(route.needs, Right) and "{name}" in route.path:
            responses = {
                (response.status, response.body.replace(scope.encode(), b"SCOPE"))
                for scope in ("acme", "nobody-has-it")
                for name in ("clock", "nothing")
                for response in [ask(route, eve, f"{scope}/{name}")]
            }
            assert len(responses) == 1, (route, responses)
            assert next(iter(responses))[0] == 403

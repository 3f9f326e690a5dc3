"""What all routes have in common: methods, bodies, and responses to anonymous clients."""

import pytest

from accounts.signing_in import SIGN_IN
from support.people import nobody
from support.site_with_people import People

GATE = {"error": "This address is for signed-in people only."}
UNKNOWN = [
    "/api/", "/api/nothing", "/api/auth", "/api/auth/nothing", "/api/tokens/", "/api/tokens/x/y",
    "/api/widgets/ann", "/api/widgets/ann/clock/", "/api/widgets//clock", "/api/v2/widgets",
]  # fmt: skip


@pytest.mark.parametrize("path", UNKNOWN)
def test_an_unknown_address_is_401_for_visitors_and_404_for_others(
    shared_people: People, path: str
) -> None:
    site = shared_people.site
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "BREW"):
        for headers in ({}, {"cookie": "__Host-session=wcs_x"}, {"cookie": "__Host-session="}):
            response = site.request(method, path, **headers)
            assert (response.status, response.json()) == (401, GATE)
        response = shared_people.ann.send(method, path)
        assert (response.status, response.json()) == (
            404,
            {"error": f"There is nothing at {path}."},
        )


def test_a_cookie_that_opens_nothing_tells_nothing_about_what_is_there(
    shared_people: People,
) -> None:
    stale = {"cookie": "__Host-session=wcs_" + "x" * 43, "content_type": "application/json"}
    for path in ("/api/tokens", "/api/nothing", "/api/widgets/publish", "/api/organizations/acme"):
        for method in ("GET", "POST", "PATCH", "DELETE"):
            for body in (b"", b"{", b"x" * 300_000):
                response = shared_people.site.request(method, path, body, **stale)
                assert (response.status, response.json()) == (401, GATE)


def test_a_wrong_method_is_405_and_says_which_are_right(shared_people: People) -> None:
    ann = shared_people.ann
    for path, method, allow in [
        ("/api/tokens", "PUT", "GET, HEAD, POST"),
        ("/api/tokens/x", "GET", "DELETE"),
        ("/api/auth/session", "POST", "GET, HEAD"),
        ("/api/widgets/publish", "OPTIONS", "POST"),
        ("/api/organizations/acme/members/mia", "POST", "DELETE, PUT"),
    ]:
        response = ann.send(method, path)
        assert (response.status, response.headers["allow"]) == (405, allow)
        assert response.json() == {"error": f"{method} is not possible here; use {allow}."}
    # Anonymous clients only learn this for public routes.
    assert nobody(shared_people.site).get(SIGN_IN).headers["allow"] == "POST"
    assert nobody(shared_people.site).send("PUT", "/api/tokens").status == 401


def test_head_has_the_headers_of_get_and_no_body(shared_people: People) -> None:
    for path in ("/api/auth/session", "/api/tokens", "/api/widgets/ann/clock"):
        got, head = shared_people.ann.get(path), shared_people.ann.send("HEAD", path)
        assert (head.status, head.headers, head.body) == (200, got.headers, b"")


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"]
)
def test_a_body_that_is_not_said_to_be_json_is_415(shared_people: People, kind: str | None) -> None:
    given = {} if kind is None else {"content_type": kind}
    for path, headers in [(SIGN_IN, {}), ("/api/tokens", shared_people.ann.headers)]:
        response = shared_people.site.request("POST", path, b"{}", **given, **headers)
        assert (response.status, response.json()) == (
            415,
            {"error": "The body must be application/json."},
        )


def test_a_body_that_is_cut_off_is_400(shared_people: People) -> None:
    """The server hands over what has arrived when a client closes its connection."""
    body = b'{"name": "ci"}'
    given = {"content_type": "application/json", **shared_people.ann.headers}
    for length, error in (
        (len(body) + 1, "The body is incomplete. Send the request again."),
        (len(body), "actions: is missing."),
    ):
        response = shared_people.site.request(
            "POST", "/api/tokens", body, content_length=str(length), **given
        )
        assert (response.status, response.json()) == (400, {"error": error})
    form = {"content_type": "application/x-www-form-urlencoded", "content_length": "200"}
    response = shared_people.site.request("POST", "/api/auth/oauth2/token", b"grant_type=x", **form)
    assert response.json()["error_description"] == "The body is incomplete. Send the request again."


def test_json_may_be_said_with_a_charset_and_in_capitals(shared_people: People) -> None:
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        response = shared_people.site.request("POST", SIGN_IN, b"{}", content_type=kind)
        assert (response.status, list(response.json())) == (400, ["error"])


def test_a_body_that_is_too_large_is_413(shared_people: People) -> None:
    # For publishing, every error is 400.
    for path, most, over in [("/api/tokens", 16_384, 413), ("/api/widgets/publish", 917_504, 400)]:
        for size, status in [(most, 400), (most + 1, over)]:
            body = b'"' + b"x" * (size - 2) + b'"'
            response = shared_people.site.request(
                "POST", path, body, content_type="application/json", **shared_people.ann.headers
            )
            assert (response.status, list(response.json())) == (status, ["error"])
    assert response.json() == {
        "error": "The body is too large: at most 917,504 bytes are taken here."
    }


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"{", "The body is not proper JSON."),
        (b"\xff", "The body is not proper JSON."),
        (b'{"a":NaN}', "The body is not proper JSON."),
        (b"{} {}", "The body is not proper JSON."),
        (b"[" * 5000 + b"]" * 5000, "The body is nested too deeply."),
        (b"[]", "The body must be a JSON object."),
        (b"null", "The body must be a JSON object."),
        (b'"x"', "The body must be a JSON object."),
        (b"", "username: is missing. password: is missing."),
        (b'{"username":1}', "username: must be a text. password: is missing."),
        (b'{"username":"ann","password":null}', "password: must be a text."),
        (b'{"username":[]}', "username: must be a text. password: is missing."),
    ],
)
def test_a_body_that_is_something_else_is_400(
    shared_people: People, body: bytes, sentence: str
) -> None:
    response = shared_people.site.request("POST", SIGN_IN, body, content_type="application/json")

    assert (response.status, response.json()) == (400, {"error": sentence})


def test_every_error_of_a_body_names_its_field(shared_people: People) -> None:
    """In our own words, whichever library has parsed it."""
    organization, widget = "/api/organizations/acme", "/api/widgets/acme/clock"
    for person, method, path, body, sentence in [
        (shared_people.ann, "PUT", f"{organization}/members/mia", {"role": 1}, "role: must be a"),
        (shared_people.ann, "POST", f"{organization}/invitations", {"email": []}, "email: must be"),
        (shared_people.ann, "POST", f"{organization}/transfer", {}, "username: is missing."),
        (shared_people.ann, "POST", "/api/organizations", {"slug": 1, "displayname": "X"},
         ("displayname: is an unknown key; did you mean displayName? slug: must be a text. "
         "displayName: is missing.")),
        (shared_people.ann, "POST", "/api/tokens", dict.fromkeys(map(str, range(99)), 1),
         "0: is an unknown key; known are name, actions, scopes, widgets, expiresInDays."),
        (shared_people.ann, "POST", "/api/organizations", {"slug": "x"}, "displayName: is missing"),
        (shared_people.ann, "POST", f"{widget}/versions/1.0.0/yank", {}, "reason: is missing."),
        (shared_people.ann, "POST", f"{widget}/unlist", {"reason": 1}, "reason: must be a text."),
        (shared_people.ann, "PUT", f"{widget}/publishers", {"publishers": "pia"},
         "publishers: must be a list of texts."),
        (shared_people.olly, "POST", f"{widget}/official", {"isOfficial": 1},
         "isOfficial: must be true, false or null."),
        (shared_people.ann, "POST", "/api/widgets/publish", [], "The body must be a JSON object."),
    ]:  # fmt: skip
        response = person.send(method, path, body)
        assert response.status == 400, path
        assert response.json()["error"].startswith(sentence), path


def test_no_response_is_kept_by_a_cache_or_open_to_other_origins(shared_people: People) -> None:
    for path in ("/api/auth/session", "/api/tokens", "/api/widgets/ann/clock", "/api/nothing"):
        response = shared_people.site.get(
            path, origin="https://e.example", **shared_people.ann.headers
        )
        assert not [it for it in response.headers if it.startswith("access-control")]
        if response.status == 200:
            assert response.headers == {
                "content-type": "application/json; charset=utf-8",
                "cache-control": "no-store",
                "x-content-type-options": "nosniff",
            }

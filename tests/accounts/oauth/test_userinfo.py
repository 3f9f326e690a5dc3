"""GET userinfo and metadata, and errors for programs under /api/auth/oauth2."""

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

from accounts.oauth.program import (
    BASE,
    DEVICE_GRANT,
    HEADERS,
    agree,
    ask,
    code_fields,
    refresh_fields,
    sign_in_program,
)
from support.browsing import Browsing
from support.site import InProcessSite

NO_TOKEN = "Authorization must be `Bearer` and a token."
REFUSED = 'Bearer error="invalid_token"'
INVALID_TOKEN = "This token is unknown, expired or revoked. Sign in again."


def test_userinfo_tells_who_it_is(ann: Browsing) -> None:
    token = sign_in_program(ann)["access_token"]

    response = ann.site.get(f"{BASE}/userinfo", authorization=f"bearer {token}")

    told = response.json()
    assert (response.status, response.headers) == (200, HEADERS)
    assert told == {
        "sub": told["sub"],
        "name": "ann",
        "email": "ann@example.org",
        "username": "ann",
    }
    assert isinstance(told["sub"], str)


@pytest.mark.parametrize(
    ("given", "sentence", "challenge"),
    [
        (None, NO_TOKEN, "Bearer"),
        ("", NO_TOKEN, "Bearer"),
        ("Bearer", NO_TOKEN, "Bearer"),
        ("Basic eA==", NO_TOKEN, "Bearer"),
        ("Bearer wco_unknown", INVALID_TOKEN, REFUSED),
        ("Bearer wcs_unknown", INVALID_TOKEN, REFUSED),
        ("Bearer é", INVALID_TOKEN, REFUSED),
    ],
)
def test_userinfo_is_for_those_with_a_good_token(
    ann: Browsing, given: str | None, sentence: str, challenge: str
) -> None:
    headers = {} if given is None else {"authorization": given}

    response = ann.get(f"{BASE}/userinfo", **headers)

    assert (response.status, response.json()) == (
        401,
        {"error": "invalid_token", "error_description": sentence},
    )
    assert response.headers == {**HEADERS, "www-authenticate": challenge}


@pytest.mark.parametrize(
    ("token", "challenge"), [(None, "Bearer"), ("wco_unknown", REFUSED), ("wct_unknown", REFUSED)]
)
def test_only_a_token_that_was_sent_is_called_invalid(
    house: InProcessSite, token: str | None, challenge: str
) -> None:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    response = house.get("/api/widgets/scopes", **headers)
    assert (response.status, response.headers["www-authenticate"]) == (401, challenge)


@pytest.mark.parametrize(
    ("scope", "shown"),
    [
        ("openid", {}),
        ("openid profile", {"name": "ann"}),
        ("email", {"email": "ann@example.org"}),
    ],
)
def test_scopes_decide_what_a_program_reads_about_the_person(
    ann: Browsing, scope: str, shown: dict[str, str]
) -> None:
    first = ask(ann.site, "token", **code_fields(agree(ann, scope=scope)["code"])).json()
    renewed = ask(ann.site, "token", **refresh_fields(first["refresh_token"])).json()

    for token in (first["access_token"], renewed["access_token"]):
        headers = {"authorization": f"Bearer {token}"}
        userinfo = ann.site.get(f"{BASE}/userinfo", **headers).json()
        session = ann.site.get("/api/auth/session", **headers).json()
        assert userinfo == {"sub": userinfo["sub"], "username": "ann", **shown}
        assert session["email"] == shown.get("email")


def test_a_cookie_plays_no_role_where_programs_ask(ann: Browsing) -> None:
    """Neither a valid one without its CSRF token, nor an invalid one."""
    tokens = sign_in_program(ann)
    for cookie in (ann.cookies["session"], "wcs_unknown"):
        browsing = Browsing(ann.site)
        browsing.cookies["session"] = cookie
        renewed = browsing.post(f"{BASE}/token", refresh_fields(tokens["refresh_token"]))
        assert renewed.status == 200
        tokens = renewed.json()
        assert browsing.post(f"{BASE}/device", {"client_id": "widget-cli"}).status == 200
        assert browsing.get(f"{BASE}/userinfo").status == 401


@pytest.mark.parametrize("endpoint", ["token", "revoke", "device"])
def test_other_methods_are_refused_in_oauth_s_way(house: InProcessSite, endpoint: str) -> None:
    response = house.get(f"{BASE}/{endpoint}")
    assert (response.status, response.json()) == (
        405,
        {
            "error": "invalid_request",
            "error_description": "GET is not possible here; use POST.",
        },
    )
    assert response.headers == {**HEADERS, "allow": "POST"}


def test_a_body_without_end_is_refused_in_oauth_s_way(house: InProcessSite) -> None:
    response = house.request("POST", f"{BASE}/token", b"x" * 20_000)
    assert (response.status, response.json()["error"]) == (413, "invalid_request")


def test_the_metadata_tell_what_is_offered(house: InProcessSite) -> None:
    response = house.get("/.well-known/oauth-authorization-server")

    here = "https://catalog.example/api/auth/oauth2"
    assert (response.status, response.headers) == (200, HEADERS)
    assert response.json() == {
        "issuer": "https://catalog.example",
        "authorization_endpoint": f"{here}/authorize",
        "token_endpoint": f"{here}/token",
        "userinfo_endpoint": f"{here}/userinfo",
        "revocation_endpoint": f"{here}/revoke",
        "device_authorization_endpoint": f"{here}/device",
        "scopes_supported": ["openid", "profile", "email"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", DEVICE_GRANT],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
    AuthorizationServerMetadata(response.json()).validate()

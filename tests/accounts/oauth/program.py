"""A program that signs people in: its requests to the OAuth server, and the responses."""

import base64
import hashlib
from urllib.parse import parse_qsl, urlencode, urlsplit

from support.browsing import Browsing
from support.site import InProcessSite, Reply
from widget_catalog.accounts.settings import OWN_CLIENTS

BASE = "/api/auth/oauth2"
CALLBACK = "http://127.0.0.1:43210/callback"
VERIFIER = "a-verifier-that-is-as-long-as-one-has-to-be-0123456789"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
CLIENTS = f"{OWN_CLIENTS}; other Other Tool https://other.example/back http://127.0.0.1/callback"
HEADERS = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}

WANTED = {
    "client_id": "widget-cli",
    "redirect_uri": CALLBACK,
    "response_type": "code",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
    "state": "a state",
    "scope": "openid profile email",
}


def authorize_address(**changes: str | None) -> str:
    """Where the program redirects the person; None omits a parameter."""
    wanted = {**WANTED, **changes}
    query = {key: value for key, value in wanted.items() if value is not None}
    return f"{BASE}/authorize?{urlencode(query)}"


def agree(browsing: Browsing, **changes: str | None) -> dict[str, str]:
    """The person agrees; returns the parameters of the callback."""
    address = authorize_address(**changes)
    assert browsing.get(address).status == 200
    response = browsing.submit(address, decision="continue")
    assert response.status == 303
    return query_of(response)


def query_of(response: Reply) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(response.headers["location"]).query))


def ask(site: InProcessSite, endpoint: str, **fields: str) -> Reply:
    return site.request(
        "POST",
        f"{BASE}/{endpoint}",
        urlencode(fields).encode(),
        content_type="application/x-www-form-urlencoded",
    )


def code_fields(code: str, /, **changes: str) -> dict[str, str]:
    fields = {
        "grant_type": "authorization_code",
        "client_id": "widget-cli",
        "code": code,
        "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER,
    }
    return {**fields, **changes}


def refresh_fields(token: str, client_id: str = "widget-cli") -> dict[str, str]:
    return {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token}


def sign_in_program(browsing: Browsing) -> dict[str, str]:
    """The whole flow: consent, code, tokens."""
    response = ask(browsing.site, "token", **code_fields(agree(browsing)["code"]))
    assert response.status == 200
    tokens: dict[str, str] = response.json()
    return tokens


def is_good(site: InProcessSite, access_token: str) -> bool:
    """Whether a token is valid."""
    statuses = {
        site.get(path, authorization=f"Bearer {access_token}").status
        for path in (f"{BASE}/userinfo", "/api/widgets/scopes", "/api/auth/session")
    }
    assert statuses in ({200}, {401})
    return statuses == {200}

"""A malicious OpenID Connect provider, or one that is down: whom it cannot sign in."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc.jwk import OctKey, RSAKey

from accounts.oidc.providers import LyingProvider, lying_provider
from accounts.oidc.through_provider import CLIENT, HERE, begin, come_back, usernames
from support.browsing import Browsing
from support.service import free_port
from support.site import InProcessSite

SORRY = "Example cannot sign you in just now. Try again later, or sign in with a password."


@pytest.fixture(scope="module")
def known_liar() -> Iterator[LyingProvider]:
    with lying_provider() as made:
        yield made


@pytest.fixture
def liar(known_liar: LyingProvider) -> LyingProvider:
    known_liar.tell_the_truth()
    return known_liar


@pytest.fixture(scope="module")
def deceived(
    tmp_path_factory: pytest.TempPathFactory, known_liar: LyingProvider
) -> Iterator[InProcessSite]:
    folder = tmp_path_factory.mktemp("deceived") / "data"
    with InProcessSite(folder, oidc_issuer=known_liar.url, **CLIENT) as site:
        yield site


def test_a_provider_that_is_down_is_reported_in_a_friendly_way(tmp_path: Path) -> None:
    given = {**CLIENT, "oidc_issuer": f"http://127.0.0.1:{free_port()}"}
    with InProcessSite(tmp_path / "data", **given) as site:
        browsing = Browsing(site)

        response = browsing.get("/api/auth/oidc")

        assert (response.status, browsing.title) == (502, "Temporarily unavailable")
        assert browsing.page.one("p", class_="lead").text == SORRY
        assert browsing.get("/sign-in").status == 200


def test_a_truthful_response_is_believed(deceived: InProcessSite, liar: LyingProvider) -> None:
    """Otherwise the tests of invalid responses would prove nothing."""
    liar.claims = {"sub": "t"}
    liar.told = {"sub": "t", "preferred_username": "tom", "email": "tom@example.org"}
    browsing = Browsing(deceived)

    address = begin(browsing)
    response = come_back(browsing, liar.sign_in(address))

    assert (response.status, response.headers["location"]) == (303, "/account")
    assert browsing.get("/api/auth/session").json()["username"] == "tom"
    (exchanged,) = [(headers, form) for path, headers, form in liar.asked if path == "/token"]
    headers, form = exchanged
    assert headers["authorization"] == "Basic " + base64.b64encode(b"catalog:s3cret").decode()
    assert form == {
        "grant_type": "authorization_code",
        "code": "c",
        "redirect_uri": f"{HERE}/api/auth/oidc/callback",
        "code_verifier": form["code_verifier"],
    }
    challenge = dict(parse_qsl(urlsplit(address).query))["code_challenge"]
    assert create_s256_code_challenge(form["code_verifier"]) == challenge
    (asked,) = [headers for path, headers, _ in liar.asked if path == "/userinfo"]
    assert asked["authorization"] == "Bearer at"


def test_userinfo_of_somebody_else_is_not_believed(
    deceived: InProcessSite, liar: LyingProvider
) -> None:
    liar.told = {"sub": "other", "preferred_username": "tom", "email": "tom@example.org"}
    browsing = Browsing(deceived)

    response = come_back(browsing, liar.sign_in(begin(browsing)))

    assert response.headers["location"] == "/join/name"


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "somebody else"},
        {"aud": None},
        {"aud": ["catalog", "other"], "azp": "other"},
        {"azp": "other"},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"nonce": "another"},
        {"nonce": None},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"iat": 9_000_000_000},
    ],
    ids=str,
)
def test_an_id_token_that_is_not_for_this_sign_in_is_not_believed(
    deceived: InProcessSite, liar: LyingProvider, claims: dict[str, Any]
) -> None:
    liar.claims = claims
    browsing, before = Browsing(deceived), usernames(deceived)

    response = come_back(browsing, liar.sign_in(begin(browsing)))

    assert (response.status, browsing.page.one("p", class_="lead").text) == (502, SORRY)
    assert (usernames(deceived), "session" in browsing.cookies) == (before, False)


def test_an_id_token_of_another_key_is_not_believed(
    deceived: InProcessSite, liar: LyingProvider
) -> None:
    liar.key = RSAKey.generate_key(2048, {"kid": "a"})
    browsing = Browsing(deceived)
    assert come_back(browsing, liar.sign_in(begin(browsing))).status == 502


@pytest.mark.parametrize("secret", ["s3cret" * 8, "the public key"])
def test_an_id_token_signed_by_what_others_know_is_not_believed(
    deceived: InProcessSite, liar: LyingProvider, secret: str
) -> None:
    assert isinstance(liar.key, RSAKey)
    known = liar.key.as_pem(private=False) if secret == "the public key" else secret.encode()
    liar.key = OctKey.import_key(base64.urlsafe_b64encode(known).decode(), {"kid": "a"})
    liar.header = {"alg": "HS256", "kid": "a"}
    browsing = Browsing(deceived)
    assert come_back(browsing, liar.sign_in(begin(browsing))).status == 502


def test_an_id_token_without_a_signature_is_not_believed(
    deceived: InProcessSite, liar: LyingProvider
) -> None:
    browsing = Browsing(deceived)
    place = liar.sign_in(begin(browsing))
    parts = ({"alg": "none", "kid": "a"}, liar.claims)
    encoded = [base64.urlsafe_b64encode(json.dumps(it).encode()).rstrip(b"=") for it in parts]
    liar.token = b".".join([*encoded, b""]).decode()
    assert come_back(browsing, place).status == 502


@pytest.mark.parametrize(
    "response",
    [(500, b"{}"), (400, b'{"error":"invalid_grant"}'), (200, b"<html>"), (200, b"[]"),
     (200, b"{}"), (200, b'{"id_token":7}'), (200, b'{"id_token":"x.y"}'), (302, b"{}"),
     (200, b"\xff")],
)  # fmt: skip
def test_whatever_else_it_responses_is_reported_in_a_friendly_way(
    deceived: InProcessSite, liar: LyingProvider, response: tuple[int, bytes]
) -> None:
    liar.exchanged = response
    browsing = Browsing(deceived)
    assert come_back(browsing, liar.sign_in(begin(browsing))).status == 502


@pytest.mark.parametrize(
    "lie",
    [{"issuer": "https://evil.example"}, {"token_endpoint": None}, {"jwks_uri": 7},
     {"authorization_endpoint": []}],
)  # fmt: skip
def test_a_discovery_that_does_not_fit_is_reported_in_a_friendly_way(
    tmp_path: Path, liar: LyingProvider, lie: dict[str, Any]
) -> None:
    liar.discovery = lie
    with InProcessSite(tmp_path / "data", oidc_issuer=liar.url, **CLIENT) as site:
        assert Browsing(site).get("/api/auth/oidc").status == 502


def test_another_provider_s_response_is_refused(
    deceived: InProcessSite, liar: LyingProvider
) -> None:
    browsing = Browsing(deceived)
    place = f"{liar.sign_in(begin(browsing))}&iss=https://evil.example"
    assert come_back(browsing, place).status == 400


@pytest.mark.parametrize(
    ("secret", "offered", "sent"),
    [
        ("", ["none"], {"client_id": "catalog"}),
        ("s3cret", ["client_secret_post"], {"client_id": "catalog", "client_secret": "s3cret"}),
    ],
)
def test_a_provider_learns_who_asks_in_the_way_it_offers(
    tmp_path: Path, liar: LyingProvider, secret: str, offered: list[str], sent: dict[str, str]
) -> None:
    liar.discovery = {"token_endpoint_auth_methods_supported": offered}
    given = {**CLIENT, "oidc_client_secret": secret, "oidc_issuer": liar.url}
    with InProcessSite(tmp_path / "data", **given) as site:
        browsing = Browsing(site)
        assert come_back(browsing, liar.sign_in(begin(browsing))).status == 303

    (exchanged,) = [(headers, form) for path, headers, form in liar.asked if path == "/token"]
    headers, form = exchanged
    assert "authorization" not in headers
    assert sent.items() <= form.items()

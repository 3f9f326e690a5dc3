"""Signing in through an OpenID Connect provider: a real one, and one that lies."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc.jwk import OctKey, RSAKey

from support.browsing import Browsing
from support.openid import LyingProvider, Provider, lying_provider, running_provider
from support.people import PASSWORD, a_person
from support.service import free_port
from support.site import Answer, InProcessSite
from widget_catalog.actions.manage_account import set_disabled
from widget_catalog.store.accounts import list_accounts

CLIENT: dict[str, Any] = {
    "oidc_client_id": "catalog",
    "oidc_client_secret": "s3cret",
    "oidc_name": "Example",
}
HERE = "https://catalog.example"
SORRY = "Example cannot sign you in just now. Try again later, or sign in with a password."


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with running_provider(tmp_path_factory.mktemp("provider")) as made:
        yield made


@pytest.fixture
def house(tmp_path: Path, provider: Provider) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path / "data", oidc_issuer=provider.url, **CLIENT) as site:
        a_person(site, "ann")
        yield site


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


def begin(browsing: Browsing, next_: str = "") -> str:
    answer = browsing.get(f"/api/auth/oidc{f'?next={next_}' if next_ else ''}")
    assert answer.status == 302
    return answer.headers["location"]


def come_back(browsing: Browsing, place: str) -> Answer:
    assert place.startswith(f"{HERE}/api/auth/oidc/callback?")
    return browsing.get(place.removeprefix(HERE))


def sign_in(browsing: Browsing, provider: Provider, subject: str, next_: str = "") -> Answer:
    return come_back(browsing, provider.sign_in(begin(browsing, next_), subject))


def usernames(site: InProcessSite) -> list[str]:
    with site.node.store.reading() as connection:
        return [str(it.username) for it in list_accounts(connection)]


def test_the_page_to_sign_in_and_the_settings_tell_of_it(house: InProcessSite) -> None:
    browsing = Browsing(house)
    browsing.get("/sign-in?next=/device")
    link = browsing.page.one("a", class_="button")
    assert (link.text, link.attributes["href"]) == (
        "Sign in with Example",
        "/api/auth/oidc?next=/device",
    )
    assert house.get("/api/settings").json()["signIn"] == ["password", "oidc"]


def test_without_a_provider_there_is_no_such_way(site: InProcessSite) -> None:
    browsing = Browsing(site)
    browsing.get("/sign-in")
    assert browsing.page.all("a", class_="button") == []
    for path in ("/api/auth/oidc", "/api/auth/oidc/callback?code=x"):
        assert browsing.get(path).status == 404
    assert site.get("/api/settings").json()["signIn"] == ["password"]


def test_one_is_sent_there_with_everything_that_protects_the_way_back(
    house: InProcessSite, provider: Provider
) -> None:
    browsing = Browsing(house)

    answer = browsing.get("/api/auth/oidc")

    place = urlsplit(answer.headers["location"])
    assert f"{place.scheme}://{place.netloc}{place.path}" == f"{provider.url}/oauth2/authorize"
    query = dict(parse_qsl(place.query))
    assert query == {
        "client_id": "catalog",
        "response_type": "code",
        "redirect_uri": f"{HERE}/api/auth/oidc/callback",
        "scope": "openid profile email",
        "state": query["state"],
        "nonce": query["nonce"],
        "code_challenge": query["code_challenge"],
        "code_challenge_method": "S256",
    }
    assert len({query["state"], query["nonce"], query["code_challenge"]}) == 3
    cookie = answer.headers["set-cookie"]
    assert cookie.endswith("; Max-Age=900; Path=/; HttpOnly; SameSite=Lax; Secure")


def test_a_newcomer_gets_an_account_and_keeps_it(house: InProcessSite, provider: Provider) -> None:
    for _ in range(2):
        browsing = Browsing(house)
        answer = sign_in(browsing, provider, "1", "/device")

        assert (answer.status, answer.headers["location"]) == (303, "/device")
        assert list(browsing.cookies) == ["session"]
        session = browsing.get("/api/auth/session").json()
        assert (session["username"], session["email"]) == ("bob-smith", "bob@example.com")
        assert session["isOperator"] is False
    assert usernames(house) == ["ann", "bob-smith"]


def test_who_came_that_way_has_no_password(house: InProcessSite, provider: Provider) -> None:
    sign_in(Browsing(house), provider, "1")
    for password in ("", PASSWORD):
        answer = Browsing(house).post("/sign-in", {"username": "bob-smith", "password": password})
        assert answer.status == 400


def test_a_name_that_is_taken_is_asked_for(house: InProcessSite, provider: Provider) -> None:
    browsing = Browsing(house)

    answer = sign_in(browsing, provider, "2", "/device")

    assert (answer.status, answer.headers["location"]) == (303, "/join/name")
    browsing.get("/join/name")
    assert browsing.title == "Choose a name"
    values = [it.attributes["value"] for it in browsing.page.all("input")]
    assert values == ["ann", "ann@elsewhere.example"]
    refused = browsing.submit("/join/name", username="ann", email="ann@elsewhere.example")
    assert (refused.status, browsing.faults) == (409, ["The name ann is taken. Choose another."])
    made = browsing.submit("/join/name", username="ann-b", email="ann@elsewhere.example")
    assert (made.status, made.headers["location"]) == (303, "/device")
    assert list(browsing.cookies) == ["session"]
    assert sign_in(Browsing(house), provider, "2").headers["location"] == "/account"
    assert usernames(house) == ["ann", "ann-b"]


def test_what_the_provider_does_not_tell_is_asked_for(
    house: InProcessSite, provider: Provider
) -> None:
    browsing = Browsing(house)
    sign_in(browsing, provider, "4")
    browsing.get("/join/name")

    refused = browsing.submit("/join/name", username="", email="x")

    assert (refused.status, len(browsing.page.one("div", role="alert").texts) > 1) == (400, True)
    made = browsing.submit("/join/name", username="four", email="four@example.org")
    assert (made.status, made.headers["location"]) == (303, "/account")


def test_an_e_mail_address_gives_nobody_an_account_that_is_there_already(
    house: InProcessSite, provider: Provider
) -> None:
    browsing = Browsing(house)

    answer = sign_in(browsing, provider, "3")

    assert answer.headers["location"] == "/join/name"
    assert "session" not in browsing.cookies
    browsing.get("/join/name")
    refused = browsing.submit("/join/name", username="annie", email="ann@example.org")
    assert refused.status == 409
    sentence = "There is an account with the e-mail address ann@example.org already."
    assert browsing.faults == [sentence]
    assert usernames(house) == ["ann"]


def test_who_is_signed_in_can_connect(house: InProcessSite, provider: Provider) -> None:
    ann = Browsing(house).sign_in("ann")
    ann.get("/account")
    ann.submit("/account/connect")
    assert ann.title == "Connect Example"
    place = ann.page.one("a", class_="button").attributes["href"] or ""

    answer = come_back(ann, provider.sign_in(place, "3"))

    assert (answer.status, answer.headers["location"]) == (303, "/account")
    later = Browsing(house)
    assert sign_in(later, provider, "3").headers["location"] == "/account"
    assert later.get("/api/auth/session").json()["username"] == "ann"
    log = a_person(house, "olly", is_operator=True).get("/api/audit?limit=100").json()["entries"]
    (entry,) = [it for it in log if it["action"] == "connect identity"]
    assert (entry["actor"], entry["details"]) == ("ann", {"issuer": provider.url})


def test_a_person_is_one_account(house: InProcessSite, provider: Provider) -> None:
    sign_in(Browsing(house), provider, "1")
    ann = Browsing(house).sign_in("ann")
    ann.get("/account")
    ann.submit("/account/connect")
    place = ann.page.one("a", class_="button").attributes["href"] or ""

    answer = come_back(ann, provider.sign_in(place, "1"))

    assert answer.status == 409
    sentence = "You are connected with another account here already."
    assert ann.page.one("p", class_="lead").text == sentence


def test_no_other_site_can_connect_its_own_person(house: InProcessSite, provider: Provider) -> None:
    ann = Browsing(house).sign_in("ann")
    assert ann.post("/account/connect", {}).status == 403

    sign_in(ann, provider, "5")  # The plain way signs in somebody else, and connects nothing.

    assert ann.get("/api/auth/session").json()["username"] == "dora"
    other = Browsing(house)
    sign_in(other, provider, "5")
    assert other.get("/api/auth/session").json()["username"] == "dora"


def test_who_signs_out_on_the_way_connects_nothing(
    house: InProcessSite, provider: Provider
) -> None:
    ann = Browsing(house).sign_in("ann")
    ann.get("/account")
    ann.submit("/account/connect")
    place = ann.page.one("a", class_="button").attributes["href"] or ""
    del ann.cookies["session"]

    answer = come_back(ann, provider.sign_in(place, "3"))

    assert answer.status == 400
    assert "session" not in ann.cookies


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({"oidc_creates_accounts": False}, 403),
        ({"oidc_creates_accounts": False, "registration": "invitation"}, 403),
        ({"oidc_creates_accounts": False, "registration": "open"}, 303),
        ({"oidc_creates_accounts": True, "registration": "closed"}, 303),
    ],
)
def test_who_may_make_an_account_that_way_is_a_setting(
    tmp_path: Path, provider: Provider, settings: dict[str, Any], status: int
) -> None:
    given = {**CLIENT, **settings, "oidc_issuer": provider.url}
    with InProcessSite(tmp_path / "data", **given) as site:
        answer = sign_in(Browsing(site), provider, "1")

        assert answer.status == status
        assert usernames(site) == (["bob-smith"] if status == 303 else [])


def test_a_disabled_account_does_not_come_in_that_way(
    house: InProcessSite, provider: Provider
) -> None:
    sign_in(Browsing(house), provider, "1")
    set_disabled(house.node.store, "bob-smith", is_disabled=True)
    browsing = Browsing(house)

    answer = sign_in(browsing, provider, "1")

    assert (answer.status, "session" in browsing.cookies) == (403, False)


def test_who_denies_is_not_signed_in(house: InProcessSite, provider: Provider) -> None:
    browsing = Browsing(house)

    answer = come_back(browsing, provider.deny(begin(browsing)))

    assert (answer.status, browsing.title) == (400, "That did not work")
    assert browsing.page.one("p", class_="lead").text == "Example has not signed you in."


def test_the_way_back_is_good_in_the_browser_that_went_and_only_once(
    house: InProcessSite, provider: Provider
) -> None:
    browsing = Browsing(house)
    place = provider.sign_in(begin(browsing), "1")

    assert come_back(Browsing(house), place).status == 400
    assert come_back(browsing, place).status == 303
    assert come_back(browsing, place).status == 400


@pytest.mark.parametrize("change", ["state", "nonce", "client_id"])
def test_what_was_changed_on_the_way_is_noticed(
    house: InProcessSite, provider: Provider, change: str
) -> None:
    browsing = Browsing(house)
    address = begin(browsing)
    value = dict(parse_qsl(urlsplit(address).query))[change]
    changed = address.replace(f"{change}={value}", f"{change}={value[::-1]}")
    assert changed != address

    answer = come_back(browsing, provider.sign_in(changed, "1"))

    assert answer.status == (400 if change == "state" else 502)
    assert "session" not in browsing.cookies


@pytest.mark.parametrize("kept", ["", "x", "a.b.c"])
def test_what_the_browser_keeps_must_be_ours(
    house: InProcessSite, provider: Provider, kept: str
) -> None:
    browsing = Browsing(house)
    place = provider.sign_in(begin(browsing), "1")
    sealed = browsing.cookies["signing-in"]
    head, claims, signature = sealed.split(".")
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
    for forged in (kept, f"{unsigned}.{claims}.", f"{head}.{claims}.{signature[::-1]}"):
        browsing.cookies["signing-in"] = forged
        assert come_back(browsing, place).status == 400
        assert browsing.get("/join/name").status == 400


def test_one_purpose_does_not_do_for_another(house: InProcessSite) -> None:
    browsing = Browsing(house)
    begin(browsing)
    assert browsing.get("/join/name").status == 400


def test_a_provider_that_is_down_is_told_in_a_friendly_way(tmp_path: Path) -> None:
    given = {**CLIENT, "oidc_issuer": f"http://127.0.0.1:{free_port()}"}
    with InProcessSite(tmp_path / "data", **given) as site:
        browsing = Browsing(site)

        answer = browsing.get("/api/auth/oidc")

        assert (answer.status, browsing.title) == (502, "Not just now")
        assert browsing.page.one("p", class_="lead").text == SORRY
        assert browsing.get("/sign-in").status == 200


def test_a_truthful_answer_is_believed(deceived: InProcessSite, liar: LyingProvider) -> None:
    """Or the tests of lies would show nothing."""
    liar.claims = {"sub": "t"}
    liar.told = {"sub": "t", "preferred_username": "tom", "email": "tom@example.org"}
    browsing = Browsing(deceived)

    address = begin(browsing)
    answer = come_back(browsing, liar.sign_in(address))

    assert (answer.status, answer.headers["location"]) == (303, "/account")
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

    answer = come_back(browsing, liar.sign_in(begin(browsing)))

    assert answer.headers["location"] == "/join/name"


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

    answer = come_back(browsing, liar.sign_in(begin(browsing)))

    assert (answer.status, browsing.page.one("p", class_="lead").text) == (502, SORRY)
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
    "answer",
    [(500, b"{}"), (400, b'{"error":"invalid_grant"}'), (200, b"<html>"), (200, b"[]"),
     (200, b"{}"), (200, b'{"id_token":7}'), (200, b'{"id_token":"x.y"}'), (302, b"{}"),
     (200, b"\xff")],
)  # fmt: skip
def test_whatever_else_it_answers_is_told_in_a_friendly_way(
    deceived: InProcessSite, liar: LyingProvider, answer: tuple[int, bytes]
) -> None:
    liar.exchanged = answer
    browsing = Browsing(deceived)
    assert come_back(browsing, liar.sign_in(begin(browsing))).status == 502


@pytest.mark.parametrize(
    "lie",
    [{"issuer": "https://evil.example"}, {"token_endpoint": None}, {"jwks_uri": 7},
     {"authorization_endpoint": []}],
)  # fmt: skip
def test_a_discovery_that_does_not_fit_is_told_in_a_friendly_way(
    tmp_path: Path, liar: LyingProvider, lie: dict[str, Any]
) -> None:
    liar.discovery = lie
    with InProcessSite(tmp_path / "data", oidc_issuer=liar.url, **CLIENT) as site:
        assert Browsing(site).get("/api/auth/oidc").status == 502


def test_another_provider_s_answer_is_refused(deceived: InProcessSite, liar: LyingProvider) -> None:
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
def test_a_provider_is_told_who_asks_in_the_way_it_offers(
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

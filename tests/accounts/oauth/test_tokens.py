"""POST token and revoke under /api/auth/oauth2."""

from urllib.parse import urlencode

import pytest

from accounts.oauth.program import (
    BASE,
    CALLBACK,
    DEVICE_GRANT,
    HEADERS,
    agree,
    ask,
    code_fields,
    is_good,
    refresh_fields,
    sign_in_program,
)
from support.browsing import Browsing
from support.people import PASSWORD, a_person
from support.site import InProcessSite, Reply
from widget_catalog.accounts.administer_account import set_disabled

NOT_GOOD = (
    "This code or token is unknown, expired, used or revoked, or what was sent along does not "
    "belong to it. Sign in again."
)


NOT_REGISTERED = (
    "No program with the client id 'nobody' is registered here. The operator registers programs "
    "with the setting oauth_clients."
)


def is_refused(response: Reply, error: str, sentence: str) -> bool:
    told = {"error": error, "error_description": sentence}
    return (response.status, response.json(), response.headers) == (400, told, HEADERS)


def test_a_code_becomes_tokens(ann: Browsing) -> None:
    response = ask(ann.site, "token", **code_fields(agree(ann)["code"]))

    tokens = response.json()
    assert (response.status, response.headers) == (200, HEADERS)
    assert tokens == {
        "access_token": tokens["access_token"],
        "refresh_token": tokens["refresh_token"],
        "expires_in": 3600,
        "token_type": "Bearer",
        "scope": "openid profile email",
    }
    assert tokens["access_token"].startswith("wco_")
    assert tokens["refresh_token"].startswith("wcr_")
    assert is_good(ann.site, tokens["access_token"])


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (None, "openid profile email"),
        ("email openid", "openid email"),
        ("openid offline_access", "openid"),
    ],
)
def test_a_scope_is_what_is_known_of_what_is_asked_for(
    ann: Browsing, asked: str | None, given: str
) -> None:
    response = ask(ann.site, "token", **code_fields(agree(ann, scope=asked)["code"]))
    assert response.json()["scope"] == given


def test_the_redirect_address_need_not_come_again(ann: Browsing) -> None:
    fields = code_fields(agree(ann)["code"])
    del fields["redirect_uri"]
    assert ask(ann.site, "token", **fields).status == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "http://127.0.0.1:43211/callback"},
        {"redirect_uri": "http://localhost:43210/callback"},
        {"client_id": "other"},
        {"code": "wca_unknown"},
    ],
)
def test_a_code_is_good_only_with_what_belongs_to_it(
    ann: Browsing, changes: dict[str, str]
) -> None:
    code = agree(ann)["code"]

    response = ask(ann.site, "token", **code_fields(code, **changes))

    assert is_refused(response, "invalid_grant", NOT_GOOD)
    assert ask(ann.site, "token", **code_fields(code)).status == 200


@pytest.mark.parametrize("verifier", ["x" * 43, "x"])
def test_a_wrong_verifier_uses_up_the_code(ann: Browsing, verifier: str) -> None:
    code = agree(ann)["code"]

    assert ask(ann.site, "token", **code_fields(code, code_verifier=verifier)).status == 400

    response = ask(ann.site, "token", **code_fields(code))
    assert is_refused(response, "invalid_grant", NOT_GOOD)


@pytest.mark.parametrize(
    ("left_out", "error", "sentence"),
    [
        ("code", "invalid_request", "Missing 'code' in request."),
        ("code_verifier", "invalid_request", "Missing 'code_verifier'"),
        ("client_id", "invalid_client", "client_id is missing."),
        (
            "grant_type",
            "unsupported_grant_type",
            f"grant_type must be one of authorization_code, refresh_token, {DEVICE_GRANT}.",
        ),
    ],
)
def test_what_is_missing_is_reported(
    ann: Browsing, left_out: str, error: str, sentence: str
) -> None:
    fields = code_fields(agree(ann)["code"])
    del fields[left_out]
    assert is_refused(ask(ann.site, "token", **fields), error, sentence)


@pytest.mark.parametrize("kind", ["password", "client_credentials", "implicit", 'x"é\\'])
def test_there_are_no_other_grants(house: InProcessSite, kind: str) -> None:
    response = ask(house, "token", grant_type=kind, client_id="widget-cli", username="ann")
    assert (response.status, response.json()["error"]) == (400, "unsupported_grant_type")


def test_a_client_that_is_not_registered_is_named(ann: Browsing) -> None:
    fields = {**code_fields(agree(ann)["code"]), "client_id": "nobody"}
    assert is_refused(ask(ann.site, "token", **fields), "invalid_client", NOT_REGISTERED)


def test_a_client_has_no_secret(ann: Browsing) -> None:
    fields = code_fields(agree(ann)["code"], client_secret="guess")
    response = ask(ann.site, "token", **fields)
    assert is_refused(response, "invalid_client", "There is no such client here.")


def test_a_field_that_comes_twice_is_refused(ann: Browsing) -> None:
    body = urlencode([*code_fields(agree(ann)["code"]).items(), ("code", "x")]).encode()
    response = ann.site.request("POST", f"{BASE}/token", body)
    assert is_refused(response, "invalid_request", "code is there more than once.")


def test_a_code_that_comes_twice_ends_the_sign_in(ann: Browsing) -> None:
    fields = code_fields(agree(ann)["code"])
    first = ask(ann.site, "token", **fields).json()
    renewed = ask(ann.site, "token", **refresh_fields(first["refresh_token"])).json()
    bystander = sign_in_program(ann)
    assert is_good(ann.site, renewed["access_token"])

    response = ask(ann.site, "token", **fields)

    assert is_refused(response, "invalid_grant", NOT_GOOD)
    assert not is_good(ann.site, renewed["access_token"])
    again = ask(ann.site, "token", **refresh_fields(renewed["refresh_token"]))
    assert is_refused(again, "invalid_grant", NOT_GOOD)
    assert is_good(ann.site, bystander["access_token"])


def test_a_refresh_token_is_exchanged_for_a_new_pair(ann: Browsing) -> None:
    old = sign_in_program(ann)

    response = ask(ann.site, "token", **refresh_fields(old["refresh_token"]))

    new = response.json()
    assert (response.status, response.headers, new.keys()) == (200, HEADERS, old.keys())
    assert new["refresh_token"] != old["refresh_token"]
    assert is_good(ann.site, new["access_token"])


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_revoking_ends_the_previous_access_token_at_once(ann: Browsing, kind: str) -> None:
    old = sign_in_program(ann)
    new = ask(ann.site, "token", **refresh_fields(old["refresh_token"])).json()

    ask(ann.site, "revoke", token=new[kind], client_id="widget-cli")

    assert not is_good(ann.site, old["access_token"])
    assert not is_good(ann.site, new["access_token"])


def test_a_refresh_token_that_comes_twice_at_once_gets_the_same_pair(ann: Browsing) -> None:
    first = sign_in_program(ann)
    response = ask(ann.site, "token", **refresh_fields(first["refresh_token"]))

    again = ask(ann.site, "token", **refresh_fields(first["refresh_token"]))

    assert (again.status, again.headers) == (200, HEADERS)
    second = response.json()
    assert 3590 <= again.json()["expires_in"] <= second["expires_in"] == 3600
    assert again.json() | {"expires_in": 3600} == second
    assert is_good(ann.site, second["access_token"])
    # A third process that uses the first one does not end the sign-in yet.
    third = ask(ann.site, "token", **refresh_fields(second["refresh_token"])).json()
    assert ask(ann.site, "token", **refresh_fields(first["refresh_token"])).status == 200
    assert is_good(ann.site, third["access_token"])


def test_a_refresh_token_that_comes_twice_is_for_its_own_client_alone(ann: Browsing) -> None:
    tokens = sign_in_program(ann)
    renewed = ask(ann.site, "token", **refresh_fields(tokens["refresh_token"])).json()

    response = ask(ann.site, "token", **refresh_fields(tokens["refresh_token"], "other"))

    assert is_refused(response, "invalid_grant", NOT_GOOD)
    assert is_good(ann.site, renewed["access_token"])


def test_a_refresh_token_that_comes_twice_after_the_sign_in_ended_gets_nothing(
    ann: Browsing,
) -> None:
    tokens = sign_in_program(ann)
    renewed = ask(ann.site, "token", **refresh_fields(tokens["refresh_token"])).json()
    ask(ann.site, "revoke", token=renewed["refresh_token"], client_id="widget-cli")

    response = ask(ann.site, "token", **refresh_fields(tokens["refresh_token"]))

    assert is_refused(response, "invalid_grant", NOT_GOOD)


def test_a_refresh_token_is_valid_for_its_own_client_alone(ann: Browsing) -> None:
    tokens = sign_in_program(ann)

    response = ask(ann.site, "token", **refresh_fields(tokens["refresh_token"], "other"))

    assert is_refused(response, "invalid_grant", NOT_GOOD)
    assert ask(ann.site, "token", **refresh_fields(tokens["refresh_token"])).status == 200


def test_a_refresh_cannot_ask_for_more(ann: Browsing) -> None:
    code = agree(ann, scope="openid")["code"]
    tokens = ask(ann.site, "token", **code_fields(code)).json()
    fields = {**refresh_fields(tokens["refresh_token"]), "scope": "openid email"}

    response = ask(ann.site, "token", **fields)

    assert is_refused(response, "invalid_scope", "This is more than was agreed to.")


def test_a_refresh_that_asks_for_less_is_told_that_it_has_all(ann: Browsing) -> None:
    tokens = sign_in_program(ann)
    fields = {**refresh_fields(tokens["refresh_token"]), "scope": "openid"}
    assert ask(ann.site, "token", **fields).json()["scope"] == "openid profile email"


@pytest.mark.parametrize("token", ["", "wcr_unknown", "é\x00\udcff"])
def test_what_was_never_a_refresh_token_is_refused(house: InProcessSite, token: str) -> None:
    sent = urlencode(refresh_fields(token), errors="surrogatepass").encode()
    response = house.request("POST", f"{BASE}/token", sent)
    assert response.status == 400
    assert response.json()["error"] == ("invalid_grant" if token else "invalid_request")


def test_an_access_token_is_no_refresh_token_and_no_session(ann: Browsing) -> None:
    tokens = sign_in_program(ann)

    response = ask(ann.site, "token", **refresh_fields(tokens["access_token"]))

    assert is_refused(response, "invalid_grant", NOT_GOOD)
    assert not is_good(ann.site, tokens["refresh_token"])
    visitor = Browsing(ann.site)
    visitor.cookies["session"] = tokens["access_token"]
    assert visitor.get("/account").status == 302


def test_of_a_disabled_account_nothing_works(house: InProcessSite) -> None:
    a_person(house, "dan")
    dan = Browsing(house).sign_in("dan")
    tokens, code = sign_in_program(dan), agree(dan)["code"]

    set_disabled(house.node.store, "dan", is_disabled=True)
    for _ in range(2):
        assert not is_good(house, tokens["access_token"])
        assert dan.get("/account").status == 302
        for fields in (code_fields(code), refresh_fields(tokens["refresh_token"])):
            assert is_refused(ask(house, "token", **fields), "invalid_grant", NOT_GOOD)
        # Tokens issued before do not become valid again, either.
        set_disabled(house.node.store, "dan", is_disabled=False)


def test_another_password_ends_every_program_s_sign_in(house: InProcessSite) -> None:
    a_person(house, "pat")
    pat = Browsing(house).sign_in("pat")
    tokens = sign_in_program(pat)
    csrf = pat.get("/api/auth/session").json()["csrfToken"]
    passwords = f'{{"currentPassword":"{PASSWORD}","newPassword":"another password"}}'

    changed = house.request(
        "POST",
        "/api/auth/password",
        passwords.encode(),
        content_type="application/json",
        cookie=f"__Host-session={pat.cookies['session']}",
        x_csrf_token=csrf,
    )

    assert changed.status == 200
    assert not is_good(house, tokens["access_token"])


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
@pytest.mark.parametrize("hint", [None, "access_token", "refresh_token", "nonsense"])
def test_revoking_either_token_ends_the_sign_in(ann: Browsing, kind: str, hint: str | None) -> None:
    tokens = sign_in_program(ann)
    more = {} if hint is None else {"token_type_hint": hint}

    for _ in range(2):
        response = ask(ann.site, "revoke", token=tokens[kind], client_id="widget-cli", **more)
        assert (response.status, response.json(), response.headers) == (200, {}, HEADERS)

    assert not is_good(ann.site, tokens["access_token"])
    again = ask(ann.site, "token", **refresh_fields(tokens["refresh_token"]))
    assert is_refused(again, "invalid_grant", NOT_GOOD)


def test_nobody_revokes_what_is_another_client_s(ann: Browsing) -> None:
    tokens = sign_in_program(ann)

    response = ask(ann.site, "revoke", token=tokens["refresh_token"], client_id="other")

    assert (response.status, response.json()) == (200, {})
    assert is_good(ann.site, tokens["access_token"])


@pytest.mark.parametrize(
    ("fields", "error", "sentence"),
    [
        ({"client_id": "widget-cli"}, "invalid_request", "token is missing."),
        ({"token": "x"}, "invalid_client", "client_id is missing."),
        ({"token": "x", "client_id": "nobody"}, "invalid_client", NOT_REGISTERED),
    ],
)
def test_a_revocation_needs_a_token_and_a_client(
    house: InProcessSite, fields: dict[str, str], error: str, sentence: str
) -> None:
    response = ask(house, "revoke", **fields)

    assert is_refused(response, error, sentence)


def test_no_secret_is_in_the_database(ann: Browsing) -> None:
    code = agree(ann)["code"]
    tokens = ask(ann.site, "token", **code_fields(code)).json()
    device = ask(ann.site, "device", client_id="widget-cli").json()["device_code"]
    # The new pair is stored for a while, for a repeated request with the old token, but encrypted.
    renewed = ask(ann.site, "token", **refresh_fields(tokens["refresh_token"])).json()
    pairs = [it[key] for it in (tokens, renewed) for key in ("access_token", "refresh_token")]
    secrets = (code, device, *pairs)

    database = ann.site.node.folder.database
    kept = b"".join(it.read_bytes() for it in database.parent.glob("catalog.db*"))

    assert CALLBACK.encode() in kept
    for secret in secrets:
        assert secret.encode() not in kept

"""Signing in and out, what a session is good for and how long, and what ends it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from support.people import PASSWORD, Person, a_person, nobody, signed_in, with_oauth, with_token
from support.site import Answer, InProcessSite
from support.village import BuiltVillage, Village
from widget_catalog.actions.manage_account import reset_password, set_disabled
from widget_catalog.actions.sign_in import Lifetimes, sign_in
from widget_catalog.domain.clock import iso
from widget_catalog.domain.errors import NotSignedIn
from widget_catalog.store.engine import Store

GATE = {"error": "This address is for signed-in people only."}
WRONG = {"error": "The user name or the password is wrong."}
WRONG_CURRENT = {"error": "The current password is wrong."}
SIGN_IN = "/api/auth/sign-in"
_DAY = timedelta(days=1)


def try_password(site: InProcessSite, username: str, password: str, **headers: str) -> Answer:
    body = {"username": username, "password": password}
    return Person(site, "", headers).post(SIGN_IN, body)


def is_in(person: Person) -> bool:
    answer = person.get("/api/auth/session")
    assert answer.status in (200, 401)
    return answer.status == 200


def secret_of(person: Person) -> str:
    return person.headers["cookie"].removeprefix("session=")


def test_signing_in_gives_a_session_and_a_cookie_that_scripts_cannot_read(village: Village) -> None:
    answer = try_password(village.site, "ann", PASSWORD)

    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert cookie.startswith("session=wcs_")
    assert attributes == ["Max-Age=7776000", "Path=/", "HttpOnly", "SameSite=Lax", "Secure"]
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    csrf = body.pop("csrfToken")
    assert (answer.status, body) == (
        200,
        {
            "username": "ann",
            "email": "ann@example.org",
            "isOperator": False,
            "via": "session",
            "expiresAt": iso(village.clock.at + 90 * _DAY),
        },
    )
    shown = village.site.get("/api/auth/session", cookie=cookie)
    assert shown.json() == {**body, "csrfToken": csrf}
    assert csrf not in cookie
    assert "access-control-allow-origin" not in answer.headers


def test_the_cookie_is_secure_where_the_service_is(
    built_village: BuiltVillage, tmp_path: Path
) -> None:
    with Village(built_village, tmp_path / "d", base_url="http://localhost:8080") as village:
        answer = try_password(village.site, "ann", PASSWORD)
        out = Person(village.site, "ann", village.ann.headers).post("/api/auth/sign-out")

    assert answer.headers["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Lax")
    assert out.headers["set-cookie"] == "session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"


def test_every_sign_in_has_a_secret_of_its_own_whatever_cookie_came_along(village: Village) -> None:
    """A cookie that somebody else has planted is never the one that opens the session."""
    planted = "session=wcs_planted-by-somebody-else"
    answer = try_password(village.site, "ann", PASSWORD, cookie=planted)

    assert answer.status == 200
    assert planted not in answer.headers["set-cookie"]
    assert not is_in(Person(village.site, "", {"cookie": planted}))
    again = signed_in(village.site, "ann")
    assert secret_of(again) != answer.headers["set-cookie"].split("; ")[0].partition("=")[2]


def test_the_store_holds_no_secret_but_only_hashes(village: Village) -> None:
    token = with_token(village.ann)
    database = village.site.node.folder.database.read_bytes()
    database += Path(f"{village.site.node.folder.database}-wal").read_bytes()

    for secret in (secret_of(village.ann), token.headers["authorization"][7:], PASSWORD):
        assert secret.encode() not in database


def test_wrong_user_and_wrong_password_cannot_be_told_apart(village: Village) -> None:
    set_disabled(village.site.node.store, "mia", is_disabled=True)
    answers = [
        try_password(village.site, username, password)
        for username, password in [
            ("eve", "not the password"),
            ("nobody-at-all", "not the password"),
            ("mia", PASSWORD),  # Disabled.
            ("EVE", PASSWORD),
            ("eve@example.org", PASSWORD),
            ("acme", PASSWORD),  # An organization.
            ("eve\x00", PASSWORD),
            ("", ""),
            ("eve", "p" * 5_000),
        ]
    ]
    assert {(it.status, it.body, tuple(it.response.headers)) for it in answers} == {
        (401, answers[0].body, tuple(answers[0].response.headers))
    }
    assert answers[0].json() == WRONG
    assert "set-cookie" not in answers[0].headers


def test_after_five_failures_an_account_is_closed_to_that_address_for_a_while(
    built_village: BuiltVillage, tmp_path: Path
) -> None:
    with Village(built_village, tmp_path / "d", trust_forwarded_for=True) as village:
        here, there = {"x_forwarded_for": "203.0.113.1"}, {"x_forwarded_for": "203.0.113.2"}
        for _ in range(5):
            assert try_password(village.site, "ann", "wrong", **here).status == 401
        village.clock.forward(minutes=5)

        refused = try_password(village.site, "ann", PASSWORD, **here)
        assert (refused.status, refused.headers["retry-after"]) == (429, "600")
        assert refused.json() == {
            "error": "Too many failed attempts to sign in. Try again in 600 s."
        }
        assert "set-cookie" not in refused.headers
        # Nobody else is shut out: not ann elsewhere, and not others here.
        assert try_password(village.site, "ann", PASSWORD, **there).status == 200
        assert try_password(village.site, "eve", PASSWORD, **here).status == 200
        assert try_password(village.site, "ann", PASSWORD, **here).status == 429

        village.clock.forward(minutes=9, seconds=59.5)
        assert try_password(village.site, "ann", PASSWORD, **here).headers["retry-after"] == "1"
        village.clock.forward(seconds=0.5)
        assert try_password(village.site, "ann", PASSWORD, **here).status == 200


def test_a_success_forgives_the_failures_before_it(village: Village) -> None:
    for _ in range(2):
        for _ in range(4):
            assert try_password(village.site, "ann", "wrong").status == 401
        assert try_password(village.site, "ann", PASSWORD).status == 200


def test_an_address_that_tries_many_accounts_is_shut_out(village: Village) -> None:
    store = village.site.node.store
    for i in range(50):
        with pytest.raises(NotSignedIn):
            sign_in(store, f"guess-{i}", "wrong", "127.0.0.1", Lifetimes(1, 1))

    refused = try_password(village.site, "ann", PASSWORD)

    assert (refused.status, refused.headers["retry-after"]) == (429, "900")


def test_the_address_is_not_what_a_client_says_unless_a_proxy_is_trusted(village: Village) -> None:
    for i in range(5):
        answer = try_password(village.site, "ann", "wrong", x_forwarded_for=f"203.0.113.{i}")
        assert answer.status == 401

    assert try_password(village.site, "ann", "wrong", x_forwarded_for="203.0.113.9").status == 429


def test_another_site_cannot_sign_somebody_in(village: Village) -> None:
    for site in ("cross-site", "same-site"):
        answer = try_password(village.site, "ann", PASSWORD, sec_fetch_site=site)
        assert (answer.status, "set-cookie" in answer.headers) == (403, False)
    for site in ("same-origin", "none"):
        assert try_password(village.site, "ann", PASSWORD, sec_fetch_site=site).status == 200


def test_a_session_ends_when_it_is_not_used(village: Village) -> None:
    village.clock.forward(days=13, hours=23)
    assert is_in(village.ann)  # Which is a use.
    village.clock.forward(days=13, hours=23)
    assert is_in(village.ann)
    assert not is_in(village.eve)
    village.clock.forward(days=14)
    assert not is_in(village.ann)
    assert village.ann.get("/api/auth/session").json() == GATE


def test_a_session_ends_after_ninety_days_however_much_it_is_used(village: Village) -> None:
    ann = signed_in(village.site, "ann")
    for _ in range(8):
        village.clock.forward(days=11)
        assert is_in(ann)
    village.clock.forward(days=1, hours=23)
    assert is_in(ann)
    village.clock.forward(hours=1)
    assert not is_in(ann)


def test_sessions_are_listed_and_can_be_ended_one_by_one(village: Village) -> None:
    ann = village.ann
    village.clock.forward(hours=1)
    other = signed_in(village.site, "ann")

    sessions = ann.get("/api/auth/sessions").json()["sessions"]

    assert [it["isCurrent"] for it in sessions] == [True, False]
    assert sessions[1] == {
        "id": sessions[1]["id"],
        "createdAt": iso(village.clock.at),
        "lastSeenAt": iso(village.clock.at),
        "expiresAt": iso(village.clock.at + 90 * _DAY),
        "isCurrent": False,
    }
    foreign = village.eve.delete(f"/api/auth/sessions/{sessions[1]['id']}")
    assert (foreign.status, foreign.json()) == (404, {"error": "There is no such session."})
    assert is_in(other)
    ended = ann.delete(f"/api/auth/sessions/{sessions[1]['id']}")
    assert (ended.status, ended.json()) == (200, {"success": True})
    assert (is_in(other), is_in(ann)) == (False, True)
    assert len(ann.get("/api/auth/sessions").json()["sessions"]) == 1


def test_sessions_that_are_over_are_not_listed(village: Village) -> None:
    ann = signed_in(village.site, "ann")
    village.clock.forward(days=13)
    assert is_in(ann)
    village.clock.forward(days=2)

    sessions = ann.get("/api/auth/sessions").json()["sessions"]

    assert [it["isCurrent"] for it in sessions] == [True]


def test_signing_out_ends_the_session_and_takes_the_cookie_back(village: Village) -> None:
    answer = village.ann.post("/api/auth/sign-out")

    assert (answer.status, answer.json()) == (200, {"success": True})
    assert answer.headers["set-cookie"] == (
        "session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure"
    )
    assert not is_in(village.ann)
    assert nobody(village.site).post("/api/auth/sign-out").status == 200


def test_a_session_says_what_it_is_by_oauth_and_by_token_too(village: Village) -> None:
    who = {"username": "olly", "email": "olly@example.org", "isOperator": True}

    by_oauth = with_oauth(village.olly).get("/api/auth/session").json()
    by_token = with_token(village.olly).get("/api/auth/session").json()

    assert by_oauth == {**who, "via": "oauth"}
    assert by_token == {**who, "via": "token"}


def test_a_bearer_token_counts_before_a_cookie(village: Village) -> None:
    token = with_token(village.eve)
    both = Person(village.site, "", {**village.ann.headers, **token.headers})
    wrong = Person(village.site, "", {**village.ann.headers, "authorization": "Bearer wct_x"})

    assert both.get("/api/auth/session").json()["username"] == "eve"
    assert wrong.get("/api/auth/session").status == 401


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", "Bearer ", "Basic YW5uOng=", "wct_x", "Bearer wct_", "Bearer wco_", "Bearer x",
     "Bearer \x00", "Bearer wct_" + "x" * 5000, "bearer\twct_x"],
)  # fmt: skip
def test_what_is_no_token_opens_nothing(quiet_village: Village, given: str) -> None:
    answer = quiet_village.site.get("/api/auth/session", authorization=given)

    assert answer.status == 401
    assert list(answer.json()) == ["error"]
    assert answer.headers["www-authenticate"] == "Bearer"


def test_no_secret_opens_what_another_kind_of_secret_does(village: Village) -> None:
    """A session's secret is no bearer token, and a token's is no cookie."""
    token = with_token(village.ann).headers["authorization"][7:]
    access = with_oauth(village.ann).headers["authorization"][7:]

    for headers in (
        {"authorization": f"Bearer {secret_of(village.ann)}"},
        {"cookie": f"session={token}"},
        {"cookie": f"session={access}"},
        {"cookie": f"session={secret_of(village.ann)[:-1]}"},
        {"cookie": f"Session={secret_of(village.ann)}"},
    ):
        assert not is_in(Person(village.site, "", headers))


def test_a_change_by_cookie_needs_the_csrf_token_of_that_session(village: Village) -> None:
    ann, other = village.ann, signed_in(village.site, "ann")
    cookie = ann.headers["cookie"]
    body = {"slug": "new", "displayName": "New"}
    for csrf in (None, "", "x", "\u00e9", other.headers["x_csrf_token"], secret_of(ann)):
        headers = {"cookie": cookie} | ({} if csrf is None else {"x_csrf_token": csrf})
        answer = Person(village.site, "ann", headers).post("/api/organizations", body)
        assert (answer.status, answer.json()) == (
            403,
            {
                "error": "The CSRF token is missing or wrong: send the session's csrfToken in the "
                "header X-CSRF-Token."
            },
        )
    assert Person(village.site, "ann", {"cookie": cookie}).get("/api/organizations").status == 200
    assert ann.post("/api/organizations", body).status == 201


def test_a_new_password_ends_every_other_session_and_oauth_token(village: Village) -> None:
    ann, other = village.ann, signed_in(village.site, "ann")
    by_oauth, by_token = with_oauth(ann), with_token(ann)
    new = "another long password"

    answer = ann.post("/api/auth/password", {"currentPassword": PASSWORD, "newPassword": new})

    assert (answer.status, answer.json()) == (200, {"success": True})
    assert [is_in(it) for it in (ann, other, by_oauth)] == [True, False, False]
    assert is_in(by_token)  # It was never made with the password.
    assert try_password(village.site, "ann", PASSWORD).json() == WRONG
    assert try_password(village.site, "ann", new).status == 200
    assert is_in(village.eve)


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        ("x" * 11, "The password is too short: at least 12 characters are needed."),
        ("x" * 1001, "The password is too long: at most 1,000 characters are taken."),
    ],
)
def test_a_password_has_twelve_characters_and_at_most_a_thousand(
    quiet_village: Village, new: str, sentence: str
) -> None:
    body = {"currentPassword": PASSWORD, "newPassword": new}
    answer = quiet_village.ann.post("/api/auth/password", body)

    assert (answer.status, answer.json()) == (400, {"error": sentence})


def test_passwords_cannot_be_tried_at_a_session_that_was_left_open(village: Village) -> None:
    """Neither to change the password, nor to close the account."""
    guess = {"currentPassword": "a guess", "newPassword": "x" * 12}
    for _ in range(3):
        answer = village.ann.post("/api/auth/password", guess)
        assert (answer.status, answer.json()) == (403, WRONG_CURRENT)
    for _ in range(2):
        assert village.ann.post("/api/account/close", {"password": "a guess"}).status == 403

    right = {**guess, "currentPassword": PASSWORD}
    refused = village.ann.post("/api/auth/password", right)
    assert (refused.status, refused.headers["retry-after"]) == (429, "900")
    assert village.ann.post("/api/account/close", {"password": PASSWORD}).status == 429
    village.clock.forward(minutes=15)
    assert village.ann.post("/api/auth/password", right).status == 200


def test_who_knew_the_old_password_is_not_let_in_by_being_quick(village: Village) -> None:
    """The password is reset while it is being checked."""

    class Meanwhile(Store):
        """Has somebody reset the password before the session is written."""

        is_first = True

        def writing(self) -> Any:
            if self.is_first:
                self.is_first = False
                reset_password(village.site.node.store, "ann", "another long password")
            return super().writing()

    node = village.site.node
    store = Meanwhile(node.store.engine, node.folder.writer_lock, node.projection)

    with pytest.raises(NotSignedIn):
        sign_in(store, "ann", PASSWORD, "127.0.0.1", Lifetimes(10**9, 10**9))
    assert try_password(village.site, "ann", PASSWORD).status == 401


def test_a_disabled_account_is_out_at_once_and_so_are_its_tokens(village: Village) -> None:
    token, access = with_token(village.ann), with_oauth(village.ann)
    store = village.site.node.store

    set_disabled(store, "ann", is_disabled=True)

    assert [is_in(it) for it in (village.ann, token, access)] == [False] * 3
    set_disabled(store, "ann", is_disabled=False)
    assert [is_in(it) for it in (village.ann, token, access)] == [False, True, False]


def test_closing_an_account_unlists_its_widgets_and_leaves_its_bundles(village: Village) -> None:
    ann, site = village.ann, village.site
    eve_clock = village.eve.publish("eve/clock").json()["bundleUrl"]
    token = with_token(village.eve)
    refused = ann.post("/api/account/close", {"password": PASSWORD})
    assert (refused.status, refused.json()) == (
        409,
        {"error": "You are the last owner of acme. Transfer it to somebody first."},
    )
    assert is_in(ann)

    answer = village.eve.post("/api/account/close", {"password": PASSWORD})

    assert (answer.status, answer.json()) == (200, {"success": True})
    assert answer.headers["set-cookie"].startswith("session=; Max-Age=0;")
    assert (is_in(village.eve), is_in(token)) == (False, False)
    assert try_password(site, "eve", PASSWORD).status == 401
    assert site.get("/api/v1/widgets/eve/clock").status == 404
    assert site.get("/api/v1/widgets/ann/clock").status == 200
    assert site.get(eve_clock.removeprefix("https://catalog.example")).status == 200
    entries = village.olly.get("/api/audit?limit=2").json()["entries"]
    assert [(it["actor"], it["action"], it["details"]) for it in entries] == [
        ("eve", "close account", {}),
        ("eve", "unlist", {"reason": "Account closed."}),
    ]
    # The name stays hers: nobody else gets the scope that dashboards trust.
    taken = ann.post("/api/organizations", {"slug": "eve", "displayName": "Eve"})
    assert taken.status == 409


def test_closing_an_account_needs_its_password(village: Village) -> None:
    answer = village.eve.post("/api/account/close", {})

    assert (answer.status, answer.json()) == (403, WRONG_CURRENT)
    assert is_in(village.eve)


def test_who_closes_an_account_leaves_its_organizations(village: Village) -> None:
    assert village.pia.post("/api/account/close", {"password": PASSWORD}).status == 200

    members = village.ann.get("/api/organizations/acme").json()["members"]
    assert [it["username"] for it in members] == ["abe", "ann", "mia"]
    shown = village.ann.get("/api/widgets/acme/clock/publishers").json()
    assert shown == {"publishers": []}


UNKNOWN = [
    "/api/", "/api/nothing", "/api/auth", "/api/auth/nothing", "/api/tokens/", "/api/tokens/x/y",
    "/api/widgets/ann", "/api/widgets/ann/clock/", "/api/widgets//clock", "/api/v2/widgets",
]  # fmt: skip


@pytest.mark.parametrize("path", UNKNOWN)
def test_an_unknown_address_is_401_for_strangers_and_404_for_others(
    quiet_village: Village, path: str
) -> None:
    site = quiet_village.site
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "BREW"):
        for headers in ({}, {"cookie": "session=wcs_x"}, {"cookie": "session="}):
            answer = site.request(method, path, **headers)
            assert (answer.status, answer.json()) == (401, GATE)
        answer = quiet_village.ann.send(method, path)
        assert (answer.status, answer.json()) == (404, {"error": f"There is nothing at {path}."})


def test_a_cookie_that_opens_nothing_tells_nothing_about_what_is_there(
    quiet_village: Village,
) -> None:
    stale = {"cookie": "session=wcs_" + "x" * 43, "content_type": "application/json"}
    for path in ("/api/tokens", "/api/nothing", "/api/widgets/publish", "/api/organizations/acme"):
        for method in ("GET", "POST", "PATCH", "DELETE"):
            for body in (b"", b"{", b"x" * 300_000):
                answer = quiet_village.site.request(method, path, body, **stale)
                assert (answer.status, answer.json()) == (401, GATE)


def test_a_wrong_method_is_405_and_says_which_are_right(quiet_village: Village) -> None:
    ann = quiet_village.ann
    for path, method, allow in [
        ("/api/tokens", "PUT", "GET, HEAD, POST"),
        ("/api/tokens/x", "GET", "DELETE"),
        ("/api/auth/session", "POST", "GET, HEAD"),
        ("/api/widgets/publish", "OPTIONS", "POST"),
        ("/api/organizations/acme/members/mia", "POST", "DELETE, PUT"),
    ]:
        answer = ann.send(method, path)
        assert (answer.status, answer.headers["allow"]) == (405, allow)
        assert answer.json() == {"error": f"{method} is not possible here; use {allow}."}
    # Strangers hear it only where the door is open.
    assert nobody(quiet_village.site).get(SIGN_IN).headers["allow"] == "POST"
    assert nobody(quiet_village.site).send("PUT", "/api/tokens").status == 401


def test_head_has_the_headers_of_get_and_no_body(quiet_village: Village) -> None:
    for path in ("/api/auth/session", "/api/tokens", "/api/widgets/ann/clock"):
        got, head = quiet_village.ann.get(path), quiet_village.ann.send("HEAD", path)
        assert (head.status, head.headers, head.body) == (200, got.headers, b"")


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"]
)
def test_a_body_that_is_not_said_to_be_json_is_415(
    quiet_village: Village, kind: str | None
) -> None:
    given = {} if kind is None else {"content_type": kind}
    for path, headers in [(SIGN_IN, {}), ("/api/tokens", quiet_village.ann.headers)]:
        answer = quiet_village.site.request("POST", path, b"{}", **given, **headers)
        assert (answer.status, answer.json()) == (
            415,
            {"error": "The body must be application/json."},
        )


def test_json_may_be_said_with_a_charset_and_in_capitals(quiet_village: Village) -> None:
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        answer = quiet_village.site.request("POST", SIGN_IN, b"{}", content_type=kind)
        assert (answer.status, list(answer.json())) == (400, ["error"])


def test_a_body_that_is_too_large_is_413(quiet_village: Village) -> None:
    # To publish, everything that is wrong is 400.
    for path, most, over in [("/api/tokens", 16_384, 413), ("/api/widgets/publish", 262_144, 400)]:
        for size, status in [(most, 400), (most + 1, over)]:
            body = b'"' + b"x" * (size - 2) + b'"'
            answer = quiet_village.site.request(
                "POST", path, body, content_type="application/json", **quiet_village.ann.headers
            )
            assert (answer.status, list(answer.json())) == (status, ["error"])
    assert answer.json() == {
        "error": "The body is too large: at most 262,144 bytes are taken here."
    }


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"null", b'"x"', b'{"username":1}', b"\xff", b'{"a":NaN}', b"{} {}"]
)
def test_a_body_that_is_something_else_is_400(quiet_village: Village, body: bytes) -> None:
    answer = quiet_village.site.request("POST", SIGN_IN, body, content_type="application/json")

    assert answer.status == 400
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"].startswith("The body is not what is expected here: ")


def test_no_answer_is_kept_by_a_cache_or_open_to_other_origins(quiet_village: Village) -> None:
    for path in ("/api/auth/session", "/api/tokens", "/api/widgets/ann/clock", "/api/nothing"):
        answer = quiet_village.site.get(
            path, origin="https://e.example", **quiet_village.ann.headers
        )
        assert not [it for it in answer.headers if it.startswith("access-control")]
        if answer.status == 200:
            assert answer.headers == {
                "content-type": "application/json; charset=utf-8",
                "cache-control": "no-store",
                "x-content-type-options": "nosniff",
            }


def test_signing_in_again_ends_the_session_that_was_brought_along(site: InProcessSite) -> None:
    person = a_person(site, "ann")
    credentials = {"username": "ann", "password": PASSWORD}

    again = person.post("/api/auth/sign-in", credentials)

    assert again.status == 200
    assert again.headers["set-cookie"].partition(";")[0] != person.headers["cookie"]
    assert person.get("/api/auth/session").status == 401

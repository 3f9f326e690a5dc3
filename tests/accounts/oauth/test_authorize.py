"""GET and POST /api/auth/oauth2/authorize: the question, and the redirect."""

from urllib.parse import quote, urlencode

import pytest

from accounts.oauth.program import BASE, CALLBACK, CHALLENGE, authorize_address, query_of
from support.browsing import Browsing
from support.people import PASSWORD
from support.site import InProcessSite
from widget_catalog.accounts.create_account import create_account

ISSUER = "https://catalog.example"
STRANGE = "Invalid request from this program"
UNKNOWN = "This program is not registered"


def test_who_is_not_signed_in_is_sent_to_do_so_and_comes_back(house: InProcessSite) -> None:
    browsing = Browsing(house)
    address = authorize_address()

    response = browsing.get(address)

    assert (response.status, response.body) == (302, b"")
    assert response.headers == {
        "location": f"/sign-in?next={quote(address, safe='')}",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
    }
    browsing.get(response.headers["location"])
    signed_in = browsing.submit("/sign-in", username="ann", password="correct horse battery")
    assert (signed_in.status, signed_in.headers["location"]) == (303, address)


def test_who_is_signed_in_is_asked(ann: Browsing) -> None:
    response = ann.get(authorize_address())

    assert response.status == 200
    assert ann.title == "Widget CLI wants to publish as @ann"
    buttons = [(it.text, it.attributes.get("value")) for it in ann.page.all("button")]
    assert buttons == [
        ("Continue", "continue"),
        ("Cancel", "cancel"),
        ("Use another account", None),
    ]


def test_an_operator_reads_what_else_the_program_can_do(ann: Browsing) -> None:
    powers = "You are an operator, so it also has operator permissions: "
    ann.get(authorize_address())
    assert powers not in ann.page.one("main").text
    store = ann.site.node.store
    create_account(store, "olly", "olly@example.org", PASSWORD, is_operator=True)
    olly = Browsing(ann.site).sign_in("olly")

    olly.get(authorize_address())

    said = olly.page.one("main").text
    assert powers in said
    for power in ("yank", "unlist", "official", "audit log"):
        assert power in said.partition(powers)[2], power


def test_the_page_is_kept_by_nobody_framed_by_nobody_and_leads_to_the_program_alone(
    ann: Browsing,
) -> None:
    assert ann.get(authorize_address()).headers == {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; "
        "form-action 'self' http://127.0.0.1:43210; base-uri 'none'; frame-ancestors 'none', "
        "script-src *:*/static/ *:*/client/; style-src *:*/static/",
        "referrer-policy": "same-origin",
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
    }


def test_continue_sends_the_person_back_with_a_code(ann: Browsing) -> None:
    address = authorize_address()
    ann.get(address)

    response = ann.submit(address, decision="continue")

    assert response.status == 303
    assert response.headers["location"].startswith(f"{CALLBACK}?code=wca_")
    told = query_of(response)
    assert told == {"code": told["code"], "state": "a state", "iss": ISSUER}


@pytest.mark.parametrize("decision", ["cancel", "", "Continue"])
def test_anything_else_sends_them_back_without(ann: Browsing, decision: str) -> None:
    address = authorize_address()
    ann.get(address)

    response = ann.submit(address, decision=decision)

    assert response.status == 303
    assert query_of(response) == {
        "error": "access_denied",
        "error_description": "The person has not agreed.",
        "state": "a state",
        "iss": ISSUER,
    }


@pytest.mark.parametrize("token", [None, "", "0" * 64])
@pytest.mark.parametrize("decision", ["continue", "cancel"])
def test_no_other_site_can_agree_for_somebody(
    ann: Browsing, token: str | None, decision: str
) -> None:
    fields = {"decision": decision} | ({} if token is None else {"csrf_token": token})

    response = ann.post(authorize_address(), fields)

    assert response.status == 403
    assert "location" not in response.headers
    assert ann.title == "You do not have permission to do this"


def test_no_bearer_token_can_agree(ann: Browsing) -> None:
    """A machine's token could otherwise create an unlimited one."""
    visitor = Browsing(ann.site)
    csrf = ann.get("/api/auth/session").json()["csrfToken"]
    body = {"name": "a token", "actions": ["publish"]}
    made = ann.site.request(
        "POST",
        "/api/tokens",
        str(body).replace("'", '"').encode(),
        cookie=f"__Host-session={ann.cookies['session']}",
        x_csrf_token=csrf,
        content_type="application/json",
    )
    bearer = {"authorization": f"Bearer {made.json()['token']}"}

    for response in (
        visitor.get(authorize_address(), **bearer),
        visitor.post(authorize_address(), {"decision": "continue"}, **bearer),
    ):
        assert response.status == 302
        assert response.headers["location"].startswith("/sign-in?next=")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"client_id": None}, "client_id is missing."),
        ({"client_id": ""}, "client_id is missing."),
        ({"redirect_uri": None}, "redirect_uri is not an address of this client. It is missing."),
        ({"redirect_uri": ""}, "redirect_uri is not an address of this client."),
        ({"redirect_uri": "https://evil.example/callback"}, "redirect_uri is not an address of "),
        ({"redirect_uri": "http://127.0.0.1.evil.example/callback"}, "redirect_uri is not an "),
        ({"redirect_uri": "http://127.0.0.1:1@evil.example/callback"}, "redirect_uri is not an "),
        ({"redirect_uri": "http://127.0.0.1:1/other"}, "redirect_uri is not an address of this "),
        ({"redirect_uri": "https://127.0.0.1:1/callback"}, "redirect_uri is not an address of "),
        ({"redirect_uri": "http://127.0.0.1:1/callback#x"}, "redirect_uri is not an address of "),
        ({"redirect_uri": "https://other.example/back"}, "redirect_uri is not an address of this"),
        ({"client_id": "other", "redirect_uri": "https://other.example:8443/back"}, "redirect_uri"),
        (
            {"redirect_uri": 'http://x/"\\é\r\n'},
            "redirect_uri is not an address of this client. It is http://x/%22%5C%C3%A9%0D%0A - ",
        ),
        (
            {"redirect_uri": f"http://x/{'y' * 5000}"},
            f"redirect_uri is not an address of this client. It is http://x/{'y' * 111}... - ",
        ),
        ({"response_type": "token", "redirect_uri": "https://evil.example/"}, "response_type must"),
        ({"response_type": '"é', "client_id": "nobody"}, "response_type must be code."),
    ],
)
@pytest.mark.parametrize("is_signed_in", [True, False])
def test_nobody_is_ever_sent_to_an_address_that_is_not_registered(
    ann: Browsing, changes: dict[str, str | None], sentence: str, is_signed_in: bool
) -> None:
    browsing = ann if is_signed_in else Browsing(ann.site)

    response = browsing.get(authorize_address(**changes))

    assert response.status == 400
    assert "location" not in response.headers
    assert browsing.title == STRANGE
    assert browsing.page.one("p", class_="lead").text.startswith(sentence)


@pytest.mark.parametrize(
    ("client_id", "shown"),
    [
        ("acme-publish", "'acme-publish'"),
        ('x"é\\', r"""'x"\xe9\\'"""),
        ("<b>bold</b>\u202e\x1b[2J", r"'<b>bold</b>\u202e\x1b[2J'"),
        ("x" * 5000, f"'{'x' * 79}…'"),
    ],
)
def test_a_client_that_is_not_registered_is_named_with_the_setting_that_registers_it(
    house: InProcessSite, client_id: str, shown: str
) -> None:
    browsing = Browsing(house)

    response = browsing.get(authorize_address(client_id=client_id))

    assert (response.status, browsing.title) == (400, UNKNOWN)
    assert "location" not in response.headers
    sentence = (
        f"The program that sent you here calls itself {shown}, and no program with this client id "
        "is registered. If you operate this catalog, register it with the setting oauth_clients: "
        "its id, its name and its redirect address."
    )
    assert browsing.page.one("p", class_="lead").text == sentence
    plain = house.get(authorize_address(client_id=client_id))
    assert plain.json() == {"error": "invalid_request", "error_description": sentence}


def test_the_form_cannot_lead_there_either(ann: Browsing) -> None:
    ann.get(authorize_address())
    fields = {**ann.hidden_fields(authorize_address()), "decision": "continue"}

    response = ann.post(authorize_address(redirect_uri="https://evil.example/"), fields)

    assert (response.status, ann.title) == (400, STRANGE)


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"response_type": "token"}, "unsupported_response_type", "response_type must be code."),
        ({"response_type": None}, "unsupported_response_type", "response_type must be code."),
        ({"response_type": "code token"}, "unsupported_response_type", "response_type must be "),
        ({"response_type": '"é\\'}, "unsupported_response_type", "response_type must be code."),
        ({"scope": "offline_access"}, "invalid_scope", "scope has nothing that is known here: o"),
        ({"code_challenge": None}, "invalid_request", "code_challenge is missing: PKCE is needed"),
        (
            {"code_challenge": None, "code_challenge_method": None},
            "invalid_request",
            "code_challenge is missing: PKCE is needed here.",
        ),
        ({"code_challenge_method": "plain"}, "invalid_request", "code_challenge_method must be "),
        ({"code_challenge_method": None}, "invalid_request", "code_challenge_method must be S256."),
        ({"code_challenge_method": "s256"}, "invalid_request", "code_challenge_method must be "),
        ({"code_challenge": "short"}, "invalid_request", "Invalid 'code_challenge'"),
        ({"code_challenge": CHALLENGE + "é"}, "invalid_request", "Invalid 'code_challenge'"),
    ],
)
@pytest.mark.parametrize("is_signed_in", [True, False])
def test_other_errors_are_reported_to_the_program(
    ann: Browsing, changes: dict[str, str | None], error: str, sentence: str, is_signed_in: bool
) -> None:
    response = (ann if is_signed_in else Browsing(ann.site)).get(authorize_address(**changes))

    assert response.status == 302
    assert response.headers["location"].startswith(f"{CALLBACK}?error=")
    told = query_of(response)
    assert told.pop("error_description").startswith(sentence)
    assert told == {"error": error, "state": "a state", "iss": ISSUER}


@pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state", "code_challenge", "scope"])
def test_a_parameter_that_comes_twice_is_refused(ann: Browsing, name: str) -> None:
    response = ann.get(f"{authorize_address()}&{name}=x")

    assert (response.status, ann.title) == (400, STRANGE)
    assert ann.page.one("p", class_="lead").text == f"{name} is there more than once."


def test_a_state_comes_back_as_it_was(ann: Browsing) -> None:
    state = "a&b=c#d \"'<é>%00"
    assert query_of(ann.get(authorize_address(state=state, code_challenge=None)))["state"] == state


def test_without_a_state_none_comes_back(ann: Browsing) -> None:
    assert "state" not in query_of(ann.get(authorize_address(state=None, code_challenge=None)))


def test_other_clients_are_asked_for_by_their_own_name(ann: Browsing) -> None:
    address = authorize_address(client_id="other", redirect_uri="https://other.example/back")

    response = ann.get(address)

    assert ann.title == "Other Tool wants to publish as @ann"
    assert (
        "form-action 'self' https://other.example;" in response.headers["content-security-policy"]
    )
    sent = ann.submit(address, decision="continue")
    assert sent.headers["location"].startswith("https://other.example/back?code=")


def test_without_a_session_the_form_leads_to_sign_in(house: InProcessSite) -> None:
    address = authorize_address()

    response = Browsing(house).post(address, {"decision": "continue"})

    assert (response.status, response.headers["location"]) == (
        302,
        f"/sign-in?next={quote(address, safe='')}",
    )


def test_somebody_else_can_sign_in_in_between(house: InProcessSite) -> None:
    browsing = Browsing(house).sign_in("ann")
    address = authorize_address()
    browsing.get(address)

    response = browsing.submit("/sign-out")

    assert (response.status, response.headers["location"]) == (303, address)
    assert browsing.cookies == {}


def test_other_methods_are_refused_on_a_page_or_as_programs_want_it(house: InProcessSite) -> None:
    page = house.request("DELETE", f"{BASE}/authorize", accept="text/html")
    plain = house.request("DELETE", f"{BASE}/authorize")

    assert (page.status, page.headers["allow"]) == (405, "GET, HEAD, POST")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert (plain.status, plain.headers["allow"]) == (405, "GET, HEAD, POST")
    assert list(plain.json()) == ["error", "error_description"]


@pytest.mark.parametrize("port", ["0", "65536", "99999"])
def test_a_port_that_is_none_is_no_address_of_a_client(house: InProcessSite, port: str) -> None:
    address = f"http://127.0.0.1:{port}/callback"
    fields = {"client_id": "widget-cli", "redirect_uri": address, "response_type": "code"}
    query = urlencode(fields)

    response = house.get(f"{BASE}/authorize?{query}")

    sentence = (
        f"redirect_uri is not an address of this client. It is {address} - the operator registers "
        "addresses with the setting oauth_clients."
    )
    told = {"error": "invalid_request", "error_description": sentence}
    assert (response.status, response.json()) == (400, told)

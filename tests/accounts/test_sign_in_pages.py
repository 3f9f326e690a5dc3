"""The pages to sign in, to list sessions, and to answer an invitation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.browsing import PERSONAL, Browsing
from support.people import PASSWORD, a_person, signed_in
from support.site import InProcessSite

WRONG = "The username or the password is wrong."


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path_factory.mktemp("house") / "data") as site:
        a_person(site, "ann")
        yield site


def test_the_front_page_leads_to_sign_in(house: InProcessSite) -> None:
    browsing = Browsing(house)
    assert browsing.get("/").headers["cache-control"] == "no-cache"
    assert "/sign-in" in browsing.page.links


def test_the_page_to_sign_in_can_be_filled_in_by_a_password_manager(house: InProcessSite) -> None:
    browsing = Browsing(house)

    response = browsing.get("/sign-in")

    assert (response.status, response.headers) == (200, PERSONAL)
    assert browsing.title == "Sign in"
    assert browsing.errors == []
    fields = [
        (
            field.attributes["name"],
            field.attributes.get("type"),
            field.attributes.get("autocomplete"),
        )
        for field in browsing.page.all("input")
    ]
    assert fields == [
        ("next", "hidden", None),
        ("username", None, "username"),
        ("password", "password", "current-password"),
    ]
    labels = [it.attributes["for"] for it in browsing.page.all("label")]
    assert labels == ["username", "password"]


def test_signing_in_leads_to_one_s_account(house: InProcessSite) -> None:
    browsing = Browsing(house)
    browsing.get("/sign-in")

    response = browsing.submit("/sign-in", username=" ann ", password=PASSWORD)

    assert (response.status, response.headers["location"]) == (303, "/account")
    cookie = response.headers["set-cookie"]
    assert cookie.startswith("__Host-session=wcs_")
    assert cookie.endswith("; Max-Age=7776000; Path=/; HttpOnly; SameSite=Lax; Secure")
    assert browsing.get("/account").status == 200
    assert browsing.title == "@ann"


def test_who_is_signed_in_need_not_sign_in(house: InProcessSite) -> None:
    browsing = Browsing(house).sign_in("ann")
    for address, place in (
        ("/sign-in", "/account"),
        ("/sign-in?next=/device", "/device"),
        ("/sign-in?next=//evil.example", "/account"),
    ):
        response = browsing.get(address)
        assert (response.status, response.headers["location"]) == (302, place)


def test_a_second_tab_can_sign_in_too(house: InProcessSite) -> None:
    browsing = Browsing(house)
    browsing.get("/sign-in")
    page = browsing.page
    browsing.sign_in("ann")
    browsing.page = page

    assert browsing.submit("/sign-in", username="ann", password=PASSWORD).status == 303


def test_a_wrong_name_and_a_wrong_password_look_the_same(house: InProcessSite) -> None:
    pages = []
    for username, password in (("ann", "a wrong password"), ("eve", PASSWORD), ("eve", "")):
        browsing = Browsing(house)
        browsing.get("/sign-in?next=/device")
        response = browsing.submit("/sign-in", username=username, password=password)
        assert (response.status, response.headers) == (400, PERSONAL)
        assert browsing.errors == [WRONG]
        assert browsing.page.one("input", id="username").attributes["value"] == username
        assert "value" not in browsing.page.one("input", id="password").attributes
        assert browsing.hidden_fields("/sign-in") == {"next": "/device"}
        pages.append(response.body.replace(username.encode(), b"somebody"))
    assert pages[0] == pages[1] == pages[2]


def test_who_fails_too_often_has_to_wait(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        a_person(site, "ann")
        browsing = Browsing(site)
        for _ in range(5):
            response = browsing.post("/sign-in", {"username": "ann", "password": "wrong"})
            assert response.status == 400

        response = browsing.post("/sign-in", {"username": "ann", "password": PASSWORD})

        assert response.status == 429
        assert 0 < int(response.headers["retry-after"]) <= 900
        assert browsing.errors[0].startswith("Too many failed attempts to sign in. Try again in ")


@pytest.mark.parametrize(
    "place",
    ["/", "/device?user_code=AB", "/docs/api#x", "/a//b", "/.//evil.example", "/@evil.example"],
)
def test_one_goes_on_to_where_one_wanted_to_go(house: InProcessSite, place: str) -> None:
    browsing = Browsing(house)
    response = browsing.post("/sign-in", {"username": "ann", "password": PASSWORD, "next": place})
    assert (response.status, response.headers["location"]) == (303, place)


@pytest.mark.parametrize(
    "place",
    ["", "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example",
     "https://evil.example", "https:evil.example", "javascript:alert(1)", "evil.example", "account",
     " /account", "/\t/evil.example", "/\n/evil.example", "/a\r\nset-cookie: x=y", "/\x00", "/é",
     "/" + "a" * 9000],
)  # fmt: skip
def test_nobody_is_led_to_another_site(house: InProcessSite, place: str) -> None:
    browsing = Browsing(house)
    fields = {"username": "ann", "password": PASSWORD, "next": place}

    response = browsing.post("/sign-in", fields)

    assert (response.status, response.headers["location"]) == (303, "/account")
    signed_out = browsing.get("/account") and browsing.submit("/sign-out", next=place)
    assert (signed_out.status, signed_out.headers["location"]) == (303, "/")


@pytest.mark.parametrize("path", ["/sign-in", "/join"])
@pytest.mark.parametrize(
    "headers",
    [{"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"}, {"origin": "null"}],
    ids=str,
)
def test_no_other_site_can_sign_somebody_in(
    open_site: InProcessSite, path: str, headers: dict[str, str]
) -> None:
    response = Browsing(open_site).post(path, {"username": "ann"}, **headers)

    assert response.status == 403
    assert response.headers == PERSONAL


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://catalog.example", "host": "catalog.example"},
        {"origin": "https://evil.example", "host": "evil.example"},
        {"origin": "https://catalog.example:8443", "host": "catalog.example:8443"},
        {"origin": "https://[", "host": "["},
    ],
    ids=str,
)
def test_with_a_base_url_its_origin_alone_sends_forms(
    house: InProcessSite, headers: dict[str, str]
) -> None:
    fields = {"username": "ann", "password": PASSWORD}

    assert Browsing(house).post("/sign-in", fields, **headers).status == 403
    for origin in ("https://catalog.example", "https://catalog.example:443"):
        assert Browsing(house).post("/sign-in", fields, origin=origin).status == 303


def test_without_a_base_url_the_host_tells_which_pages_are_ours(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data", base_url="") as site:
        a_person(site, "ann")
        fields = {"username": "ann", "password": PASSWORD}
        for origin, host, status in (
            ("http://machine.local:8080", "machine.local:8080", 303),
            ("http://127.0.0.1:8080", "machine.local:8080", 303),
            ("http://evil.example", "machine.local:8080", 403),
            ("null", "machine.local:8080", 403),
        ):
            response = Browsing(site).post("/sign-in", fields, origin=origin, host=host)
            assert response.status == status, (origin, host)


def test_signing_out_ends_the_session(house: InProcessSite) -> None:
    browsing = Browsing(house).sign_in("ann")
    cookie = browsing.cookies["session"]
    browsing.get("/account")

    response = browsing.submit("/sign-out")

    assert (response.status, response.headers["location"]) == (303, "/")
    assert "__Host-session=; Max-Age=0" in response.headers["set-cookie"]
    browsing.cookies["session"] = cookie
    assert browsing.get("/account").headers["location"] == "/sign-in?next=%2Faccount"


@pytest.mark.parametrize(("path", "fields"), [("/sign-out", {}), ("/account", {"end": "others"})])
def test_no_other_site_can_send_one_s_forms(
    house: InProcessSite, path: str, fields: dict[str, str]
) -> None:
    browsing = Browsing(house).sign_in("ann")
    for token in ({}, {"csrf_token": ""}, {"csrf_token": "0" * 64}):
        assert browsing.post(path, {**fields, **token}).status == 403
    assert browsing.get("/account").status == 200
    right = browsing.hidden_fields(path) | fields
    for origin in ("null", "https://evil.example"):
        assert browsing.post(path, right, origin=origin).status == 403
    assert browsing.get("/account").status == 200
    assert browsing.post(path, right, origin="https://catalog.example").status == 303


def browsers(browsing: Browsing) -> list[str]:
    """The sessions listed on the page."""
    names = [it.text for it in browsing.page.all("strong")]
    return [it for it in names if it.endswith("browser")]


def test_the_account_tells_where_one_is_signed_in_and_ends_it(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        a_person(site, "ann", is_operator=True)
        here = Browsing(site).sign_in("ann")
        here.get("/account")
        lead = here.page.one("p", class_="lead").text
        assert lead == "ann@example.org · operator of this catalog"
        assert browsers(here) == ["This browser", "Another browser"]
        (end,) = [
            button.attributes["value"] or ""
            for button in here.page.all("button", name="end")
            if button.text == "Sign out"
        ]

        response = here.submit("/account", end=end)

        assert (response.status, response.headers["location"]) == (303, "/account")
        here.get("/account")
        assert browsers(here) == ["This browser"]
        assert here.submit("/account", end=end).status == 404


def test_the_account_names_the_browsers_and_marks_this_one(tmp_path: Path) -> None:
    firefox = "Mozilla/5.0 (Windows NT 10.0; rv:145.0) Gecko/20100101 Firefox/145.0"
    safari = "Mozilla/5.0 (iPhone) AppleWebKit/605 Version/26.0 Mobile/15E148 Safari/604.1"
    with InProcessSite(tmp_path / "data") as site:
        a_person(site, "ann")
        for user_agent in (safari, firefox):
            here = Browsing(site)
            fields = {"username": "ann", "password": PASSWORD}
            assert here.post("/sign-in", fields, user_agent=user_agent).status == 303

        here.get("/account")

        names = [it.text for it in here.page.all("strong")]
        assert names[:3] == ["Firefox on Windows", "Safari on iPhone", "Another browser"]
        assert [it.text for it in here.page.all("em")][-1:] == ["this browser"]


def test_one_can_sign_out_everywhere_else(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        elsewhere = a_person(site, "ann")
        eve = a_person(site, "eve")
        here = Browsing(site).sign_in("ann")
        here.get("/account")

        assert here.submit("/account", end="others").status == 303

        assert here.get("/account").status == 200
        assert elsewhere.get("/api/auth/session").status == 401
        assert eve.get("/api/auth/session").status == 200


def test_nobody_ends_the_session_of_somebody_else(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        ann = a_person(site, "ann")
        a_person(site, "eve")
        theirs = ann.get("/api/auth/sessions").json()["sessions"][0]["id"]
        eve = Browsing(site).sign_in("eve")
        eve.get("/account")

        assert eve.submit("/account", end=theirs).status == 404
        assert ann.get("/api/auth/session").status == 200


def test_where_registration_is_closed_the_page_names_whom_to_ask(house: InProcessSite) -> None:
    title = "Invitation required"
    browsing = Browsing(house)
    fields = {"username": "eve", "email": "eve@example.org", "password": PASSWORD}
    for response in (browsing.get("/join"), browsing.post("/join", fields)):
        assert (response.status, response.headers, browsing.title) == (403, PERSONAL, title)
        sentence = "Registration is closed here. Ask the operator for an invitation."
        assert browsing.page.one("p", class_="lead").text == sentence
    browsing.get("/sign-in")
    assert "/join" not in browsing.page.links


@pytest.mark.parametrize(("decision", "title"), [("accept", "Welcome"), ("decline", "Declined")])
def test_an_invitation_to_an_organization_is_answered_on_a_page(
    tmp_path: Path, decision: str, title: str
) -> None:
    with InProcessSite(tmp_path / "data") as site:
        ann = a_person(site, "ann")
        a_person(site, "mia")
        ann.post("/api/organizations", {"slug": "acme", "displayName": "Acme"})
        body = {"email": "mia@example.org", "role": "admin"}
        made = ann.post("/api/organizations/acme/invitations", body).json()
        address = made["link"].removeprefix("https://catalog.example")
        mia = Browsing(site)
        assert mia.get(address).status == 200
        assert mia.title == "You are invited to Acme"
        place = mia.page.one("a", class_="button").attributes["href"] or ""
        assert place.startswith("/sign-in?next=/invitation%3Fid%3D")
        mia.get(place)
        back = mia.submit("/sign-in", username="mia", password=PASSWORD)
        assert back.headers["location"] == address
        mia.get(address)
        assert mia.title == "Join Acme?"
        lead = mia.page.one("p", class_="lead").text
        assert lead == "@ann invites you, @mia, to the organization Acme (acme) as an admin."

        response = mia.submit(address, decision=decision)

        assert (response.status, mia.title) == (200, title)
        roles = {it["username"] for it in ann.get("/api/organizations/acme").json()["members"]}
        assert roles == ({"ann", "mia"} if decision == "accept" else {"ann"})
        assert mia.get(address).status == 404
        assert ann.get("/api/organizations/acme/invitations").json() == {"invitations": []}


@pytest.mark.parametrize(
    ("registration", "hint"),
    [
        ("open", "No account yet? Create one, and you will be redirected here."),
        ("invitation", "No account yet? You also need an invitation to this catalog: ask @ann or "),
        ("closed", "No account yet? You also need an invitation to this catalog: ask @ann or "),
    ],
)
def test_anyone_who_has_the_link_of_an_invitation_is_shown_what_to_do(
    tmp_path: Path, registration: str, hint: str
) -> None:
    with InProcessSite(tmp_path / "data", registration=registration) as site:
        ann, visitor = a_person(site, "ann"), Browsing(site)
        ann.post("/api/organizations", {"slug": "acme", "displayName": "Acme"})
        made = ann.post("/api/organizations/acme/invitations", {"email": "x@example.org"}).json()
        address = made["link"].removeprefix("https://catalog.example")

        response = visitor.get(address)

        assert (response.status, response.headers) == (200, PERSONAL)
        assert visitor.title == "You are invited to Acme"
        assert "@ann invites you to the organization Acme (acme) as a member." in (
            visitor.page.one("p", class_="lead").text
        )
        assert visitor.page.one("p", class_="hint").text.startswith(hint)
        # Without the secret, nothing is revealed.
        asked = visitor.get(address[:-1])
        assert (asked.status, asked.body) == (302, b"")


@pytest.mark.parametrize("query", ["", "?id=x", "?id=x&secret=y", "?id=%00&secret=%FF"])
def test_an_invitation_that_is_none_is_not_found(house: InProcessSite, query: str) -> None:
    browsing = Browsing(house).sign_in("ann")
    response = browsing.get(f"/invitation{query}")
    assert (response.status, browsing.title) == (404, "Not found")


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/join", "/account", "/device"])
def test_other_methods_are_refused_on_a_page(house: InProcessSite, path: str) -> None:
    ann = signed_in(house, "ann")
    response = house.request("PUT", path, **ann.headers)

    assert response.status == 405
    assert response.headers["allow"] in ("GET, HEAD, POST", "POST")
    assert response.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", ["/sign-in", "/account", "/join", "/device"])
def test_head_is_get_without_the_page(house: InProcessSite, path: str) -> None:
    ann = signed_in(house, "ann")
    got, head = (house.request(method, path, **ann.headers) for method in ("GET", "HEAD"))
    assert (head.status, head.headers, head.body) == (got.status, got.headers, b"")


def test_a_form_without_end_is_refused_on_a_page(house: InProcessSite) -> None:
    response = house.request("POST", "/sign-in", b"x=" + b"y" * 20_000)
    assert response.status == 413
    assert response.headers["content-type"] == "text/html; charset=utf-8"

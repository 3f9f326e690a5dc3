"""Signing in through an OpenID Connect provider: a real one."""

import base64
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from accounts.oidc.providers import Provider, running_provider
from accounts.oidc.through_provider import CLIENT, HERE, begin, come_back, usernames
from support.browsing import Browsing
from support.people import PASSWORD, a_person
from support.site import InProcessSite, Reply
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.accounts.oidc.account_linking import Person
from widget_catalog.catalog.node.opening import open_keys
from widget_catalog.core.keys import sign_value
from widget_catalog.mirror.store import Mirror, save_mirror


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with running_provider(tmp_path_factory.mktemp("provider")) as made:
        yield made


@pytest.fixture
def house(tmp_path: Path, provider: Provider) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path / "data", oidc_issuer=provider.url, **CLIENT) as site:
        a_person(site, "ann")
        yield site


def sign_in(browsing: Browsing, provider: Provider, subject: str, next_: str = "") -> Reply:
    return come_back(browsing, provider.sign_in(begin(browsing, next_), subject))


def test_the_page_to_sign_in_and_the_settings_tell_of_it(house: InProcessSite) -> None:
    browsing = Browsing(house)
    browsing.get("/sign-in?next=/device")
    links = browsing.page.all("a", class_="button")
    assert [(it.text, it.attributes["href"]) for it in links] == [
        ("Sign in with a passkey", "/sign-in/passkey?next=/device"),
        ("Sign in with Example", "/api/auth/oidc?next=/device"),
    ]
    assert house.get("/api/settings").json()["signIn"] == ["password", "oidc"]


def test_without_a_provider_there_is_no_such_way(site: InProcessSite) -> None:
    browsing = Browsing(site)
    browsing.get("/sign-in")
    links = browsing.page.all("a", class_="button")
    assert [it.text for it in links] == ["Sign in with a passkey"]
    for cookies in ({}, {"signing-in": _sealed(site, "eve")}):
        browsing.cookies = dict(cookies)
        for path in ("/api/auth/oidc", "/api/auth/oidc/callback?code=x", "/join/name"):
            assert browsing.get(path).status == 404
        form = {"username": "eve", "email": "eve@example.org"}
        assert browsing.post("/join/name", form).status == 404
    assert usernames(site) == []
    assert site.get("/api/settings").json()["signIn"] == ["password"]


def test_a_copy_of_the_database_signs_nothing_that_counts_here(
    house: InProcessSite, provider: Provider, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    backup.mkdir()
    shutil.copy(house.node.folder.database, backup)
    settings = {"oidc_issuer": provider.url, **CLIENT}
    with InProcessSite(backup, **settings) as elsewhere:
        thief = Browsing(elsewhere)
        thief.cookies["signing-in"] = _sealed(elsewhere, "eve")
        assert thief.get("/join/name").status == 200

    browsing = Browsing(house)
    browsing.cookies = dict(thief.cookies)

    assert browsing.get("/join/name").status == 400
    browsing.cookies["signing-in"] = _sealed(house, "eve")
    assert browsing.get("/join/name").status == 200


def _sealed(site: InProcessSite, username: str) -> str:
    """The signed value in a newcomer's browser, with the keys of this site's folder."""
    store = site.node.store
    newcomer = Person("https://provider.example", "1", username, f"{username}@example.org")
    keys = open_keys(site.node.folder, store, site.settings)
    return sign_value(keys.for_purpose("signing in"), newcomer, store.now_ms())


def test_one_is_sent_there_with_everything_that_protects_the_way_back(
    house: InProcessSite, provider: Provider
) -> None:
    browsing = Browsing(house)

    response = browsing.get("/api/auth/oidc")

    place = urlsplit(response.headers["location"])
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
    cookie = response.headers["set-cookie"]
    assert cookie.endswith("; Max-Age=900; Path=/; HttpOnly; SameSite=Lax; Secure")


def test_a_newcomer_gets_an_account_and_keeps_it(house: InProcessSite, provider: Provider) -> None:
    for _ in range(2):
        browsing = Browsing(house)
        response = sign_in(browsing, provider, "1", "/device")

        assert (response.status, response.headers["location"]) == (303, "/device")
        assert list(browsing.cookies) == ["session"]
        session = browsing.get("/api/auth/session").json()
        assert (session["username"], session["email"]) == ("bob-smith", "bob@example.com")
        assert session["isOperator"] is False
    assert usernames(house) == ["ann", "bob-smith"]


def test_who_came_that_way_has_no_password(house: InProcessSite, provider: Provider) -> None:
    sign_in(Browsing(house), provider, "1")
    for password in ("", PASSWORD):
        response = Browsing(house).post("/sign-in", {"username": "bob-smith", "password": password})
        assert response.status == 400


def test_a_name_that_is_taken_is_asked_for(house: InProcessSite, provider: Provider) -> None:
    browsing = Browsing(house)

    response = sign_in(browsing, provider, "2", "/device")

    assert (response.status, response.headers["location"]) == (303, "/join/name")
    browsing.get("/join/name")
    assert browsing.title == "Choose a name"
    values = [it.attributes["value"] for it in browsing.page.all("input")]
    assert values == ["ann", "ann@elsewhere.example"]
    refused = browsing.submit("/join/name", username="ann", email="ann@elsewhere.example")
    assert (refused.status, browsing.errors) == (409, ["The name ann is taken. Choose another."])
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

    response = sign_in(browsing, provider, "3")

    assert response.headers["location"] == "/join/name"
    assert "session" not in browsing.cookies
    browsing.get("/join/name")
    assert "Already have an account?" in browsing.page.one("main").text
    made = browsing.submit("/join/name", username="annie", email="ann@example.org")
    assert made.status == 303
    assert usernames(house) == ["ann", "annie"]
    assert browsing.get("/api/auth/session").json()["username"] == "annie"


def test_who_is_signed_in_can_connect(house: InProcessSite, provider: Provider) -> None:
    ann = Browsing(house).sign_in("ann")
    ann.get("/account")
    ann.submit("/account/connect")
    assert ann.title == "Connect Example"
    place = ann.page.one("a", class_="button").attributes["href"] or ""

    response = come_back(ann, provider.sign_in(place, "3"))

    assert (response.status, response.headers["location"]) == (303, "/account")
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

    response = come_back(ann, provider.sign_in(place, "1"))

    assert response.status == 409
    sentence = "You are connected with another account here already."
    assert ann.page.one("p", class_="lead").text == sentence


def test_no_other_site_can_connect_its_own_person(house: InProcessSite, provider: Provider) -> None:
    ann = Browsing(house).sign_in("ann")
    assert ann.post("/account/connect", {}).status == 403

    sign_in(ann, provider, "5")  # An ordinary sign-in is for somebody else, and connects nothing.

    assert ann.get("/api/auth/session").json()["username"] == "dora"
    other = Browsing(house)
    sign_in(other, provider, "5")
    assert other.get("/api/auth/session").json()["username"] == "dora"


def test_the_session_that_the_browser_had_ends(house: InProcessSite, provider: Provider) -> None:
    """For a new person, for a known one, and for one who was asked for a name."""
    elsewhere = Browsing(house).sign_in("ann")
    for subject in ("1", "1", "2"):
        browsing = Browsing(house).sign_in("ann")
        former = browsing.cookies["session"]

        sign_in(browsing, provider, subject)
        if subject == "2":
            browsing.get("/join/name")
            browsing.submit("/join/name", username="ann-b", email="ann@elsewhere.example")

        assert browsing.get("/api/auth/session").json()["username"] != "ann"
        browsing.cookies["session"] = former
        assert browsing.get("/api/auth/session").status == 401
    assert elsewhere.get("/api/auth/session").status == 200


def test_who_signs_out_on_the_way_connects_nothing(
    house: InProcessSite, provider: Provider
) -> None:
    ann = Browsing(house).sign_in("ann")
    ann.get("/account")
    ann.submit("/account/connect")
    place = ann.page.one("a", class_="button").attributes["href"] or ""
    del ann.cookies["session"]

    response = come_back(ann, provider.sign_in(place, "3"))

    assert response.status == 400
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
        response = sign_in(Browsing(site), provider, "1")

        assert response.status == status
        assert usernames(site) == (["bob-smith"] if status == 303 else [])


def test_at_a_mirror_only_those_who_have_an_account_come_in_that_way(
    house: InProcessSite, provider: Provider
) -> None:
    assert sign_in(Browsing(house), provider, "1").status == 303
    with house.node.store.publishing() as tx:
        save_mirror(tx, Mirror("https://origin.example", "id"))
    before = usernames(house)

    response = sign_in(Browsing(house), provider, "2")

    assert response.status == 403
    assert b"This catalog is a mirror, where nobody makes an account." in response.body
    assert usernames(house) == before
    assert sign_in(Browsing(house), provider, "1").status == 303


def test_a_disabled_account_does_not_come_in_that_way(
    house: InProcessSite, provider: Provider
) -> None:
    sign_in(Browsing(house), provider, "1")
    set_disabled(house.node.store, "bob-smith", is_disabled=True)
    browsing = Browsing(house)

    response = sign_in(browsing, provider, "1")

    assert (response.status, "session" in browsing.cookies) == (403, False)


def test_who_denies_is_not_signed_in(house: InProcessSite, provider: Provider) -> None:
    browsing = Browsing(house)

    response = come_back(browsing, provider.deny(begin(browsing)))

    assert (response.status, browsing.title) == (400, "That did not work")
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

    response = come_back(browsing, provider.sign_in(changed, "1"))

    assert response.status == (400 if change == "state" else 502)
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

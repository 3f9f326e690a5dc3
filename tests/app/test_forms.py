"""Every form: a rejected value is reported at its field, and what was typed is kept."""

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from support.browsing import Browsing, browser_of
from support.html import Element, Html
from support.routes import Form, of_rooms
from support.site_with_people import BuiltPeople, People

VERSION = "/account/widgets/acme/clock/versions/1.0.0"
ACME = "/account/organizations/acme"
LONG = "too-long" * 80
SECRET = "not the password at all"


FORMS = {
    "sign in": Form("", "/sign-in", {"username": "ann", "password": SECRET}, ("password",)),
    "join": Form(
        "",
        "/join",
        {"username": "A b", "email": "me", "password": "x"},
        ("username", "email", "password"),
    ),
    "change the password": Form(
        "ann",
        "/account/password",
        {"current": SECRET, "new": SECRET},
        ("password-current",),
        prefix="password-",
    ),
    "close the account": Form(
        "ann", "/account/close", {"username": "anne", "password": SECRET}, ("username",)
    ),
    "close the account with a wrong password": Form(
        "ann", "/account/close", {"username": "ann", "password": SECRET}, ("password",)
    ),
    "confirm": Form("ann", "/account/confirm", {"password": SECRET}, ("password",)),
    "token": Form(
        "ann",
        "/account/tokens/new",
        {"name": "", "places": "no/such no!", "days": "0"},
        ("name", "may", "places", "days"),
    ),
    "code of a device": Form("ann", "/device", {"user_code": "XXXX-XXXX"}, ("user_code",)),
    "app": Form("ann", "/account/second-factor/new-app", {"code": "12"}, ("code",)),
    "passkey": Form("ann", "/account/second-factor/new-passkey", {"name": LONG}, ("name",)),
    "publish": Form(
        "ann", "/account/publish", {"scope": "no!", "name": "a b"}, ("manifest", "bundle", "scope")
    ),
    "organization": Form(
        "ann",
        "/account/organizations",
        {"slug": "A b", "display_name": "Acme"},
        ("create-slug",),
        prefix="create-",
    ),
    "organization without a display name": Form(
        "ann",
        "/account/organizations",
        {"slug": "newer", "display_name": ""},
        ("create-display_name",),
        prefix="create-",
    ),
    "invite": Form(
        "ann",
        ACME,
        {"who": "nobody", "role": "member"},
        ("invite-who",),
        f"{ACME}/invitations",
        "invite-",
    ),
    "invite with no role": Form(
        "ann",
        ACME,
        {"who": "eve", "role": "king"},
        ("invite-role",),
        f"{ACME}/invitations",
        "invite-",
    ),
    "role": Form("ann", ACME, {"role": "king"}, ("role-abe",), f"{ACME}/members/abe"),
    "transfer": Form(
        "ann", ACME, {"username": "nobody"}, ("transfer-username",), f"{ACME}/transfer", "transfer-"
    ),
    "publishers": Form(
        "ann",
        "/account/widgets/acme/clock",
        {"publishers": "eve"},
        ("publishers-publishers",),
        "/account/widgets/acme/clock/publishers",
        "publishers-",
    ),
    "unlist": Form(
        "ann",
        "/account/widgets/acme/clock",
        {"reason": LONG},
        ("unlist-reason",),
        "/account/widgets/acme/clock/unlist",
        "unlist-",
    ),
    "yank": Form("ann", VERSION, {"reason": LONG}, ("yank-reason",), f"{VERSION}/yank", "yank-"),
    "deprecate": Form(
        "ann",
        VERSION,
        {"message": LONG},
        ("deprecate-message",),
        f"{VERSION}/deprecate",
        "deprecate-",
    ),
    "invite to the catalog": Form(
        "olly",
        "/operate/invitations",
        {"email": "me", "role": "author"},
        ("invite-email",),
        prefix="invite-",
    ),
    "invite with no role to the catalog": Form(
        "olly",
        "/operate/invitations",
        {"email": "", "role": "king"},
        ("invite-role",),
        prefix="invite-",
    ),
    "accounts": Form("olly", "/operate/accounts", {"q": "a\u202eb"}, ("q",), "GET"),
    "widgets": Form("olly", "/operate/widgets", {"q": "A b"}, ("q",), "GET"),
    "audit log": Form(
        "olly",
        "/operate/audit",
        {"actor": "ann", "action": "", "scope": "acme", "since": "soon", "until": ""},
        ("since",),
        "GET",
    ),
}
for _room in of_rooms("declared_routes"):
    FORMS |= getattr(_room, "FORMS", {})


@pytest.fixture(scope="module")
def people(built_people: BuiltPeople, tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    with People(
        built_people, tmp_path_factory.mktemp("forms") / "data", registration="open"
    ) as people:
        yield people


@pytest.mark.parametrize("name", FORMS)
def test_an_error_is_at_its_field_and_what_was_typed_is_kept(people: People, name: str) -> None:
    form = FORMS[name]
    browsing = browser_of(getattr(people, form.who)) if form.who else Browsing(people.site)
    if form.action == "GET":
        response = browsing.get(f"{form.page}?{urlencode(form.typed)}")
    else:
        assert browsing.get(form.page).status == 200
        response = browsing.submit(form.action or form.page, **form.typed)
    assert 400 <= response.status < 500

    page = browsing.page
    (alert,) = page.all("div", role="alert")
    if len(form.wrong) > 1:
        linked = {it.attributes["href"] for it in inside(page, alert, "a")}
        assert linked == {f"#{id_}" for id_ in form.wrong}
    else:  # It has the cursor, and says itself what is wrong.
        assert alert.attributes["id"] == f"faults-{form.wrong[0]}"
    for id_ in form.wrong:
        field = by_id(page, id_)
        assert f"faults-{id_}" in (field.attributes["aria-describedby"] or "").split()
        assert field.tag == "fieldset" or field.attributes["aria-invalid"] == "true"
        assert by_id(page, f"faults-{id_}").text
    for key, value in form.typed.items():
        assert_kept(page, form.prefix + key, value)
    marked = [it.attributes.get("id") for it in page.elements if "aria-invalid" in it.attributes]
    assert set(marked) <= set(form.wrong)
    assert len([it for it in page.elements if "autofocus" in it.attributes]) <= 1
    assert SECRET.encode() not in response.body


def test_an_error_in_a_row_is_at_the_field_of_this_row(people: People) -> None:
    visitor = Browsing(people.site)
    for text in ("It is broken.", "It is offensive."):
        visitor.get("/report/acme/clock")
        visitor.submit("/report/acme/clock", category="other", text=text)
    olly = browser_of(people.olly)
    olly.get("/operate/reports")
    actions = [it.attributes["action"] or "" for it in olly.page.all("form")]
    other, chosen = [it for it in actions if it.endswith("/resolve")]
    assert olly.submit(chosen, note=LONG).status == 400

    marked = by_id(olly.page, f"note-{chosen.split('/')[-2]}").attributes
    assert (marked["aria-invalid"], marked["value"]) == ("true", LONG)
    free = by_id(olly.page, f"note-{other.split('/')[-2]}").attributes
    assert ("aria-invalid" in free, free["value"]) == (False, "")


def assert_kept(page: Html, id_: str, value: str) -> None:
    found = [it for it in page.elements if it.attributes.get("id") == id_]
    if not found or found[0].tag in ("fieldset", "select"):
        return  # Not one of the options.
    (field,) = found
    if field.tag == "textarea":
        assert field.text == value.strip()
    elif "password" in id_ or (id_.endswith(("current", "new", "code")) and id_ != "user_code"):
        assert "value" not in field.attributes
    else:
        assert field.attributes["value"] == value


def by_id(page: Html, id_: str) -> Element:
    (found,) = [it for it in page.elements if it.attributes.get("id") == id_]
    return found


def inside(page: Html, outer: Element, tag: str) -> list[Element]:
    """The elements of the form's summary: those before the next field."""
    start = page.elements.index(outer) + 1
    rest = page.elements[start:]
    stop = next(i for i, it in enumerate(rest) if it.tag in ("form", "input", "fieldset", "nav"))
    return [it for it in rest[:stop] if it.tag == tag]

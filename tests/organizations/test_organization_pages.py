"""The pages where people manage their organizations."""

import pytest

from support.browsing import Browsing, browser_of
from support.site_with_people import People
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.pages import listing_pages
from widget_catalog.pages.store_reads import MembersReader

HERE = "/account/organizations"
ACME = f"{HERE}/acme"


def roles(people: People) -> dict[str, str]:
    members = people.ann.get("/api/organizations/acme").json()["members"]
    return {it["username"]: it["role"] for it in members}


def rows(browsing: Browsing) -> list[str]:
    return [it.text for it in browsing.page.all("li")]


def actions(browsing: Browsing) -> list[str]:
    return [it.attributes["action"] or "" for it in browsing.page.all("form")]


def test_an_organization_is_made(people: People) -> None:
    eve = browser_of(people.eve)
    eve.get(HERE)
    assert "You are not a member of any organization." in eve.page.one("main").text
    for slug, status in (("Not a name", 400), ("acme", 409), ("eves", 303)):
        eve.get(HERE)
        response = eve.submit(HERE, slug=slug, display_name="Eve's <b>")
        assert response.status == status
        if status != 303:
            assert eve.page.one("input", id="create-slug").attributes["value"] == slug
            assert len(eve.errors) == 1
    assert response.headers["location"] == f"{HERE}?done=create"
    eve.get(response.headers["location"])
    assert rows(eve) == ["E Eve's <b> @eves owner Widgets"]


def test_roles_are_changed_and_members_removed(people: People) -> None:
    ann = browser_of(people.ann)
    ann.get(ACME)
    assert ann.submit(f"{ACME}/members/mia", role="admin").status == 303
    assert roles(people)["mia"] == "admin"
    ann.get(ACME)
    assert ann.submit(f"{ACME}/members/mia/remove").headers["location"] == f"{ACME}?done=remove"
    assert "mia" not in roles(people)
    ann.get(ACME)
    response = ann.submit(f"{ACME}/members/ann", role="member")
    assert response.status == 409
    assert ann.errors[0].startswith("ann is the last owner of acme")


def test_admins_make_no_owners(people: People) -> None:
    abe = browser_of(people.abe)
    abe.get(ACME)
    assert f"{ACME}/members/ann" not in actions(abe)
    assert f"{ACME}/transfer" not in actions(abe)
    assert abe.submit(f"{ACME}/members/mia", role="owner").status == 403
    assert roles(people)["mia"] == "member"


def test_somebody_is_invited_by_name_and_accepts(people: People) -> None:
    abe, eve = browser_of(people.abe), browser_of(people.eve)
    for who, status in (("", 400), ("nobody", 404), ("mia", 409), ("@eve", 303), ("eve", 409)):
        abe.get(ACME)
        assert abe.submit(f"{ACME}/invitations", who=who, role="admin").status == status, who
    eve.get(HERE)
    (link,) = [it for it in eve.page.links if it.startswith("/invitation?id=")]
    eve.get(link)
    eve.submit(link, decision="accept")
    assert roles(people)["eve"] == "admin"


def test_people_are_invited_to_publish_unless_another_role_is_chosen(people: People) -> None:
    ann = browser_of(people.ann)
    ann.get(ACME)
    select = next(it for it in ann.page.all("select") if it.attributes.get("id") == "invite-role")
    assert select.attributes["aria-describedby"] == "invite-role-hint"
    start = ann.page.elements.index(select)
    options = [it for it in ann.page.elements[start + 1 : start + 4] if it.tag == "option"]
    assert [(it.text, "selected" in it.attributes) for it in options] == [
        ("admin", True),
        ("member", False),
        ("owner", False),
    ]


def test_somebody_is_invited_by_address_and_the_invitation_withdrawn(people: People) -> None:
    ann = browser_of(people.ann)
    ann.get(ACME)
    response = ann.submit(f"{ACME}/invitations", who="bob@example.org", role="member")
    assert response.status == 200
    link = ann.page.one("pre").text.removeprefix("https://catalog.example")
    assert "The link is shown only once." in ann.page.one("main").text
    assert "they also need an invitation to the catalog" in ann.page.one("p", class_="notice").text
    visitor = Browsing(people.site)
    visitor.get(link)
    assert "acme" in visitor.page.one("main").text
    ann.get(ACME)
    (withdraw,) = [it for it in actions(ann) if "/invitations/" in it]
    assert ann.submit(withdraw).status == 303
    assert visitor.get(link).status == 302


def test_members_look_on_and_leave(people: People) -> None:
    mia = browser_of(people.mia)
    mia.get(ACME)
    assert actions(mia) == [f"{ACME}/leave"]
    response = mia.submit(f"{ACME}/leave", leave="yes")
    assert response.headers["location"] == f"{HERE}?done=leave"
    assert mia.get(ACME).status == 403
    ann = browser_of(people.ann)
    ann.get(ACME)
    response = ann.submit(f"{ACME}/leave", leave="yes")
    assert response.status == 409
    assert ann.page.one("div", role="alert").attributes["id"] == "faults-leave"


def test_an_organization_is_transferred(people: People) -> None:
    ann = browser_of(people.ann)
    for username, status in (("eve", 404), ("ann", 400), ("@abe", 303)):
        ann.get(ACME)
        assert ann.submit(f"{ACME}/transfer", username=username).status == status
    assert (roles(people)["abe"], roles(people)["ann"]) == ("owner", "admin")


@pytest.mark.parametrize("name", ["ann", "olly"])
def test_owners_and_operators_read_the_audit_log(people: People, name: str) -> None:
    browsing = browser_of(getattr(people, name))
    assert browsing.get(f"{ACME}/audit").status == 200
    assert any(it.startswith("name publishers acme/clock") for it in rows(browsing))


def public_members(people: People) -> list[tuple[str, str]]:
    """The names and roles on the page of the scope, for anonymous visitors."""
    visitor = Browsing(people.site)
    assert visitor.get("/scopes/acme").status == 200
    if not visitor.page.all("ul", class_="members"):
        return []
    words = visitor.page.one("ul", class_="members").text.split()
    return list(zip(words[1::3], words[2::3], strict=True))  # Each follows the letter of its tile.


def test_owners_make_the_members_public_and_private_again(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MembersReader, "kept_s", 0.0)
    everybody = [("ann", "owner"), ("abe", "admin"), ("mia", "member"), ("pia", "member")]
    action = f"{ACME}/members-public"
    abe, ann = browser_of(people.abe), browser_of(people.ann)
    abe.get(ACME)
    assert action not in actions(abe)
    assert public_members(people) == []

    before = people.site.get("/scopes/acme").headers["etag"]
    ann.get(ACME)
    assert ann.submit(action, public="yes").headers["location"] == f"{ACME}?done=members-public"
    assert public_members(people) == everybody
    assert people.site.get("/scopes/acme").headers["etag"] != before
    visitor = Browsing(people.site)
    visitor.get("/scopes/acme")
    assert "/scopes/ann" in visitor.page.links
    assert "/scopes/mia" not in visitor.page.links, "mia has no widget, so there is no such page"

    people.ann.put("/api/organizations/acme/members/mia", {"role": "admin"})
    people.ann.delete("/api/organizations/acme/members/pia")
    set_disabled(people.site.node.store, "abe", is_disabled=True)
    assert public_members(people) == [("ann", "owner"), ("mia", "admin")]

    ann.get(ACME)
    assert ann.submit(action, public="perhaps").status == 400
    assert ann.errors == ["Use the button to change the visibility of members."]
    assert ann.submit(action, public="no").status == 303
    assert public_members(people) == []
    assert people.site.get("/scopes/acme").headers["etag"] == before


def test_a_large_organization_shows_the_first_of_its_members(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MembersReader, "kept_s", 0.0)
    monkeypatch.setattr(listing_pages, "_MAX_MEMBERS", 3)
    people.ann.put("/api/organizations/acme/settings", {"membersPublic": True})
    assert [name for name, _ in public_members(people)] == ["ann", "abe", "mia"]
    visitor = Browsing(people.site)
    visitor.get("/scopes/acme")
    assert "And 1 more." in visitor.page.one("main").text


def test_a_personal_scope_shows_no_members(people: People) -> None:
    visitor = Browsing(people.site)
    visitor.get("/scopes/ann")
    assert not visitor.page.all("ul", class_="members")

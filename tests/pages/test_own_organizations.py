"""The pages where people look after their organizations."""

import pytest

from support.browsing import Browsing, browser_of
from support.village import Village

HERE = "/account/organizations"
ACME = f"{HERE}/acme"


def roles(village: Village) -> dict[str, str]:
    members = village.ann.get("/api/organizations/acme").json()["members"]
    return {it["username"]: it["role"] for it in members}


def rows(browsing: Browsing) -> list[str]:
    return [it.text for it in browsing.page.all("li")]


def actions(browsing: Browsing) -> list[str]:
    return [it.attributes["action"] or "" for it in browsing.page.all("form")]


def test_an_organization_is_made(village: Village) -> None:
    eve = browser_of(village.eve)
    eve.get(HERE)
    assert "You are in none." in eve.page.one("main").text
    for slug, status in (("Not a name", 400), ("acme", 409), ("eves", 303)):
        eve.get(HERE)
        answer = eve.submit(HERE, slug=slug, display_name="Eve's <b>")
        assert answer.status == status
        if status != 303:
            assert eve.page.one("input", id="slug").attributes["value"] == slug
            assert len(eve.faults) == 1
    assert answer.headers["location"] == f"{HERE}?done=create"
    eve.get(answer.headers["location"])
    assert rows(eve) == ["Eve's <b> @eves owner Widgets"]


def test_roles_are_changed_and_members_removed(village: Village) -> None:
    ann = browser_of(village.ann)
    ann.get(ACME)
    assert ann.submit(f"{ACME}/members/mia", role="admin").status == 303
    assert roles(village)["mia"] == "admin"
    ann.get(ACME)
    assert ann.submit(f"{ACME}/members/mia/remove").headers["location"] == f"{ACME}?done=remove"
    assert "mia" not in roles(village)
    ann.get(ACME)
    answer = ann.submit(f"{ACME}/members/ann", role="member")
    assert answer.status == 409
    assert ann.faults[0].startswith("ann is the last owner of acme")


def test_admins_make_no_owners(village: Village) -> None:
    abe = browser_of(village.abe)
    abe.get(ACME)
    assert f"{ACME}/members/ann" not in actions(abe)
    assert f"{ACME}/transfer" not in actions(abe)
    assert abe.submit(f"{ACME}/members/mia", role="owner").status == 403
    assert roles(village)["mia"] == "member"


def test_somebody_is_invited_by_name_and_accepts(village: Village) -> None:
    abe, eve = browser_of(village.abe), browser_of(village.eve)
    for who, status in (("", 400), ("nobody", 404), ("mia", 409), ("@eve", 303), ("eve", 409)):
        abe.get(ACME)
        assert abe.submit(f"{ACME}/invitations", who=who, role="admin").status == status, who
    eve.get(HERE)
    (link,) = [it for it in eve.page.links if it.startswith("/invitation?id=")]
    eve.get(link)
    eve.submit(link, decision="accept")
    assert roles(village)["eve"] == "admin"


def test_somebody_is_invited_by_address_and_the_invitation_withdrawn(village: Village) -> None:
    ann = browser_of(village.ann)
    ann.get(ACME)
    answer = ann.submit(f"{ACME}/invitations", who="bob@example.org", role="member")
    assert answer.status == 200
    link = ann.page.one("pre").text.removeprefix("https://catalog.example")
    assert "The link is shown this once." in ann.page.one("main").text
    assert "Registration is closed" in ann.page.one("p", class_="notice").text
    stranger = Browsing(village.site)
    stranger.get(link)
    assert "acme" in stranger.page.one("main").text
    ann.get(ACME)
    (withdraw,) = [it for it in actions(ann) if "/invitations/" in it]
    assert ann.submit(withdraw).status == 303
    assert stranger.get(link).status == 302


def test_members_look_on_and_leave(village: Village) -> None:
    mia = browser_of(village.mia)
    mia.get(ACME)
    assert actions(mia) == [f"{ACME}/leave"]
    answer = mia.submit(f"{ACME}/leave", leave="yes")
    assert answer.headers["location"] == f"{HERE}?done=leave"
    assert mia.get(ACME).status == 403
    ann = browser_of(village.ann)
    ann.get(ACME)
    answer = ann.submit(f"{ACME}/leave", leave="yes")
    assert answer.status == 409
    assert ann.page.one("div", role="alert").attributes["id"] == "faults-leave"


def test_an_organization_is_transferred(village: Village) -> None:
    ann = browser_of(village.ann)
    for username, status in (("eve", 404), ("ann", 400), ("@abe", 303)):
        ann.get(ACME)
        assert ann.submit(f"{ACME}/transfer", username=username).status == status
    assert (roles(village)["abe"], roles(village)["ann"]) == ("owner", "admin")


@pytest.mark.parametrize("name", ["ann", "olly"])
def test_owners_and_operators_read_the_audit_log(village: Village, name: str) -> None:
    browsing = browser_of(getattr(village, name))
    assert browsing.get(f"{ACME}/audit").status == 200
    assert any(it.startswith("name publishers acme/clock") for it in rows(browsing))

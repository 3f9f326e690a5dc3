"""Invitations to an organization: by name and by link, answered, withdrawn, over."""

from typing import Any

from api.internal.organizing import DONE, INVITATIONS, roles, told
from support.village import Village
from widget_catalog.actions.manage_account import set_disabled

NOT_FOR_YOU = {"error": "There is no such invitation for you, or it has expired."}


def invite(village: Village, role: str = "member", **whom: str) -> dict[str, Any]:
    answer = village.ann.post(INVITATIONS, {"role": role, **whom})
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json()
    return made


def test_an_invitation_by_name_is_seen_and_accepted_by_that_account_alone(village: Village) -> None:
    made = invite(village, "admin", username="eve")

    assert made == {
        "id": made["id"],
        "organization": "acme",
        "username": "eve",
        "email": None,
        "role": "admin",
        "invitedBy": "ann",
        "expiresAt": made["expiresAt"],
    }
    assert told(village.eve.get("/api/invitations")) == (200, {"invitations": [made]})
    assert told(village.abe.get(INVITATIONS)) == (200, {"invitations": [made]})
    assert told(village.olly.get("/api/invitations")) == (200, {"invitations": []})
    for other in (village.olly, village.mia, village.ann):
        for answer in ("accept", "decline"):
            refused = other.post(f"/api/invitations/{made['id']}/{answer}", {"secret": ""})
            assert told(refused) == (404, NOT_FOR_YOU)

    assert told(village.eve.post(f"/api/invitations/{made['id']}/accept")) == DONE
    assert roles(village.eve)["eve"] == "admin"
    assert village.eve.get("/api/invitations").json() == {"invitations": []}
    again = village.eve.post(f"/api/invitations/{made['id']}/accept")
    assert told(again) == (404, NOT_FOR_YOU)


def test_an_invitation_by_link_is_for_whoever_has_its_secret_once(village: Village) -> None:
    made = invite(village, email="eve@elsewhere.example")
    link = made["link"]
    place, _, secret = link.partition("&secret=")
    assert place == f"https://catalog.example/invitation?id={made['id']}"
    assert secret.startswith("wci_")
    (listed,) = village.ann.get(INVITATIONS).json()["invitations"]
    assert "link" not in listed
    address = f"/api/invitations/{made['id']}/accept"
    for wrong in ("", "wci_", secret[:-1], secret + "x", made["id"]):
        assert told(village.eve.post(address, {"secret": wrong})) == (404, NOT_FOR_YOU)
    assert village.eve.post(address).status == 404

    assert told(village.eve.post(address, {"secret": secret})) == DONE

    assert roles(village.eve)["eve"] == "member"
    assert village.olly.post(address, {"secret": secret}).status == 404


def test_who_is_a_member_already_does_not_use_a_link_up(village: Village) -> None:
    """Nor does a member's own role change by it."""
    made = invite(village, "owner", email="x@example.org")
    secret = made["link"].partition("&secret=")[2]
    address = f"/api/invitations/{made['id']}/accept"

    refused = village.mia.post(address, {"secret": secret})

    assert told(refused) == (409, {"error": "You are a member of acme already."})
    assert roles(village.mia)["mia"] == "member"
    assert village.eve.post(address, {"secret": secret}).status == 200


def test_an_invitation_that_is_declined_or_withdrawn_is_gone(village: Village) -> None:
    declined = invite(village, username="eve")["id"]
    assert told(village.eve.post(f"/api/invitations/{declined}/decline")) == DONE
    assert village.eve.post(f"/api/invitations/{declined}/accept").status == 404
    withdrawn = invite(village, username="eve")["id"]

    assert village.mia.delete(f"{INVITATIONS}/{withdrawn}").status == 403
    assert village.eve.delete(f"{INVITATIONS}/{withdrawn}").status == 403
    assert told(village.abe.delete(f"{INVITATIONS}/{withdrawn}")) == DONE
    assert village.eve.post(f"/api/invitations/{withdrawn}/accept").status == 404
    assert village.ann.delete(f"{INVITATIONS}/{withdrawn}").status == 404
    assert "eve" not in roles(village.ann)


def test_an_invitation_ends_after_a_week(village: Village) -> None:
    made = invite(village, username="eve")
    village.clock.forward(days=6, hours=23, minutes=59)
    assert village.eve.get("/api/invitations").json() == {"invitations": [made]}
    village.clock.forward(minutes=1)

    assert village.eve.get("/api/invitations").json() == {"invitations": []}
    assert told(village.eve.post(f"/api/invitations/{made['id']}/accept")) == (404, NOT_FOR_YOU)
    assert village.ann.get(INVITATIONS).json() == {"invitations": []}
    assert invite(village, username="eve")["id"] != made["id"]


def test_an_invitation_of_one_organization_is_not_withdrawn_by_another(village: Village) -> None:
    made = invite(village, username="eve")
    village.eve.post("/api/organizations", {"slug": "eves", "displayName": "Eve’s"})

    foreign = village.eve.delete(f"/api/organizations/eves/invitations/{made['id']}")

    assert told(foreign) == (404, {"error": "There is no such invitation."})
    assert len(village.ann.get(INVITATIONS).json()["invitations"]) == 1


def test_nobody_is_invited_twice_or_without_being_there(village: Village) -> None:
    invite(village, username="eve")

    def refused(**body: str) -> tuple[int, Any]:
        return told(village.ann.post(INVITATIONS, body))

    assert refused(username="eve") == (409, {"error": "eve is invited to acme already."})
    assert refused(username="mia") == (409, {"error": "mia is a member of acme already."})
    assert refused(username="gone") == (404, {"error": "There is no account 'gone'."})
    assert refused(username="acme") == (404, {"error": "There is no account 'acme'."})
    one = (400, {"error": "Give a username or an email, one of the two."})
    assert refused() == one
    assert refused(username="olly", email="olly@example.org") == one
    assert refused(email="olly") == (400, {"error": "email: 'olly' is not an e-mail address."})


def test_an_account_that_is_disabled_cannot_be_invited(village: Village) -> None:
    set_disabled(village.site.node.store, "eve", is_disabled=True)

    answer = village.ann.post(INVITATIONS, {"username": "eve"})

    assert told(answer) == (404, {"error": "There is no account 'eve'."})

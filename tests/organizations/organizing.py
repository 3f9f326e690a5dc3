"""Helpers of tests of organizations."""

from typing import Any

from support.people import Person

ACME = "/api/organizations/acme"
INVITATIONS = f"{ACME}/invitations"
DONE = (200, {"success": True})


def roles(person: Person, slug: str = "acme") -> dict[str, str]:
    members = person.get(f"/api/organizations/{slug}").json()["members"]
    return {it["username"]: it["role"] for it in members}


def told(response: Any) -> tuple[int, Any]:
    return response.status, response.json()
